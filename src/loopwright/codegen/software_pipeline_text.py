"""The text of the steady part of a loop whose tiles arrive ahead (`codegen/software_pipeline.py` finds it)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import prod

from loopwright.codegen.gpu_writer import FLAG, GpuWriter
from loopwright.codegen.loops import write_sequential
from loopwright.codegen.lowered import Flows, SoftwarePipeline, StreamedCopy, TensorProduct
from loopwright.codegen.safepoints import MEETINGS, stop_together
from loopwright.codegen.statements import write, write_store
from loopwright.codegen.tensor_cores import write_tensor_product
from loopwright.codegen.vector_accesses import place_of, write_in_thread
from loopwright.ir.code import AwaitCopies, CopyToShared
from loopwright.ir.linear import plus
from loopwright.ir.nodes import Body, Expr, For, Load, Select, Store
from loopwright.ir.walk import rewrite_expr
from loopwright.steps.draft import substituted
from loopwright.steps.limits import all_of
from loopwright.steps.nest import step_of

Written = Callable[[Body], None]
Copying = Callable[[Body, Callable[[For, GpuWriter], None], Callable[[Store], None]], None]
"""Writes what all threads of a block do. Given: what writes a loop inside a thread, and what writes a store."""


@dataclass(frozen=True, slots=True)
class Stream(StreamedCopy):
    """With the C names of where the source begins, how far on it is along each loop that counts copies and in the next
    iteration, and which copies keep to their limits."""

    begin: str
    far: tuple[str, ...]
    along: str
    within: str

    @classmethod
    def named(cls, copy: StreamedCopy, w: GpuWriter) -> Stream:
        """With names of its own."""
        name, fresh = w.names.of(copy.source.array), w.names.fresh
        far = tuple(fresh(f"lw_far_{name}") for _ in copy.moved)
        within = fresh(f"lw_within_{name}") if copy.limits else ""
        return cls(
            copy.store, copy.source, copy.threads, copy.inner, copy.count, copy.limits, copy.tests,
            fresh(f"lw_from_{name}"), far, fresh(f"lw_along_{name}"), within,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Streams:
    """One text of the copies."""

    copies: Body
    flows: tuple[Stream, ...]

    @classmethod
    def named(cls, flows: Flows, w: GpuWriter) -> Streams:
        """With names of their own."""
        return cls(flows.copies, tuple(Stream.named(one, w) for one in flows.flows))

    def of(self, store: Store) -> Stream:
        """The copy that a statement is."""
        return next(flow for flow in self.flows if flow.store is store)


@dataclass(frozen=True, slots=True)
class SteadyText:
    """Writes iterations from the value of the loop's variable on, as long as all is whole. tests: C text of what has to
    hold in a block for whole tiles; even: whether all iterations are such in the kernel for whole tiles only. turn:
    the C name of the number of the tiles in use; buffers: makes the names of tiles mean those of a turn; together,
    write: what writes statements that all threads of a block run."""

    loop: For
    steady: SoftwarePipeline
    tests: Sequence[str]
    even: bool
    w: GpuWriter
    turn: str
    buffers: Callable[[str], None]
    together: Copying
    write: Written

    def both(self) -> None:
        """One text for whole tiles, and one for others, between which each block decides."""
        # Few arrays are so large that distances take 64 bits: the one text that fits all tiles is enough for them, and
        # the compiler has less to do.
        whole = Streams.named(self.steady.whole, self.w)
        ends = None if self.steady.ends is None else Streams.named(self.steady.ends, self.w)
        narrow = [] if ends is None else ["sizeof(lw_int) == 4"]
        tests = " && ".join((*narrow, *self.tests)) or "true"
        with self.w.branch(f"{tests}{f' || {FLAG}' if self.even else ''}"):
            self._begin(whole)
            self._rounds(whole)
        if ends is not None:
            with self.w.otherwise():
                self._begin(ends)
                self._rounds(ends)

    @property
    def _ahead(self) -> str:
        """C text of the value of the variable in the next iteration."""
        return f"({self.w.names.of(self.loop.name)} + {step_of(self.loop)})"

    @contextmanager
    def _meaning(self, text: str) -> Iterator[None]:
        """Inside, the loop's variable is this C text."""
        before = self.w.function.renamed
        self.w.function.renamed = before | {self.loop.name: text}
        yield
        self.w.function.renamed = before

    # ---- before the loop

    def _begin(self, flows: Streams) -> None:
        """Find out where each thread begins, how far its copies are apart, and which of them keep to their limits."""
        w = self.w
        for flow in flows.flows:
            w.line(f"auto {flow.begin} = {w.use(w.arrays[flow.source.array].pointer)};")
            w.line(f"lw_int {' = 0, '.join((*flow.far, flow.along))} = 0;")
            if flow.within:
                w.line(f"uint32_t {flow.within} = 0;")
        by_loop = {id(flow.inner[0]): flow for flow in flows.flows if flow.inner}
        by_store = {id(flow.store): flow for flow in flows.flows}
        self.together(
            flows.copies,
            lambda inner, w: self._begin_one(by_loop[id(inner)]),
            lambda store: self._begin_one(by_store[id(store)]),
        )

    def _begin_one(self, flow: Stream) -> None:
        w, first = self.w, {one.name: one.lower for one in flow.inner}
        with self._meaning(self._ahead):
            begin = _place(flow, first, w)
            w.line(f"{flow.begin} += {begin};")
            for one, far in zip(flow.moved, flow.far, strict=True):
                w.line(f"{far} = {_place(flow, first | {one.name: plus(one.lower, step_of(one))}, w)} - {begin};")
        with self._meaning(f"({self._ahead} + {step_of(self.loop)})"):
            w.line(f"{flow.along} = {_place(flow, first, w)} - {begin};")
        if not flow.limits:
            return

        def note(store: Store) -> None:
            inside = w.text(all_of(flow.limits))
            w.line(f"{flow.within} |= (uint32_t)({inside}) << ({_number(flow, w)});")

        outer = w.write_loop, w.write_store
        w.write_loop, w.write_store = partial(write_sequential, w=w), note
        write(flow.inner[0] if flow.inner else flow.store, w)
        w.write_loop, w.write_store = outer

    # ---- the loop

    def _rounds(self, flows: Streams) -> None:
        w, variable = self.w, self.w.names.of(self.loop.name)
        advance = f"--lw_left, {variable} += {step_of(self.loop)}"
        with w.loop(f"int lw_left = {self._left()}; lw_left > 0; {advance}", self.loop.name, part="steady"):
            w.add(AwaitCopies())
            w.barrier()
            stop_together(w, f"lw_left % {MEETINGS} == 0")
            for flow in flows.flows:
                moved = [far for one, far in zip(flow.moved, flow.far, strict=True) if w.given.constant_trip(one) != 1]
                for name in (*moved, flow.along):
                    # Multiplied anew, a distance takes one register; the compiler would keep a wide one, or many of its
                    # multiples.
                    w.line(f"{name} = lw_hidden({name});")
            if self.steady.among is None:
                self.buffers(f"({self.turn} ^ 1)")
                with self._meaning(self._ahead):
                    self.together(flows.copies, partial(_copy_loop, flows), lambda store: _copy(flows.of(store), w))
                self.buffers(self.turn)
                self.write(self.steady.body)
            else:
                self.buffers(self.turn)
                self.together(self.steady.body, partial(self._body_loop, flows), partial(write_store, w=w))
            for flow in flows.flows:
                w.line(f"{flow.begin} += {flow.along};")
            w.line(f"{self.turn} ^= 1;")

    def _left(self) -> str:
        """C text of how many iterations from here on have whole tiles, and a next one that has."""
        w, text = self.w, f"lw_upper - 1 - {self._ahead}"
        for value, tests in ((self._ahead, self.steady.conditions), (w.names.of(self.loop.name), self.steady.needed)):
            with self._meaning(value):
                for test in dict.fromkeys(tests):
                    text = f"LW_MIN(int64_t, {text}, {w.text(test.right)} - {w.text(test.left)})"
        return f"lw_rounds({text}, {step_of(self.loop)})"

    def _body_loop(self, flows: Streams, loop: For, w: GpuWriter) -> None:
        """A loop of a thread that uses the tiles."""
        if loop is self.steady.among and (product := w.lowering.of(TensorProduct, loop.name)) is not None:
            write_tensor_product(loop, product, w, lambda: self._share(flows, loop))
        elif loop is self.steady.among:
            write_sequential(loop, w, first=lambda: self._share(flows, loop))
        else:
            write_in_thread(loop, w)

    def _share(self, flows: Streams, among: For) -> None:
        """The copies of one iteration of `among`. They are shared out over the first half of its iterations: where they
        stand all at one place, nothing is computed meanwhile, and late ones would be waited for."""
        w, counts = self.w, [prod(self.w.given.constant_trip(one) or 1 for one in flow.moved) for flow in flows.flows]
        each = -(-sum(counts) // max(1, (w.given.constant_trip(among) or 2) // 2))
        first = 0
        self.buffers(f"({self.turn} ^ 1)")
        for flow, count in zip(flows.flows, counts, strict=True):
            with w.loop(f"int lw_k = 0; lw_k < {each}; ++lw_k", trips=each, unroll=0):
                w.line(f"const int64_t lw_n = {w.function.counters[among.name]} * {each} + lw_k - {first};")
                with w.branch(f"lw_n >= 0 && lw_n < {count}"), self._meaning(self._ahead):
                    self._numbered(flow, count)
            first += count
        self.buffers(self.turn)

    def _numbered(self, flow: Stream, count: int) -> None:
        """The copy of the number lw_n."""
        w, names = self.w, {self.w.names.of(one.name) for one in (*flow.threads, *flow.inner)}
        w.function.scoped |= names
        for one in flow.threads:
            start = f"{w.text(one.lower)} + (int64_t)threadIdx.{one.run[-1]} * {step_of(one)}"
            w.line(f"const int64_t {w.names.of(one.name)} = {start};")
        for one in flow.moved:
            trip, counter = w.given.constant_trip(one) or 1, f"lw_k_{w.names.of(one.name)}"
            count //= trip
            w.line(f"const int64_t {counter} = lw_n / {count} % {trip};")
            w.line(f"const int64_t {w.names.of(one.name)} = {w.text(one.lower)} + {counter} * {step_of(one)};")
            w.function.counters[one.name] = counter
        for one in flow.inner[len(flow.moved) :]:
            w.line(f"const int64_t {w.names.of(one.name)} = {w.text(one.lower)};")
        _copy(flow, w)
        w.function.scoped -= names


def _place(flow: Stream, values: dict[str, Expr], w: GpuWriter) -> str:
    """C text of the place in the source, where the loops' variables have these values."""
    for _ in flow.inner:  # one may be in the value of another
        values = {name: _with(value, values) for name, value in values.items()}
    (store,) = substituted((flow.store,), values)
    assert isinstance(store, Store)
    source = store.value.then if isinstance(store.value, Select) else store.value
    assert isinstance(source, Load)
    return f"({place_of(source, w)[1]})"


def _with(expr: Expr, values: dict[str, Expr]) -> Expr:
    return rewrite_expr(expr, lambda one: values.get(getattr(one, "name", ""), one))


def _number(flow: Stream, w: GpuWriter) -> str:
    """C text of the number of a copy of a thread."""
    text = "0"
    for one in flow.moved:
        text = f"({text} * {w.given.constant_trip(one)} + {w.function.counters[one.name]})"
    return text


def _copy_loop(flows: Streams, loop: For, w: GpuWriter) -> None:
    """A loop of a thread around copies; no loop, where it is what is copied at once."""
    stmt = loop.body[0]
    if loop.run != "vector" or not isinstance(stmt, Store) or flows.of(stmt).count == 1:
        write_sequential(loop, w)
        return
    variable = w.names.of(loop.name)
    w.function.scoped.add(variable)
    with w.block():
        w.line(f"const int64_t {variable} = {w.text(loop.lower)};")
        _copy(flows.of(stmt), w)
    w.function.scoped.discard(variable)


def _copy(flow: Stream, w: GpuWriter) -> None:
    """One copy."""
    tile, to = place_of(flow.store, w)
    parts = [f"{w.function.counters[one.name]} * {far}" for one, far in zip(flow.moved, flow.far, strict=True)]
    inside = f"{flow.within} >> ({_number(flow, w)}) & 1" if flow.limits else ""
    w.add(CopyToShared(tile, to, flow.begin, " + ".join(parts) or "0", flow.count, inside))
