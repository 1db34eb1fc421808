"""The call path of one kernel: from a call's arguments to the code made for such calls, compiling at most once.

A repeated call is answered inside `Dispatch.call` (devices/launcher.c). This file owns what happens otherwise:
binding, the Signature, the table of variants, guards that fail, the interpreter. It is handed `compile`; it knows
no tree. It is safe under threads, and a call that is interrupted anywhere leaves it usable.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import takewhile
from types import FunctionType
from typing import TYPE_CHECKING

import numpy as np

from loopwright.choice.base import BEGIN_NS, Chooser, Experience, NoExperience
from loopwright.choice.variants import config_for
from loopwright.config import CURRENT, Config, current
from loopwright.deferred import deferred
from loopwright.devices.base import MOST_PARAMETERS, NOT_DONE, Constants, Dispatcher, Entry, Launcher
from loopwright.devices.launcher import load_launcher
from loopwright.errors import LoopwrightError, warn_once
from loopwright.ir.captured import defaults_of
from loopwright.ir.signature import Signature
from loopwright.memory.arrays import refusal, refuses
from loopwright.memory.on_device import OnDevice, is_on_device
from loopwright.memory.records import alignment_of
from loopwright.memory.tokens import tokens_of
from loopwright.profile.measurement import Shape, Variant, shape_of
from loopwright.runtime.bind import bind
from loopwright.runtime.compiled import Compile, Compiled
from loopwright.runtime.considered import Considered, Kind
from loopwright.runtime.in_use import Interpreted, InUse, Resident, Run, allocator, facts_of, refreshed, runs_of
from loopwright.runtime.specialise import as_arguments, signature_of
from loopwright.toolchain.cc import find_compiler, why_none

if TYPE_CHECKING:
    from loopwright.devices import by_ctypes
    from loopwright.memory import offload
else:
    by_ctypes = deferred("loopwright.devices.by_ctypes")
    offload = deferred("loopwright.memory.offload")


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

Recorder = Callable[[Prepared], AbstractContextManager[object]]
"""Called with each call before it is made; the call is made inside what it returns."""


@dataclass(frozen=True, slots=True)
class _Serving:
    """What serves calls of one kind and shape, and the Variant that it is."""

    variant: InUse
    config: Config
    chosen: Variant


@dataclass(frozen=True, slots=True)
class _Repeated:
    """A call that was made before with the same arrays on a GPU, under this very Config, while these hold."""

    config: Config
    constants: Constants
    again: offload.Again


class Dispatch:
    """All that one kernel remembers between calls. Call `dispatch.call(*args, **kwargs)`.

    name, parameters, defaults: the function's; instead of defaults, maybe the function that has them now. written:
    names of parameters that it may write. compile: makes the Compiled for a Signature under a Config; it must not
    depend on `config.threads`, which is passed to the code at each call. experience: what was measured of it, None for
    nothing. refused: told of errors about arguments."""

    call: Callable[..., object]

    def __init__(
        self,
        name: str,
        parameters: Sequence[str],
        defaults: Mapping[str, object] | FunctionType,
        written: Collection[str],
        compile: Compile,
        experience: Experience | None = None,
        refused: Refused = lambda args, error: error,
    ) -> None:
        self.name = name
        self.parameters = tuple(sys.intern(one) for one in parameters)  # launcher.c compares addresses
        self._defaults = defaults
        self.written = frozenset(place for place, one in enumerate(parameters) if one in written)
        self._compile = compile
        self._refused = refused
        self._experience = experience or NoExperience()
        self._choosers: dict[Kind, tuple[Compiled, Chooser | None]] = {}
        self._serving: dict[tuple[Kind, Shape], _Serving] = {}
        self._variants: dict[tuple[Signature, Config], list[InUse]] = {}
        self._repeated: dict[tuple[Hashable, ...], _Repeated] = {}
        self._lock = threading.RLock()
        self._dispatcher: Dispatcher | None = None
        self._launcher: Launcher | None = None
        self.call = self._first_call
        _alive.add(self)

    def prepare(self, args: Sequence[object], kwargs: Mapping[str, object]) -> Prepared:
        """Compile for this call without running it. Raises what the call itself would raise before it runs."""
        given, arguments = self._arguments(args, kwargs)
        config = _where(arguments, current(), self.parameters)
        dispatcher = None if config.device == "interpreter" or config.on_gpu else self._ready()
        signature = self._signature(arguments, None if dispatcher is None else dispatcher.key(arguments))
        return Prepared(arguments, given, signature, config, self._variant(signature, config).compiled)

    def bound(self, args: Sequence[object], kwargs: Mapping[str, object]) -> tuple[object, ...]:
        """The value of each parameter, in order. Raises TypeError as the function would."""
        now = self._defaults
        defaults = defaults_of(now) if isinstance(now, FunctionType) else now
        return bind(self.name, self.parameters, defaults, args, kwargs)

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
        kind = Kind(prepared.signature, prepared.config, _resident(prepared.arguments) == "all")
        chooser = self._chooser(kind, prepared.compiled)
        if chooser is None:
            return Considered(prepared.config, prepared.compiled, prepared.compiled, shape_of(prepared.arguments))
        with self._lock:
            shape = chooser.shape_of(prepared.arguments)
            compiled = self._made(chooser, kind, shape).variant.compiled
            return Considered(kind.config, compiled, prepared.compiled, shape, *chooser.standings(shape))

    def served(self) -> tuple[Considered, ...]:
        """The same of the kinds and shapes for which there was a choice, oldest first."""
        found = []
        with self._lock:
            for (kind, shape), one in self._serving.items():
                default, chooser = self._choosers.get(kind, (one.variant.compiled, None))
                if chooser is not None:
                    told = chooser.standings(shape)
                    found.append(Considered(kind.config, one.variant.compiled, default, shape, *told))
        return tuple(found)

    def record(self, recorder: Recorder) -> None:
        """From now on the recorder sees every call, which takes longer for that."""

        def recorded(*args: object, **kwargs: object) -> object:
            prepared = self.prepare(args, kwargs)
            with recorder(prepared):
                return self._slow(args, kwargs)

        self._ready()
        self.call = recorded

    def runs(self) -> tuple[Run, ...]:
        """The measurements of everything that has run, oldest variant first."""
        return tuple(run for variants in list(self._variants.values()) for one in variants for run in runs_of(one))

    def compiled(self) -> tuple[Compiled, ...]:
        """Everything compiled so far, oldest first."""
        return tuple(one.compiled for variants in list(self._variants.values()) for one in variants)

    def forget(self) -> None:
        """Forget everything compiled: the next call starts anew."""
        with self._lock:
            self._variants.clear()
            self._choosers.clear()
            self._serving.clear()
            self._repeated.clear()
            if self._dispatcher is not None:
                self._dispatcher.clear()

    def learn_anew(self) -> None:
        """Something was measured: the next call of each kind asks what is known."""
        with self._lock:
            self._choosers.clear()
            self._serving.clear()
            self._repeated.clear()
            for variants in self._variants.values():
                for variant in variants:
                    for entry in variant.entries.values():
                        entry.retire()
                    variant.entries.clear()
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
            launcher = load_launcher(current()).launcher
            with self._lock:
                if self._dispatcher is None:
                    self._launcher = launcher
                    self._dispatcher = self._new_dispatcher(launcher)
        return self._dispatcher

    def _new_dispatcher(self, launcher: Launcher) -> Dispatcher:
        many = len(self.parameters) > MOST_PARAMETERS
        return (by_ctypes.Dispatcher if many else launcher.Dispatcher)(
            slow=self._slow,
            context=CURRENT,
            names=self.parameters,
            defaults=self._trailing(),
            written=tuple(place in self.written for place in range(len(self.parameters))),
            refuses=refuses,
            describe=alignment_of,
        )

    def _trailing(self) -> tuple[object, ...] | FunctionType:
        if isinstance(self._defaults, FunctionType):
            return self._defaults
        defaults, last = self._defaults, reversed(self.parameters)
        return tuple(defaults[name] for name in takewhile(defaults.__contains__, last))[::-1]

    def _slow(self, args: tuple[object, ...], kwargs: Mapping[str, object] | None) -> object:
        tokens = None if kwargs else tokens_of(args)
        repeated = None if tokens is None else self._repeated.get(tokens)
        if repeated is not None and repeated.config is CURRENT.get() and repeated.constants.hold():
            result = repeated.again.run(args)
            if result is not NOT_DONE:
                return result
        given, arguments = self._arguments(args, kwargs or {})
        asked = current()
        config = _where(arguments, asked, self.parameters)
        dispatcher = None if config.on_gpu else self._dispatcher
        key = None if dispatcher is None else dispatcher.key(arguments)
        if dispatcher is not None and key is not None:
            known = dispatcher.find(key, asked, arguments)
            if known is not None:
                return known.run(arguments, given)
        signature = self._signature(arguments, key)
        resident = _resident(arguments)
        kind = Kind(signature, config, resident == "all")
        variant = self._variant(signature, config)
        chooser = self._chooser(kind, variant.compiled)
        shape = None if chooser is None else chooser.shape_of(arguments)
        chosen: Variant | None = None
        if chooser is not None and shape is not None:
            serving = self._chosen(chooser, kind, shape, arguments)
            variant, config, chosen = serving.variant, serving.config, serving.chosen
        if not variant.compiled.takes_device_arrays and resident != "none":
            return offload.through_host(arguments, self.written, lambda there: self._run(variant, config, there, given))
        if variant.compiled.executable is None:
            return self._interpret(variant, arguments, given, config)
        entry = self._entry(variant, config, shape, resident)
        if resident != "some":  # how long those take depends on which ones are there
            self._watch(entry, kind, shape, chosen)
        on_gpu = variant.compiled.takes_device_arrays
        if dispatcher is not None and key is not None and not on_gpu:
            dispatcher.add(key, asked, entry, None if shape is None else arguments)
        result = entry.run(arguments, given)
        if tokens is not None and on_gpu and len(args) == len(arguments):
            self._remember(tokens, variant, entry, arguments)
        return result

    # ---- choice ---------------------------------------------------------------------------------------------

    def _chooser(self, kind: Kind, default: Compiled, served_ns: int = 0) -> Chooser | None:
        found = self._choosers.get(kind)
        if found is None or found[0] is not default or served_ns:
            with self._lock:
                # Another schedule may round otherwise, and which one serves is a matter of measured times.
                pinned = kind.config.deterministic
                chooser = None if pinned else self._experience.chooser(default, kind.config, served_ns, kind.resident)
                found = self._choosers[kind] = default, chooser
        return found[1]

    def _chosen(self, chooser: Chooser, kind: Kind, shape: Shape, arguments: tuple[object, ...]) -> _Serving:
        """What serves calls of this kind and shape."""
        with self._lock:
            found = self._serving.get((kind, shape))
            if found is not None and found.chosen is chooser.choose(shape) and refreshed(found.variant):
                return found
            if chooser.due(shape):
                chooser.experiment(shape, arguments)
            if len(self._serving) >= _MOST_SHAPES:
                self._serving.clear()
            made = self._serving[kind, shape] = self._made(chooser, kind, shape)
            return made

    def _made(self, chooser: Chooser, kind: Kind, shape: Shape) -> _Serving:
        """What is chosen, compiled. What cannot be made is not chosen again."""
        while True:
            chosen = chooser.choose(shape)
            config = config_for(chosen, kind.config)
            try:
                return _Serving(self._variant(kind.signature, config), config, chosen)
            except LoopwrightError as error:
                if chosen.is_default:
                    raise
                chooser.failed(chosen, str(error))

    def _watch(self, entry: Entry, kind: Kind, shape: Shape | None, chosen: Variant | None) -> None:
        """Have it told how long calls take: where there is a choice, to whoever chooses; else, to whoever may begin to
        look for one."""
        _, chooser = self._choosers[kind]
        if chooser is None or shape is None or chosen is None:
            if kind.config.explore and not kind.resident:  # arguments that are there are not copied for experiments
                entry.watch(lambda times: self._begin(entry, kind), _NEVER, BEGIN_NS)
            return

        def served(times: Sequence[int]) -> None:
            with self._lock:
                if chooser.served(shape, chosen, times):
                    self._open(entry, kind, shape)
                else:
                    entry.watch(served, *chooser.patience(shape, chosen))

        entry.watch(served, *chooser.patience(shape, chosen))

    def _begin(self, entry: Entry, kind: Kind) -> None:
        """It has served for long: from now on there may be a choice."""
        entry.watch(None, _NEVER, _NEVER)
        default = self._variant(kind.signature, kind.config).compiled
        if self._chooser(kind, default, max(1, entry.total_ns)) is not None:
            entry.retire()
            self._repeated.clear()

    def _open(self, entry: Entry, kind: Kind, shape: Shape) -> None:
        """The next call of this kind and shape asks again."""
        entry.watch(None, _NEVER, _NEVER)
        entry.retire()
        found = self._serving.pop((kind, shape), None)
        if found is not None:
            found.variant.entries.pop((found.config, shape, "all" if kind.resident else "none"), None)
        self._repeated.clear()

    def _remember(
        self, tokens: tuple[Hashable, ...], variant: InUse, entry: Entry, arguments: tuple[object, ...]
    ) -> None:
        """Repeat this call at little cost from now on, where nothing can change but numbers and elements."""
        assert isinstance(entry, offload.OffloadEntry)
        if any(not isinstance(one, np.ndarray | int | float) for one in arguments):
            return
        again = entry.again(arguments)
        if again is not None:
            assert self._launcher is not None
            constants = self._launcher.Constants(facts_of(variant))
            with self._lock:
                if len(self._repeated) >= _MOST_REPEATED:
                    self._repeated.clear()
                self._repeated[tokens] = _Repeated(CURRENT.get(), constants, again)

    def _run(self, variant: InUse, config: Config, arguments: tuple[object, ...], given: tuple[object, ...]) -> object:
        if variant.compiled.executable is None:
            return self._interpret(variant, arguments, given, config)
        return self._entry(variant, config, None).run(arguments, given)

    def _signature(self, arguments: tuple[object, ...], key: bytes | None) -> Signature:
        signature = signature_of(arguments, self.written, self.parameters)
        if key is not None and key[0] and not signature.overlap:
            return replace(signature, overlap=True)  # code must never rely on more than its key tells
        return signature

    def _interpret(
        self, variant: InUse, arguments: tuple[object, ...], given: tuple[object, ...], config: Config
    ) -> object:
        if config.device != "interpreter" and find_compiler(config) is None:
            warn_once("no compiler", why_none(config))
        return variant.interpreted.run(arguments, given)

    # ---- variants -------------------------------------------------------------------------------------------

    def _variant(self, signature: Signature, config: Config, how: str = "compiled") -> InUse:
        """The variant for this Signature whose constants still hold, compiled where there is none."""
        key = (signature, replace(config, threads=1, variant="", explore=True, store=None))
        with self._lock:
            for variant in self._variants.get(key, ()):
                if refreshed(variant):
                    return variant
            compiled = self._compile(signature, config)
            if compiled.executable is None:
                how = "interpreter"
            values = tuple(constant.value for constant in compiled.constants)
            variant = InUse(signature, config, compiled, values, how, Interpreted(compiled))
            kept = self._variants.setdefault(key, [])
            kept.append(variant)
            del kept[:-_MOST_VALUES]
            return variant

    def _entry(self, variant: InUse, config: Config, shape: Shape | None, resident: Resident = "none") -> Entry:
        with self._lock:
            entry = variant.entries.get((config, shape, resident))
            if entry is None:
                if len(variant.entries) >= _MOST_SHAPES:
                    variant.entries.clear()
                entry = variant.entries[config, shape, resident] = self._new_entry(variant, config)
            return entry

    def _new_entry(self, variant: InUse, config: Config) -> Entry:
        self._ready()
        assert self._launcher is not None
        compiled, executable = variant.compiled, variant.compiled.executable
        assert executable is not None

        def guard_failed(arguments: tuple[object, ...], originals: tuple[object, ...]) -> object:
            return self._guard_failed(variant, config, arguments, originals)

        return executable.entry_type(self._launcher.Entry)(
            entry=executable.entry,
            guard=executable.guard,
            threads=config.threads,
            parallel=bool(executable.program.parallel),
            returns=compiled.returns.shape,
            values=compiled.returns.values,
            constants=facts_of(variant),
            fresh=None if compiled.results is None else allocator(compiled.results),
            fail=executable.failure,
            guard_failed=guard_failed,
            payload=executable,
        )

    def _guard_failed(
        self, variant: InUse, config: Config, arguments: tuple[object, ...], originals: tuple[object, ...]
    ) -> object:
        """The condition on the sizes does not hold: an error that is certain, or a run with every access checked."""
        error = variant.compiled.on_guard_failure(arguments)
        if error is not None:
            raise error
        if config.checks == "all":  # checked code relies on no condition; if it did, only the reference is left
            return variant.interpreted.run(arguments, originals)
        # It means what this code means, beside the test of every access.
        careful = replace(config, checks="all", narrowing="raise" if config.narrowing_raises else "wrap")
        checked = self._variant(variant.signature, careful, "checked")
        if checked.compiled.executable is None:
            return self._interpret(checked, arguments, originals, config)
        return self._entry(checked, careful, None).run(arguments, originals)


# For how many values of its captured constants a kernel keeps code, for one Signature: a global counter that
# changes at every call must not fill the memory.
_MOST_VALUES = 8

# For how many shapes of calls a choice is remembered.
_MOST_SHAPES = 512
_NEVER = 2**62

# How many calls with certain arrays on a GPU are remembered, so that repeating them takes little time.
_MOST_REPEATED = 256


def _resident(arguments: Sequence[object]) -> Resident:
    """How many of the arrays are in a GPU's memory."""
    there = [is_on_device(one) for one in arguments if isinstance(one, np.ndarray)]
    return "none" if not any(there) else "all" if all(there) else "some"


def _where(arguments: Sequence[object], config: Config, names: Sequence[str]) -> Config:
    """The Config for a call: a variant that is asked for says what to do; arrays in a GPU's memory are used there.
    Raises ArgumentTypeError where they cannot be."""
    if config.variant:
        config = config_for(Variant.parse(config.variant), config)
    for name, value in zip(names, arguments, strict=True):
        if isinstance(value, OnDevice) and config.device != value.where:
            if config.device != "auto":
                raise refusal(name, f"the array is in a GPU's memory, and device={config.device!r}", "device='auto'")
            config = replace(config, device=value.where)
    return config


# ---- forks ------------------------------------------------------------------------------------------------------

_alive: weakref.WeakSet[Dispatch] = weakref.WeakSet()


def _new_locks() -> None:
    """In a forked child: another thread of the parent may have held a lock that nobody will release here."""
    for dispatch in list(_alive):
        dispatch._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_locks)
