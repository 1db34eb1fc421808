"""A signal whose handler raises ends what runs on a GPU of CUDA's, over a stand-in for the driver (fake_cuda.c): its
kernel "endless" runs until it is stopped."""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

from devices.cuda_table import HALF, Table
from loopwright.errors import DeviceError
from loopwright.ir.program import DeviceText

TEXT = DeviceText("", ("saxpy", "endless"))


class Late(Exception):
    pass


@contextmanager
def alarm(*after_s, handler=None):
    """After so many seconds each, a signal comes whose handler raises."""

    def raises(number, frame):
        raise Late

    before = signal.signal(signal.SIGALRM, handler or raises)
    signal.setitimer(signal.ITIMER_REAL, *after_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def endless(module):
    """endless() starts a kernel that runs until its call is stopped; what the launch gives."""
    table = module(TEXT)

    def start():
        ticket = ctypes.c_int64(table.ticket())
        return table.launch(1, (1,), (32,), 0, ctypes.c_uint64(table.stopped), ticket)

    start.table = table
    return start


def test_each_call_of_the_main_thread_has_a_ticket_and_others_cannot_be_stopped(module):
    table = module(TEXT)
    first, second, others = table.ticket(), table.ticket(), []
    thread = threading.Thread(target=lambda: others.append(table.ticket()))
    thread.start()
    thread.join()
    assert second == first + 1 and others == [2**63 - 1]


def waits(gpu, table):
    value, address = np.zeros(4), gpu.allocate(32)
    return {
        "fault": lambda: table.module.fault(),
        "synchronize": gpu.synchronize,
        "free_bytes": gpu.free_bytes,
        "download": lambda: gpu.download(value, address),
        "upload": lambda: [gpu.upload(address, np.zeros(4)) for _ in range(999)],
    }


@pytest.mark.parametrize("what", ["fault", "synchronize", "free_bytes", "download", "upload"])
def test_whatever_waits_for_a_kernel_ends_it(gpu, endless, what):
    wait = waits(gpu, endless.table)[what]
    for _ in range(2):
        assert endless() == 0
        with alarm(0.05), pytest.raises(Late):
            begun = time.monotonic()
            wait()
        assert time.monotonic() - begun < 5
    assert endless.table.module.fault() is None
    wait()


def test_a_fetch_that_was_ended_fails(gpu, endless):
    assert endless() == 0
    with alarm(0.05):
        assert endless.table.fetch(np.zeros(4), gpu.allocate(32)) == -1
    assert endless() == -1, "nothing more is started"
    with pytest.raises(Late):
        endless.table.module.fault()
    assert endless.table.module.fault() is None


def test_a_stop_ends_no_later_call(gpu, endless):
    endless()
    gpu.stop()
    gpu.synchronize()
    endless()
    ended = threading.Event()
    thread = threading.Thread(target=lambda: (gpu.synchronize(), ended.set()))
    thread.start()
    assert not ended.wait(0.05)
    gpu.stop()
    assert ended.wait(10)
    thread.join()


def test_a_handler_that_does_not_raise_runs_and_the_kernel_goes_on(gpu, endless):
    seen = []

    def handler(number, frame):
        seen.append(number)
        if len(seen) == 3:
            raise Late

    endless()
    with alarm(0.03, 0.03, handler=handler), pytest.raises(Late):
        gpu.synchronize()
    assert len(seen) == 3


def test_many_launches_are_heard_of(gpu, endless):
    with alarm(0.1):
        begun = time.monotonic()
        while not endless():
            assert time.monotonic() - begun < 10
    with pytest.raises(Late):
        endless.table.module.fault()


def test_a_lost_gpu_is_told_before_a_signal(gpu, driver, module):
    table: Table = module()
    table.launch(1, (1,), (32,), 0)
    assert isinstance(table.module.fault(), DeviceError)
    gpu.stop()


def test_a_handler_may_copy_while_its_thread_waits_in_a_copy(gpu, endless):
    """Found: it waited for a lock that its own thread held."""
    mine, back = np.arange(6.0), np.zeros(6)
    aside, wanted = gpu.allocate(48), gpu.allocate(HALF)

    def handler(number, frame):
        gpu.stop()  # or the copies would wait for ever
        gpu.upload(aside, mine)
        gpu.download(back, aside)

    for copy in (lambda one: gpu.download(one, wanted), lambda one: [gpu.upload(wanted, one) for _ in range(99)]):
        endless()
        back[:] = 0
        with alarm(0.05, handler=handler):
            copy(np.ones(HALF // 8))
        gpu.synchronize()
        assert (back == mine).all()


def test_work_that_does_not_ask_is_not_queued_for_long(gpu, endless, driver):
    """Of launches that cannot be ended, few wait behind one that runs."""
    table = endless.table
    y = gpu.allocate(HALF)
    endless()
    with alarm(0.1):
        launched = 0
        while not table.launch(0, (1,), (32,), 0, *saxpy_of_nothing(y), work=1 << 34):
            launched += 1
    assert launched < 8
    with pytest.raises(Late):
        table.module.fault()


def saxpy_of_nothing(address):
    return ctypes.c_int64(0), ctypes.c_float(0), ctypes.c_uint64(address), ctypes.c_uint64(address)
