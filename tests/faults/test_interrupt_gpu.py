"""Ctrl-C, and other signals with handlers in Python, during a kernel that would run for minutes on a GPU, or on the
emulated one: as `test_interrupt.py` has it for the CPU."""

from __future__ import annotations

import signal
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
LONG = 10**15  # minutes for all threads of a large GPU together
LONGER = 1 << 18  # long enough for kernels that ask, which are compiled when they are needed first
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
        for _ in range(2):
            print("go", flush=True)
            try:
                call(LONG)
                print("ended", name, flush=True)
            except KeyboardInterrupt:
                print("stopped", call(3) == before, call(4) == one_more, flush=True)
"""
COMPILED_S = 4.0
"""After so long, a kernel that a GPU needs for a long call is compiled, and runs."""


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
            child.interrupt(COMPILED_S if device == "cuda" and len(ends) % 2 == 0 else 0.05)
            ends.append(child.line(SOON_S))
    assert ends == ["stopped True True"] * 2 * len(names.split())


def test_other_signals_raise_what_their_handlers_raise(cache: Path, device: str) -> None:
    code = """
def late(number, frame):
    raise TimeoutError("too late")
with lw.options(**how):
    parallel(np.zeros(8), LONGER)
    for number in (signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, late)
        print("go", flush=True)
        try:
            parallel(np.zeros(1000), LONG)
        except TimeoutError as error:
            print(error, flush=True)
"""
    with Child(GPU + code, cache, device) as child:
        for number in (signal.SIGALRM, signal.SIGTERM):
            assert child.line(120) == "go"
            child.interrupt(0.1, number)
            assert child.line(SOON_S) == "too late"


def test_a_handler_that_does_not_raise_lets_it_go_on(cache: Path, device: str) -> None:
    code = """
seen = []
signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
with lw.options(**how):
    innermost(np.ones(8), LONGER)
    print("go", flush=True)
    n = 1 << 20
    while len(seen) < 3:
        n *= 2
        assert innermost(np.ones(8), n) == 2.0
    print(len(seen), flush=True)
"""
    with Child(GPU + code, cache, device) as child:
        assert child.line(120) == "go"
        for _ in range(3):
            child.interrupt(0.15)
        assert child.line() == "3"


def test_who_waits_for_arrays_on_the_gpu_ends_what_was_started(cache: Path, device: str) -> None:
    code = """
@lw.kernel
def count(a, n):
    for i in range(len(a)):
        for t in range(n):
            a[i] += 1.0
with lw.options(**how):
    (a,) = on_gpu(np.zeros(1000))
    count(a, LONGER // 64)
    for _ in range(2):
        print("go", flush=True)
        try:
            count(a, LONG)
            a.numpy()
        except KeyboardInterrupt:
            print("stopped", flush=True)
        before = a.numpy()
        count(a, 5)
        print((before == np.floor(before)).all(), (a.numpy() == before + 5).all(), flush=True)
"""
    with Child(GPU + code, cache, device) as child:
        for _ in range(2):
            assert child.line(120) == "go"
            child.interrupt(0.1)
            assert [child.line(SOON_S), child.line(SOON_S)] == ["stopped", "True True"]


def test_arrays_of_the_host_are_as_they_were(cache: Path, device: str) -> None:
    code = """
a = np.arange(1000.0)
with lw.options(**how):
    parallel(np.zeros(8), LONGER)
    print("go", flush=True)
    try:
        parallel(a, LONG)
    except KeyboardInterrupt:
        print((a == np.arange(1000.0)).all(), flush=True)
"""
    with Child(GPU + code, cache, device) as child:
        assert child.line(120) == "go"
        child.interrupt(0.1)
        assert child.line(SOON_S) == "True"


def test_no_signal_is_lost_and_no_call_is_skipped(cache: Path, device: str) -> None:
    code = """
class Tick(Exception):
    pass
raised = 0
def tick(number, frame):
    global raised
    raised += 1
    raise Tick
a, caught = np.zeros(2000), 0
with lw.options(**how):
    parallel(a, 3)
    wanted = a.copy()
    signal.signal(signal.SIGALRM, tick)
    for k in range(300):
        a[:] = 0.0
        try:
            signal.setitimer(signal.ITIMER_REAL, 1e-5 + k % 100 * 1e-5)
            parallel(a, 3)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except Tick:
            caught += 1
        else:
            assert (a == wanted).all(), k
    print(caught == raised > 0, caught, raised, flush=True)
"""
    with Child(GPU + code, cache, device) as child:
        assert child.line(120).startswith("True")


def test_calls_of_other_threads_run_to_their_end(cache: Path, device: str) -> None:
    code = """
found = []
def work():
    with lw.options(**how):
        found.append(float(innermost(np.ones(8), 20_000_000)))
with lw.options(**how):
    innermost(np.ones(8), LONGER)
    parallel(np.ones(8), LONGER)
    other = threading.Thread(target=work)
    other.start()
    time.sleep(0.05)
    print("go", flush=True)
    try:
        parallel(np.ones(1000), LONG)
    except KeyboardInterrupt:
        print("stopped", flush=True)
    other.join()
    print(found, flush=True)
"""
    with Child(GPU + code, cache, device) as child:
        assert child.line(120) == "go"
        child.interrupt(0.3)
        assert [child.line(30), child.line(30)] == ["stopped", "[2.0]"]


def test_a_handler_may_call_the_kernel_that_it_interrupts(cache: Path, device: str) -> None:
    """Found: it waited for a lock that its own thread held."""
    code = """
found = []
def call_again(number, frame):
    found.append(float(innermost(np.full(8, 2.0), 60)))
signal.signal(signal.SIGINT, call_again)
with lw.options(**how):
    innermost(np.ones(8), LONGER)
    print("go", flush=True)
    n = 1 << 20
    while not found:
        n *= 2
        assert innermost(np.ones(8), n) == 2.0
    print(found, flush=True)
"""
    with Child(GPU + code, cache, device) as child:
        assert child.line(120) == "go"
        child.interrupt(0.15)
        assert child.line() == "[4.0]"
