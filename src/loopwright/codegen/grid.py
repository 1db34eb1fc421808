"""CUDA text of the kernels of a grid, and the host's C text that starts them.

Loops bound to blocks become the block's number, loops bound to threads the thread's. Between them stands what a block
does as a whole: every thread runs it, with a barrier wherever one thread may touch what another one wrote, or is about
to overwrite what another one still reads. Local arrays of a block are in shared memory, those of a thread are its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod

from loopwright.analysis.facts import Bounds, Facts
from loopwright.analysis.ownership import Share, shares
from loopwright.analysis.scalars import flow
from loopwright.codegen.arrays import ArrayText
from loopwright.codegen.c_text import VALUE_TYPE, literal
from loopwright.codegen.function import Function, Writer
from loopwright.codegen.loops import UNROLLED, write_sequential
from loopwright.codegen.statements import write, write_body
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Body,
    Break,
    Checked,
    Const,
    Continue,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Run,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.types import INT64, Scalar
from loopwright.ir.walk import expressions, own_expressions, statements, subexpressions
from loopwright.steps.bind import BLOCKS, THREADS
from loopwright.steps.extent import extent_of, trip_of

AXES = "xyz"
MOST_BLOCKS = {"x": 2**31 - 1, "y": 65535, "z": 65535}
OWN_BYTES = 4096  # local arrays of a thread up to this size are its own; more would be slow and much in all
SHARED_BYTES = 48 * 1024  # of a block, for arrays of a constant size
FILL_THREADS = 256


class NotOnGpu(Exception):
    """Why a kernel, or a part of it, cannot run on a GPU, in the user's words."""


