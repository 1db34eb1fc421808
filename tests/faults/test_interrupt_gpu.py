"""Ctrl-C, and other signals with handlers in Python, during a kernel that would run for minutes on a GPU, or on the
emulated one: as `test_interrupt.py` has it for the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.test_interrupt import LONG_KERNELS, SOON_S, Child
from loopwright.devices.cuda import find_gpus, why_none

DEVICES = [
    "emulated",
    pytest.param("cuda", marks=pytest.mark.skipif(not find_gpus(), reason=why_none() or "there is a GPU")),
]
NAMES = "parallel sequential_outer innermost backwards in_steps reduction rows while_loop time_loop triangle scatter"
GPU = (
    LONG_KERNELS
    + """
how = dict(cache=Path(sys.argv[1]), store="off", device=sys.argv[2])
on_gpu = lambda *arrays: [lw.device_array(one) for one in arrays]

@lw.kernel
def collatz(a):
    for i in range(len(a)):
        n = a[i]
        while n > 1 or n < 0:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
        a[i] = n

@lw.kernel
def endless(a):
    for i in range(len(a)):
        x = a[i]
        while x >= 0.0:
            x = x * 0.5 + 1.0
        a[i] = x

@lw.kernel
def product(a, b, c, n):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for t in range(n):
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

@lw.kernel
def sums(a, out, n):
    for i in range(len(out)):
        s = 0.0
        for t in range(n):
            for k in range(a.shape[1]):
                s += a[i, k] * 0.5
        out[i] = s

def products(n):
    c = np.zeros((40, 40))
    product(np.ones((40, 40)), np.ones((40, 40)), c, n)
    return float(c.sum())

def all_sums(n):
    out = np.zeros(20)
    sums(np.ones((20, 300)), out, n)
    return float(out.sum())

calls |= {"product": products, "sums": all_sums}
"""
)
EACH = """
with lw.options(**how):
    for name in sys.argv[3].split():
        call = calls[name]
        before, one_more = call(3), call(4)
        print("go", flush=True)
        try:
            call(LONG)
            print("ended", name, flush=True)
        except KeyboardInterrupt:
            print("stopped", call(3) == before, call(4) == one_more, flush=True)
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("interrupts_gpu")


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("names", [NAMES, "product sums"], ids=["loops", "blocks"])
def test_every_shape_of_kernel_ends(cache: Path, device: str, names: str) -> None:
    ends = []
    with Child(GPU + EACH, cache, device, names) as child:
        while child.line(120) == "go":
            child.interrupt()
            ends.append(child.line(SOON_S))
    assert ends == ["stopped True True"] * len(names.split())
