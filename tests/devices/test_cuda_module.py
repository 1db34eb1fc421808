"""Code of a GPU over a stand-in for CUDA's driver: what starts, how it is told what went wrong, and kernels that are
compiled when they are first started."""

from __future__ import annotations

import ctypes
import gc

import numpy as np
import pytest

from devices.handmade import device_text
from loopwright.devices.cuda import CudaModule
from loopwright.devices.cuda_module import size_text
from loopwright.errors import CompilerError, DeviceError, DeviceMemoryError
from loopwright.ir.program import DeviceText
from loopwright.toolchain import nvrtc


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1.0 KiB"),
        ((1 << 20) - 1, "1024.0 KiB"),
        (1 << 20, "1.0 MiB"),
        (12 << 30, "12.0 GiB"),
        (5 << 40, "5120.0 GiB"),
    ],
)
def test_sizes_for_people(size_bytes, text):
    assert size_text(size_bytes) == text


# ---- launches and faults ------------------------------------------------------------------------------------------


def test_kernels_run_in_order_with_copies(gpu, module):
    table = module()
    x, y = np.arange(1000, dtype="f4"), np.ones(1000, "f4")
    on_gpu = [gpu.allocate(4000), table.allocate(4000)]
    for address, values in zip(on_gpu, (x, y), strict=True):
        gpu.upload(address, values)
    assert [table.saxpy(1000, 2, *on_gpu), table.saxpy(1000, 1, *on_gpu)] == [0, 0]
    back = np.zeros(1000, "f4")
    assert table.fetch(back, on_gpu[1]) == 0 and np.array_equal(back, 3 * x + 1)
    assert table.clear(on_gpu[1], 400) == 0 and table.clear(on_gpu[1], 0) == 0
    gpu.download(back, on_gpu[1])
    assert not back[:100].any() and np.array_equal(back[100:], (3 * x + 1)[100:])
    table.release(on_gpu[1])
    table.release(None)
    assert table.module.fault() is None


def test_what_kernels_tell_is_seen_without_a_copy(gpu, driver, module):
    """Slots and the failure are in pinned memory: the host waits for the stream, and reads."""
    table = module()
    failures = gpu.allocate(32)
    told = table.module.told(failures)
    assert told and table.module.told(failures) == told
    y, back, found = np.arange(4, dtype="f4"), np.zeros(4, "f4"), np.full(3, 7)
    source = gpu.allocate(16)
    gpu.upload(source, y)
    slot = table.visible(16)
    ctypes.memset(slot, 0, 16)
    copies = driver.count("fake_copies")
    assert table.saxpy(4, 3, source, slot) == 0
    assert table.fetch(back, slot) == 0 and np.array_equal(back, 3 * y)
    ctypes.memmove(told, (ctypes.c_int64 * 3)(5, 6, 7), 24)
    assert table.fetch(found, failures) == 0 and found.tolist() == [5, 6, 7]
    assert driver.count("fake_copies") == copies
    assert table.fetch(back, source) == 0 and driver.count("fake_copies") == copies + 1


def test_slots_are_apart_and_given_back(gpu, driver, module):
    table = module()
    told = table.module.told(gpu.allocate(32))
    used = driver.count("fake_used")
    slots = [table.visible(64) for _ in range(63)]
    assert sorted([told, *slots]) == list(range(told, told + 4096, 64))
    beyond, large = table.visible(64), table.visible(65)
    assert driver.count("fake_used") == used + 64 + 65, "where there is no slot it is device memory"
    table.release(beyond)
    table.release(large)
    table.release(slots[3])
    assert table.visible(8) == slots[3] and driver.count("fake_used") == used
    source, ones = gpu.allocate(16), np.ones(4, "f4")
    gpu.upload(source, ones)
    ctypes.memset(slots[5], 0, 16)
    assert table.saxpy(4, 1, source, slots[5]) == 0 and table.launch(9, (1,), (1,), 0)
    table.release(slots[5])
    assert np.ctypeslib.as_array((ctypes.c_float * 4).from_address(slots[5])).tolist() == [1.0] * 4, "nobody writes on"
    assert table.visible(8) == slots[5] and table.module.fault() is not None


