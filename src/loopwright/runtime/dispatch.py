"""The call path of one kernel: from a call's arguments to a Plan and the code for it, each made once.

A repeated call is answered inside `Dispatch.call` (devices/launcher.c). This file owns what happens otherwise: binding,
the Signature, who is asked for a plan, and what is remembered of that. It is handed `compile`; it knows no tree, and it
runs nothing: execute.py does. It is safe under threads, and a call that is interrupted anywhere leaves it usable.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from loopwright.choice.base import BEGIN_NS, ORDERS_NS, Chooser, Experience, NoExperience
from loopwright.config import CURRENT, Config, current
from loopwright.deferred import deferred
from loopwright.devices.base import MOST_PARAMETERS, NOT_DONE, Dispatcher, Entry, Failed, Own, Structures
from loopwright.devices.launcher import load_launcher
from loopwright.errors import LoopwrightError
from loopwright.ir.captured import Found, defaults_of
from loopwright.ir.long_text import is_long_text
from loopwright.ir.plan import whole
from loopwright.ir.signature import BY_ELEMENT, Shape, Signature, shape_of
from loopwright.ir.variant import Compilation, Variant, compilation_of, default_variant, is_gpu
from loopwright.memory.arrays import refuses
from loopwright.memory.device_array import DeviceArray
from loopwright.memory.in_pieces import InPieces, on_host
from loopwright.memory.records import alignment_of
from loopwright.memory.tokens import tokens_of
from loopwright.runtime.bind import bind
from loopwright.runtime.code_table import CodeTable
from loopwright.runtime.compiled import Compile, Compiled
from loopwright.runtime.config_for import config_for
from loopwright.runtime.considered import Considered, FailedGuard, Kind
from loopwright.runtime.execute import NEVER, CallArguments, Executor, Serving
from loopwright.runtime.in_use import InUse, Run
from loopwright.runtime.locks import Locks
from loopwright.runtime.specialise import as_arguments, signature_of

if TYPE_CHECKING:
    from loopwright.choice.adapt import Decision, Standing
    from loopwright.devices import by_ctypes
    from loopwright.runtime import plane_calls, repeated_shares, sharing
else:
    by_ctypes = deferred("loopwright.devices.by_ctypes")
    plane_calls = deferred("loopwright.runtime.plane_calls")
    repeated_shares = deferred("loopwright.runtime.repeated_shares")
    sharing = deferred("loopwright.runtime.sharing")

MOST_SHAPES = 512
"""For how many shapes of calls a choice is remembered."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call before it runs: what `explain` needs. `arguments` as NumPy arrays; `given` as the caller wrote them."""

    arguments: tuple[object, ...]
    given: tuple[object, ...]
    signature: Signature
    config: Config
    compiled: Compiled


Refused = Callable[[Sequence[object], TypeError], TypeError]
"""Takes the positional arguments of a call and what is wrong with them; gives what is raised."""

Structured = Callable[[Sequence[object]], tuple[Callable[..., object], Sequence[object]] | None]
"""Takes the values of all parameters; gives what makes the call where some of them hold others, and with what."""

Recorder = Callable[[Prepared], AbstractContextManager[object]]
"""Called with each call before it is made; the call is made inside what it returns."""