class GpuWriter(Writer):
    """device: finished texts of kernels; kernels: their names, two for each: the first with 32-bit distances between
    elements. slots: how many scalars are handed to the host. checks: some kernel may record a failure."""

    def __init__(self, kernel: Kernel, facts: Facts, strict: bool) -> None:
        super().__init__(kernel, facts, False, strict)
        self.device: list[str] = []
        self.kernels: list[str] = []
        self.slots = 0
        self.in_index = False
        self.checks = False
        self.threads: dict[Run, For] = {}  # the loops over threads that text is being written in
        self.owned: dict[str, tuple[Share | None, ...]] = {}
        self.types |= {"gpu": "lw_gpu *", "lw_failed": "lw_failure *", "lw_small": "int64_t", "lw_slots": "char *"}
        self.types |= {f"{what}_{axis}": "int64_t" for what in ("lw_lower", "lw_base") for axis in AXES}

    def giving_back(self, buffer: str) -> str:
        return f"if ({buffer}) gpu->release(gpu, {buffer});"

    def new_scalar(self, wanted: str, scalar: Scalar) -> str:
        """The name of a scalar that the kernel does not have."""
        name = f"lw.{wanted}{len(self.scalars)}"
        self.scalars[name] = scalar
        self.types[self.names.of(name)] = VALUE_TYPE[scalar.name]
        self.declare(self.names.of(name))
        return name

    def cannot_overflow(self, expr: Expr) -> bool:
        """CUDA's compiler may take signed arithmetic as never to wrap. Only what stands in a proven index cannot: the
        guard sees to its scalars."""
        return not self.function.on_device or (self.in_index and self.in_range(expr))

    def _index(self, node: Load | Store, axis: int, expr: Expr, bounds: Bounds) -> str:
        outer, self.in_index = self.in_index, bounds.kind != "checked"
        text = super()._index(node, axis, expr, bounds)
        self.in_index = outer
        return text

    def element(self, node: Load | Store) -> str:
        """As for the CPU; of an array that threads own parts of, counted from the beginning of the own part."""
        if (found := self.owned.get(node.array)) is None:
            return super().element(node)
        index: list[str] = []
        for axis, share in enumerate(found):
            expr = node.index[axis]
            if share is not None:
                loop = self.threads[share.run]
                expr = Binary("sub", expr, Binary("sub", Var(loop.name, INT64), loop.lower))
            index.append(self.text(expr))
        return self.arrays[node.array].element_at(tuple(index))

    def launched(self, call: str) -> None:
        """A line that asks something of the GPU."""
        self.use("gpu"), self.use("failure")
        site = self.site("device", "", 0, None)
        self.line(f"if (LW_RARE({call})) {{ lw_fail(failure, {site}, 0, 0); goto lw_leave; }}")

    @contextmanager
    def on_device(self, part: Function) -> Iterator[None]:
        """Within the block, text is that of a device function."""
        outer = self.function, self.arrays, self.write_loop, self.write_allocate, self.unrolling
        self.function = part
        self.arrays = {name: replace(array, on_device=True) for name, array in self.arrays.items()}
        self.write_loop, self.unrolling = partial(write_sequential, w=self), "#pragma unroll"
        self.write_allocate = partial(_own_array, w=self)
        yield
        self.function, self.arrays, self.write_loop, self.write_allocate, self.unrolling = outer

    def finish_kernel(self, part: Function, threads: int, body: Body, shared: Sequence[str] = ()) -> None:
        """The two kernels of a device function whose lines are complete."""
        stored = {stmt.array for stmt in statements(body) if isinstance(stmt, Store)}
        if (self.kernels or self.function.depth > 1) and _may_fail(self):
            # What came before may have failed: then nothing more happens, as in Python.
            part.parameters["failure"] = None
            part.lines.insert(0, "  if (LW_RARE(failure->site >= 0)) lw_stop();")
        self.checks |= "failure" in part.parameters
        pointers = {array.pointer: array for array in self.arrays.values()}
        given = [self._parameter(name, pointers.get(name), stored) for name in part.parameters]
        used = [f"  {text}" for text in part.declared.values()]
        own = ", ".join(part.parameters)
        lines = [
            "template <typename lw_int>",
            f"static __device__ __forceinline__ void {part.name}({', '.join(given)}) {{",
            *(f"  {text}" for text in shared),
            *used,
            *part.lines,
            "}",
        ]
        for bits in (32, 64):
            name = f"{part.name}_{bits}"
            self.kernels.append(name)
            head = f'extern "C" __global__ void __launch_bounds__({threads}) {name}({", ".join(given)})'
            lines.append(f"{head} {{ {part.name}<int{bits}_t>({own}); }}")
        self.device.append("\n".join(lines))

    def _parameter(self, name: str, array: ArrayText | None, stored: set[str]) -> str:
        if name == "failure":
            return "lw_failure *failure"
        if array is None:
            return f"{self.types[name]} {name}"
        if not array.aligned and array.element.size_bytes > 1:
            raise NotOnGpu(f"elements of '{array.name}' are not aligned")
        if array.bytes:
            return f"LW_GLOBAL(char) {name}"
        return f"LW_GLOBAL({'' if array.name in stored else 'const '}{array.memory_type}) {name}"

    def start(self, part: Function, grid: Sequence[str], block: Sequence[int], own: dict[str, str]) -> None:
        """Lines that start the kernels finished last. own: C names, declared where the line stands, for some of the
        parameters."""
        first = len(self.kernels) - 2
        names = {"failure": "lw_failed"}
        arguments = [f"&{own.get(p) or self.use(names.get(p, p))}" for p in part.parameters]
        self.use("lw_small")
        self.line(f"const int64_t lw_grid[3] = {{{', '.join(grid)}}}, lw_block[3] = {{{', '.join(map(str, block))}}};")
        self.line(f"void *lw_arguments[] = {{{', '.join(arguments) or '0'}}};")
        number = f"lw_small ? {first} : {first + 1}"
        self.launched(f"gpu->launch(gpu, {number}, lw_grid, lw_block, 0, lw_arguments)")