def test_a_kernel_that_is_not_there_is_not_started(driver, module, monkeypatch):
    """Whatever became of its compiler."""
    table = module(device_text("", "work_32", "work_64", "work_even"))
    monkeypatch.setattr(CudaModule, "load", lambda *_: 0)
    assert table.launch(2, (1,), (32,), 0) == 500 and driver.count("fake_launches") == 0
    assert "starting kernel 'work_even' failed" in str(table.module.fault())


def test_without_pinned_memory_it_is_copied(gpu, driver, module):
    table = module()
    driver.fail("cuMemHostAlloc", 2)
    failures = gpu.allocate(32)
    assert table.module.told(failures) == 0
    gpu.upload(failures, np.array([5, 6, 7, 0]))
    found, used = np.zeros(3, int), driver.count("fake_used")
    assert table.fetch(found, failures) == 0 and found.tolist() == [5, 6, 7]
    slot = table.visible(8)
    assert driver.count("fake_used") == used + 8
    table.release(slot)


def test_an_empty_grid_is_no_launch(driver, module):
    table = module()
    assert table.saxpy(0, 1, 0, 0) == 0 and driver.count("fake_launches") == 0


@pytest.mark.parametrize(
    ("kernel", "grid", "block", "shared", "said"),
    [
        (3, (1,), (1,), 0, "starting kernel number 3 failed"),
        (2, ((1 << 32) + 1,), (1,), 0, "starting kernel 'nothing' failed: CUDA_ERROR_OTHER"),
        (2, (1,), (-1,), 0, "starting kernel 'nothing' failed"),
        (2, (1,), (2048,), 0, "starting kernel 'nothing' failed"),
        (2, (1,), (1,), 300 << 10, "starting kernel 'nothing' with 300.0 KiB of dynamic shared memory failed"),
    ],
)
def test_a_launch_that_cannot_be(gpu, driver, module, kernel, grid, block, shared, said):
    table = module()
    assert table.launch(kernel, grid, block, shared) == 1 and driver.count("fake_launches") == 0
    assert table.launch(2, (1,), (32,), 0) == 0, "nothing is broken"
    assert said in str(table.module.fault())
    assert table.module.fault() is None, "it is told once"


def test_the_first_failure_is_told(module):
    table = module()
    assert [table.launch(number, (1,), (4096,), 0) for number in (2, 0, 1)] == [1, 1, 1]
    assert "starting kernel 'nothing' failed" in str(table.module.fault()) and table.module.fault() is None


def test_much_shared_memory_is_asked_for(driver, module):
    table = module()
    for shared in (1000, 49152, 49153, 200_000, 49153):
        assert table.launch(2, (1,), (32,), shared) == 0
    assert driver.count("fake_launches") == 5 and table.module.fault() is None


def test_a_fault_in_the_middle_loses_the_gpu(gpu, driver, module):
    table, other = module(), module()
    address = gpu.allocate(400)
    assert [table.saxpy(100, 1, address, address), table.launch(1, (1,), (1,), 0), table.launch(2, (1,), (1,), 0)] == [
        0
    ] * 3
    assert table.fetch(np.zeros(100, "f4"), address) == 700
    told = str(table.module.fault())
    assert told.startswith("Fake GPU: running kernel 'nothing', or one started before it, failed: CUDA_ERROR_ILLEGAL")
    assert "kernels run on the CPU; to use it again, start a new process" in told
    for later in (
        gpu.synchronize,
        lambda: gpu.allocate(1),
        lambda: gpu.upload(address, np.zeros(1)),
        gpu.timer,
        module,
    ):
        with pytest.raises(DeviceError) as caught:
            later()
        assert str(caught.value) == told
    gpu.release(address)
    assert str(other.module.fault()) == told
    del table, other
    gc.collect()


def test_a_fault_is_found_without_a_fetch(gpu, module):
    table = module()
    table.launch(1, (1,), (1,), 0)
    assert "running kernel 'fault', or one started before it, failed" in str(table.module.fault())
    with pytest.raises(DeviceError):
        gpu.synchronize()


def test_memory_of_a_call_that_is_not_there(driver, module):
    table = module()
    assert table.allocate(4 << 30) is None
    told = table.module.fault()
    assert isinstance(told, DeviceMemoryError) and "needs 4.0 GiB, 1024.0 MiB of 1.0 GiB are free" in str(told)


def test_modules_are_unloaded_and_loaded_again(driver, module):
    for _ in range(3):
        table = module()
        assert table.launch(2, (1,), (1,), 0) == 0 and driver.count("fake_modules") == 1
        del table
        gc.collect()
    assert driver.count("fake_modules") == 0


