"""GPUs through CUDA's driver: with a stand-in for the driver (fake_cuda.c), and with a real one where there is one."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from devices.cuda_table import Table
from devices.fake_cuda import library_path
from loopwright.devices import cuda
from loopwright.devices.clocks import Clocks
from loopwright.devices.cuda import FORKED, find_gpus, why_none
from loopwright.errors import CompilerError, DeviceError, DeviceMemoryError
from loopwright.ir.program import DeviceText
from loopwright.toolchain import nvrtc

REAL_TEXT = DeviceText(
    """
extern "C" __global__ void saxpy(long long n, float a, const float *x, float *y) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
extern "C" __global__ void turned(int n, int *y) {
  extern __shared__ int tile[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = y[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = tile[n - 1 - i];
}
extern "C" __global__ void fault(int *y) { y[threadIdx.x] = 1; }
""",
    ("saxpy", "turned", "fault"),
)


# ---- finding ----------------------------------------------------------------------------------------------------


@pytest.fixture
def search(monkeypatch, driver):
    """search() -> what is found with this driver, as on a first call."""
    monkeypatch.setattr(cuda, "_driver", lambda: driver)
    monkeypatch.setattr(cuda, "_watch_forks", lambda: None)
    yield cuda._searched.__wrapped__
    cuda._searched.cache_clear()


def test_without_a_driver_there_is_no_gpu_and_the_reason_is_told(monkeypatch):
    monkeypatch.setattr(cuda, "LIBRARY", "libcuda_that_is_not_here.so.1")
    found = cuda._searched.__wrapped__()
    assert found.gpus == ()
    assert found.failure.startswith("no NVIDIA driver was found (libcuda_that_is_not_here.so.1: cannot open")
    assert "kernels run on the CPU" in found.failure


def test_what_this_machine_has_is_found_or_explained():
    assert bool(find_gpus()) != bool(why_none())


def test_without_the_package_the_reason_names_it(monkeypatch, config):
    monkeypatch.setattr(cuda, "LIBRARY", str(library_path(config)))
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
    found = cuda._searched.__wrapped__()
    assert found.gpus == () and 'pip install "loopwright[cuda]"' in found.failure


def test_an_old_driver_is_named(driver, search):
    driver.set("fake_version", 12080)
    found = search()
    assert found.gpus == ()
    assert "one of CUDA 12.8, and 13.0 or newer is needed" in found.failure


@pytest.mark.parametrize("hidden", [None, "-1"])
def test_no_device(driver, search, monkeypatch, hidden):
    driver.set("fake_devices", 0)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if hidden is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    found = search()
    assert found.gpus == () and "the NVIDIA driver finds no GPU" in found.failure
    assert ("CUDA_VISIBLE_DEVICES is '-1'" in found.failure) == (hidden is not None)


def test_a_driver_that_does_not_start(driver, search):
    driver.fail("cuInit", 999)
    found = search()
    assert found.gpus == () and "does not start: CUDA_ERROR_OTHER (something else)" in found.failure


def test_a_gpu_without_pools_is_not_used(driver, search):
    driver.set("fake_pools", 0)
    found = search()
    assert found.gpus == () and found.failure == "Fake GPU: its driver has no memory pools, as in some virtual machines"


def test_clocks_that_the_driver_does_not_tell_are_zero(gpu, driver, monkeypatch):
    monkeypatch.delattr(driver.api.CUdevice_attribute, "CU_DEVICE_ATTRIBUTE_CLOCK_RATE")
    assert gpu.clocks == Clocks(0, 36_000, 37)


def test_what_is_found(driver, search):
    driver.set("fake_devices", 2)
    found = search()
    assert [gpu.name for gpu in found.gpus] == ["Fake GPU"] * 2 and found.failure == ""
    limits = found.gpus[0].limits
    assert limits.capability == (9, 0) and limits.warp == 32 and limits.memory_bytes == 1 << 30
    assert (limits.shared_per_block, limits.shared_per_block_most, limits.l2_bytes) == (8, 97, 38)
    assert found.gpus[0].clocks == Clocks(13_000, 36_000, 37)
    assert driver.count("fake_contexts") == 0, "a context takes half a GiB: not before it is used"


REAL_PACKAGE = """
import ctypes, sys
from pathlib import Path
ctypes.CDLL(sys.argv[1]).fake_reset()
import numpy as np
from loopwright.ir.program import DeviceText
from loopwright.devices import cuda
from types import SimpleNamespace
gpu, = cuda.find_gpus()
assert gpu.name == "Fake GPU" and gpu.limits.memory_bytes == 1 << 30, gpu.limits
values = np.arange(3_000_000, dtype="f8")
address = gpu.allocate(values.nbytes)
gpu.upload(address, values)
back = np.zeros_like(values)
gpu.download(back, address)
assert np.array_equal(back, values)
gpu.wait("up", gpu.mark("work"))
gpu.upload(address, 2 * values.reshape(1000, 3000)[:, ::2], "up")
gpu.wait("down", gpu.mark("up"))
back = back.reshape(1000, 3000)
gpu.download(back[:, ::2], address, (range(10, 20), range(1500)), "down")
assert np.array_equal(back[10:20, ::2], 2 * values.reshape(1000, 3000)[10:20, ::2])
with gpu.timer() as timer: gpu.synchronize()
assert timer.elapsed_ns == 1_500_000
cubin = Path(sys.argv[2])
cubin.write_bytes(b"fake")
cuda.nvrtc.build = lambda *_: SimpleNamespace(path=cubin, cubin=cubin.read_bytes())
module = gpu.module(DeviceText("", ("saxpy", "fault")), cuda.current())
assert module.fault() is None
assert gpu.free_bytes() == (1 << 30) - values.nbytes - 8  # which say what has to end
try: gpu.allocate(2 << 30)
except cuda.DeviceMemoryError as error: print(error)
gpu.release(address)
print(gpu.failed(700, "x"))
"""


def test_with_the_real_package_over_the_stand_in(config, tmp_path):
    pytest.importorskip("cuda.bindings.driver")
    path = library_path(config, soname="libcuda.so.1")
    environment = {**os.environ, "LOOPWRIGHT_CACHE": str(config.cache)}
    done = subprocess.run(
        [sys.executable, "-c", REAL_PACKAGE, path, tmp_path / "c"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "needs 2.0 GiB, 1001.1 MiB of 1.0 GiB are free" in done.stdout
    assert "x failed: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)" in done.stdout


def test_after_a_fork_there_is_no_gpu(gpu, driver, monkeypatch):
    gpu.allocate(1)
    hooks = []
    monkeypatch.setattr(os, "register_at_fork", lambda after_in_child: hooks.append(after_in_child))
    monkeypatch.setattr(cuda, "_forked", [])
    cuda._watch_forks.__wrapped__()
    hooks[0]()
    with pytest.raises(DeviceError, match="forked"):
        gpu.allocate(1)
    gpu.release(1)
    assert cuda._searched.__wrapped__().failure == FORKED


# ---- memory -----------------------------------------------------------------------------------------------------


def test_memory_is_taken_and_given_back(gpu, driver):
    addresses = [gpu.allocate(size) for size in (0, 1, 1000)]
    assert len(set(addresses)) == 3 and all(address % 256 == 0 and address for address in addresses)
    assert driver.count("fake_used") == 1002  # an empty array takes one byte
    for address in addresses:
        gpu.release(address)
    gpu.release(0)
    assert driver.count("fake_used") == 0
    assert driver.library.fake_depth() == 0, "the context that was current before is current again"


def test_too_much_memory_names_sizes(gpu, driver):
    gpu.allocate(768 << 20)
    with pytest.raises(DeviceMemoryError) as caught:
        gpu.allocate(12 << 30)
    assert str(caught.value) == (
        "Fake GPU: allocating memory failed: needs 12.0 GiB, 256.0 MiB of 1.0 GiB are free\n"
        "  try: smaller arrays, or fewer of them at once, or run it on the CPU: LOOPWRIGHT_DEVICE=cpu"
    )
    # Before trying again, and after giving up: a pool keeps what it grew by when it failed.
    assert isinstance(caught.value, MemoryError) and driver.count("fake_trims") == 2
    gpu.release(gpu.allocate(1))


def test_memory_that_the_pool_holds_is_given_back_before_giving_up(gpu, driver):
    driver.fail("cuMemAllocAsync", 2)
    assert gpu.allocate(100) and driver.count("fake_trims") == 1


def test_free_memory_includes_what_the_pool_holds(gpu, driver):
    address = gpu.allocate(1 << 20)
    assert gpu.free_bytes() == (1 << 30) - (1 << 20) and driver.count("fake_trims") == 1
    gpu.release(address)
    assert gpu.free_bytes() == 1 << 30


def test_a_gpu_that_is_full_before_it_starts(gpu, driver):
    driver.fail("cuDevicePrimaryCtxRetain", 2)
    with pytest.raises(DeviceMemoryError, match=r"starting the GPU failed: it has 1\.0 GiB"):
        gpu.allocate(1)
    assert gpu.allocate(1), "and later it is not"


# ---- timers -----------------------------------------------------------------------------------------------------


def test_a_timer(gpu):
    with gpu.timer() as timer:
        gpu.synchronize()
    assert timer.elapsed_ns == 1_500_000


def test_a_timer_that_is_not_waited_for(gpu, driver, module):
    table = module()
    with gpu.timer() as timer:
        table.launch(2, (1,), (1,), 0)
    assert timer.finished_ns() is None
    gpu.synchronize()
    assert timer.finished_ns() == 1_500_000
    with timer:
        table.launch(1, (1,), (1,), 0)
    assert timer.finished_ns() is None
    with pytest.raises(DeviceError):
        gpu.synchronize()
    with pytest.raises(DeviceError, match="cannot use the GPU any more"):
        timer.finished_ns()


# ---- a real GPU -------------------------------------------------------------------------------------------------

real = pytest.mark.skipif(not find_gpus() or nvrtc.find_nvrtc() is None, reason="no GPU, or no NVRTC")


@pytest.fixture
def real_table(config):
    return Table(find_gpus()[0].module(REAL_TEXT, config))


@real
def test_saxpy_on_a_gpu(real_table):
    gpu, n = find_gpus()[0], 1_000_003
    x, y, back = np.arange(n, dtype="f4"), np.ones(n, "f4"), np.zeros(n, "f4")
    on_gpu = [gpu.allocate(4 * n), gpu.allocate(4 * n)]
    gpu.upload(on_gpu[0], x)
    gpu.upload(on_gpu[1], y)
    with gpu.timer() as timer:
        assert real_table.saxpy(n, 2, *on_gpu) == 0
    gpu.download(back, on_gpu[1])
    assert np.array_equal(back, np.float32(2) * x + 1) and real_table.module.fault() is None
    assert timer.elapsed_ns > 0
    assert real_table.clear(on_gpu[1], 4 * n) == 0 and real_table.fetch(back, on_gpu[1]) == 0 and not back.any()
    for address in on_gpu:
        gpu.release(address)


@real
def test_more_than_48_kib_of_shared_memory_on_a_gpu(real_table):
    gpu = find_gpus()[0]
    n = gpu.limits.shared_per_block_most // 4
    values = np.arange(n, dtype="i4")
    address = gpu.allocate(4 * n)
    gpu.upload(address, values)
    assert real_table.launch(1, (1,), (256,), 4 * n, ctypes.c_int(n), ctypes.c_uint64(address)) == 0
    gpu.download(values, address)
    assert np.array_equal(values, np.arange(n)[::-1])
    assert real_table.launch(1, (1,), (256,), 8 * n, ctypes.c_int(n), ctypes.c_uint64(address)) == 1
    assert "of dynamic shared memory failed: CUDA_ERROR_INVALID_VALUE" in str(real_table.module.fault())
    gpu.release(address)


@real
def test_too_much_memory_on_a_gpu():
    gpu = find_gpus()[0]
    with pytest.raises(DeviceMemoryError, match=r"needs .* GiB, .* of .* are free"):
        gpu.allocate(2 * gpu.limits.memory_bytes)
    gpu.release(gpu.allocate(1 << 20))


FAULT = """
from devices.test_cuda import REAL_TEXT, Table
from loopwright.config import current
from loopwright.devices.cuda import find_gpus
import ctypes
gpu = find_gpus()[0]
table = Table(gpu.module(REAL_TEXT, current()))
assert table.launch(2, (1,), (32,), 0, ctypes.c_uint64(64)) == 0
print(table.module.fault())
try: gpu.allocate(1)
except RuntimeError as error: print(type(error).__name__)
"""


@real
def test_an_illegal_address_on_a_gpu():
    folders = [str(Path(__file__).parents[1]), *sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))}
    done = subprocess.run([sys.executable, "-c", FAULT], env=environment, capture_output=True, text=True)
    assert "running kernel 'fault', or one started before it, failed: CUDA_ERROR_ILLEGAL_ADDRESS" in done.stdout
    assert done.stdout.strip().endswith("DeviceError")


def test_text_that_is_refused_is_a_compiler_error(gpu, config):
    with pytest.raises(CompilerError):  # without NVRTC too
        gpu.module(DeviceText("nonsense", ("k",)), config)
