"""Calls under `lw.options(devices=...)`: the members of each kind of call, what is decided for it, and what was
measured of it. shared_call.py makes a call that several share; a call that one device makes goes the way of any other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from loopwright.choice.division import Assignment, Division
from loopwright.config import PLANS, Config
from loopwright.devices import gpus
from loopwright.devices.base import NOT_DONE
from loopwright.devices.gpu import Gpu
from loopwright.errors import DeviceError, DeviceMemoryError, PlanError, warn_once
from loopwright.ir.plan import Plan
from loopwright.ir.signature import Shape, Signature, shape_of
from loopwright.ir.variant import is_gpu
from loopwright.memory.array_copies import ArrayCopies
from loopwright.memory.arrays import refusal
from loopwright.memory.device_array import base_of, note_writes
from loopwright.memory.in_pieces import IN_USE, InPieces
from loopwright.memory.on_device import OnDevice, dense
from loopwright.memory.region_call import RegionProgram
from loopwright.profile.work_form import WorkForm
from loopwright.runtime.compiled import Compiled
from loopwright.runtime.energy_goal import EnergyGoal
from loopwright.runtime.execute import CallArguments
from loopwright.runtime.in_use import as_given
from loopwright.runtime.locks import Locks
from loopwright.runtime.part_sources import EvenParts, FixedParts, GuidedParts, PlannedParts
from loopwright.runtime.partial_copies import are_too_large
from loopwright.runtime.participants import Event, Participant
from loopwright.runtime.pieces_on_one import OnOneGpu, can_be
from loopwright.runtime.quiet import Quiet
from loopwright.runtime.race_call import NotReady, RaceCall
from loopwright.runtime.racing import Racing
from loopwright.runtime.region_plans import RegionPlans
from loopwright.runtime.shared_call import SharedCall

MOST_KINDS = 256
"""For how many kinds and shapes of calls it is remembered how devices share them."""

NOMINAL = 1 << 20
"""Iterations of a call that cannot be shared, whatever it has."""


_locks = Locks()
"""Calls that use several devices come one after the other: they have the same ones, and kernels of one program report
to one place."""


class Timeline(NamedTuple):
    """The last shared call of a kind: what was decided, None where nothing was known; who did what and when, how long
    each device was busy, how many iterations it has done, and how long all of it took. calls: so many were
    shared. plan: the option. stop_ns: how long the winner of a race waited for the others to stop."""

    devices: tuple[str, ...]
    decision: Assignment | None
    events: Sequence[Event]
    busy_ns: tuple[int, ...]
    done: tuple[int, ...]
    started_ns: int
    total_ns: int
    calls: int = 1
    plan: str = "auto"
    stop_ns: int = 0


@dataclass(slots=True)
class SharedKind:
    """Calls of one signature under some options. code: the CPU's, which they are made of: another one where a constant
    has changed. programs: of the devices that may share, none where fewer than two
    can; host: for what only the host does; why: of devices that cannot share; able: who can make such a call alone.
    divisions, timelines: by shape; runs_alone: whether a GPU makes all of a call. racing: of calls that devices race
    for."""

    code: Compiled
    programs: dict[str, RegionProgram]
    host: RegionProgram | None
    why: dict[str, str]
    able: tuple[str, ...]
    divisions: dict[Shape, Division] = field(default_factory=dict)
    timelines: dict[Shape, Timeline] = field(default_factory=dict)
    quiet: dict[Shape, Quiet] = field(default_factory=dict)
    energy: dict[Shape, EnergyGoal] = field(default_factory=dict)
    tried: dict[Shape, set[int]] = field(default_factory=dict)
    plans: dict[Shape, RegionPlans] = field(default_factory=dict)
    runs_alone: dict[str, bool] = field(default_factory=dict)
    racing: Racing | None = None

    def untried(self, shape: Shape, division: Division, asked: Config) -> Assignment | None:
        """A device that is to make such a call by itself once: of several regions the time of all of them together says
        little of what one device takes, which may have another program for all, and copies nothing in between."""
        if asked.plan != "auto" or len(self.programs) < 2 or len(next(iter(self.programs.values())).codes) < 2:
            return None
        tried = self.tried.setdefault(shape, set())
        place = next((k for k in range(len(self.programs)) if k not in tried and k not in division.failures), None)
        if place is None:
            return None
        tried.add(place)
        return division.alone(place, "each device by itself once")

    def for_goal(self, shape: Shape, division: Division, asked: Config) -> Assignment | None:
        """Who is to make such a call where joules count; None where time does, or nobody knows the watts."""
        if asked.goal == "time" or len(division.devices) < 2:
            return None
        stated = {name: (at_work, idle) for name, at_work, idle in asked.watts}
        energy = self.energy.setdefault(shape, EnergyGoal(division.devices, stated))
        if (place := energy.next_alone) is not None:
            return division.alone(place, "its joules are counted")
        found = energy.best(division, asked.goal, bool(self.programs))
        if found is None:
            remedy = "lw.options(watts='cpu 150/60, cuda:0 700/100')"
            why = f"the shortest time is taken instead, as watts are not known: {'; '.join(energy.lines())}"
            warn_once("joules", f"goal={asked.goal!r}: {why}\n  try: {remedy}")
        return found

    def is_quiet(self, shape: Shape) -> bool:
        """Whether nothing is measured of the present call."""
        quiet = self.quiet.get(shape)
        return quiet is not None and quiet.is_quiet

    def is_metered(self, shape: Shape) -> bool:
        """Whether joules of the present call are counted."""
        energy = self.energy.get(shape)
        return energy is not None and energy.next_alone is not None

    def metered(self, shape: Shape, place: int) -> AbstractContextManager[object]:
        """Count the joules of a call that a device makes by itself, where they are asked for."""
        energy = self.energy.get(shape)
        return energy.metered(place) if energy is not None and energy.next_alone == place else nullcontext()

    @property
    def told(self) -> str:
        """Why devices do not take part."""
        return "; ".join(f"{name}: {why}" for name, why in self.why.items()) or "no parallel loop of it can be divided"


# ---- calls ------------------------------------------------------------------------------------------------------

CodeOf = Callable[[Signature, Config], Compiled]
EntryOf = Callable[[Signature, Config], Any]
FormOf = Callable[[Compiled, Config], WorkForm | None]
Alone = Callable[..., object]
"""Makes a call under a Config that names one device: that which devices were asked for, or another one."""
Shared = Callable[[SharedKind, Shape, Config], object]
"""Told of each call that was shared, and of its options, once its Timeline is there."""


class Sharing:
    """The calls of one kernel under the option `devices`. code_of: compiles for a signature under a Config that names
    one device; names: of the parameters; written: positions of those that it may write; told: of calls; entry_of: gives
    what calls the code of one device in a race, None where it has none; form_of: how much calls have to do. epoch:
    another one where what was known before is forgotten."""

    def __init__(
        self, code_of: CodeOf, names: Sequence[str], written: Collection[int], told: Shared,
        entry_of: EntryOf = lambda signature, config: None, form_of: FormOf = lambda compiled, config: None,
    ) -> None:  # fmt: skip
        self._code_of, self._names, self._written, self._told = code_of, names, written, told
        self._entry_of, self._form_of = entry_of, form_of
        self._kinds: dict[tuple[Signature, Config, Sequence[str]], SharedKind] = {}
        self._locks = Locks()
        self.epoch = 0

    def call(self, call: CallArguments, signature: Signature, asked: Config, alone: Alone) -> object:
        """Make a call. alone: makes it under a Config that names one device. Raises what a call raises, and
        PlanError."""
        kind = self._kind(signature, asked, _residence(call.arguments))
        return self.repeated(kind, shape_of(call.arguments), call, signature, asked, alone)

    def repeated(
        self, kind: SharedKind, shape: Shape, call: CallArguments, signature: Signature, asked: Config, alone: Alone
    ) -> object:
        """The same where it is known what kind of call it is."""
        arguments = call.arguments
        names = tuple(kind.programs)
        if asked.plan not in PLANS:
            parts = PlannedParts(Plan.parse(asked.plan), asked.devices)
            if len(names) < len(asked.devices):
                raise PlanError(f"this call cannot be shared: {kind.told}")
            return self._shared(kind, shape, None, call, asked, parts)
        homes = {value.where for value in arguments if isinstance(value, OnDevice)}
        in_pieces = bool(names) and any(isinstance(value, InPieces) for value in arguments)
        on_host = not homes and not in_pieces
        division = self._division(kind, shape, asked, arguments, on_host)
        if division is None:
            one_region = len(kind.programs[names[0]].codes) == 1
            first: GuidedParts | FixedParts = GuidedParts(_places(names)) if one_region else EvenParts(len(names))
            return self._shared(kind, shape, None, call, asked, first)
        quiet = kind.quiet.setdefault(shape, Quiet())
        decision = quiet.next()
        if decision is None and on_host:
            decision = kind.for_goal(shape, division, asked)
            if decision is not None and not kind.is_metered(shape):
                decision = quiet.decided(decision)
            decision = decision or kind.untried(shape, division, asked)
        decision = decision or quiet.decided(division.decide())
        if decision.kind == "race":
            return self._raced(kind, shape, division, call, asked, alone)
        if decision.kind == "single":
            (place,) = decision.devices
            one = on_one(asked, division.devices[place])
            if not names and homes:
                return alone(on_one(asked, "auto"))
            if in_pieces and not homes:
                result = self._in_pieces(kind, division, decision, quiet, call, signature, asked, alone)
                if result is not NOT_DONE:
                    return result
            if on_host or homes == {division.devices[place]}:
                if quiet.is_quiet:
                    return alone(one)
                try:
                    self._code_of(signature, one)  # which takes its time
                    with kind.metered(shape, place):
                        return self._alone(division, decision, asked, alone)
                except DeviceError as error:
                    division.failed(place, str(error).split("\n")[0])
                    if homes:
                        raise
                return self.call(call, signature, asked, alone)  # another one makes it
        if decision.kind == "guided" and len(kind.programs[names[0]].codes) == 1:
            return self._shared(kind, shape, decision, call, asked, GuidedParts(_places(names)))
        fixed = EvenParts(len(names)) if decision.kind == "guided" else FixedParts(division.iterations, decision.parts)
        return self._shared(kind, shape, decision, call, asked, fixed)

    def _in_pieces(
        self, kind: SharedKind, division: Division, decision: Assignment, quiet: Quiet, call: CallArguments,
        signature: Signature, asked: Config, alone: Alone,
    ) -> object:  # fmt: skip
        """A call with arrays in pieces that one GPU makes as a whole; NOT_DONE, and nothing done, where it cannot."""
        (place,) = decision.devices
        name = division.devices[place]
        gpu = gpus.gpu_of(name) if is_gpu(name) else None
        if gpu is None or kind.host is None or kind.host.results or asked.goal != "time" or not can_be(call.arguments):
            return NOT_DONE
        if name not in kind.runs_alone:
            kind.runs_alone[name] = self._runs_on(name, signature, asked)
        if not kind.runs_alone[name]:
            return NOT_DONE
        there = OnOneGpu(name, gpu, self._written)

        def make(config: Config) -> object:
            return there.run(call, lambda other: alone(config, other))

        try:
            with _locks.making("devices"):
                if quiet.is_quiet:
                    return make(on_one(asked, name))
                return self._alone(division, decision, asked, make)
        except DeviceMemoryError:
            raise
        except DeviceError as error:
            division.failed(place, str(error).split("\n")[0])
            quiet.left = 0
        return self.call(call, signature, asked, alone)  # others make it

    def _division(
        self, kind: SharedKind, shape: Shape, asked: Config, arguments: Sequence[Any], on_host: bool
    ) -> Division | None:
        """Who decides; None before the first call that is shared, which tells how many iterations there are."""
        found = kind.divisions.get(shape)
        if found is not None:
            return found
        names = tuple(kind.programs)
        updated = {position for program in kind.programs.values() for position in program.updated}
        if kind.racing is not None and on_host:
            return self._keep(kind, shape, Division(kind.racing.names, range(NOMINAL), plan="race"))
        if len(names) < 2 or asked.plan in ("single", "race") or (on_host and are_too_large(arguments, updated)):
            return self._keep(kind, shape, Division(names or kind.able, range(NOMINAL), plan="single"))
        return None

    def told(
        self, arguments: Sequence[object], signature: Signature, asked: Config
    ) -> tuple[SharedKind, Timeline | None]:
        """What is known of such calls, and the last one that was shared."""
        kind = self._kind(signature, asked, _residence(arguments))
        return kind, kind.timelines.get(shape_of(arguments))

    def kinds(self) -> list[tuple[Signature, Config, SharedKind]]:
        """All that is known, oldest first."""
        return [(signature, asked, kind) for (signature, asked, _), kind in list(self._kinds.items())]

    def forget(self) -> None:
        """Begin anew."""
        self._kinds.clear()
        self.epoch += 1

    # ---- who takes part -----------------------------------------------------------------------------------------

    def _kind(self, signature: Signature, asked: Config, residence: Sequence[str] = ()) -> SharedKind:
        key = signature, replace(asked, plan="auto") if asked.plan not in PLANS else asked, residence
        code = self._code_of(signature, on_one(asked, "cpu"))
        with self._locks.tables:
            found = self._kinds.get(key)
            if found is None or found.code is not code:
                if len(self._kinds) >= MOST_KINDS:
                    self.forget()
                racing = self._racing(code, signature, asked) if not residence else None
                found = self._kinds[key] = racing or self._new_kind(code, signature, asked)
            return found

    def _racing(self, code: Compiled, signature: Signature, asked: Config) -> SharedKind | None:
        """Calls that devices race for; None where they do not."""
        cpu = self._entry_of(signature, on_one(asked, "cpu"))
        if asked.plan != "race" or asked.goal != "time" or "cpu" not in asked.devices or cpu is None:
            return None
        there: dict[str, Gpu] = {}
        why: dict[str, str] = {}
        for name in filter(is_gpu, asked.devices):
            gpu = gpus.gpu_of(name)
            if gpu is None:
                why[name] = gpus.why_no_gpu(name)
                warn_once(f"no {name}", f"devices: {name!r} is left out: {why[name]}")
            elif any(one.name == gpu.name for one in there.values()):
                why[name] = "another GPU of its kind takes part"
            else:
                there[name] = gpu
        if not there:
            return None

        def of_gpu(name: str) -> Any:
            return self._entry_of(signature, on_one(asked, name))

        racing = Racing(cpu, there, of_gpu, lambda: self._form_of(code, asked), asked.threads)
        return SharedKind(code, {}, None, why, racing.names, racing=racing)

    def _new_kind(self, code: Compiled, signature: Signature, asked: Config) -> SharedKind:
        programs: dict[str, RegionProgram] = {}
        why: dict[str, str] = {}
        for name in asked.devices:
            if is_gpu(name) and gpus.gpu_of(name) is None:
                why[name] = gpus.why_no_gpu(name)
                warn_once(f"no {name}", f"devices: {name!r} is left out: {why[name]}")
                continue
            try:
                program = code.regions(name)
            except DeviceError as error:
                why[name] = str(error).split("\n")[0]
                warn_once(f"no {name}", f"devices: {name!r} is left out: {why[name]}")
                continue
            if program is None:
                why[name] = "its loops cannot be shared"
            else:
                programs[name] = program
        host = programs.get("cpu") or (code.regions("cpu") if programs else None)
        if host is None or len(programs) < 2:
            programs = {}
            there = [name for name in asked.devices if name not in why or not is_gpu(name) or gpus.gpu_of(name)]
            able = [name for name in there if not is_gpu(name) or self._runs_on(name, signature, asked)]
        else:
            able = list(programs)
        return SharedKind(code, programs, host, why, tuple(able) or ("cpu",))

    def _runs_on(self, name: str, signature: Signature, asked: Config) -> bool:
        """Whether a GPU can make such a call by itself."""
        return self._code_of(signature, on_one(asked, name)).takes_device_arrays

    # ---- making a call ------------------------------------------------------------------------------------------

    def _alone(self, division: Division, decision: Assignment, asked: Config, alone: Alone) -> object:
        (place,) = decision.devices
        name = division.devices[place]
        gpu = gpus.gpu_of(name) if is_gpu(name) else None
        late_ns = 0 if gpu is None else gpu.late_ns
        started = time.perf_counter_ns()
        result = alone(on_one(asked, name))
        if result is NOT_DONE:
            return result
        if gpu is not None:
            gpu.synchronize()
        spent_ns = time.perf_counter_ns() - started - (0 if gpu is None else gpu.late_ns - late_ns)
        count = len(division.devices)
        busy = [spent_ns if one == place else 0 for one in range(count)]
        done = [len(division.iterations) if one == place else 0 for one in range(count)]
        division.measured(decision, busy, done, spent_ns)
        return result

    def _shared(
        self, kind: SharedKind, shape: Shape, decision: Assignment | None, asking: CallArguments, asked: Config,
        parts: FixedParts | GuidedParts,
    ) -> object:  # fmt: skip
        arguments, given = asking.arguments, asking.given
        members, host = self._members(kind, asked)
        copies = self._at_home(arguments, members)
        here = tuple(copies[k].array if k in copies else value for k, value in enumerate(arguments))
        in_pieces = [value for value in arguments if isinstance(value, InPieces)]
        names = {name for value in in_pieces for name in value.owner.copies.placed}.difference(kind.programs)
        others = {name: gpu for name in names if (gpu := gpus.gpu_of(name)) is not None}
        if len(kind.plans) >= MOST_KINDS:
            kind.plans.clear()
        known, is_quiet = kind.plans.setdefault(shape, RegionPlans()), decision is not None and kind.is_quiet(shape)
        call = SharedCall(members, host, here, parts, copies, others, known, is_timed=not is_quiet)
        late_ns = sum(member.gpu.late_ns for member in members if member.gpu is not None)
        written = [base for k in self._written if (base := base_of(arguments[k])) is not None]
        note_writes(written)
        started = time.perf_counter_ns()
        try:
            with _locks.making("devices"), IN_USE if in_pieces else nullcontext():
                return as_given(call.run(), here, given)
        finally:
            note_writes(written)
            spent_ns = time.perf_counter_ns() - started
            late_ns = sum(member.gpu.late_ns for member in members if member.gpu is not None) - late_ns
            if is_quiet and all(member.failure is None for member in members) and shape in kind.timelines:
                self._keep_timeline(kind, shape, asked, kind.timelines[shape])
            else:
                self._measured(kind, shape, decision, asked, parts, call, spent_ns, late_ns)

    def _raced(
        self, kind: SharedKind, shape: Shape, division: Division, call: CallArguments, asked: Config, alone: Alone
    ) -> object:
        """A call of which it is not known who is the fastest: a race, or one device where none is worth it."""
        racing = kind.racing
        assert racing is not None
        found = racing.line_up(shape, call.arguments, list(division.failures))
        place = found.entrants[0]
        if len(found.entrants) == 1 and place and racing.code(racing.names[place]) is None:
            racing.ask(racing.names[place])  # the CPU makes this one meanwhile
            place = 0
        if len(found.entrants) == 1:
            decision = division.alone(place, found.why)
            begun = time.perf_counter_ns()
            try:
                result = self._alone(division, decision, asked, alone)
            except DeviceError as error:
                division.failed(place, str(error).split("\n")[0])
                if place == 0:
                    raise
                return self._raced(kind, shape, division, call, asked, alone)
            racing.measured(shape, place, time.perf_counter_ns() - begun)
            self._decide(racing, shape, division, call)
            return result
        decision = division.decide()
        made = RaceCall(racing.entrants(found, shape, call.arguments), call)
        try:
            with _locks.making("devices"):
                return made.run()
        finally:
            self._note_race(kind, shape, division, decision, made, asked)
            self._decide(racing, shape, division, call)

    def _note_race(
        self, kind: SharedKind, shape: Shape, division: Division, decision: Assignment, made: RaceCall, asked: Config
    ) -> None:
        total_ns, racing = time.perf_counter_ns() - made.started_ns, kind.racing
        assert racing is not None
        names, place_of = division.devices, {name: place for place, name in enumerate(division.devices)}
        busy = [0] * len(names)
        for one, entrant in zip(made.running, made.entrants, strict=True):
            busy[place_of[entrant.name]] = max(0, one.ended_ns - one.began_ns) if one.began_ns else 0
        done = [0] * len(names)
        for place, error in made.race.errors:
            if isinstance(error, DeviceError) and not isinstance(error, DeviceMemoryError | NotReady):
                division.failed(place_of[made.entrants[place].name], str(error).split("\n")[0])
        winner = made.race.winner
        if winner is not None:
            place = place_of[made.entrants[winner].name]
            done[place] = NOMINAL
            if not made.running[winner].late_ns:
                racing.measured(shape, place, busy[place])
                if sum(one.began_ns > 0 for one in made.running) > 1:
                    racing.serves[shape] = place
                    division.measured(decision, busy, done, total_ns)
        last = Timeline(names, decision, made.events, tuple(busy), tuple(done), made.started_ns, total_ns,
                        plan=asked.plan, stop_ns=made.stop_delay_ns)  # fmt: skip
        self._keep_timeline(kind, shape, asked, last)

    def _decide(self, racing: Racing, shape: Shape, division: Division, call: CallArguments) -> None:
        """Whether it is known now who is the fastest; what may tell it is made in other threads."""
        able = [place for place in range(len(division.devices)) if place not in division.failures]
        winner = racing.decided(shape, call.arguments, able)
        if winner is not None:
            division.serve(winner)

    def _measured(
        self, kind: SharedKind, shape: Shape, decision: Assignment | None, asked: Config,
        parts: FixedParts | GuidedParts, call: SharedCall, spent_ns: int, late_ns: int,
    ) -> None:  # fmt: skip
        members = call.members
        whole = max(parts.ranges, key=len, default=range(0))
        total = sum(member.done for member in members)
        busy, done = tuple(one.busy_ns for one in members), tuple(one.done for one in members)
        names = tuple(kind.programs)
        last = Timeline(names, decision, call.events, busy, done, call.started_ns, spent_ns, plan=asked.plan)
        self._keep_timeline(kind, shape, asked, last)
        if asked.plan not in PLANS or not whole or not total:
            return
        if decision is not None and kind.is_quiet(shape):
            return
        division = kind.divisions.get(shape)
        if division is None:
            plan: Any = asked.plan
            models = [member.name if member.gpu is None else member.gpu.name for member in members]
            division = self._keep(kind, shape, Division(names, whole, plan=plan, models=models, count=_count(call)))
        for place, member in enumerate(members):
            if member.failure is not None and not isinstance(member.failure, DeviceMemoryError):
                division.failed(place, str(member.failure).split("\n")[0])
        if late_ns:
            return  # compilers were at work: it says nothing of later calls
        scaled = [round(one * len(division.iterations) / total) for one in done]
        made = decision or division.decide()
        chunks = parts.chunks() if isinstance(parts, GuidedParts) else None
        division.measured(made, busy, scaled, spent_ns, chunks)

    def _keep_timeline(self, kind: SharedKind, shape: Shape, asked: Config, last: Timeline) -> None:
        calls = 1 + (kind.timelines[shape].calls if shape in kind.timelines else 0)
        if len(kind.timelines) >= MOST_KINDS:
            kind.timelines.clear()
        kind.timelines[shape] = last._replace(calls=calls)
        self._told(kind, shape, asked)

    def _keep(self, kind: SharedKind, shape: Shape, division: Division) -> Division:
        if len(kind.divisions) >= MOST_KINDS:
            kind.divisions.clear()
        return kind.divisions.setdefault(shape, division)

    def _members(self, kind: SharedKind, asked: Config) -> tuple[list[Participant], Participant]:
        members: list[Participant] = []
        for name, program in kind.programs.items():
            gpu = gpus.gpu_of(name) if is_gpu(name) else None
            members.append(Participant(name, program, gpu, asked.threads))
        host = next((one for one in members if one.gpu is None), None)
        assert kind.host is not None
        return members, host or Participant("cpu", kind.host, threads=asked.threads)

    def _at_home(self, arguments: Sequence[object], members: Sequence[Participant]) -> dict[int, ArrayCopies]:
        """The arrays that are not on the host. Raises ArgumentTypeError for one on a GPU that takes no part."""
        found: dict[int, ArrayCopies] = {}
        places = [member.name for member in members]
        for position, value in enumerate(arguments):
            if isinstance(value, InPieces):
                found[position] = value.owner.copies
            if isinstance(value, OnDevice):
                if value.where not in places:
                    there = ", ".join(places)
                    raise refusal(self._names[position], f"the array is on {value.where}, and devices are {there}", "")
                if not dense(value):
                    raise refusal(self._names[position], "the array has gaps between its elements on a GPU", "")
                order: Any = "C" if value.flags.c_contiguous else "F"
                here = np.empty(value.shape, value.dtype, order)  # it takes no memory before somebody writes there
                found[position] = ArrayCopies(here, value.where, value)
                if value.stream and (gpu := gpus.gpu_of(value.where)) is not None:
                    gpu.synchronize()  # another library may work with it still
        return found


def _count(call: SharedCall) -> Callable[[range], float] | None:
    """How much work some iterations of the longest region of a call are, where these differ."""
    number, iterations, everything = call.longest
    codes = [one for member in call.members if (one := member.program.codes[number]) is not None]
    return codes[0].work(everything, iterations) if codes else None


def on_one(asked: Config, device: str) -> Config:
    """The options of a call that one of the devices makes by itself."""
    found = _on_one.get((id(asked), device))
    if found is None or found[0] is not asked:
        if len(_on_one) > MOST_KINDS:
            _on_one.clear()
        one = replace(asked, device=device, devices=(), plan="auto", goal="time", watts=())
        found = _on_one[id(asked), device] = asked, one
    return found[1]


_on_one: dict[tuple[int, str], tuple[Config, Config]] = {}


def _residence(arguments: Sequence[object]) -> tuple[str, ...]:
    """Where arrays are that are not on the host; nothing where all of them are. It decides about times."""
    found = tuple(
        value.where if isinstance(value, OnDevice) else "pieces" if isinstance(value, InPieces) else ""
        for value in arguments
    )
    return found if any(found) else ()


def _places(names: Sequence[str]) -> list[int]:
    """Where each member stands among the devices of Guided: the CPU first."""
    order = sorted(range(len(names)), key=lambda k: is_gpu(names[k]))
    return [order.index(k) for k in range(len(names))]
