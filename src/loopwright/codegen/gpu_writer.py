"""What the texts of a GPU's program are written with: device functions beside the host's, their parameters, and the
lines that start them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from loopwright.analysis.facts import Bounds, Facts
from loopwright.analysis.reductions import Update, addend, combined, guarded_update, updates_of
from loopwright.codegen.arrays import ArrayText
from loopwright.codegen.c_text import VALUE_TYPE, literal
from loopwright.codegen.device_scalars import KeptScalars
from loopwright.codegen.function import Function, Writer
from loopwright.codegen.lasting_orders import LastingOrder
from loopwright.codegen.loops import write_sequential
from loopwright.codegen.lowered import Alignment, AtomicUpdates, FullTiles, InRegisters, Lowering, Within
from loopwright.codegen.print_cuda import print_kernel
from loopwright.codegen.safepoints import stop_each, stop_together
from loopwright.ir.code import (
    AlignedArray,
    AtomicOp,
    AtomicOperation,
    Barrier,
    Branch,
    CodeBlock,
    CodeLine,
    DeviceFunction,
    EndTogether,
    Exit,
    Failure,
    KernelCode,
    KernelEntry,
    Launch,
    Node,
    SharedArray,
)
from loopwright.ir.gpu_target import AXES, GpuTarget
from loopwright.ir.nodes import (
    Allocate,
    Binary,
    Body,
    Cast,
    Checked,
    Const,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Logical,
    Run,
    Store,
    Var,
)
from loopwright.ir.queries import arrays_stored
from loopwright.ir.types import INT32, INT64, Scalar
from loopwright.ir.walk import expressions, statements
from loopwright.steps.threads import constant_size

ASKS = True  # whether kernels ask, so that Ctrl-C ends them; benchmarks/gpu_interrupts.py measures what it costs
OTHERS = 64  # registers of a thread, besides those that keep elements of arrays
ATOMIC: dict[str, AtomicOp] = {"add": "add", "min": "min", "max": "max", "minimum": "min", "maximum": "max",
                               "and": "and", "or": "or", "xor": "xor"}  # fmt: skip
FLAG = "lw_even"
"""In the text of a kernel: whether it is the one for whole tiles only; in the host's, whether that is to run."""


@dataclass(frozen=True, slots=True)
class Untested:
    """An index that is still to be checked: the C name of what it comes to, counted from the start; its own text, and
    that of the size; the site of its failure."""

    name: str
    index: str
    size: str
    site: int


class NotOnGpu(Exception):
    """Why a kernel cannot run on a GPU, in the user's words."""