def _own_array(stmt: Allocate, w: GpuWriter) -> None:
    """A local array of one thread."""
    array = w.arrays[stmt.array]
    count = _constant_size(stmt, OWN_BYTES)
    if count is None:
        raise NotOnGpu(f"each thread would need an array '{stmt.array}' of its own, and it is too large")
    w.function.declared[array.pointer] = f"__align__(16) {array.memory_type} {array.pointer}[{max(count, 1)}];"
    if stmt.fill is not None:
        value = literal(stmt.fill.value, stmt.fill.type)
        w.line(f"for (int lw_i = 0; lw_i < {count}; ++lw_i) {array.pointer}[lw_i] = {value};")


def _constant_size(stmt: Allocate, most_bytes: int) -> int | None:
    count = 1
    for size in stmt.shape:
        if not isinstance(size, Const) or size.value < 0:
            return None
        count *= int(size.value)
    return count if count * stmt.element.size_bytes <= most_bytes else None


# ---- one thread -------------------------------------------------------------------------------------------------


def write_one_thread(body: Body, w: GpuWriter, wanted: frozenset[str] | set[str] = frozenset()) -> None:
    """Statements that one thread of the device runs, and the scalars that others need of it, or that are wanted."""
    part = Function(w.names.fresh("lw_single"), on_device=True)
    assigned = {stmt.name for stmt in statements(body) if isinstance(stmt, Assign)}
    handed = [name for name in sorted(assigned) if name in wanted or _is_read_elsewhere(w.kernel, body, name)]
    exposed = flow(body).exposed
    own: dict[str, str] = {}
    with w.on_device(part):
        for name in sorted(assigned - exposed - set(handed)):
            w.declare(w.names.of(name))
        write_body(body, w)
        for name in handed:
            pointer = w.fresh(f"lw_out_{w.names.of(name)}", f"LW_GLOBAL({VALUE_TYPE[w.scalars[name].name]})")
            w.line(f"{w.use(pointer)}[0] = {w.use(w.names.of(name))};")
            own[pointer] = name
    w.finish_kernel(part, 1, body)
    if own:
        w.function.declared.setdefault("lw_slots", "char *lw_slots = 0;")
    w.line("{")
    for number, pointer in enumerate(own):
        w.line(f"char *{pointer} = {w.use('lw_slots')} + {8 * number};")
    w.slots = max(w.slots, len(own))
    w.start(part, ("1", "1", "1"), (1, 1, 1), {pointer: pointer for pointer in own})
    for pointer, name in own.items():
        value = w.use(w.names.of(name))
        w.launched(f"gpu->fetch(gpu, &{value}, {pointer}, sizeof {value})")
    if own and _may_fail(w):
        _stop_after_failure(w)
    w.line("}")


def _stop_after_failure(w: GpuWriter) -> None:
    """Lines that end the call where a check on the device has failed: the scalars that come from there mean nothing,
    and a loop that waits for them to change would run for ever. Who called finds the failure on the device."""
    site = w.fresh("lw_site", "int64_t")
    w.line(f"int64_t {site};")
    w.launched(f"gpu->fetch(gpu, &{site}, {w.use('lw_failed')}, sizeof {site})")
    w.line(f"if (LW_RARE({site} >= 0)) {{ lw_status = 0; goto lw_leave; }}")


def _may_fail(w: GpuWriter) -> bool:
    return any(
        isinstance(node, Load | Store | Checked) and w.may_fail(node)
        for node in (*expressions(w.kernel.body), *statements(w.kernel.body))
    )


def _is_read_elsewhere(kernel: Kernel, body: Body, name: str) -> bool:
    inside = {id(stmt) for stmt in statements(body)}
    return any(
        isinstance(part, Var) and part.name == name
        for stmt in statements(kernel.body)
        if id(stmt) not in inside
        for expr in own_expressions(stmt)
        for part in subexpressions(expr)
    )


