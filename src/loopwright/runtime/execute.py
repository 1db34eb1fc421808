"""Running plans: the code of a Plan with the arguments of a call, in the memory where the arrays are; guards that fail;
the interpreter. It finds no plan and chooses none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from loopwright.config import Config, Tested, current
from loopwright.deferred import deferred
from loopwright.devices.base import NOT_DONE, Constants, Entry, Fresh
from loopwright.devices.launcher import load_launcher
from loopwright.errors import OffGpuError, warn_once
from loopwright.ir.plan import Plan, whole
from loopwright.ir.signature import Shape
from loopwright.ir.variant import PLAIN, RECIPE, Variant, default_variant, is_gpu
from loopwright.memory.device_array import base_of, note_writes
from loopwright.memory.host_array import HostArray, as_resident
from loopwright.memory.on_device import is_on_device
from loopwright.runtime.code_table import CodeTable
from loopwright.runtime.considered import Kind
from loopwright.runtime.in_use import InUse, Resident, allocated, allocator, facts_of
from loopwright.runtime.locks import Locks
from loopwright.toolchain.cc import find_compiler, why_none

if TYPE_CHECKING:
    from loopwright.devices import by_ctypes
    from loopwright.ir.launch_bound import LaunchBound
    from loopwright.memory import device_results, offload, parts
    from loopwright.runtime import run_shares
else:
    by_ctypes = deferred("loopwright.devices.by_ctypes")
    device_results = deferred("loopwright.memory.device_results")
    offload = deferred("loopwright.memory.offload")
    parts = deferred("loopwright.memory.parts")
    run_shares = deferred("loopwright.runtime.run_shares")

Arguments = tuple[object, ...]

NEVER = 2**62
"""After how many calls, or nanoseconds, somebody is told who is never told."""

MOST_ENTRIES = 512
"""For how many kinds and shapes of calls an Entry of some code is kept."""

MOST_REPEATED = 256
"""How many calls with certain arrays on a GPU are remembered, so that repeating them takes little time."""

MUCH = 4096
"""An array of so many elements, or a number as large, may be worth code of its own."""


class Serving(NamedTuple):
    """What serves calls of one kind, and of one shape where there is a choice: a plan and the code for it."""

    kind: Kind
    shape: Shape | None
    plan: Plan
    code: InUse

    @property
    def variant(self) -> Variant:
        """Of the one share that there is: what runs it may divide it (memory/parts.py)."""
        (share,) = self.plan.shares
        return share.variant

    @property
    def threads(self) -> int:
        """For the code, which on a GPU's host may use them too."""
        return self.variant.threads or self.kind.config.threads


class CallArguments(NamedTuple):
    """One call. arguments: as NumPy arrays and numbers; given: as the caller wrote them. tokens: what tells it from
    calls with other arrays, None where nothing does."""

    arguments: Arguments
    given: Arguments
    tokens: tuple[Hashable, ...] | None = None

    def keeps_results(self, config: Config) -> bool:
        """Whether something has to be done about arrays that it returns."""
        return config.results == "device" or any(type(one) is HostArray for one in self.given)

    def resident_result(self, result: object, config: Config, device: str) -> object:
        """What is returned where a call on this device has returned that."""
        where = device if config.results == "device" else None
        return as_resident(result, self.arguments, self.given, where)

    @property
    def resident(self) -> Resident:
        """How many of the arrays are in a GPU's memory."""
        there = [is_on_device(one) for one in self.arguments if isinstance(one, np.ndarray)]
        return "none" if not any(there) else "all" if all(there) else "some"


@dataclass(frozen=True, slots=True)
class _Repeated:
    """A call that was made before with the same arrays on a GPU, under an equal Config, while these hold. written:
    positions of each `lw.device_array` that it may write."""

    config: Config
    written: tuple[int, ...]
    constants: Constants
    again: offload.Again


