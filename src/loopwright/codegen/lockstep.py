"""C text of loops whose iterations each run a loop until data end it, in lanes (steps/lockstep.py).

Each lane of some vector registers has an iteration. Rounds of all of them go on together, under a mask of those that
have not ended. Once the lanes of those that have, or were never given one, have idled for about as long as it takes to
stop for them, values go through memory: what comes after the rounds is done for each iteration that has ended, one
by one, and its lane gets the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from loopwright.analysis.lockstep_rounds import LockstepRounds
from loopwright.analysis.recurrence_latency import recurrence_latency
from loopwright.codegen.function import Writer
from loopwright.codegen.lane_text import LaneText, memory_type
from loopwright.codegen.lockstep_loops import rounds_in
from loopwright.codegen.loops import write_sequential
from loopwright.codegen.safepoints import operations_in, spend
from loopwright.codegen.statements import may_fail, write_body
from loopwright.codegen.versions import bound_named
from loopwright.ir.nodes import Assign, Body, Break, Compare, Const, Continue, Expr, For, If, Leave, Load, Store, Var
from loopwright.ir.queries import names_assigned, names_read
from loopwright.ir.types import BOOL, INT64, Scalar
from loopwright.ir.walk import expressions, statements

FEWEST = 4
"""Iterations that lanes are worth setting up for."""

STOP = 60.0
"""Cycles to stop rounds for lanes that idle: values go through memory, and are waited for there."""


def write_lockstep(loop: For, w: Writer) -> None:
    """The loop in lanes; one by one where it has hardly any iterations, or lanes are too few."""
    if loop.name not in w.decided.lockstep:
        write_sequential(loop, w)
        return
    parts = rounds_in(loop, w.given)
    assert not isinstance(parts, str)
    w.locksteps = True
    unmade = w.names.fresh("lw_unmade")
    w.function.scoped.add(unmade)
    with w.block():
        w.line(f"const int64_t lw_lanes_to = {w.text(loop.upper)};")
        w.line(f"int64_t {unmade} = {w.text(loop.lower)};")
        _Lockstep(loop, parts, w, unmade).write()
        write_sequential(replace(loop, lower=bound_named(unmade, w)), w)
    w.function.scoped.discard(unmade)


@dataclass
class _Lockstep:
    """Writes one of them. names: of what lanes have for themselves, in C, without the number of a vector."""

    loop: For
    parts: LockstepRounds
    w: Writer
    unmade: str
    names: dict[str, str] = field(default_factory=dict)
    loads: dict[Load, str] = field(default_factory=dict)
    types: dict[str, Scalar] = field(default_factory=dict)
    wide: int = 4

    def __post_init__(self) -> None:
        parts, w = self.parts, self.w
        self.vectors = max(1, self.loop.threads)
        self.types = dict(w.scalars) | {self.loop.name: INT64, parts.rounds.name: INT64}
        for name in sorted(parts.own | parts.lanes):
            self.names[name] = w.names.fresh(f"lw_{w.names.of(name)}")
        for load in parts.loads:
            self.loads[load] = w.names.fresh("lw_element")
        self.wide = parts.wide
        carried = {name for name in parts.own if name in parts.handed_on or name in parts.kept}
        self.carried = sorted(carried)
        self.given = sorted(parts.lanes)
        counts: dict[str, int] = {}
        for stmt in statements(parts.rounds.body, Assign):
            counts[stmt.name] = counts.get(stmt.name, 0) + 1
        self.often = {name for name, count in counts.items() if count > 1}
        self.lanes = f"LW_LANES({self.wide})"
        self.all = f"({self.vectors} * {self.lanes})"
        exact = w.strict or w.given.deterministic
        self.fails = may_fail((parts.rounds,), w)
        self.again = w.names.fresh("lw_again")
        self.vector = [
            LaneText(w, self.wide, self.names, self.loads, self.again, u, exact) for u in range(self.vectors)
        ]
        self.mask_type = self.vector[0].mask_type
        read = names_read((*parts.skipped, *parts.after))
        self.seen = {
            name: w.names.fresh(f"lw_{w.names.of(name)}")
            for name in sorted((names_assigned(parts.before) & read) - self.names.keys())
        }
        self.left = w.names.fresh("lw_left") if parts.block and parts.skipped else ""

    # ---- the loop

    def write(self) -> None:
        """All iterations, or those before the first one that may fail; the others are left to the loop behind."""
        w, here = self.w, self.unmade
        least = 1 if w.given.deterministic else FEWEST
        arrays = {one.array for one in expressions((self.parts.rounds,), Load) if one not in self.loads}
        sizes = [w.size(array, axis) for array in sorted(arrays) for axis in range(w.arrays[array].rank)]
        with w.branch(" && ".join([f"LW_LOCKSTEP && lw_lanes_to - {here} >= {least}", *(f"{n} > 0" for n in sizes)])):
            self._lanes()
            w.line(f"{here} = lw_lanes_to;")
            if self.fails:
                with w.branch("0"):
                    w.line(f"{self.again}:")
                    w.line(f"{here} = lw_coming;")
                    with w.loop("; lw_held; lw_held &= lw_held - 1"):
                        w.line("const int64_t lw_i = lw_of[__builtin_ctz(lw_held)];")
                        w.line(f"{here} = lw_i < {here} ? lw_i : {here};")

    def _lanes(self) -> None:
        w = self.w
        after = (*self.parts.skipped, *self.parts.after)
        self._declare()
        with w.loop(";;"):
            with w.loop("uint32_t lw_free = ~lw_bits & lw_every; lw_free; lw_free &= lw_free - 1"):
                w.line("const int lw_l = __builtin_ctz(lw_free);")
                with w.branch("lw_held >> lw_l & 1"), self._iteration("lw_of[lw_l]"):
                    for name in sorted((self.parts.kept | names_assigned(self.parts.before)) & names_read(after)):
                        self._restore(name)
                    if self.left:
                        with w.branch(f"!{self.left}[lw_l]"):
                            write_body(self.parts.skipped, w)
                    else:
                        write_body(self.parts.skipped, w)
                    write_body(self.parts.after, w)
                with w.branch("lw_coming < lw_lanes_to"), self._iteration("lw_coming"):
                    write_body(self.parts.before, w)
                    self._enter()
                    w.line("lw_of[lw_l] = lw_coming++;")
                    w.line("lw_held |= UINT32_C(1) << lw_l;")
                with w.otherwise():
                    w.line("lw_held &= ~(UINT32_C(1) << lw_l);")
            w.only("!lw_held", "break;")
            with w.block():
                self._load()
                self._rounds()
                self._spill()

    def _array(self, name: str) -> str:
        return f"{name}_at"

    def _declare(self) -> None:
        w, wide = self.w, self.wide
        mask = f"int{8 * wide}_t"
        arrays = {self.names[name]: memory_type(self.types[name], wide) for name in (*self.carried, *self.given)}
        arrays |= {own: memory_type(self.types[name], wide) for name, own in self.seen.items()}
        arrays |= {name: memory_type(load.type, wide) for load, name in self.loads.items()}
        for name, ctype in arrays.items():
            w.line(f"LW_WAITING({ctype}, {self._array(name)}, {self.all});")
        if self.left:
            w.line(f"LW_WAITING({mask}, {self.left}, {self.all});")
        w.line(f"int64_t lw_of[{self.all}];")
        w.line(f"int64_t lw_coming = {self.unmade};")
        w.line(f"const uint32_t lw_every = (UINT32_C(1) << ({self.all} - 1)) * 2 - 1;")
        w.line("uint32_t lw_held = 0, lw_bits = 0;")

    @contextmanager
    def _iteration(self, number: str) -> Iterator[None]:
        w, variable = self.w, self.w.names.of(self.loop.name)
        w.function.scoped.add(variable)
        w.line(f"const int64_t {variable} = {number};")
        yield
        w.function.scoped.discard(variable)

    def _restore(self, name: str) -> None:
        if name == self.loop.name:
            return
        w, own = self.w, self.names.get(name) or self.seen[name]
        value = f"{self._array(own)}[lw_l]"
        value = f"({value} != 0)" if self.types[name] == BOOL else value
        w.line(f"{w.function.renamed.get(name) or w.use(w.names.of(name))} = {value};")

    def _scalar(self, name: str) -> str:
        """What waits in memory for a lane: of a truth, a mask."""
        text = self.w.variable(name)
        return f"-(int64_t){text}" if self.types[name] == BOOL else text

    def _enter(self) -> None:
        """What an iteration brings into its lane."""
        w, parts = self.w, self.parts
        before = names_assigned(parts.before)
        for name in (*self.carried, *self.given):
            if name == parts.rounds.name:
                assert isinstance(parts.rounds, For)
                value = w.text(parts.rounds.lower)
            elif name == self.loop.name:
                value = w.names.of(name)
            elif name in before:
                value = self._scalar(name)
            else:
                value = "0"  # nobody reads it before a round has set it
            w.line(f"{self._array(self.names[name])}[lw_l] = {value};")
        for name, own in self.seen.items():
            w.line(f"{self._array(own)}[lw_l] = {self._scalar(name)};")
        if self.left:
            w.line(f"{self.left}[lw_l] = 0;")
        for load, name in self.loads.items():
            self._look_up(load, name)

    def _look_up(self, load: Load, name: str) -> None:
        """An element that rounds read, if they come to it: it need not be there."""
        w = self.w
        inside, index = [], []
        for axis, text in enumerate(w.index_of(load)):
            place = w.names.fresh("lw_place")
            w.line(f"const int64_t {place} = {text};")
            inside.append(f"(uint64_t){place} < (uint64_t){w.size(load.array, axis)}")
            index.append(place)
        element = w.arrays[load.array].element_at(tuple(index))
        value = f"-(int64_t)({element} != 0)" if load.type == BOOL else element
        w.line(f"{self._array(name)}[lw_l] = {' && '.join(inside) or 'true'} ? {value} : 0;")

    # ---- between memory and registers

    def _at(self, name: str, scalar: Scalar, vector: int) -> str:
        return f"*({self.vector[0].type_of(scalar)} *)&{self._array(name)}[{vector} * {self.lanes}]"

    def _mask_at(self, name: str, vector: int) -> str:
        return f"*({self.mask_type} *)&{name}[{vector} * {self.lanes}]"

    def _load(self) -> None:
        w, parts = self.w, self.parts
        for lane in self.vector:
            for name in sorted(self.names):
                kind, own = self.types[name], self.names[name]
                is_there = name in self.carried or name in self.given
                value = self._at(own, kind, lane.vector) if is_there else f"({lane.type_of(kind)}){{0}}"
                const = "const " if name in parts.lanes else ""
                w.line(f"{const}{lane.type_of(kind)} {lane.named(own)} = {value};")
            for load, own in self.loads.items():
                w.line(f"const {lane.type_of(load.type)} {lane.named(own)} = {self._at(own, load.type, lane.vector)};")
            held = f"lw_held >> {lane.vector} * {self.lanes}"
            w.line(f"{self.mask_type} {lane.named('lw_alive')} = lw{self.wide}_mask({held});")
            if self.left:
                w.line(f"{self.mask_type} {lane.named('lw_gone')} = {self._mask_at(self.left, lane.vector)};")

    def _spill(self) -> None:
        w = self.w
        for lane in self.vector:
            for name in self.carried:
                own = self.names[name]
                w.line(f"{self._at(own, self.types[name], lane.vector)} = {lane.named(own)};")
            if self.left:
                w.line(f"{self._mask_at(self.left, lane.vector)} = {lane.named('lw_gone')};")

    # ---- rounds

    def _rounds(self) -> None:
        w, rounds = self.w, self.parts.rounds
        waiting = max(recurrence_latency(rounds.body, self.parts.handed_on), 4.0)
        w.line(f"int64_t lw_idle = lw_coming < lw_lanes_to ? (int64_t)({STOP / waiting:.1f} * {self.all}) : INT64_MAX;")
        with w.loop(";;"):
            spend(f"{self.vectors} * {max(1, operations_in(rounds.body))}", w)
            condition = self._condition()
            bits = []
            for lane in self.vector:
                alive = lane.named("lw_alive")
                if condition is not None:
                    lane.mask = alive
                    w.line(f"{alive} = {alive} & {lane.text(condition)};")
                bits.append(f"lw{self.wide}_bits({alive}) << {lane.vector} * {self.lanes}")
            w.line(f"lw_bits = {' | '.join(bits)};")
            w.line(f"lw_idle -= {self.all} - lw_set(lw_bits);")
            w.only("!lw_bits | (lw_idle < 0)", "break;")
            self._ended: list[str] = []
            rest = self._body(rounds.body, "lw_alive", again=False)
            for lane in self.vector:
                goes_on = [lane.named(one) for one in (*self._ended, *([rest] if rest else []))]
                w.line(f"{lane.named('lw_alive')} = {' | '.join(goes_on) or f'({self.mask_type}){{0}}'};")
                if isinstance(rounds, For):
                    own = lane.named(self.names[rounds.name])
                    w.line(f"{own} = {own} + lw{self.wide}_all_int64(1);")

    def _condition(self) -> Expr | None:
        rounds = self.parts.rounds
        if isinstance(rounds, For):
            return Compare("lt", Var(rounds.name, INT64), rounds.upper)
        return None if rounds.condition == Const(True, BOOL) else rounds.condition

    def _body(self, body: Body, mask: str, again: bool) -> str | None:
        """The name of the mask of those that come to the end; None where none does. again: others than those of the
        mask may still go on."""
        for stmt in body:
            match stmt:
                case Assign():
                    self._assign(stmt, mask, again or bool(self._ended))
                case Store():
                    self._store(stmt, mask)
                case If():
                    rest = self._if(stmt, mask, again)
                    if rest is None:
                        return None
                    mask = rest
                case Continue():
                    self._ended.append(mask)
                    return None
                case Leave():
                    for lane in self.vector if self.left else ():
                        w_left = lane.named("lw_gone")
                        self.w.line(f"{w_left} = {w_left} | {lane.named(mask)};")
                    return None
                case Break():
                    return None
                case _:
                    raise AssertionError(stmt)
        return mask

    def _assign(self, stmt: Assign, mask: str, again: bool) -> None:
        kept, handed_on = stmt.name in self.parts.kept, stmt.name in self.parts.handed_on
        chooses = kept or (again and (handed_on or stmt.name in self.often))
        kind = stmt.value.type
        for lane in self.vector:
            lane.mask = lane.named(mask)
            own, value = lane.named(self.names[stmt.name]), lane.text(stmt.value)
            value = lane.chosen(lane.named(mask), value, own, kind) if chooses else value
            self.w.line(f"{own} = {value};")

    def _store(self, stmt: Store, mask: str) -> None:
        """Lane by lane: iterations that need no order store to different elements."""
        w = self.w
        for lane in self.vector:
            lane.mask = lane.named(mask)
            with w.branch(f"lw{self.wide}_bits({lane.mask})"):
                places = lane.places(stmt)
                value = w.names.fresh("lw_value")
                w.line(f"const {lane.type_of(stmt.value.type)} {value} = {lane.text(stmt.value)};")
                head = f"uint32_t lw_s = lw{self.wide}_bits({lane.mask}); lw_s; lw_s &= lw_s - 1"
                with w.loop(head):
                    w.line("const int lw_l = __builtin_ctz(lw_s);")
                    stored = f"({value}[lw_l] != 0)" if stmt.value.type == BOOL else f"{value}[lw_l]"
                    w.line(f"{w.arrays[stmt.array].element_at(places)} = {stored};")

    def _if(self, stmt: If, mask: str, again: bool) -> str | None:
        w = self.w
        then, otherwise = w.names.fresh("lw_then"), w.names.fresh("lw_else")
        for lane in self.vector:
            lane.mask = lane.named(mask)
            condition = lane.text(stmt.condition)
            w.line(f"const {self.mask_type} {lane.named(then)} = {lane.named(mask)} & {condition};")
            w.line(f"const {self.mask_type} {lane.named(otherwise)} = {lane.named(mask)} & ~{lane.named(then)};")
        first = self._body(stmt.then, then, True)
        second = self._body(stmt.otherwise, otherwise, again or first is not None) if stmt.otherwise else otherwise
        if first is None or second is None:
            return second if first is None else first
        if (first, second) == (then, otherwise):
            return mask
        both = w.names.fresh("lw_both")
        for lane in self.vector:
            w.line(f"const {self.mask_type} {lane.named(both)} = {lane.named(first)} | {lane.named(second)};")
        return both