def test_a_kernel_that_is_not_there(module):
    with pytest.raises(DeviceError, match="looking for kernel 'unknown' failed"):
        module(DeviceText("", ("saxpy", "unknown")))


def test_another_stream(gpu, driver, module):
    table = module()
    assert table.module.stream == gpu.stream
    table.launch(2, (1,), (1,), 0)
    own = ctypes.c_void_p.in_dll(driver.library, "fake_stream").value
    table.module.stream = 4711
    table.launch(2, (1,), (1,), 0)
    assert (own, ctypes.c_void_p.in_dll(driver.library, "fake_stream").value) == (gpu.stream, 4711)


def test_another_context_stays_current(gpu, driver, module):
    table = module()
    driver.library.cuCtxPushCurrent_v2(ctypes.c_void_p(99))
    assert table.launch(2, (1,), (1,), 0) == 0
    gpu.release(gpu.allocate(1))
    now = ctypes.c_void_p()
    driver.library.cuCtxPopCurrent_v2(ctypes.byref(now))
    assert now.value == 99 and driver.library.fake_depth() == 0


# ---- kernels that are compiled when they are started ----------------------------------------------------------------


def test_kernels_for_large_distances_are_compiled_when_they_are_needed(gpu, driver, module, monkeypatch):
    built = []
    known = nvrtc.build
    monkeypatch.setattr(nvrtc, "build", lambda text, *others: built.append(text.kernels) or known(text, *others))
    head = 'extern "C" __global__ void {}(int n) {{}}'
    table = module(device_text(head, "work_32", "work_64"))
    assert table.launch(0, (1,), (32,), 0) == 0 and built == [("work_32",)]
    assert driver.count("fake_modules") == 1
    for _ in range(2):
        assert table.launch(1, (1,), (32,), 0) == 0
    assert built == [("work_32",), ("work_64",)] and driver.count("fake_modules") == 2
    assert driver.count("fake_launches") == 3 and table.module.fault() is None
    del table
    gc.collect()
    assert driver.count("fake_modules") == 0


def test_kernels_for_large_distances_that_cannot_be_compiled(gpu, module, monkeypatch):
    table = module(device_text("", "work_32", "work_64"))

    def full(*_):
        raise CompilerError("the disk is full")

    with monkeypatch.context() as here:
        here.setattr(nvrtc, "build", full)
        assert table.launch(1, (1,), (32,), 0) != 0
    assert "kernel 'work_64' is not there: the disk is full" in str(table.module.fault())
    assert table.launch(1, (1,), (32,), 0) == 0, "and later it can"
    assert table.module.fault() is None


def test_of_a_kernel_for_whole_tiles_and_its_like_the_one_that_is_started_is_compiled(gpu, driver, module, monkeypatch):
    built = []
    known = nvrtc.build
    monkeypatch.setattr(nvrtc, "build", lambda text, *others: built.append(text.kernels) or known(text, *others))
    head = 'extern "C" __global__ void {}(int n) {{}}'
    table = module(device_text(head, "work_32", "work_64", "work_even"))
    assert not built
    for kernel in (2, 2, 0, 1):
        assert table.launch(kernel, (1,), (32,), 0) == 0 and table.module.fault() is None
    assert gpu.late_ns > 0
    assert built == [("work_even",), ("work_32",), ("work_64",)] and driver.count("fake_launches") == 4
    del table
    gc.collect()
    assert driver.count("fake_modules") == 0


def test_a_module_none_of_whose_kernels_is_compiled_at_first_needs_nvrtc_as_well(gpu, config, monkeypatch):
    monkeypatch.setattr(nvrtc, "find_nvrtc", lambda: None)
    with pytest.raises(CompilerError, match="no working NVRTC"):
        gpu.module(device_text("", "work_32", "work_64", "work_even"), config)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, TimeoutError])
def test_an_interrupted_compiler_interrupts_the_call(gpu, module, raised, monkeypatch):
    table = module(device_text("", "work_32", "work_64", "work_even"))

    def interrupted(*_):
        raise raised

    with monkeypatch.context() as here:
        here.setattr(nvrtc, "build", interrupted)
        assert table.launch(2, (1,), (32,), 0) != 0
    with pytest.raises(raised):
        table.module.fault()
    assert table.launch(2, (1,), (32,), 0) == 0, "and later it can"
    assert table.module.fault() is None