class Dispatch:
    """All that one kernel remembers between calls. Call `dispatch.call(*args, **kwargs)`.

    name, parameters, defaults: the function's; instead of defaults, maybe the function that has them now. written:
    names of parameters that it may write. compile: makes the Compiled for a Compilation. experience: what was measured
    of it, None for nothing. refused: told of errors about arguments. structured: gives, for the values of all
    parameters where some of them hold others, what makes the call, and with which arguments. meanwhile: see
    load_launcher. failed, own: see devices.base.Dispatcher. shared: see sharing.Shared. planes: gives what calls ask
    whose arrays may be in planes on a GPU (plane_calls.py), None where none are."""

    call: Callable[..., object]
    planes: plane_calls.PlaneCalls | None
    _known_planes: plane_calls.PlaneCalls | None

    def __init__(
        self,
        name: str,
        parameters: Sequence[str],
        defaults: Mapping[str, object] | FunctionType,
        written: Collection[str],
        compile: Compile,
        experience: Experience | None = None,
        refused: Refused = lambda args, error: error,
        structured: Structured = lambda args: None,
        indices: Sequence[int] = (),
        meanwhile: Callable[[], object] = int,
        failed: Failed | None = None,
        own: Own | None = None,
        shared: sharing.Shared = lambda kind, shape, asked: None,
        planes: Callable[[], plane_calls.PlaneCompiler] | None = None,
    ) -> None:
        self.name = name
        self.parameters = tuple(sys.intern(one) for one in parameters)  # launcher.c compares addresses
        self._defaults = defaults
        self.written = frozenset(place for place, one in enumerate(parameters) if one in written)
        self.indices = tuple(indices) or (BY_ELEMENT,) * len(self.parameters)
        self._refused, self._structured, self._meanwhile = refused, structured, meanwhile
        self._failed, self._own, self._shared = failed, own, shared
        self._plane_compiler, self._known_planes, self.planes = planes, None, None
        self._experience = experience or NoExperience()
        self._choosers: dict[Kind, tuple[Compiled, Chooser | None]] = {}
        self._asked_orders: set[Kind] = set()
        self._serving: dict[tuple[Kind, Shape], Serving] = {}
        self._usual: dict[Kind, Serving] = {}
        self._locks = Locks()
        self.codes = CodeTable(compile, self._locks)
        self._executor = Executor(self.codes, self._locks, self.parameters, self.written)
        self._sharing: sharing.Sharing | None = None
        self._repeated_shares: repeated_shares.RepeatedShares | None = None
        self.shared_calls: Counter[Compilation] = Counter()  # by what the CPU has for its part
        self._dispatcher: Dispatcher | None = None
        self._answers = False
        self._completed: tuple[Callable[..., object], Callable[..., object]] | None = None
        self.call = self._first_call

    @property
    def direct(self) -> Callable[..., object] | None:
        """What answers calls by itself from now on, errors included; None while `call` has to be asked."""
        if self._completed is not None and self.call is self._completed[0]:
            return self._completed[1]
        return self._dispatcher if self._answers and self.call is self._dispatcher else None

    def complete(
        self, call: Callable[..., object], target: Callable[..., object], slow: Callable[..., object],
        found: Found,
    ) -> None:  # fmt: skip
        """From now on `call` makes calls, and `direct` does those that it would make as target(*arguments, *what the
        launcher finds), if there is any of that. slow: what makes all others."""
        self.call = call
        if any(found):
            launcher = load_launcher(current()).launcher
            self._completed = call, launcher.completed(target, slow, len(self.parameters), *found)

    def prepare(self, args: Sequence[object], kwargs: Mapping[str, object]) -> Prepared:
        """Compile for this call without running it; of one that devices may share, what the CPU does if it does all of
        it. Raises what the call itself would raise before it runs."""
        given, arguments = self._arguments(args, kwargs)
        asked = current()
        if len(asked.devices) > 1:
            signature, config = self._signature(arguments, None), sharing.on_one(asked, "cpu")
            return Prepared(arguments, given, signature, config, self._code(signature, config).compiled)
        asked = sharing.on_one(asked, asked.devices[0]) if asked.devices else asked
        config = config_for(arguments, asked, self.parameters)
        device = default_variant(config).device
        key = self._ready().key(arguments) if device == "cpu" else None
        signature = self._signature(arguments, key)
        return Prepared(arguments, given, signature, config, self._code(signature, config).compiled)

    def bound(self, args: Sequence[object], kwargs: Mapping[str, object]) -> tuple[object, ...]:
        """The value of each parameter, in order. Raises TypeError as the function would."""
        if not kwargs and len(args) == len(self.parameters):
            return tuple(args)
        now = self._defaults
        defaults = defaults_of(now) if isinstance(now, FunctionType) else now
        return bind(self.name, self.parameters, defaults, args, kwargs)

    def _has_plain_defaults(self) -> bool:
        now = self._defaults
        return known_kinds(tuple((defaults_of(now) if isinstance(now, FunctionType) else now).values()), None)

    def _structured_call(
        self, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> tuple[Callable[..., object], Sequence[object]] | None:
        """What makes a call in which arguments hold others, and with what; None for any other call, a wrong one too."""
        try:
            given = self.bound(args, kwargs)
        except TypeError:
            return None
        return self._structured(given)

    def _arguments(
        self, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> tuple[tuple[object, ...], tuple[object, ...]]:
        """The value of each parameter as it is given, and as `as_arguments` makes it."""
        try:
            given = self.bound(args, kwargs)
            return given, as_arguments(given, self.parameters)
        except TypeError as error:
            refused = self._refused(args, error)
            if refused is error:
                raise
        raise refused

    def considered(self, prepared: Prepared) -> Considered:
        """What would serve this call, and what is known of everything else that could. It runs nothing."""
        call, default = CallArguments(prepared.arguments, prepared.given), prepared.compiled
        kind = Kind(prepared.signature, prepared.config, call.resident == "all")
        serving, chooser = self._default(kind), self._chooser(kind, default)
        decision: Decision | None = None
        standings: tuple[Standing, ...] = ()
        if chooser is not None:
            with self._locks.making(kind):
                shape = chooser.shape_of(prepared.arguments)
            serving = self._made(chooser, kind, shape)
            with self._locks.making(kind):
                decision, standings = chooser.standings(shape)
        shape = serving.shape or shape_of(prepared.arguments)
        settled, error = self._executor.settled(serving, prepared.arguments)
        plan = self._executor.plan(settled, prepared.arguments)
        failed = FailedGuard(error) if settled is not serving or error is not None else None
        return Considered(kind.config, plan, settled.code.compiled, default, shape, decision, standings, failed)

    def served(self) -> tuple[Considered, ...]:
        """The same of the kinds and shapes for which there was a choice, oldest first, without what moves."""
        found = []
        for (kind, shape), one in list(self._serving.items()):
            default, chooser = self._choosers.get(kind, (one.code.compiled, None))
            if chooser is not None:
                with self._locks.making(kind):
                    told = chooser.standings(shape)
                found.append(Considered(kind.config, one.plan, one.code.compiled, default, shape, *told))
        return tuple(found)

    def _note_shared(self, kind: sharing.SharedKind, shape: Shape, asked: Config) -> None:
        with self._locks.tables:
            self.shared_calls[kind.code.compilation] += 1
        self._shared(kind, shape, asked)

    def shared(self) -> list[tuple[Signature, Config, sharing.SharedKind]]:
        """The kinds of calls under the option `devices` that there were, oldest first: see Sharing.kinds."""
        return [] if self._sharing is None else self._sharing.kinds()

    def expand(self, structures: Structures, target: Callable[..., object]) -> None:
        """Calls whose arguments hold others in this way are made by `target`, see Dispatcher.expand."""
        if self._dispatcher is not None:
            self._dispatcher.expand(structures, target)

    def record(self, recorder: Recorder) -> None:
        """From now on the recorder sees every call, which takes longer for that."""

        def recorded(*args: object, **kwargs: object) -> object:
            prepared = self.prepare(args, kwargs)
            with recorder(prepared):
                return self._slow(args, kwargs)

        self._ready()
        self.call = recorded

    def runs(self) -> tuple[Run, ...]:
        """The measurements of everything that has run: see CodeTable.runs."""
        return tuple(self.codes.runs())

    def compiled(self) -> tuple[Compiled, ...]:
        """Everything compiled so far, oldest first."""
        return tuple(one.compiled for one in self.codes)

    def forget(self) -> None:
        """Forget everything compiled: the next call starts anew."""
        self.learn_anew()
        self.shared_calls.clear()
        self.codes.clear()

    def learn_anew(self) -> None:
        """Something was measured: the next call of each kind asks what is known."""
        with self._locks.tables:
            self._choosers.clear()
            self._asked_orders.clear()
            self._usual.clear()
            self._serving.clear()
            self._sharing = self._repeated_shares = None
            self._executor.forget()
            if self._dispatcher is not None:
                self._dispatcher.clear()

    # ---- a call that the dispatcher does not know -----------------------------------------------------------

    def _first_call(self, *args: object, **kwargs: object) -> object:
        if current().device == "interpreter":  # nothing is compiled then, the launcher neither
            return self._slow(args, kwargs)
        self.call = self._ready()
        return self.call(*args, **kwargs)

    def _ready(self) -> Dispatcher:
        if self._dispatcher is None:
            loaded = load_launcher(current(), self._meanwhile)
            many = len(self.parameters) > MOST_PARAMETERS
            self._answers = not many and loaded.kind == "extension"
            made = (by_ctypes.Dispatcher if many else loaded.launcher.Dispatcher)(
                slow=self._slow if self._own is None else self._slow_with_own,
                context=CURRENT,
                names=self.parameters,
                defaults=self._trailing(),
                written=tuple(place in self.written for place in range(len(self.parameters))),
                indices=self.indices,
                refuses=refuses,
                describe=alignment_of,
                failed=self._failed,
                own=self._own,
            )
            with self._locks.tables:
                self._dispatcher = self._dispatcher or made
        return self._dispatcher

    def _trailing(self) -> tuple[object, ...] | FunctionType:
        if isinstance(self._defaults, FunctionType):
            return self._defaults
        defaults, last = self._defaults, reversed(self.parameters)
        return tuple(defaults[name] for name in takewhile(defaults.__contains__, last))[::-1]

    def _slow_with_own(self, args: tuple[object, ...], kwargs: Mapping[str, object] | None) -> object:
        def call() -> object:
            assert self._own is not None
            CURRENT.set(self._own(current()))
            return self._slow(args, kwargs)

        return copy_context().run(call)  # interrupted anywhere, no option stays behind

    def _slow(self, args: tuple[object, ...], kwargs: Mapping[str, object] | None) -> object:
        if self.planes is not None and self.planes.unasked > 0:
            self.planes.unasked -= 1
        elif self.planes is not None and not kwargs:
            if (result := self.planes.call(args, current())) is not NOT_DONE:
                return result
            if self.planes.over:  # calls of another kind look again
                self.planes = None
        return self._as_it_is(args, kwargs)

    def _as_it_is(self, args: tuple[object, ...], kwargs: Mapping[str, object] | None = None) -> object:
        """The same with arrays as they are."""
        if self._repeated_shares is not None and not kwargs and (asked := current()).devices:
            result = self._repeated_shares.again(args, asked, lambda call: partial(self._alone, call))
            if result is not NOT_DONE:
                return result
        tokens = None if kwargs else tokens_of(args)
        if tokens is not None and (result := self._executor.again(tokens, args)) is not NOT_DONE:
            return result
        is_plain = known_kinds(args, kwargs) and (len(args) == len(self.parameters) or self._has_plain_defaults())
        if not is_plain and (other := self._structured_call(args, kwargs or {})) is not None:
            return other[0](*other[1])
        given, arguments = self._arguments(args, kwargs or {})
        asked = current()
        if asked.devices:
            return self._by_several(CallArguments(arguments, given), asked, None if kwargs else args)
        return self._by_one(CallArguments(arguments, given, tokens if len(args) == len(arguments) else None), asked)

    def _by_several(self, call: CallArguments, asked: Config, args: tuple[object, ...] | None) -> object:
        """A call that several devices may share. args: all that the caller has written, None where some have names."""
        if len(asked.devices) == 1:
            return self._by_one(call, sharing.on_one(asked, asked.devices[0]))
        if asked.deterministic and not asked.strict:  # devices round otherwise, and who does what changes
            return self._by_one(call, sharing.on_one(asked, asked.devices[0]))
        signature, here = self._signature(call.arguments, None), sharing.on_one(asked, "cpu")
        default = self._default(Kind(signature, here))
        settled, error = self._executor.settled(default, call.arguments)
        if error is not None:
            raise error
        if settled is not default:  # every access is tested, and nothing reordered
            return self._by_one(call, here)
        result = self.sharing.call(call, signature, asked, partial(self._alone, call))
        result = call.resident_result(result, asked, "cpu") if call.keeps_results(asked) else result
        if args is not None and asked.results == "host":
            if self._repeated_shares is None:
                self._repeated_shares = repeated_shares.RepeatedShares(
                    self.sharing, self.codes.holds, self._dispatcher, self._is_settled
                )
            self._repeated_shares.remember(args, call, asked, default.code, signature)
        return result

    def _is_settled(self, signature: Signature, here: Config, arguments: tuple[object, ...]) -> bool:
        """Whether what the CPU has may make such a call, with no test of every access."""
        default = self._default(Kind(signature, here))
        return self._executor.settled(default, arguments) == (default, None)

    def _alone(self, call: CallArguments, config: Config, there: CallArguments | None = None) -> object:
        """A call that one of several devices makes. there: the same with arrays that are on a GPU."""
        if there is not None and there.tokens is not None:
            result = self._executor.again(there.tokens, there.arguments)
            if result is not NOT_DONE:
                return result
        return self._by_one(there or call, config)

    @property
    def sharing(self) -> sharing.Sharing:
        """Of calls under the option `devices`."""
        if self._sharing is None:
            made = sharing.Sharing(
                lambda signature, config: self._code(signature, config).compiled,
                self.parameters,
                self.written,
                self._note_shared,
                self._racer,
                lambda compiled, config: self._experience.work_form(compiled, sharing.on_one(config, "cpu")),
            )
            with self._locks.tables:
                self._sharing = self._sharing or made
        return self._sharing

    def _racer(self, signature: Signature, config: Config) -> Entry | None:
        """What calls the code of one device in a race: on a CPU another thread can end it. None where it has none."""
        serving = self._default(Kind(signature, config))
        compiled = serving.code.compiled
        if compiled.executable is None or compiled.takes_device_arrays != is_gpu(config.device):
            return None
        return self._executor.entry(serving) if compiled.takes_device_arrays else self._executor.endable(serving)

    def _by_one(self, call: CallArguments, asked: Config) -> object:
        if any(isinstance(one, InPieces) for one in call.arguments):
            return on_host(
                call.arguments, self.written, lambda here: self._by_one(CallArguments(here, call.given), asked)
            )
        arguments, given = call.arguments, call.given
        config = config_for(arguments, asked, self.parameters)
        may_be_there = bool(is_gpu(config.device) or config.variant)  # mostly not, and then nothing more is asked
        may_be_there = may_be_there and (default_variant(config).on_gpu or call.resident != "none")
        dispatcher = None if may_be_there or call.keeps_results(asked) else self._dispatcher
        key = None if dispatcher is None else dispatcher.key(arguments)
        if dispatcher is not None and key is not None:
            known = dispatcher.find(key, asked, arguments)
            if known is not None:
                return known.run(arguments, given)
        resident = call.resident
        if resident == "all" and self.planes is None and self._plane_compiler is not None:
            self._look_for_planes(call.given)
        serving = self._planned(Kind(self._signature(arguments, key), config, resident == "all"), arguments)

        def begins(entry: Entry) -> None:
            if resident != "some":  # how long those take depends on which ones are there
                self._watch(entry, serving)
            if dispatcher is not None and key is not None and not serving.code.compiled.takes_device_arrays:
                dispatcher.add(key, asked, entry, None if serving.shape is None else arguments)

        return self._executor.run(serving, call, begins)

    def laid_out(self, args: tuple[object, ...]) -> tuple[tuple[object, ...], tuple[str, ...]]:
        """The arguments of a call by position as it would find them, and what is known of their layouts, in words."""
        if self.planes is None:
            return args, ()
        return self.planes.planned(args), tuple(self.planes.told(args, self.parameters))

    def _look_for_planes(self, given: tuple[object, ...]) -> None:
        """From now on ask whether arrays are in planes, where such arguments may be."""
        known = self._known_planes
        if known is not None:
            self.planes = None if known.knows(given) else known
        elif any(isinstance(one, DeviceArray) and one.may_be_turned for one in given):
            assert self._plane_compiler is not None
            self.planes = plane_calls.PlaneCalls(self._plane_compiler(), self._as_it_is, self._structured)
            self._known_planes = self.planes

    def _signature(self, arguments: tuple[object, ...], key: bytes | None) -> Signature:
        signature = signature_of(arguments, self.written, self.parameters, self.indices)
        if key is not None and key[0] and not signature.overlap:
            return replace(signature, overlap=True)  # code must never rely on more than its key tells
        return signature

    # ---- plans ----------------------------------------------------------------------------------------------

    def _planned(self, kind: Kind, arguments: tuple[object, ...]) -> Serving:
        """What serves calls of this kind, and with such arguments where there is a choice."""
        default = self._default(kind)
        chooser = self._chooser(kind, default.code.compiled)
        if chooser is None:
            return default
        if chooser.over:
            self._choosers[kind] = default.code.compiled, None
            return default
        with self._locks.making(kind):
            shape = chooser.shape_of(arguments)
            found = self._serving.get((kind, shape))
            if found is not None and found.variant is chooser.choose(shape) and self.codes.holds(found.code):
                return found
            if chooser.due(shape):
                chooser.experiment(shape, arguments)
        made = self._made(chooser, kind, shape)
        with self._locks.tables:
            if len(self._serving) >= MOST_SHAPES:
                self._serving.clear()
            self._serving[kind, shape] = made
        return made

    def _default(self, kind: Kind) -> Serving:
        """What serves where nothing else is known."""
        found = self._usual.get(kind)
        if found is None or not self.codes.holds(found.code):
            variant = default_variant(kind.config)
            found = Serving(kind, None, whole(variant), self._code(kind.signature, kind.config, variant))
            self._usual[kind] = found
        return found

    def _made(self, chooser: Chooser, kind: Kind, shape: Shape) -> Serving:
        """What is chosen, compiled, while other threads choose and compile. What cannot be made is not chosen again."""
        while True:
            with self._locks.making(kind):
                chosen = chooser.choose(shape)
            try:
                code = self._code(kind.signature, kind.config, chosen)
            except LoopwrightError as error:
                if chosen.is_default:
                    raise
                why = str(error)
            else:
                goes_away = kind.resident and chosen.on_gpu and not code.compiled.takes_device_arrays
                if chosen.is_default or not goes_away:
                    return Serving(kind, shape, whole(chosen), code)
                why = "the CPU would run it, while its arrays are on the GPU"
            with self._locks.making(kind):
                chooser.failed(chosen, why)

    def _code(self, signature: Signature, config: Config, variant: Variant | None = None) -> InUse:
        return self.codes.code(compilation_of(signature, config, variant))

    def _chooser(self, kind: Kind, default: Compiled, served_ns: int = 0) -> Chooser | None:
        found = self._choosers.get(kind)
        if found is None or found[0] is not default or served_ns:
            with self._locks.making(kind):
                found = self._choosers.get(kind)
                if found is None or found[0] is not default or served_ns:
                    # Another schedule may round otherwise, and which one serves is a matter of measured times.
                    asked = NoExperience() if kind.config.deterministic else self._experience
                    chooser = asked.chooser(default, kind.config, served_ns, kind.resident)
                    found = self._choosers[kind] = default, chooser
        return found[1]

    def _watch(self, entry: Entry, serving: Serving) -> None:
        """Have it told how long calls take: where there is a choice, to whoever chooses; else, to whoever may begin to
        look for one."""
        kind, shape, chosen = serving.kind, serving.shape, serving.variant
        chooser = self._choosers[kind][1] if kind in self._choosers else None
        if chooser is None or shape is None:
            # Arguments that are there are not copied for experiments.
            begins_ns = BEGIN_NS if kind.config.explore and not kind.resident else NEVER
            begins_ns = min(begins_ns, ORDERS_NS) if self._may_order(kind) else begins_ns
            if begins_ns < NEVER:
                entry.watch(lambda times: self._begin(entry, kind), NEVER, begins_ns)
            return

        def served(times: Sequence[int]) -> None:
            with self._locks.making(kind):
                if not chooser.served(shape, chosen, times, entry.calls):
                    watch()
                    return
                self._serving.pop((kind, shape), None)
            self._executor.drop(serving, entry)

        def watch() -> None:
            patience = chooser.patience(shape, chosen)
            entry.watch(None if patience == (NEVER, NEVER) else served, *patience)
            if kind.resident and (closely := chooser.closely(shape)):
                gpu_entry: Any = entry  # an OffloadEntry
                gpu_entry.time_last(closely)

        with self._locks.making(kind):
            watch()

    def _may_order(self, kind: Kind) -> bool:
        """Whether nobody has asked so far for other orders of iterations on a CPU."""
        config = kind.config
        is_open = config.remap == "auto" and not (kind.resident or config.deterministic or config.variant)
        return is_open and config.device in ("auto", "cpu") and kind not in self._asked_orders

    def _begin(self, entry: Entry, kind: Kind) -> None:
        """It has served for long: from now on there may be a choice."""
        entry.watch(None, NEVER, NEVER)
        default = self._default(kind).code.compiled
        if self._may_order(kind):
            self._asked_orders.add(kind)
            chooser = self._experience.orders(default, kind.config)
            if chooser is not None:
                with self._locks.making(kind):
                    self._choosers[kind] = default, chooser
                self._executor.retire(entry)
                return
            if entry.total_ns < BEGIN_NS:
                self._watch(entry, self._default(kind))
                return
        if not kind.config.explore or kind.resident:
            return
        if self._chooser(kind, default, max(1, entry.total_ns)) is not None:
            self._executor.retire(entry)


_KNOWN = frozenset({np.ndarray, int, float, bool, type(None), str})


def known_kinds(args: Sequence[object], kwargs: Mapping[str, object] | None) -> bool:
    """Whether no argument can hold others; said quickly."""
    return not kwargs and all(type(one) in _KNOWN and not is_long_text(one) for one in args)