def write_fill(array: ArrayText, fill: Const, count: str, w: GpuWriter) -> None:
    """A kernel that gives every element of an array one value, and its start."""
    part = Function(w.names.fresh(f"lw_fill_{array.pointer}"), on_device=True)
    w.types["lw_count"] = "int64_t"
    with w.on_device(part):
        w.line(f"const int64_t lw_i = (int64_t)blockIdx.x * {FILL_THREADS} + threadIdx.x;")
        value = literal(fill.value, fill.type)
        w.line(f"if (lw_i < {w.use('lw_count')}) {w.use(array.pointer)}[lw_i] = {value};")
    w.finish_kernel(part, FILL_THREADS, (Store(array.name, (), fill),))
    w.line(f"if ({count}) {{")  # a grid of no blocks is refused
    w.line(f"const int64_t lw_count = {count};")
    w.start(part, (f"(lw_count + {FILL_THREADS - 1}) / {FILL_THREADS}", "1", "1"), (FILL_THREADS, 1, 1),
            {"lw_count": "lw_count"})  # fmt: skip
    w.line("}")


# ---- a grid -----------------------------------------------------------------------------------------------------


def write_grid(loop: For, w: GpuWriter) -> None:
    """The kernel of a nest whose outermost loop is bound, and its start."""
    blocks: list[For] = []
    body: Body = (loop,)
    while len(body) == 1 and isinstance(body[0], For) and body[0].run in BLOCKS:
        blocks.append(body[0])
        body = body[0].body
    size = block_size(body)
    part = Function(w.names.fresh(f"lw_grid_{w.names.of(loop.name)}"), on_device=True)
    with w.on_device(part):
        for block in blocks:
            axis = block.run[-1]
            variable = w.names.of(block.name)
            number = f"({w.use(f'lw_base_{axis}')} + (int64_t)blockIdx.{axis})"
            step = "" if _step(block) == 1 else f" * {_step(block)}"
            w.line(f"const int64_t {variable} = {w.use(f'lw_lower_{axis}')} + {number}{step};")
            w.function.scoped.add(variable)
        assigned = {stmt.name for stmt in statements(body) if isinstance(stmt, Assign)}
        for name in sorted(assigned - flow(body).exposed):
            w.declare(w.names.of(name))
        whole = _Whole(w, size)
        whole.body(body)
    w.finish_kernel(part, size[0] * size[1] * size[2], body, whole.shared)
    w.parallel.append(loop.name)
    _start_grid(blocks, part, size, w)


def _start_grid(blocks: Sequence[For], part: Function, size: Sequence[int], w: GpuWriter) -> None:
    w.line("{")
    own: dict[str, str] = {}
    grid = dict.fromkeys(AXES, "1")
    for block in blocks:
        axis = block.run[-1]
        lower, upper = w.text(block.lower), w.text(block.upper)
        w.line(f"const int64_t lw_lower_{axis} = {lower}, lw_trip_{axis} = lw_trip(lw_lower_{axis}, {upper}, "
               f"{_step(block)});")  # fmt: skip
        own |= {f"lw_lower_{axis}": f"lw_lower_{axis}", f"lw_base_{axis}": f"lw_base_{axis}"}
    for block in blocks:
        axis = block.run[-1]
        most = MOST_BLOCKS[axis]
        w.line(f"for (int64_t lw_base_{axis} = 0; lw_base_{axis} < lw_trip_{axis}; lw_base_{axis} += {most}) {{")
        grid[axis] = f"lw_trip_{axis} - lw_base_{axis} < {most} ? lw_trip_{axis} - lw_base_{axis} : {most}"
    w.start(part, [grid[axis] for axis in AXES], size, own)
    w.line("}" * (len(blocks) + 1))


