"""The struct of one call on a GPU, which part of its arrays a call is about, and what went wrong first."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from loopwright.devices.by_ctypes import CallStruct, FailureStruct, Slot
from loopwright.devices.emulated import EmulatedGpu
from loopwright.errors import BoundsError, DeviceError, check_failed
from loopwright.ir.program import FailureSite
from loopwright.memory.gpu_call import (
    FAILURE_BYTES,
    NO_FAILURE,
    BoundsLeft,
    GpuCall,
    GpuCallStruct,
    GpuExecutable,
    NoRoom,
    no_failure,
    parts_of,
    raise_failure,
)
from loopwright.memory.kept_orders import KeptOrders

SITES = (
    FailureSite("bounds", "a", 1, None),
    FailureSite("device", "", 0, None),
    FailureSite("zero_division", "", 0, None),
)


class Code:
    """Stands for what is loaded: a module that tells of a fault, and a place for failures on the emulated GPU."""

    def __init__(
        self, fault: BaseException | None = None, checks: bool = True, sites: tuple[FailureSite, ...] = SITES
    ) -> None:
        self.gpu = EmulatedGpu(1 << 20)
        self.failures = self.gpu.allocate(FAILURE_BYTES)
        self.orders = KeptOrders(self.gpu, ())
        self.told = 0
        no_failure(self.gpu, self.failures, 0)
        self._fault = fault
        self.module = SimpleNamespace(table=1234, fault=self._faulty)
        self.program = SimpleNamespace(sites=SITES, device=SimpleNamespace(checks=checks))
        self.reach: dict[int, Any] = {}
        self.written = frozenset({0})
        self.may_end_early = True

    def _faulty(self) -> BaseException | None:
        if isinstance(self._fault, KeyboardInterrupt):
            raise self._fault
        return self._fault

    def failure(self, site: int, index: int, size: int) -> Exception:
        where = SITES[site]
        if where.kind == "bounds":
            return BoundsError(where.array, where.axis, index, size)
        return check_failed(where.kind, None)

    def fails(self, *failure: int) -> None:
        """As a kernel does it."""
        self.gpu.upload(self.failures, np.array((*failure, 0), np.int64))

    def on_device(self) -> list[int]:
        found = np.zeros(3, np.int64)
        self.gpu.download(found, self.failures)
        return found.tolist()


def prepared(code: Code, *everything: object, results: int = 0) -> GpuCallStruct:
    return GpuCallStruct(everything, results, 7, cast(GpuExecutable, code))


def numbers(at: int | None, count: int) -> list[int]:
    return list((ctypes.c_int64 * count).from_address(at or 0))


# ---- the struct -----------------------------------------------------------------------------------------------------


def test_a_call_is_laid_out_as_any_other_with_three_more() -> None:
    assert GpuCall.gpu.offset == ctypes.sizeof(CallStruct)
    assert [name for name, *_ in GpuCall._fields_][-3:] == ["gpu", "device_failure", "kept"]


def test_arguments_and_where_they_are() -> None:
    code, array = Code(), np.zeros((2, 3))[:, ::-1]
    one = prepared(code, 5, array, 2.5, results=2)
    pointers = [numbers(table, 3) for table in (one.call.data, one.call.shape, one.call.strides)]
    assert pointers[0] == [0, 0, 0]  # before anything is placed
    assert numbers(pointers[1][1], 2) == [2, 3] and numbers(pointers[2][1], 2) == [24, -8]
    assert (one.slot(0).i, one.slot(2).d) == (5, 2.5)
    assert (one.call.threads, one.call.gpu, one.call.device_failure) == (7, 1234, code.failures)
    failure = FailureStruct.from_address(one.call.failure)
    assert (failure.site, failure.index, failure.size) == NO_FAILURE
    one.put(1, cast(Any, SimpleNamespace(address=4096, strides=(8, 16))))
    assert numbers(one.call.data, 3)[1] == 4096 and numbers(numbers(one.call.strides, 3)[1], 2) == [8, 16]
    assert numbers(numbers(one.call.shape, 3)[1], 2) == [2, 3]


def test_a_call_without_arguments_and_an_array_without_axes() -> None:
    assert prepared(Code()).call.threads == 7
    one = prepared(Code(), np.zeros(()))
    one.put(0, cast(Any, SimpleNamespace(address=64, strides=())))
    assert numbers(one.call.data, 1) == [64]


def test_a_number_that_does_not_fit() -> None:
    with pytest.raises(OverflowError, match="does not fit int64"):
        prepared(Code(), 2**63)


def test_returned_slots() -> None:
    one = prepared(Code(), results=2)
    Slot.from_address(one.call.returned + 8).i = 9
    assert one.returned[1].i == 9


# ---- what went wrong ------------------------------------------------------------------------------------------------


def raised(
    code: Code, failed: int = 0, fault: Exception | None = None, host: tuple[int, int, int] = NO_FAILURE
) -> None:
    one = prepared(code)
    one.failure.site, one.failure.index, one.failure.size = host
    raise_failure(failed, one, cast(GpuExecutable, code), fault)


def test_nothing_went_wrong() -> None:
    raised(Code())
    raised(Code(checks=False))


def test_a_check_of_a_kernel_is_told_and_forgotten() -> None:
    code = Code()
    code.fails(0, -7, 5)
    with pytest.raises(BoundsLeft) as caught:
        raised(code)
    error = caught.value.error
    assert isinstance(error, BoundsError) and (error.array, error.index, error.size) == ("a", -7, 5)
    assert code.on_device() == list(NO_FAILURE)
    raised(code)


def test_a_check_of_the_host() -> None:
    with pytest.raises(BoundsLeft) as caught:
        raised(Code(), 1, host=(2, 0, 0))
    assert isinstance(caught.value.error, ZeroDivisionError)


def test_kernels_run_before_the_host_finds_anything() -> None:
    """So what they found comes first."""
    code = Code()
    code.fails(0, 9, 5)
    with pytest.raises(BoundsLeft) as caught:
        raised(code, 1, host=(2, 0, 0))
    assert isinstance(caught.value.error, BoundsError)


def test_a_fault_makes_all_else_meaningless() -> None:
    code = Code(DeviceError("it is gone"))
    code.fails(0, 9, 5)
    with pytest.raises(DeviceError, match="it is gone"):
        raised(code, 1, host=(2, 0, 0))
    assert code.on_device() == list(NO_FAILURE)
    with pytest.raises(DeviceError, match="another one"):
        raised(Code(DeviceError("it is gone")), fault=DeviceError("another one"))


def test_a_device_that_does_not_say_why() -> None:
    with pytest.raises(DeviceError, match="does not do what it was asked, and does not say why"):
        raised(Code(), 1, host=(1, 0, 0))


def test_what_interrupts_a_compiler_leaves_no_failure_behind() -> None:
    code = Code(KeyboardInterrupt())
    code.fails(0, 9, 5)
    with pytest.raises(KeyboardInterrupt):
        raised(code)
    assert code.on_device() == list(NO_FAILURE)


def test_the_host_sees_no_failure_either() -> None:
    gpu, told = EmulatedGpu(1 << 20), (ctypes.c_int64 * 3)(5, 6, 7)
    failures = gpu.allocate(FAILURE_BYTES)
    no_failure(gpu, failures, ctypes.addressof(told))
    assert list(told) == list(NO_FAILURE)


def test_errors_that_say_what_is_left() -> None:
    for kind in cast(list[Callable[[Any], Any]], [BoundsLeft, NoRoom]):
        error = ValueError("x")
        assert kind(error).error is error


# ---- parts ----------------------------------------------------------------------------------------------------------


def test_parts_are_those_of_arrays_and_results_are_written() -> None:
    code, records = Code(), np.zeros(3, [("x", "f8")])
    code.reach = {0: object(), 2: object()}  # of records all of it moves, wherever it is touched
    everything = (records, 5, records.copy(), np.zeros(3), None)
    for results_from, wrote in ((4, {0}), (2, {0, 2})):
        found = parts_of(cast(GpuExecutable, code), everything, results_from, {})
        assert sorted(found) == [0, 2, 3]
        assert {position for position, part in found.items() if part.written is not None} == wrote