class GpuWriter(Writer):
    """device: the lines of finished kernels; functions: what stands in these; kernels: their names, two for
    each: the first with 32-bit distances between elements; and a third where there is one for whole tiles only, which
    `even` is about. slots: how many scalars are handed to the host. checks: some kernel may record a failure."""

    def __init__(self, kernel: Kernel, facts: Facts, strict: bool) -> None:
        super().__init__(kernel, facts, False, strict)
        self.asks = ASKS
        self.device: list[str] = []
        self.functions: list[DeviceFunction] = []
        self.kernels: list[str] = []
        self.first = self.versions = 0  # of the kernels finished last: the number of the first; how many ask or do not
        self.slots = 0
        self.waits = False  # the host, here, for all that it has started
        self.fetches = False  # the host waits for some scalar
        self.kept = KeptScalars()
        self.in_index = False
        self.untested: list[Untested] | None = None  # where checks are put off, those that are still to be made
        self.checks = False
        self.within: frozenset[Within] = frozenset()  # indices that were tested before the kernel
        self.threads: dict[Run, For] = {}  # the loops over threads that text is being written in
        self.orders: tuple[LastingOrder, ...] = ()  # of iterations, which outlast calls
        self.begins = set[str]()  # arrays that sorting fills by itself
        self.lowering = Lowering()  # of the nest whose text is being written
        self.held: dict[tuple[str, tuple[Expr, ...]], str] = {}  # elements whose updates a thread makes in a scalar
        self.places: dict[str, str] = {}  # of its loops over blocks: what the names of their bounds end in
        self.types |= {"gpu": "lw_gpu *", "lw_failed": "lw_failure *", "lw_small": "int64_t", "lw_slots": "char *"}
        self.types |= {"lw_kept": "lw_kept *", "lw_kept_scalars": "char *"}
        self.types |= {"lw_stopped": "const volatile int64_t *", "lw_ticket": "int64_t"}
        self.types |= {f"{what}_{axis}": "int64_t" for what in ("lw_lower", "lw_base", "lw_end") for axis in AXES}

    def giving_back(self, buffer: str) -> Node:
        return Branch(condition=buffer, body=(CodeLine(f"gpu->release(gpu, {buffer});"),))

    def new_scalar(self, wanted: str, scalar: Scalar) -> str:
        """The name of a scalar that the kernel does not have."""
        name = f"lw.{wanted}{len(self.scalars)}"
        self.scalars[name] = scalar
        self.types[self.names.of(name)] = VALUE_TYPE[scalar.name]
        self.own(self.names.of(name))
        return name

    def cannot_overflow(self, expr: Expr) -> bool:
        """CUDA's compiler may take signed arithmetic as never to wrap. Only what stands in a proven index cannot: the
        guard sees to its scalars."""
        return not self.function.on_device or (self.in_index and self.given.in_range(expr))

    def asks_at_once(self, expr: Logical) -> bool:
        return False

    def in_pairs(self, expr: Logical) -> Expr:
        """As it is: no jump is guessed."""
        return expr

    def _index(self, node: Load | Store, axis: int, expr: Expr, bounds: Bounds) -> str:
        if isinstance(expr, Var) and (node.array, axis, expr.name) in self.within:
            return self.text(expr)
        if self.untested is not None and bounds.kind == "checked":
            return self._put_off(node, axis, expr, self.untested)
        outer, self.in_index = self.in_index, bounds.kind != "checked"
        text = super()._index(node, axis, expr, bounds)
        self.in_index = outer
        return text

    def _put_off(self, node: Load | Store, axis: int, expr: Expr, untested: list[Untested]) -> str:
        text, size = self.text(expr), self.size(node.array, axis)
        site = self.site("bounds", node.array, axis, node.at)
        one = Untested(f"lw_index_{site}", text, size, site)
        if isinstance(expr, Cast) and _is_near(expr.operand.type):
            near = f"lw_near_from_start<lw_int>({self.text(expr.operand)}, {size})"
            self.line(f"const lw_int {one.name} = {near};")
        else:
            self.line(f"const int64_t {one.name} = lw_from_start({text}, {size});")
        untested.append(one)
        return one.name

    @contextmanager
    def testing_at_once(self) -> Iterator[None]:
        """Within the block, checks of indices are put off; behind it stands one test of them all. So no element that is
        asked for in it may be read before its end: loads after the test wait for no other branch."""
        outer, self.untested = self.untested, []
        yield
        found, self.untested = self.untested, outer
        if found:
            tests = " | ".join(f"lw_outside({one.name}, {one.size})" for one in found)
            with self.branch(f"LW_RARE({tests})"):
                for one in found:
                    self.line(f"lw_index({self.use('failure')}, {one.index}, {one.size}, {one.site});")

    def index_of(self, node: Load | Store) -> tuple[str, ...]:
        """As for the CPU; of an array that threads own parts of, counted from the beginning of the own part."""
        if (found := self.lowering.of(InRegisters, node.array)) is None:
            return super().index_of(node)
        index: list[str] = []
        for axis, share in enumerate(found.ranges):
            expr = node.index[axis]
            if share is not None:
                loop = self.threads[share.run]
                expr = Binary("sub", expr, Binary("sub", Var(loop.name, INT64), loop.lower))
            text = self._counted(expr) or self.text(expr)
            if share is not None and share.period:
                text = f"({text}) / {share.period} * {share.size} + ({text}) % {share.period}"
            index.append(text)
        return tuple(index)

    def aligned(self, tests: Iterable[Alignment]) -> Iterator[str]:
        """C text of conditions on pointers and sizes."""
        for test in tests:
            self.use(test.symbol)
            yield test.text

    @property
    def full_tiles(self) -> FullTiles | None:
        """The decision that there is a kernel for whole tiles only."""
        return next(self.lowering.every(FullTiles), None)

    def updated(self, stmt: Store) -> AtomicOperation | CodeLine | None:
        """An atomic operation, where other threads may update the same element; None for an update in whose loops none
        does, as where elements are scaled before terms are added to them."""
        if self.lowering.of(AtomicUpdates, stmt.array) is None:
            return None
        update = next(updates_of((stmt,), stmt.array, stmt.value.type), None)
        if (own := self.held.get((stmt.array, stmt.index))) is None:
            return self._atomic(update, stmt)
        assert update is not None
        value = addend(update, stmt.value.type)
        assert value is not None  # codegen/updates_in_registers.py sees to it
        both = combined(update.op, Var(own, stmt.value.type), value)
        return CodeLine(f"{self.variable(own)} = {self.text(both)};")

    def updated_where(self, stmt: If) -> AtomicOperation | None:
        """See Writer. The operation finds out by itself whether it changes anything."""
        match stmt.then:
            case (Store() as store,) if self.lowering.of(AtomicUpdates, store.array) is not None:
                return self._atomic(guarded_update(stmt, store.array, store.value.type), store)
        return None

    def _atomic(self, update: Update | None, stmt: Store) -> AtomicOperation | None:
        if update is None or update.op not in ATOMIC or (value := addend(update, stmt.value.type)) is None:
            return None
        array = self.arrays[stmt.array]
        place = array.place_of(self.index_of(stmt))
        return AtomicOperation(ATOMIC[update.op], array.pointer, place, self.text(value), array.memory_type)

    def _counted(self, expr: Expr) -> str:
        """C text of a place among a thread's own elements in what counts the loops around it, where nothing else is
        left of it: a compiler that writes these loops out then sees numbers, and keeps the elements in registers. ''
        elsewhere."""
        terms = self._terms(expr)
        if terms is None or any(count and name for name, count in terms.items() if name in self.scalars):
            return ""
        parts = [text if count == 1 else f"{text} * {count}" for text, count in terms.items() if count and text]
        return " + ".join([*parts, *([str(terms[""])] if terms.get("") or not parts else [])])

    def _terms(self, expr: Expr) -> Counter[str] | None:
        """A sum as how often each variable, or counter of a loop, is in it; "" for the number. None for anything
        else."""
        match expr:
            case Const():
                return Counter({"": int(expr.value)})
            case Var(name=name) if (counter := self.function.counters.get(name)) is not None:
                loop = self.loops[name]
                start = self._terms(loop.lower)
                assert isinstance(loop.step, Const)
                return None if start is None else _sum(start, Counter({counter: int(loop.step.value)}), 1)
            case Var(name=name):
                return Counter({name: 1})
            case Binary(op="add" | "sub"):
                left, right = self._terms(expr.left), self._terms(expr.right)
                return None if left is None or right is None else _sum(left, right, 1 if expr.op == "add" else -1)
        return None

    def barrier(self, team: str = "") -> None:
        """Have all threads of a block meet, or those of a team."""
        self.function.meets = True
        self.add(Barrier(team))

    def end_together(self, team: str = "", threads: int = 0, asking: bool = False) -> None:
        """Have all threads of a block end, or those of a team, where one of them has."""
        self.function.meets = True
        self.add(EndTogether(team, threads, asking))

    def launched(self, call: str) -> None:
        """A line that asks something of the GPU."""
        self.use("gpu"), self.use("failure")
        site = self.site("device", "", 0, None)
        self.fail(site, condition=call)

    def fetch(self, variable: str, pointer: str) -> None:
        """A line that waits for what the GPU has put somewhere (C names)."""
        self.fetches = True
        self.launched(f"gpu->fetch(gpu, &{variable}, {pointer}, sizeof {variable})")

    def stop_after_failure(self) -> None:
        """Lines that end the call where a check on the device has failed: the scalars that come from there mean
        nothing, and a loop that waits for them to change would run for ever."""
        found = self.fresh("lw_found", "lw_failure")
        self.line(f"lw_failure {found};")
        self.launched(f"gpu->fetch(gpu, &{found}, {self.use('lw_failed')}, sizeof {found})")
        self.waits = not self.function.depth
        self.fail(f"{found}.site", f"{found}.index", f"{found}.size", condition=f"{found}.site >= 0")

    # ---- scalars that stay on the device ------------------------------------------------------------------------

    def variable(self, name: str) -> str:
        """As for the CPU; on the host, lines before that bring the newest value."""
        if not self.function.on_device and name in self.kept.stale:
            self._bring(name)
        return super().variable(name)

    def _bring(self, name: str) -> None:
        kept, pointer, variable = self.kept, self.keep(name), self.use(self.names.of(name))
        surely = name in kept.latest and not self.function.depth
        with self.block() if surely else self.branch(pointer):
            self.fetch(variable, pointer)
            self.line(f"{pointer} = 0;")
            if surely:
                self.waits = True
            if any_may_fail(self):
                self.stop_after_failure()
        if self.function.depth == kept.depth:
            kept.stale.discard(name)

    def set_by_host(self, names: Iterable[str]) -> None:
        """Lines of the host behind a statement that may set scalars."""
        for name in sorted(self.kept.stale.intersection(names)):
            self.line(f"{self.keep(name)} = 0;")
            self.kept.stale.discard(name)

    def room(self, name: str) -> str:
        """The pointer of the host to room for scalars, which is declared."""
        self.function.declared.setdefault(name, CodeLine(f"char *{name} = 0;"))
        return self.use(name)

    def keep(self, name: str) -> str:
        """The pointer of the host to the newest value of a scalar, which is declared."""
        pointer = f"lw_at_{self.names.of(name)}"
        self.types[pointer] = f"LW_GLOBAL(const {VALUE_TYPE[self.scalars[name].name]})"
        self.function.declared.setdefault(pointer, CodeLine(f"char *{pointer} = 0;"))
        return self.use(pointer)

    def _read_kept(self, part: Function) -> None:
        """Have a kernel read what may be on the device only."""
        names = {self.names.of(name): name for name in self.kept.stale}
        for variable in [one for one in part.parameters if one in names]:
            pointer = self.keep(names[variable])
            part.parameters[pointer] = None
            newest = CodeLine(f"{variable} = {pointer}[0];")
            part.code.insert(0, Branch(condition=pointer, body=(newest,)))

    @contextmanager
    def on_device(self, part: Function) -> Iterator[None]:
        """Within the block, text is that of a device function."""
        outer = self.function, self.arrays, self.write_loop, self.write_allocate
        self.function = part
        self.arrays = {name: replace(array, on_device=True) for name, array in self.arrays.items()}
        self.write_loop = partial(write_sequential, w=self)
        self.write_allocate = partial(_own_array, w=self)
        yield
        self.function, self.arrays, self.write_loop, self.write_allocate = outer

    def finish_kernel(
        self, part: Function, threads: int, body: Body, shared: Sequence[SharedArray] = (), tested: bool = False,
        loop: str = "",
    ) -> None:  # fmt: skip
        """The kernels of a device function whose code is complete. tested: these look by themselves whether something
        has failed before. loop: the outermost one of the nest that it is."""
        stored = arrays_stored(body)
        self._read_kept(part)
        if not tested and (self.kernels or self.function.depth) and any_may_fail(self):
            # What came before may have failed: then nothing more happens, as in Python.
            part.parameters["failure"] = None
            part.code.insert(0, Exit("LW_RARE(failure->site >= 0)"))
        self.checks |= "failure" in part.parameters
        self._ask_first(part, threads, tested)
        asking = [name for name in ("lw_stopped", "lw_ticket") if name in part.parameters]
        part.parameters |= {name: part.parameters.pop(name) for name in asking}  # the others as they are without
        pointers = {array.pointer: array for array in self.arrays.values()}
        types = {name: self._parameter(name, pointers.get(name), stored) for name in part.parameters}
        code = KernelCode(
            part.name,
            tuple(types.items()),
            ((FLAG, "even"),) * (self.full_tiles is not None) + (("lw_asks", "asks"),) * part.both,
            tuple(shared),
            tuple(part.declared.values()),
            tuple(part.code),
            (threads, *_blocks_at_once(threads, part.own_bytes, self.facts.gpu)),
            tuple(self._entries(part)),
        )
        region, entries = print_kernel(code, self.device)
        self.first = len(self.kernels)
        self.kernels += (one.name for one in entries)
        self.functions.append(
            DeviceFunction(part.name, loop, threads, code.parameters, code.shared, region, entries, self.lowering.texts)
        )

    def _entries(self, part: Function) -> Iterator[KernelEntry]:
        """For each version of the code one: by distances, for whole tiles, and with and without questions."""
        versions: list[tuple[str, Literal[32, 64]]] = [("32", 32), ("64", 64)]
        versions += [("even", 32)] if self.full_tiles is not None else []
        self.versions = len(versions)
        for asks in (False, True) if part.both else (False,):
            for version, bits in versions:
                name = f"{part.name}_{'asks' if asks else ''}{version}"
                yield KernelEntry(name, 0, bits, version == "even", asks)

    def _ask_first(self, part: Function, threads: int, tested: bool) -> None:
        """The question that each block begins with; and where one thread may end in the middle, nobody goes on behind a
        barrier that it has not come to."""
        code, part.code = part.code, []
        with self.on_device(part):
            if not tested:
                (stop_together if part.meets else stop_each)(self)
        part.code += _missed(code, threads) if part.ends_early else code

    def _parameter(self, name: str, array: ArrayText | None, stored: set[str]) -> str:
        """Its type in C."""
        if name == "failure":
            return "lw_failure *"
        if array is None:
            return self.types[name]
        if not array.aligned and array.element.size_bytes > 1:
            raise NotOnGpu(f"elements of '{array.name}' are not aligned")
        if array.bytes:
            return "LW_GLOBAL(char)"
        return f"LW_GLOBAL({'' if array.name in stored else 'const '}{array.memory_type})"

    def start(
        self, part: Function, grid: Sequence[str], block: Sequence[int], own: dict[str, str], work: str = "0.0"
    ) -> None:
        """Lines that start the kernels finished last. own: C names, declared where the line stands, for some of the
        parameters. work: C text of what a thread does at most, where a kernel does not ask."""
        first = f"{self.first} + (lw_asks ? {self.versions} : 0)" if part.both else f"{self.first}"
        names = {"failure": "lw_failed"}
        arguments = [own.get(p) or self.use(names.get(p, p)) for p in part.parameters]
        self.use("lw_small")
        near = f"{FLAG} ? 2 : 0" if self.full_tiles is not None else "0"
        kernel = f"{first} + (lw_small ? {near} : 1)"
        threads = f"(double)lw_grid[0] * lw_grid[1] * lw_grid[2] * {block[0] * block[1] * block[2]}"
        units = f"lw_spent(lw_together({work}, {threads}))"
        units = f"lw_asks ? 0 : {units}" if part.both else "0" if part.asks else units
        self.waits = False
        self.kept.latest.clear()
        self.use("gpu"), self.use("failure")
        failure = Failure(str(self.site("device", "", 0, None)))
        asked = self.functions[-1].asked_shared_bytes
        self.add(Launch(kernel, tuple(grid), tuple(block), tuple(arguments), units, failure, asked))