def block_size(body: Body) -> tuple[int, int, int]:
    """Threads of a block along x, y and z. Raises NotOnGpu."""
    size = {f"thread.{axis}": 1 for axis in AXES}
    for stmt in statements(body):
        if isinstance(stmt, For) and stmt.run in THREADS:
            size[stmt.run] = max(size[stmt.run], _sharing(stmt))
    x, y, z = size.values()
    if x * y * z > 1024:
        raise NotOnGpu(f"a block would have {x} x {y} x {z} threads: 1024 are the most")
    return x, y, z


def _sharing(loop: For) -> int:
    """Among how many threads the iterations of a loop are shared out."""
    if loop.threads:
        return loop.threads
    extent = extent_of(loop)
    if not extent:
        raise NotOnGpu(f"'{loop.name}' is bound to threads, but has no constant number of iterations")
    return -(-extent // _step(loop))


def _step(loop: For) -> int:
    assert isinstance(loop.step, Const)
    return int(loop.step.value)


@dataclass
class _Whole:
    """What a block does as a whole, and what happened since its last barrier: `read` and `written`, names of arrays.
    shared: declarations of arrays in shared memory."""

    w: GpuWriter
    size: tuple[int, int, int]
    shared: list[str] = field(default_factory=list)
    shared_bytes: int = 0
    read: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)

    def body(self, body: Body) -> None:
        if self.size == (1, 1, 1):  # then there is nobody to wait for
            write_body(body, self.w)
            return
        for stmt in body:
            self._statement(stmt)

    def _statement(self, stmt: Stmt) -> None:
        if isinstance(stmt, For) and stmt.run in THREADS:
            self._meet((stmt,))
            self._nest(stmt)
        elif isinstance(stmt, Allocate):
            self._array(stmt)
        elif isinstance(stmt, For | While | If) and _has_threads(stmt):
            self._around(stmt)
        elif any(isinstance(inner, Store) for inner in statements((stmt,))):
            self._meet((stmt,))
            self._by_one(stmt)
        else:  # scalars, which every thread has for itself
            self._meet((stmt,))
            write(stmt, self.w)

    # ---- barriers

    def _meet(self, body: Body) -> None:
        """Before what comes now: a barrier, where it touches what another thread has touched since the last one."""
        inside = {stmt.array for stmt in statements(body) if isinstance(stmt, Allocate)} | set(self.w.owned)
        reads = {part.array for part in expressions(body) if isinstance(part, Load)} - inside
        writes = {stmt.array for stmt in statements(body) if isinstance(stmt, Store)} - inside
        if reads & self.written or writes & (self.read | self.written):
            self._barrier()
        self.read |= reads
        self.written |= writes

    def _barrier(self) -> None:
        self.w.line("__syncthreads();")
        self.read.clear()
        self.written.clear()

    def _around(self, stmt: For | While | If) -> None:
        """Control flow around threads: all threads of the block take the same way."""
        w = self.w
        match stmt:
            case If():
                self._meet((replace(stmt, then=(), otherwise=()),))
                w.line(f"if ({w.text(stmt.condition)}) {{")
                before = set(self.read), set(self.written)
                self._indented(stmt.then)
                after = set(self.read), set(self.written)
                self.read, self.written = before
                w.line("} else {")
                self._indented(stmt.otherwise)
                w.line("}")
                self.read |= after[0]
                self.written |= after[1]
            case For() if not any(isinstance(part, Load) for e in own_expressions(stmt) for part in subexpressions(e)):
                before = set(self.read), set(self.written)
                # The next iteration begins where the last one ended: with what that has touched.
                self.read |= {part.array for part in expressions(stmt.body) if isinstance(part, Load)}
                self.written |= {inner.array for inner in statements(stmt.body) if isinstance(inner, Store)}
                if any(isinstance(inner, Break | Continue) for inner in statements(stmt.body)):
                    before = set(self.read), set(self.written)  # the last iteration may end before its barriers
                self._repeated(stmt)
                self.read |= before[0]  # where there was no iteration, there was no barrier
                self.written |= before[1]
            case _:
                raise NotOnGpu("data decides how often the threads of a block meet")

    def _repeated(self, loop: For) -> None:
        w, variable = self.w, self.w.names.of(loop.name)
        lower, upper, step = (w.text(bound) for bound in (loop.lower, loop.upper, loop.step))
        w.function.scoped.add(variable)
        if isinstance(loop.step, Const) and loop.step.value > 0:
            w.line(f"{{ const int64_t lw_upper = {upper};")
            w.line(f"for (int64_t {variable} = {lower}; {variable} < lw_upper; {variable} += {step}) {{")
        else:
            w.line(f"{{ const int64_t lw_lower = {lower}, lw_step = {step};")
            w.line(f"const int64_t lw_count = lw_trip(lw_lower, {upper}, lw_step);")
            w.line("for (int64_t lw_k = 0; lw_k < lw_count; ++lw_k) {")
            w.line(f"  const int64_t {variable} = lw_lower + lw_k * lw_step;")
        self._indented(loop.body)
        w.line("}}")
        w.function.scoped.discard(variable)

    def _indented(self, body: Body) -> None:
        self.w.function.depth += 1
        self.body(body)
        self.w.function.depth -= 1

    # ---- what stands in a block

    def _array(self, stmt: Allocate) -> None:
        w, array = self.w, self.w.arrays[stmt.array]
        if (found := self._owned(stmt)) is not None:
            sizes = [str(share.size if share else size) for share, size in zip(found, array.sizes, strict=True)]
            w.owned[stmt.array] = found
            w.arrays[stmt.array] = replace(array, sizes=tuple(sizes), on_device=False)
            own = prod(int(size) for size in sizes)
            w.function.declared[array.pointer] = f"__align__(16) {array.memory_type} {array.pointer}[{own}];"
            return
        count = _constant_size(stmt, SHARED_BYTES)
        self.shared_bytes += (count or 0) * stmt.element.size_bytes
        if count is None or self.shared_bytes > SHARED_BYTES:
            raise NotOnGpu(f"'{stmt.array}' does not fit into the shared memory of a block")
        self.shared.append(f"LW_SHARED({array.memory_type}, {array.pointer}, {max(count, 1)});")
        w.function.scoped.add(array.pointer)
        # Its distances are small whatever their type; as they stand, the compiler sees what is aligned.
        w.arrays[stmt.array] = replace(array, on_device=False)
        if stmt.fill is not None:
            if stmt.array in self.read | self.written:
                self._barrier()
            x, y, z = self.size
            number = f"threadIdx.x + {x} * (threadIdx.y + {y} * threadIdx.z)"
            w.line(f"for (int lw_i = {number}; lw_i < {count}; lw_i += {x * y * z})")
            w.line(f"  {array.pointer}[lw_i] = {literal(stmt.fill.value, stmt.fill.type)};")
            self.written.add(stmt.array)

    def _owned(self, stmt: Allocate) -> tuple[Share | None, ...] | None:
        """How the threads of the block own the elements of an array, None where they share them."""
        found = shares(self.w.kernel, stmt.array)
        if found is None or stmt.fill is not None or _constant_size(stmt, 2**30) is None:
            return None
        runs = {share.run for share in found if share is not None}
        if any(size > 1 and f"thread.{axis}" not in runs for axis, size in zip(AXES, self.size, strict=True)):
            return None
        whole = [int(size.value) for size in stmt.shape if isinstance(size, Const)]
        own = prod(share.size if share else size for share, size in zip(found, whole, strict=True))
        nests = (one for one in statements(self.w.kernel.body) if isinstance(one, For) and one.run in runs)
        for loop in nests:
            uses = any(isinstance(s, Store) and s.array == stmt.array for s in statements(loop.body)) or any(
                isinstance(part, Load) and part.array == stmt.array for part in expressions(loop.body)
            )
            if uses and _sharing(loop) * _step(loop) < (extent_of(loop) or 2**62):
                return None  # a thread would come back for another part
        return found if own * stmt.element.size_bytes <= OWN_BYTES else None

    def _by_one(self, stmt: Stmt) -> None:
        """What writes, outside of all loops over threads."""
        if any(isinstance(inner, Assign) for inner in statements((stmt,))):
            raise NotOnGpu("a block would write to an array and to a scalar at once, outside of its threads")
        self.w.line(f"if ({self._idle(())}) {{")
        self.w.function.depth += 1
        write(stmt, self.w)
        self.w.function.depth -= 1
        self.w.line("}")

    def _idle(self, used: Sequence[str]) -> str:
        """C text: this thread is the one that works where some axes are not shared out."""
        others = [axis for axis, size in zip(AXES, self.size, strict=True) if size > 1 and axis not in used]
        return " && ".join(f"threadIdx.{axis} == 0" for axis in others) or "true"

    def _nest(self, loop: For) -> None:
        w = self.w
        band = [loop]
        while any(isinstance(s, For) and s.run in THREADS for s in statements(band[-1].body)):
            inner = band[-1].body[0]
            if len(band[-1].body) != 1 or not isinstance(inner, For) or inner.run not in THREADS:
                raise NotOnGpu(f"other statements stand between the threads of '{band[-1].name}' and those inside it")
            band.append(inner)
        opened = 0
        idle = self._idle([one.run[-1] for one in band])
        if idle != "true":
            w.line(f"if ({idle}) {{")
            opened += 1
        for one in band:
            opened += self._shared_out(one)
        w.threads = {one.run: one for one in band}
        w.function.depth += 1
        write_body(band[-1].body, w)
        w.function.depth -= 1
        w.threads = {}
        w.line("}" * opened)
        for one in band:
            w.function.scoped.discard(w.names.of(one.name))

    def _shared_out(self, loop: For) -> int:
        """Begin a loop that threads share; how many brackets it opens."""
        w, axis = self.w, loop.run[-1]
        variable, step, sharing = w.names.of(loop.name), _step(loop), _sharing(loop)
        lower, upper = w.text(loop.lower), w.text(loop.upper)
        w.function.scoped.add(variable)
        extent = extent_of(loop) or 0
        sign = "<" if step > 0 else ">"
        start = f"{lower} + (int64_t)threadIdx.{axis}{'' if step == 1 else f' * {step}'}"
        some = "" if sharing == self.size[AXES.index(axis)] else f"threadIdx.{axis} < {sharing} && "
        trip = trip_of(loop) or 0
        if trip and trip % sharing == 0:
            return self._in_rounds(loop, trip // sharing, start, some)
        if 0 < extent <= sharing * step:
            w.line(f"{{ const int64_t {variable} = {start};")
            w.line(f"if ({some}{variable} {sign} {upper}) {{")
            return 2
        w.line(f"{{ const int64_t lw_upper = {upper};")
        test = f"{some}{variable} {sign} lw_upper"
        w.line(f"for (int64_t {variable} = {start}; {test}; {variable} += {sharing * step}) {{")
        return 2

    def _in_rounds(self, loop: For, rounds: int, start: str, some: str) -> int:
        """A loop of which each thread has the same number of iterations: written out, so that its loads overlap."""
        w, variable = self.w, self.w.names.of(loop.name)
        test = f"if ({some.removesuffix(' && ')}) " if some else ""
        if rounds == 1:
            w.line(f"{test}{{ const int64_t {variable} = {start};")
            return 1
        w.line("#pragma unroll" if rounds <= UNROLLED else "")
        w.line(f"for (int lw_round = 0; lw_round < {rounds}; ++lw_round) {{")
        w.line(f"{test}{{ const int64_t {variable} = {start} + lw_round * {_sharing(loop) * _step(loop)};")
        return 2


def _has_threads(stmt: Stmt) -> bool:
    return any(isinstance(inner, For) and inner.run in THREADS for inner in statements((stmt,)))