class Executor:
    """Runs the plans of one kernel. written: positions of arguments that it may write."""

    def __init__(self, codes: CodeTable, locks: Locks, parameters: Sequence[str], written: Collection[int]) -> None:
        self._codes, self._locks, self._parameters, self._written = codes, locks, parameters, written
        self._repeated: dict[tuple[Hashable, ...], _Repeated] = {}

    def run(self, serving: Serving, call: CallArguments, begins: Callable[[Entry], None]) -> object:
        """Make the call. begins: told of the Entry that runs it before it does, where later calls may go straight to
        it."""
        if not call.keeps_results(serving.kind.config):
            return self._run_noted(serving, call, begins)
        given = tuple(one.argument() if isinstance(one, HostArray) else one for one in call.given)
        result = self._run_noted(serving, call._replace(given=given), begins)
        return call.resident_result(result, serving.kind.config, default_variant(serving.kind.config).device)

    def _run_noted(self, serving: Serving, call: CallArguments, begins: Callable[[Entry], None]) -> object:
        resident = call.resident
        if resident == "none":
            return self._run(serving, call, begins, resident)
        written = [base for k in self._written if (base := base_of(call.arguments[k])) is not None]
        note_writes(written)
        try:
            return self._run(serving, call, begins, resident)
        finally:
            note_writes(written)

    def _run(
        self, serving: Serving, call: CallArguments, begins: Callable[[Entry], None], resident: Resident
    ) -> object:
        if serving.code.compiled.takes_device_arrays and resident != "none":
            # Before an Entry for arrays that stay there is made, and repeated: what the sizes allow.
            serving, error = self.settled(serving, call.arguments)
            if error is not None:
                raise error
        compiled = serving.code.compiled
        if not compiled.takes_device_arrays and resident != "none":
            here = serving._replace(shape=None)
            return offload.through_host(
                call.arguments, self._written, lambda there: self._on_host(here, CallArguments(there, call.given))
            )
        if compiled.executable is None:
            return self._interpret(serving.code, call.arguments, call.given)
        entry = self.entry(serving, resident)
        begins(entry)
        if not compiled.takes_device_arrays:
            return entry.run(call.arguments, call.given)
        gpu_entry: Any = entry  # an OffloadEntry
        make = run_shares.MadeOnGpu(serving.variant, self._parameters)
        try:
            result = gpu_entry.run(call.arguments, call.given, make)
        except OffGpuError:
            return self._run(self._on_cpu(serving), call, lambda entry: None, resident)
        if call.tokens is not None and self._serves(serving.code, gpu_entry):
            self._remember(call.tokens, serving.code, gpu_entry, call.arguments)
        return result

    def _serves(self, code: InUse, entry: Entry) -> bool:
        """Whether it was not dropped in the call that it has just made, by who was told how long that took."""
        with self._locks.tables:
            return any(one is entry for one in code.entries.values())

    def again(self, tokens: tuple[Hashable, ...], args: Arguments) -> object:
        """Repeat a call with the same arrays on a GPU; NOT_DONE, and nothing done, where that cannot be."""
        repeated = self._repeated.get(tokens)
        if repeated is None or not repeated.constants.hold():
            return NOT_DONE
        if repeated.config is not (now := current()) and repeated.config != now:  # an options block makes one each time
            return NOT_DONE
        written: list[Any] = [args[k] for k in repeated.written]
        note_writes(written)
        try:
            return repeated.again.run(args)
        except OffGpuError:
            return NOT_DONE  # what makes the call now leaves it to the CPU
        finally:
            note_writes(written)

    def settled(self, serving: Serving, arguments: Arguments) -> tuple[Serving, Exception | None]:
        """What a call with these arguments runs: where their sizes fail the condition that the code relies on, code
        that tests more accesses; or the error that such a call is certain to raise."""
        compiled = serving.code.compiled
        executable = compiled.executable
        if executable is None or by_ctypes.guard_holds(executable.guard, arguments):
            return serving, None
        error = compiled.on_guard_failure(arguments)
        if error is not None or serving.code.compilation.semantics.checks == "all":
            return serving, error
        return self.settled(self._careful(serving, arguments), arguments)

    def plan(self, serving: Serving, arguments: Arguments) -> Plan:
        """What running it with these arguments will do: the plan of `serving`, with the device that its code is for,
        the parts that a GPU makes of it, and the data that moves."""
        arrays = [k for k, value in enumerate(arguments) if isinstance(value, np.ndarray)]
        return self._shares(serving, arguments)._replace(
            reads=tuple(self._parameters[k] for k in arrays),
            writes=tuple(self._parameters[k] for k in arrays if k in self._written),
        )

    def _shares(self, serving: Serving, arguments: Arguments) -> Plan:
        compiled = serving.code.compiled
        if compiled.takes_device_arrays:
            made = self._allocator(serving)
            fresh = () if made is None else made(arguments)
            executable: Any = compiled.executable  # a GpuExecutable
            return parts.planned(executable, serving.variant, self._parameters, arguments, fresh)
        here = Variant("cpu", compiled.compilation.schedule, serving.threads)
        here = Variant("cpu", PLAIN, 1) if compiled.compilation.semantics.checks == "all" else here
        here = Variant("interpreter", PLAIN) if compiled.executable is None else here
        if not any(map(is_on_device, arguments)):
            return whole(here)
        return whole(here, tuple(offload.moves_through_host(arguments, self._parameters, self._written)))

    def entry(self, serving: Serving, resident: Resident = "none") -> Entry:
        """What calls the code; the same one each time. resident: of the arrays of these calls."""
        key, entries = (serving.kind.config, serving.threads, serving.shape, resident), serving.code.entries
        launcher = load_launcher(current()).launcher  # first, since it may have to be built
        with self._locks.tables:
            entry = entries.get(key)
            if entry is None:
                if len(entries) >= MOST_ENTRIES:
                    serving.code.let_go()
                entry = entries[key] = self._new_entry(serving, launcher.Entry)
            return entry

    def endable(self, serving: Serving) -> by_ctypes.EndableEntry:
        """What calls the code of a CPU, so that another thread can end the call."""
        found: Any = self._new_entry(serving, by_ctypes.EndableEntry)
        return found  # type: ignore[no-any-return]

    def retire(self, entry: Entry) -> None:
        """No call goes straight to this Entry any more."""
        entry.retire()
        self._repeated.clear()

    def drop(self, serving: Serving, entry: Entry) -> None:
        """Nobody uses it any more: who serves such calls next has another one."""
        entry.watch(None, NEVER, NEVER)
        self.retire(entry)
        with self._locks.tables:
            entries = serving.code.entries
            serving.code.let_go([key for key, one in entries.items() if one is entry])

    def forget(self) -> None:
        """The same of every Entry."""
        with self._locks.tables:
            self._repeated.clear()
            for code in self._codes:
                for entry in code.entries.values():
                    entry.watch(None, NEVER, NEVER)
                    entry.retire()
                code.let_go()

    def _new_entry(self, serving: Serving, other: Callable[..., Entry]) -> Entry:
        compiled, executable = serving.code.compiled, serving.code.compiled.executable
        assert executable is not None

        def guard_failed(arguments: Arguments, originals: Arguments) -> object:
            return self._guard_failed(serving, arguments, originals)

        return executable.entry_type(other)(
            entry=executable.entry,
            guard=executable.guard,
            threads=serving.threads,
            parallel=bool(executable.program.parallel),
            returns=compiled.returns.shape,
            values=compiled.returns.values,
            constants=facts_of(serving.code),
            fresh=self._allocator(serving),
            fail=executable.failure,
            guard_failed=guard_failed,
            payload=executable,
        )

    def _allocator(self, serving: Serving) -> Fresh | None:
        """What makes the arrays that calls return."""
        compiled, executable = serving.code.compiled, serving.code.compiled.executable
        if compiled.results is None:
            return None
        if serving.kind.config.results == "host" or not compiled.takes_device_arrays:
            return allocator(compiled.results)
        there: Any = executable  # a GpuExecutable
        kept, where = device_results.kept_of(compiled.returns.values), compiled.compilation.device
        return device_results.KeptResults(compiled.results, kept, there.gpu, where, there.reach, allocated)

    def _on_host(self, serving: Serving, call: CallArguments) -> object:
        if serving.code.compiled.executable is None:
            return self._interpret(serving.code, call.arguments, call.given)
        return self.entry(serving).run(call.arguments, call.given)

    def _interpret(self, code: InUse, arguments: Arguments, given: Arguments) -> object:
        wanted = code.compilation
        if wanted.device != "interpreter" and find_compiler(wanted.tools) is None:
            warn_once("no compiler", why_none(wanted.tools))
        return code.interpreted.run(arguments, given)

    def _guard_failed(self, serving: Serving, arguments: Arguments, originals: Arguments) -> object:
        """The condition on the sizes does not hold: an error that is certain, or a run with more accesses checked, or
        one on the CPU."""
        code = serving.code
        meaning = code.compilation.semantics
        if self._tests_data_next(code):  # its own condition is about all the rest
            return self._on_host(self._careful(serving, arguments), CallArguments(arguments, originals))
        error = code.compiled.on_guard_failure(arguments)
        if error is not None:
            raise error
        if meaning.checks == "all":  # checked code relies on no condition; if it did, only the reference is left
            return code.interpreted.run(arguments, originals)
        return self._on_host(self._careful(serving, arguments), CallArguments(arguments, originals))

    def _careful(self, serving: Serving, arguments: Arguments) -> Serving:
        """The same with code that relies on less, see `_next_checks`, or on the CPU, which is done sooner."""
        code = serving.code
        if any(one.holds(arguments) for one in _launch_bounds(code)):
            return self._on_cpu(serving)
        checks = self._next_checks(code, arguments)
        if checks not in code.careful:  # whose constants hold where those of this code do
            wanted = code.compilation._replace(semantics=code.compilation.semantics._replace(checks=checks))
            wanted = wanted._replace(schedule=RECIPE) if checks == "unguarded" else wanted
            code.careful[checks] = self._codes.code(wanted, "checked" if checks == "all" else "careful")
        return serving._replace(shape=None, code=code.careful[checks])

    def _on_cpu(self, serving: Serving) -> Serving:
        """The same with code for the CPU, where calls end sooner that have little to do at once."""
        code = serving.code
        if "cpu" not in code.careful:
            wanted = code.compilation._replace(device="cpu", schedule=RECIPE)
            code.careful["cpu"] = self._codes.code(wanted, "careful")
        return serving._replace(shape=None, code=code.careful["cpu"])

    def _next_checks(self, code: InUse, arguments: Arguments) -> Tested:
        """What code tests for calls whose sizes fail the condition of this code: what data decide, where that is behind
        the condition, as a table for indices of 8 bits often has no 256 places; for calls with much to do whatever is
        not proven for all sizes, with steps like any other code, also on a GPU; or every access, on the CPU."""
        if self._tests_data_next(code):
            return "data"
        wanted = code.compilation
        if wanted.semantics.checks not in ("auto", "data") or not any(map(_is_much, arguments)):
            return "all"  # in few instructions: small calls come here again and again
        compiles = wanted.device == "cpu" or is_gpu(wanted.device)
        is_free = compiles and wanted.schedule != PLAIN and wanted.tools.built_folder is None
        return "unguarded" if is_free else "all"

    def _tests_data_next(self, code: InUse) -> bool:
        wanted, executable = code.compilation, code.compiled.executable
        if executable is None or not executable.program.on_data:
            return False
        return wanted.semantics.checks == "auto" and wanted.schedule in (RECIPE, PLAIN)

    def _remember(
        self, tokens: tuple[Hashable, ...], code: InUse, entry: offload.OffloadEntry, arguments: Arguments
    ) -> None:
        """Repeat this call at little cost from now on, where nothing can change but numbers and elements."""
        if any(not isinstance(one, np.ndarray | int | float) for one in arguments):
            return
        again = entry.again(arguments)
        if again is not None:
            constants = load_launcher(current()).launcher.Constants(facts_of(code))
            with self._locks.tables:
                if len(self._repeated) >= MOST_REPEATED:
                    self._repeated.clear()
                written = tuple(k for k in self._written if base_of(arguments[k]) is not None)
                self._repeated[tokens] = _Repeated(current(), written, constants, again)


def _launch_bounds(code: InUse) -> Sequence[LaunchBound]:
    executable = code.compiled.executable
    return () if executable is None else executable.program.launch_bounds


def _is_much(argument: object) -> bool:
    """Whether a call with this argument may have much to do."""
    if isinstance(argument, np.ndarray):
        return argument.size >= MUCH
    return isinstance(argument, (int, np.integer)) and abs(int(argument)) >= MUCH
