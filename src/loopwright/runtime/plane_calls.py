"""`PlaneCalls`: the calls of one kernel whose arrays stay on a GPU, and may be in planes there between calls. It asks
`choice/array_layouts.py` what each call runs on, has arrays converted (memory/planes.py), and makes the call on them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from loopwright.choice.array_layouts import ArrayUses, CallKind, PlaneUse
from loopwright.config import Config
from loopwright.devices.base import NOT_DONE
from loopwright.devices.gpu import Gpu
from loopwright.errors import DeviceMemoryError, LoopwrightError
from loopwright.forks import free_in_child
from loopwright.memory.device_array import DeviceArray
from loopwright.memory.on_device import Where
from loopwright.memory.planes import WHOLE, Convert, Planes, PlanesView, leaves_of

MOST_KINDS = 64
"""Kinds of calls that are remembered."""

_NUMBERS = (int, float, np.integer, np.floating, np.bool_)

Arguments = tuple[object, ...]
Arrays = Mapping[int, DeviceArray]


@dataclass(frozen=True, slots=True)
class PlaneCompiler:
    """What needs a compiler. uses: what calls with these arguments do with each of some of them, by position; none
    where they do not run on the GPU. why_not: why a call with planes in their places would not run there, or would
    round otherwise; '' where it does. convert: see memory/planes.py."""

    uses: Callable[[Arguments, Arrays], Sequence[PlaneUse]]
    why_not: Callable[[Arguments, Arguments], str]
    convert: Convert
    recall: Callable[[Arguments, str], Any] = lambda args, name: None
    keep: Callable[[str, Any], None] = lambda name, content: None
    """What is known of such calls from earlier processes, and what later ones are told; by a name of their kind."""


Apart = Callable[[Sequence[object]], tuple[Callable[..., object], Sequence[object]] | None]
"""Gives what makes a call in which some arguments hold others, and its arguments (dispatch.Structured)."""


@dataclass(frozen=True, slots=True)
class _LastCall:
    """A call of a known kind that may come again. arrays: what is known of those that could be in planes; it keeps
    neither them nor their planes alive. in_planes: whether they are; target: what makes the call then."""

    kind: CallKind
    arrays: tuple[tuple[PlaneUse, ArrayUses], ...]
    in_planes: bool = False
    target: Callable[..., object] | None = None


class PlaneCalls:
    """as_it_is: makes a call with arrays as they are; apart: see there."""

    def __init__(self, compiler: PlaneCompiler, as_it_is: Callable[[Arguments], object], apart: Apart) -> None:
        self._compiler, self._as_it_is, self._apart = compiler, as_it_is, apart
        self._kinds: dict[tuple[object, ...], CallKind] = {}
        self._targets: dict[tuple[type, ...], Callable[..., object]] = {}
        self._lock = free_in_child(threading.Lock())
        self._last: _LastCall | None = None
        self.unasked = 0
        """So many calls are made without asking, from now on."""
        self._asked: tuple[Config | None, bool] = (None, False)

    @property
    def over(self) -> bool:
        """Whether no kind of call has anything to gain."""
        return all(kind.phase == "over" for kind in self._kinds.values()) and bool(self._kinds)

    def call(self, args: Arguments, config: Config) -> object:
        """Make a call with arrays in planes, or one that is timed; NOT_DONE, and nothing done, for any other."""
        arrays = _arrays_of(args)
        if not arrays or not self._is_free(config, next(iter(arrays.values())).where):
            return NOT_DONE
        kind = self._kind(args)
        if kind is None or kind.phase == "over":
            return NOT_DONE
        if kind.phase == "new":
            self._look(kind, args, arrays)
        last = self._last
        if last is not None and last.kind is kind and (result := self._again(last, args, arrays)) is not NOT_DONE:
            return result
        with self._lock:
            uses = self._in_planes(kind, arrays)
            is_timed = kind.timed and kind.is_meant(bool(uses))
            gpu = next(iter(arrays.values())).gpu if is_timed else None
        if uses:
            return self._with_planes(kind, args, arrays, uses, gpu)
        if gpu is not None:
            result, time_ns = _timed(gpu, lambda: self._as_it_is(args))
            self._note(kind, args, False, time_ns)
            return result
        self._note(kind, args, False, None)
        if not kind.could_follow:
            if len(self._kinds) == 1:
                self.unasked = kind.unasked()
            return NOT_DONE
        before = [(arrays[use.position], _is_up_to_date(arrays[use.position])) for use in kind.uses]
        result = self._as_it_is(args)
        for array, is_up_to_date in before:
            if kind.phase == "known" or is_up_to_date:  # with planes, this call would have been no look from outside
                _is_seen(array)
        if kind.phase == "known":
            self._repeat(kind, arrays, None)
        return result

    def planned(self, args: Arguments) -> Arguments:
        """The arguments on which such a call would run now; converts nothing."""
        arrays = _arrays_of(args)
        kind = self._kinds.get(_key(args)) if arrays else None
        if kind is None or kind.phase != "known":
            return args
        found = list(args)
        for use in kind.uses:
            array = arrays[use.position]
            if isinstance(array.beside, Planes) and _account(array).in_planes:
                found[use.position] = array.beside.view(array, use.fields)
        return tuple(found)

    def told(self, args: Arguments, names: Sequence[str]) -> Iterator[str]:
        """For reports: what is known of each array of such a call that could be in planes."""
        arrays = _arrays_of(args)
        kind = self._kinds.get(_key(args)) if arrays else None
        if kind is None:
            return
        for use in kind.uses:
            planes = _planes(arrays[use.position].beside)
            is_there = planes is not None and _account(arrays[use.position]).in_planes
            yield kind.told(use, names[use.position], is_there, planes.filled if planes is not None else 0,
                            planes.written_back if planes is not None else 0)  # fmt: skip

    def knows(self, args: Arguments) -> bool:
        """Whether there were such calls."""
        return _key(args) in self._kinds

    def _is_free(self, config: Config, where: Where) -> bool:
        """Whether options leave the choice."""
        asked = self._asked
        if asked[0] is not config:
            named = config.schedule or config.variant or config.devices or config.layout != "auto"
            other = config.deterministic or config.recipe != "auto" or config.checks != "auto"
            asked = self._asked = config, not (named or other)
        return asked[1] and config.device in ("auto", where)

    def _note(self, kind: CallKind, args: Arguments, in_planes: bool, time_ns: float | None) -> None:
        was = kind.phase
        with self._lock:
            kind.made(in_planes, time_ns)
        if was == "planes" and kind.phase == "known":
            self._compiler.keep(_name(args), kind.content())

    def _look(self, kind: CallKind, args: Arguments, arrays: Arrays) -> None:
        """At what is known of such calls, at first, and after a while at what they do."""
        if not kind.calls:
            self._recall(kind, args, arrays)
        if kind.due:
            kind.inspected(self._compiler.uses(args, arrays))

    def _recall(self, kind: CallKind, args: Arguments, arrays: Arrays) -> None:
        content = self._compiler.recall(args, _name(args))
        with suppress(KeyError, TypeError, ValueError):  # whatever a store may hold
            kind.recall(content)
        known = {use.position for use in kind.uses}
        if not known <= arrays.keys() or any(not _has(arrays[use.position], use) for use in kind.uses):
            kind.uses, kind.phase = (), "new"

    # ---- what a call runs on ------------------------------------------------------------------------------------

    def _kind(self, args: Arguments) -> CallKind | None:
        kind = self._kinds.get(key := _key(args))
        if kind is None and len(self._kinds) < MOST_KINDS:
            kind = self._kinds[key] = CallKind()
        return kind

    def _in_planes(self, kind: CallKind, arrays: Arrays) -> list[PlaneUse]:
        """The arrays that are in planes for the next call."""
        if kind.phase == "planes":
            return list(kind.uses)
        if kind.follows:
            return list(kind.uses) if self._follows(kind, arrays) else []
        if kind.phase != "known":
            return []
        wanted = [self._wants(kind, arrays[term[0].position], *term) for term in kind.terms()]
        return list(kind.uses) if all(wanted) else []  # there is code for all of them together

    def _follows(self, kind: CallKind, arrays: Arrays) -> bool:
        """Whether a call runs on planes that others have filled."""
        accounts = [_account(arrays[use.position]) for use in kind.uses]
        if not all(one.in_planes for one in accounts):
            return False
        return kind.avoids(sum(one.price_ns for one in accounts))

    def _wants(
        self, kind: CallKind, array: DeviceArray, use: PlaneUse, net_ns: float, in_ns: float, back_ns: float
    ) -> bool:
        account = _account(array)
        if array.touched:
            net_ns -= back_ns
            kind.converted(back_ns if account.in_planes else 0.0)
        if account.uses and account.version != array.version:
            net_ns -= in_ns
        usual_ns, left = kind.usual_ns(net_ns), kind.uses_left(account)
        if account.in_planes and net_ns > 0.0:
            return account.stays(net_ns)
        expected_ns = left * usual_ns if left > 0.0 else None
        return account.wanted(net_ns, in_ns, back_ns, expected_ns, kind.may_bet(in_ns + back_ns))

    def _again(self, last: _LastCall, args: Arguments, arrays: Arrays) -> object:
        """The last call once more, on what it ran on, if its arrays are those, and nobody has used them since; else
        NOT_DONE, and nothing done. What it means for the next call is thought about while the GPU is at work."""
        kind = last.kind
        if kind.phase != "known" or kind.timed:
            return NOT_DONE
        if any(arrays[use.position].account is not account for use, account in last.arrays):
            return NOT_DONE
        given = list(args)
        with _held([self._beside(arrays[use.position]).lock for use, _ in last.arrays] if last.in_planes else ()):
            for use, account in last.arrays:
                array = arrays[use.position]
                if account.in_planes != last.in_planes or not _is_up_to_date(array):
                    return NOT_DONE
                if last.in_planes:
                    planes = self._beside(array)
                    if planes.missing(array, use.fields):
                        return NOT_DONE
                    given[use.position] = planes.view(array, use.fields)
            if last.target is None:
                result = self._as_it_is(args)
            else:
                for use, _ in last.arrays:
                    self._beside(arrays[use.position]).written(arrays[use.position], use.written)
                result = last.target(*[leaf for one in given for leaf in leaves_of(one)])
            for use, _ in last.arrays:
                _is_seen(arrays[use.position])
            with self._lock:
                for term in kind.terms():
                    if self._wants(kind, arrays[term[0].position], *term) != last.in_planes:
                        self._last = None
                kind.made(last.in_planes, None)
        return result

    def _repeat(self, kind: CallKind, arrays: Arrays, given: Sequence[object] | None) -> None:
        """Such calls may be made by `_again`. given: what the call was made on, where that was not its arguments."""
        accounts = tuple((use, _account(arrays[use.position])) for use in kind.uses)
        if given is None:
            self._last = None if any(one.in_planes for _, one in accounts) else _LastCall(kind, accounts)
            return
        views = tuple(type(one) for one in given if isinstance(one, PlanesView))
        target = self._targets[views] if views else lambda *args: self._as_it_is(args)
        self._last = _LastCall(kind, accounts, True, target)

    def _beside(self, array: DeviceArray) -> Planes:
        planes = _planes(array.beside)
        if planes is None:
            planes = Planes(array, self._compiler.convert)
            array.put_beside(planes)
        return planes

    def _with_planes(
        self, kind: CallKind, args: Arguments, arrays: Arrays, uses: Sequence[PlaneUse], gpu: Gpu | None
    ) -> object:
        is_trial = kind.phase == "planes"
        given = list(args)
        with _held([self._beside(arrays[use.position]).lock for use in uses]):
            try:
                for use in uses:
                    given[use.position] = self._filled(kind, arrays[use.position], use, is_trial)
            except DeviceMemoryError:
                kind.failed("the GPU has little room for planes")
                for use in uses:
                    arrays[use.position].used()  # whatever is newer in planes
                    arrays[use.position].beside = None
                return NOT_DONE
            if not kind.is_made and (why := self._why_not(kind, args, tuple(given))):
                kind.failed(why)
                return NOT_DONE
            for use in uses:
                self._beside(arrays[use.position]).written(arrays[use.position], use.written)
            if gpu is None:
                result, time_ns = self._on(given), None
            else:
                result, time_ns = _timed(gpu, lambda: self._on(given))
            self._note(kind, args, True, time_ns)
            for use in uses:
                array = arrays[use.position]
                _account(array).in_planes = kind.phase in ("known", "planes") or (kind.follows and not is_trial)
                _is_seen(array)
            if kind.phase == "known":
                self._repeat(kind, arrays, given)
        return result

    def _on(self, given: Sequence[object]) -> object:
        """Make a call with views of planes."""
        views = tuple(type(one) for one in given if isinstance(one, PlanesView))
        if not views:
            return self._as_it_is(tuple(given))
        target = self._targets.get(views)
        if target is None:
            found = self._apart(given)
            assert found is not None
            target = self._targets[views] = found[0]
        return target(*(leaf for one in given for leaf in leaves_of(one)))

    def _filled(self, kind: CallKind, array: DeviceArray, use: PlaneUse, is_trial: bool) -> object:
        """The planes of an array, up to date, as an argument."""
        planes = self._beside(array)
        if not kind.is_made:
            planes.look_for_room(array, use.fields)
        if is_trial and use.position not in kind.in_ns:
            self._price(kind, planes, array, use)
        if planes.missing(array, use.fields):
            planes.bring(array, use.fields)
            kind.converted(kind.in_ns.get(use.position, 0.0) + kind.back_ns(use))  # and once back, in the end
        _account(array).price_ns = kind.in_ns.get(use.position, _account(array).price_ns)
        return planes.view(array, use.fields)

    def _price(self, kind: CallKind, planes: Planes, array: DeviceArray, use: PlaneUse) -> None:
        """Measure what converting takes."""
        planes.settle(array)
        planes.bring(array, use.fields)  # it waits for a compiler
        planes.forget_fields(use.fields)
        in_ns, back_ns = _spent_ns(array.gpu, lambda: planes.bring(array, use.fields)), 0.0
        for _ in range(2 if use.written else 0):  # the first time, too
            planes.written(array, use.written)
            back_ns = _spent_ns(array.gpu, lambda: planes.settle(array))
        kind.priced(use, in_ns, back_ns)

    def _why_not(self, kind: CallKind, args: Arguments, given: Arguments) -> str:
        """Asked once of a kind of call."""
        try:
            why = self._compiler.why_not(args, given)
        except LoopwrightError as error:
            why = f"it cannot be compiled for planes: {str(error).splitlines()[0]}"
        kind.is_made = True
        return why


def _arrays_of(args: Arguments) -> dict[int, DeviceArray]:
    """Those that could be in planes, by position; none where one is there twice, where some are in planes, and where
    others are not on a GPU."""
    found: dict[int, DeviceArray] = {}
    for k, one in enumerate(args):
        if type(one) is DeviceArray:
            if one.may_be_turned and not one.is_seen:
                if found and any(one is other for other in found.values()):
                    return {}
                found[k] = one
        elif not isinstance(one, _NUMBERS):
            return {}
    return found


def _account(array: DeviceArray) -> ArrayUses:
    """What is known of an array."""
    account = array.account
    if account is None:
        account = array.account = ArrayUses()
    assert isinstance(account, ArrayUses)
    return account


def _is_up_to_date(array: DeviceArray) -> bool:
    """Whether nobody has used it since it was seen."""
    return not array.touched and _account(array).version == array.version


def _is_seen(array: DeviceArray) -> None:
    """Whatever was done to an array until now is accounted for."""
    array.touched, _account(array).version = False, array.version


def _key(args: Arguments) -> tuple[object, ...]:
    return tuple((one.shape, one.dtype) if isinstance(one, DeviceArray) else type(one) for one in args)


def _name(args: Arguments) -> str:
    return ", ".join(f"{one.shape} {one.dtype}" if isinstance(one, DeviceArray) else type(one).__name__ for one in args)


def _has(array: DeviceArray, use: PlaneUse) -> bool:
    """Whether an array has the fields that a use names."""
    return set(use.written) <= set(use.fields) <= set(array.dtype.names or (WHOLE,))


def _planes(beside: object) -> Planes | None:
    return beside if isinstance(beside, Planes) else None


def _held(locks: Sequence[AbstractContextManager[bool]]) -> AbstractContextManager[object]:
    """All of them."""
    if not locks:
        return nullcontext()
    if len(locks) == 1:
        return locks[0]
    with ExitStack() as held:
        for lock in locks:
            held.enter_context(lock)
        return held.pop_all()


def _timed(gpu: Gpu, make: Callable[[], object]) -> tuple[object, float]:
    """What a call returns, and how long the GPU takes for it."""
    gpu.synchronize()
    timer = gpu.timer()
    with timer:
        result = make()
    gpu.synchronize()
    return result, float(timer.finished_ns() or 0)


def _spent_ns(gpu: Gpu, make: Callable[[], object]) -> float:
    """How long it takes until the GPU is done with something, the host's part included."""
    gpu.synchronize()
    started = time.perf_counter_ns()
    make()
    gpu.synchronize()
    return float(time.perf_counter_ns() - started)