def _missed(code: Iterable[Node], threads: int) -> Iterator[Node]:
    """Code of a kernel where a barrier is also a test of whether all have come."""
    for node in code:
        match node:
            case Barrier():
                yield replace(node, ended=True, threads=threads)
            case CodeBlock():
                yield replace(node, body=tuple(_missed(node.body, threads)))
            case _:
                yield node


def _blocks_at_once(threads: int, own_bytes: int, gpu: GpuTarget) -> tuple[int, ...]:
    """How many blocks of threads that keep many elements a multiprocessor is to have at once: else ptxas spends on one
    block what two could have. Warps share the registers of their part of it. Nothing where registers are not short."""
    words = own_bytes // 4
    warps = gpu.registers // gpu.partitions // (gpu.warp * (words + OTHERS)) if words >= OTHERS // 2 else 0
    blocks = warps * gpu.partitions // -(-threads // gpu.warp)
    return (blocks,) if blocks > 1 else ()


def _is_near(type_: Scalar) -> bool:
    """Whether all values of a type are integers of 32 bits."""
    return type_.minimum >= INT32.minimum and type_.maximum <= INT32.maximum


def _sum(left: Counter[str], right: Counter[str], factor: int) -> Counter[str]:
    total = Counter(left)
    for name, count in right.items():
        total[name] += factor * count
    return total


def _own_array(stmt: Allocate, w: GpuWriter) -> None:
    """A local array of one thread."""
    array = w.arrays[stmt.array]
    count = constant_size(stmt, w.facts.gpu.own_bytes)
    assert count is not None  # steps/grids.py sees to it
    w.function.declared[array.pointer] = AlignedArray(array.memory_type, array.pointer, max(count, 1), 16)
    if stmt.fill is not None:
        value = literal(stmt.fill.value, stmt.fill.type)
        with w.loop(f"int lw_i = 0; lw_i < {count}; ++lw_i", trips=count):
            w.line(f"{array.pointer}[lw_i] = {value};")


def any_may_fail(w: GpuWriter) -> bool:
    """Whether some access of the kernel is checked where it stands."""
    body = w.kernel.body
    return any(map(w.may_fail, (*expressions(body, Load, Checked), *statements(body, Store))))
