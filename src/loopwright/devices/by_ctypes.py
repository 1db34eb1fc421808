"""`Entry`, `Dispatcher` and `Constants` without a C extension: slower, same results. Every call takes the runtime's
slow way."""

from __future__ import annotations

import ctypes
import pkgutil
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import FunctionType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from loopwright.config import current
from loopwright.devices import base
from loopwright.errors import CompilerError
from loopwright.ir import captured
from loopwright.ir.captured import ABSENT, value_now
from loopwright.ir.signature import as_complex, as_pairs, part_of
from loopwright.ir.types import ALL, BY_NAME, FLOAT32, FLOAT64
from loopwright.toolchain.cc import build


class Slot(ctypes.Union):
    """union lw_slot of codegen/loopwright.h."""

    _fields_ = (("i", ctypes.c_int64), ("u", ctypes.c_uint64), ("d", ctypes.c_double), ("f", ctypes.c_float))


class FailureStruct(ctypes.Structure):
    """struct lw_failure of codegen/loopwright.h."""

    _fields_ = (("site", ctypes.c_int64), ("index", ctypes.c_int64), ("size", ctypes.c_int64))


class CallStruct(ctypes.Structure):
    """struct lw_call of codegen/loopwright.h."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("scalars", ctypes.c_void_p),
        ("returned", ctypes.c_void_p),
        ("threads", ctypes.c_int64),
        ("failure", ctypes.c_void_p),
        ("watch", ctypes.c_void_p),
    )


class Interruptible:
    """launcher_interrupt.c, built alone: calls compiled code so that what handlers of signals raise ends it."""

    def __init__(self, library: ctypes.PyDLL) -> None:
        self._run = library.lw_run  # with the GIL, which it gives back meanwhile; it may leave an exception
        self._run.argtypes = (*(ctypes.c_void_p,) * 4, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        self._bytes = int(library.lw_watch_bytes())

    def call(
        self, entry: int, call: CallStruct, failure: FailureStruct, until: ctypes.c_int32 | None = None
    ) -> tuple[int, int]:
        """What entry(call) returns, and the nanoseconds that it took. until: once another thread has made it something
        else than 0, the call ends early, and is a failed one without a site. Raises what a handler raised."""
        watch, spent = ctypes.create_string_buffer(self._bytes), ctypes.c_int64()
        call.watch = ctypes.addressof(watch)
        flag = None if until is None else ctypes.byref(until)
        given = (ctypes.byref(call), ctypes.byref(watch), ctypes.byref(failure), False, ctypes.byref(spent), flag)
        return int(self._run(entry, *given)), spent.value


@cache
def interruptible() -> Interruptible | None:
    """None where there is no compiler: calls then run to their end."""
    text = (pkgutil.get_data(__package__, "launcher_interrupt.c") or b"").decode()
    try:
        return Interruptible(ctypes.PyDLL(str(build("#define LW_ALONE\n" + text, (), current()).path)))
    except (CompilerError, OSError):
        return None


_most_threads = sys.maxsize
_pool_started = False
_notify: Callable[[], None] | None = None


def completed(
    target: Callable[..., object], slow: Callable[..., object], wanted: int, outside: tuple[captured.Outside, ...],
    drawn: captured.Drawn | None = None,
) -> Callable[..., object]:  # fmt: skip
    """See devices.base.Launcher."""
    return slow


def limit_threads(most: int) -> None:
    """Cap the threads of every later call in this process."""
    global _most_threads
    _most_threads = most


def pool_started() -> bool:
    """Whether a call may have started threads."""
    return _pool_started


def on_limited(notify: Callable[[], None]) -> None:
    """`notify` is called once, when the cap changes a call."""
    global _notify
    _notify = notify


def _allowed_threads(threads: int, parallel: bool) -> int:
    global _pool_started, _notify
    if parallel and threads > _most_threads:
        notify, _notify = _notify, None
        if notify is not None:
            notify()
    allowed = min(threads, _most_threads)
    _pool_started = _pool_started or (parallel and allowed > 1)
    return allowed


def _laid_out(
    everything: tuple[object, ...], returned: ctypes.Array[Slot], failure: FailureStruct, threads: int
) -> tuple[CallStruct, list[object]]:
    """The struct of a call with these arguments and fresh arrays, and what has to live as long as it does."""
    count = len(everything)
    data, pointers = (ctypes.c_void_p * count)(), ctypes.c_void_p * count
    shape, strides, scalars = pointers(), pointers(), (Slot * max(1, count))()
    keep: list[object] = [data, shape, strides, scalars]
    for position, value in enumerate(everything):
        if isinstance(value, np.ndarray):
            axes = ctypes.c_int64 * value.ndim
            sizes, steps = axes(*value.shape), axes(*value.strides)
            keep += [sizes, steps]
            data[position] = value.ctypes.data
            shape[position] = ctypes.addressof(sizes)
            strides[position] = ctypes.addressof(steps)
        else:
            fill_slot(scalars[position], value)
    parts = (data, shape, strides, scalars, returned)
    return CallStruct(*(ctypes.addressof(part) for part in parts), threads, ctypes.addressof(failure)), keep


def guard_holds(guard: int, arguments: tuple[object, ...]) -> bool:
    """Whether the condition on the sizes holds for these arguments. guard: the address of its function, or 0."""
    if not guard:
        return True
    call, keep = _laid_out(arguments, (Slot * 1)(), FailureStruct(-1, 0, 0), 1)
    held = bool(Entry.FUNCTION(guard)(ctypes.byref(call)))
    del keep
    return held


def fill_slot(slot: Slot, value: object) -> None:
    """Put a scalar argument where programs read it. Raises OverflowError for a Python int that does not fit int64."""
    if isinstance(value, np.generic):
        scalar = BY_NAME.get(value.dtype.name)
        if scalar == FLOAT32:
            slot.f = float(value)
        elif scalar == FLOAT64:
            slot.d = float(value)
        elif scalar is not None:
            slot.i = ctypes.c_int64(int(value)).value
    elif isinstance(value, float):
        slot.d = value
    elif isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise OverflowError(f"the Python int {value} does not fit int64")
        slot.i = value


def read_slot(slot: Slot, code: int) -> object:
    """A returned scalar: Python's for codes from PYTHON_SCALAR on, NumPy's for codes from NUMPY_SCALAR on."""
    as_python = code < base.NUMPY_SCALAR
    scalar = ALL[code - (base.PYTHON_SCALAR if as_python else base.NUMPY_SCALAR)]
    value: bool | int | float
    match scalar.kind:
        case "float":
            value = slot.f if scalar == FLOAT32 else slot.d
        case "uint":
            value = slot.u & scalar.maximum
        case "bool":
            value = bool(slot.i & 0xFF)
        case "int":
            value = scalar.dtype.type(ctypes.c_int64(slot.i).value).item()
    return value if as_python else scalar.dtype.type(value)


class Entry:
    """See devices.base.Entry."""

    FUNCTION: ClassVar[Any] = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(CallStruct))  # releases the GIL

    def __init__(
        self,
        *,
        entry: int,
        guard: int,
        threads: int,
        parallel: bool,
        returns: int,
        values: tuple[tuple[int, int], ...],
        constants: base.Facts,
        fresh: base.Fresh | None,
        fail: Callable[[int, int, int], Exception],
        guard_failed: Callable[[tuple[object, ...], tuple[object, ...]], object],
        payload: Any,
    ) -> None:
        self._address, self._entry = entry, self.FUNCTION(entry)
        self._guard = self.FUNCTION(guard) if guard else None
        self._parallel, self._returns, self._values = parallel, returns, values
        self._fresh, self._fail, self._guard_failed = fresh, fail, guard_failed
        self.threads, self.payload = threads, payload
        self.calls = self.total_ns = self.min_ns = self.last_ns = self.ended_ns = 0
        self._observer: base.Observer | None = None
        self._wanted_calls = self._wanted_ns = self._seen_calls = self._seen_ns = 0
        self._times: deque[int] = deque(maxlen=base.MOST_TIMES)

    def watch(self, observer: base.Observer | None, calls: int, spent_ns: int) -> None:
        self._observer, self._wanted_calls, self._wanted_ns = observer, calls, spent_ns

    def retire(self) -> None:
        pass  # the Dispatcher beside it finds nothing anyway

    def run(self, arguments: tuple[object, ...], originals: tuple[object, ...] | None = None) -> object:
        originals = arguments if originals is None else originals
        fresh = tuple(self._fresh(arguments)) if self._fresh is not None else ()
        returned = (Slot * max(1, len(self._values)))()
        failure = FailureStruct(-1, 0, 0)
        threads = _allowed_threads(self.threads, self._parallel)
        call, keep = _laid_out((*arguments, *fresh), returned, failure, threads)
        if self._guard is not None and not self._guard(ctypes.byref(call)):
            return self._guard_failed(arguments, originals)
        failed, spent_ns = self._called(call, failure)
        self.record(spent_ns)
        del keep
        if failed:
            raise self._fail(failure.site, failure.index, failure.size)
        result = self.result(originals, fresh, returned)
        self.tell()
        return result

    def _called(self, call: CallStruct, failure: FailureStruct) -> tuple[int, int]:
        """What the code returns, and the nanoseconds that it took."""
        by = interruptible()
        if by is not None:
            return by.call(self._address, call, failure)
        started = time.perf_counter_ns()
        failed = self._entry(ctypes.byref(call))
        return failed, time.perf_counter_ns() - started

    def record(self, spent_ns: int) -> None:
        """A call has been made, and is over."""
        self.count(spent_ns)
        self.note(spent_ns)

    def count(self, spent_ns: int) -> None:
        """A call has been made; it has kept the CPU for so long."""
        self.min_ns = min(self.min_ns, spent_ns) if self.calls else spent_ns
        self.calls += 1
        self.total_ns += spent_ns
        self.last_ns, self.ended_ns = spent_ns, time.perf_counter_ns()

    def note(self, spent_ns: int) -> None:
        """How long a call has taken, for the observer."""
        self._seen_calls += 1
        self._seen_ns += spent_ns
        self._times.append(spent_ns)

    def tell(self) -> None:
        """Tell the observer, where there is enough to tell; its failure is no failure of the call."""
        if self._observer is None or (self._seen_calls < self._wanted_calls and self._seen_ns < self._wanted_ns):
            return
        last = tuple(self._times)[-self._seen_calls :]
        self._seen_calls = self._seen_ns = 0
        try:
            self._observer(last)
        except Exception as error:
            report: Any = SimpleNamespace(
                exc_type=type(error), exc_value=error, exc_traceback=error.__traceback__, err_msg=None,
                object=self._observer,
            )  # fmt: skip
            sys.unraisablehook(report)

    def result(self, originals: Sequence[object], fresh: Sequence[object], returned: ctypes.Array[Slot]) -> object:
        """What the call returns: arguments as the caller wrote them, fresh arrays, scalars."""
        found: list[object] = []
        for code, number in self._values:
            if code == base.ARGUMENT:
                found.append(originals[number])
            elif code == base.FRESH:
                found.append(fresh[number])
            elif code == base.NOTHING:
                found.append(None)
            elif code == base.LIST:
                array: Any = found.pop()
                found.append(list(array) if number or isinstance(array, tuple) else array.tolist())
            elif code == base.SET:
                found.append(set(found.pop()))  # type: ignore[call-overload]
            elif code == base.DICT:
                values, keys = found.pop(), found.pop()
                found.append(dict(zip(keys, values, strict=True)))  # type: ignore[call-overload]
            elif code == base.ZIP:
                lists = found[len(found) - number :]
                del found[len(found) - number :]
                found.append(list(zip(*lists, strict=True)))
            elif code == base.NAMED:
                found.append(base.named(number, found.pop()))  # type: ignore[arg-type]
            elif code == base.COMPLEX:
                imag: Any = found.pop() if number == 2 else None
                found.append(self.complex_of(found.pop(), imag) if number else as_pairs(found.pop()))
            elif code == base.MAYBE:
                is_there = found.pop()
                value = found.pop()
                found.append(value if is_there else None)
            elif code in (base.TUPLE, base.CUT, base.VIEW):
                items = found[len(found) - number :]
                del found[len(found) - number :]
                made = {base.CUT: self.cut, base.VIEW: self.part}.get(code)
                found.append(tuple(items) if made is None else made(found.pop(), items))
            else:
                found.append(read_slot(returned[number], code))
        if self._returns == 2:
            return tuple(found)
        return found[0] if self._returns in (1, 3) else None

    def cut(self, array: Any, sizes: Sequence[Any]) -> object:
        """An array of its own with the first elements along the first axes."""
        return array[tuple(slice(0, size) for size in sizes)].copy()

    def complex_of(self, real: Any, imag: Any) -> object:
        """See ir.signature.as_complex."""
        return as_complex(real, imag)

    def part(self, array: object, numbers: Sequence[Any]) -> object:
        """See ir.signature.part_of."""
        return part_of(array, numbers)


class CallEnded(Exception):
    """Another thread has ended the call."""


class EndableEntry(Entry):
    """An Entry whose calls another thread can end. One call at a time; it raises CallEnded then."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._until = ctypes.c_int32()

    def run(self, arguments: tuple[object, ...], originals: tuple[object, ...] | None = None) -> object:
        if self._until.value:
            raise CallEnded
        return super().run(arguments, originals)

    def end(self) -> None:
        """The call that runs now, or begins next, ends soon."""
        self._until.value = 1

    def renew(self) -> None:
        """The next call runs again."""
        self._until.value = 0

    def _called(self, call: CallStruct, failure: FailureStruct) -> tuple[int, int]:
        by = interruptible()
        if by is None:
            return super()._called(call, failure)
        found = by.call(self._address, call, failure, self._until)
        if found[0] and failure.site < 0 and self._until.value:
            raise CallEnded
        return found


class Constants:
    """See devices.base.Constants."""

    def __init__(self, facts: base.Facts) -> None:
        self._facts = [(kind, namespace, key, *value) if value else (kind, namespace, key, ABSENT)
                       for kind, namespace, key, *value in facts]  # fmt: skip

    def hold(self) -> bool:
        return all(value_now(kind, space, key) is value for kind, space, key, value in self._facts)


class Dispatcher:
    """See devices.base.Dispatcher; it keeps no table."""

    def __init__(
        self,
        *,
        slow: Callable[[tuple[object, ...], Mapping[str, object]], object],
        context: base.Context,
        names: tuple[str, ...],
        defaults: tuple[object, ...] | FunctionType,
        written: tuple[bool, ...],
        refuses: Callable[[type], bool],
        describe: Callable[[np.dtype[Any]], int],
        indices: tuple[int, ...],
        failed: base.Failed | None,
        own: base.Own | None,
    ) -> None:
        del context, names, defaults, written, indices, refuses, describe, failed, own
        self._slow = slow

    def __call__(self, *args: object, **kwargs: object) -> object:
        return self._slow(args, kwargs)

    def key(self, arguments: tuple[object, ...]) -> bytes | None:
        return None

    def find(self, key: bytes, config: object, arguments: tuple[object, ...]) -> Entry | None:
        return None

    def add(self, key: bytes, config: object, entry: base.Entry, arguments: tuple[object, ...] | None = None) -> None:
        pass

    def expand(self, structures: base.Structures, target: Callable[..., object]) -> None:
        pass

    def clear(self) -> None:
        pass
