"""Products of float64, or of bytes, by the matrix units of a GPU: a warp multiplies 16 x 8 numbers by 8 x 8, or 16 x 32
bytes by 32 x 8, and adds the products to 128 sums that its threads keep (PTX ISA, "Matrix Fragments for mma.m16n8k8"
with .f64, and "for mma.m16n8k32" with .s8).

Lane l keeps four sums, of two rows that are its own and in the columns 2 * (l % 4) and the next one. To the unit it
gives four numbers of its two rows, and two of column l / 4, at the depths l % 4 and four further on. So a loop over the
depth fits where four threads along x have two neighbouring columns each, eight along y two rows each, and operands lie
in shared memory, where each thread can read what another one would. Of bytes it gives four in a row in place of each
number; each 32 products are added up in 32 bits, where they have room, and then to sums of integers. Sums of float64
are fused and their order changes: `strict` has none of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import product

from loopwright.codegen.bound_nest import BoundNest
from loopwright.codegen.decisions import CodegenInput
from loopwright.codegen.gpu_writer import GpuWriter
from loopwright.codegen.loops import Begun, write_sequential
from loopwright.codegen.lowered import InRegisters, Lowering, TensorProduct
from loopwright.ir.linear import coefficient
from loopwright.ir.nodes import Binary, Cast, Const, Expr, For, Load, Store, Unary, Var
from loopwright.ir.queries import names_in
from loopwright.ir.types import FLOAT64, INT8, INT32, INT64, UINT8
from loopwright.ir.walk import subexpressions
from loopwright.steps.extent import trip_of
from loopwright.steps.nest import step_of
from loopwright.steps.threads import THREADS, band_of, sharing_of

ACROSS, DOWN, DEPTH, PAIR = 4, 8, 8, 2
"""Lanes along a row and along a column, the depth of one product, and how many rows and columns a lane has in it."""
IN_A_WORD = 4
"""Bytes that a lane gives in place of a number."""
SUMS = (FLOAT64, INT64, INT32)


def tensor_products(nest: BoundNest, before: Lowering, given: CodegenInput) -> Iterator[TensorProduct]:
    """The loops of a block's threads whose sums the matrix units can find."""
    x, y, z = nest.size
    if not given.facts.gpu.matrix_units or (x, y % DOWN, z) != (ACROSS, 0, 1):
        return
    for one in nest.together():
        if isinstance(one.stmt, For) and one.stmt.run in THREADS and not one.inside:
            band = band_of(one.stmt)
            found = _product(band, nest, before, given) if _all_take_part(band, nest.size) else None
            if found is not None:
                yield found


def _all_take_part(band: Sequence[For], size: tuple[int, int, int]) -> bool:
    """Whether each thread has one iteration of two loops, one along x in steps of a pair, and one along y."""
    runs = {loop.run: loop for loop in band}
    if len(band) != 2 or runs.keys() != {"thread.x", "thread.y"}:
        return False
    across, down = runs["thread.x"], runs["thread.y"]
    from_zero = all(isinstance(loop.lower, Const) and not loop.lower.value for loop in band)
    trips = trip_of(across) == sharing_of(across) == size[0], trip_of(down) == sharing_of(down) == size[1]
    return from_zero and all(trips) and step_of(across) == PAIR


def _product(band: Sequence[For], nest: BoundNest, before: Lowering, given: CodegenInput) -> TensorProduct | None:
    across = next(loop.name for loop in band if loop.run == "thread.x")
    down = next(loop.name for loop in band if loop.run == "thread.y")
    chain, stmt = _perfect(band[-1])
    if len(chain) < 3 or not isinstance(stmt, Store) or stmt.value.type not in SUMS:
        return None
    if given.strict and stmt.value.type.is_float:
        return None
    depth, *groups, pair = chain
    trips = [given.constant_trip(loop) for loop in chain]
    if any(trip is None or step_of(loop) < 1 for trip, loop in zip(trips, chain, strict=True)):
        return None
    if (trips[0] or 0) % depth_of(stmt) or step_of(depth) != 1 or (trips[-1], step_of(pair)) != (PAIR, 1):
        return None
    kept = {one.name for one in before.every(InRegisters)}
    shared = nest.local - kept
    if stmt.array not in kept or coefficient(pair.lower, across) != 1 or depth.name in _names(stmt.index):
        return None
    columns = {pair.name, *(names_in(pair.lower) & {loop.name for loop in groups})}
    rows = {down, *(loop.name for loop in groups)} - columns
    two = next((loop for loop in reversed(groups) if loop.name in rows), None)
    if two is None or given.constant_trip(two) != PAIR or step_of(two) != 1:
        return None
    terms: list[tuple[Expr, Expr]] = []
    for term, is_less in _terms(stmt.value, False):
        if isinstance(term, Load) and (term.array, term.index) == (stmt.array, stmt.index) and not is_less:
            continue
        parts = _operands(term, columns, rows | {across}, shared)
        if parts is None or (stmt.value.type.is_integer and is_less):
            return None
        left, right = parts
        terms.append((Unary("neg", left) if is_less else left, right))
    own = [one for one in subexpressions(stmt.value, Load) if one.array == stmt.array]
    if not terms or len(own) != 1 or not any(term is own[0] for term, less in _terms(stmt.value, False) if not less):
        return None
    others = tuple(loop for loop in groups if loop is not two)
    if any(two.name in _names((loop.lower, loop.upper)) for loop in (*others, pair)):
        return None
    return TensorProduct(depth.name, others, two, pair, stmt, tuple(terms), across)


def _perfect(loop: For) -> tuple[list[For], object]:
    """The loops inside one, each with nothing else in it than the next, and what the last one holds."""
    chain: list[For] = []
    body = loop.body
    while len(body) == 1 and isinstance(inner := body[0], For) and inner.run == "sequential":
        chain.append(inner)
        body = inner.body
    return chain, body[0] if len(body) == 1 else None


def _names(exprs: Sequence[Expr]) -> set[str]:
    return {name for expr in exprs for name in names_in(expr)}


def _terms(expr: Expr, is_less: bool) -> Iterator[tuple[Expr, bool]]:
    """What is added up, and whether it is taken off."""
    if isinstance(expr, Binary) and expr.op in ("add", "sub") and expr.type in SUMS:
        yield from _terms(expr.left, is_less)
        yield from _terms(expr.right, is_less != (expr.op == "sub"))
    else:
        yield expr, is_less


def _factors(expr: Expr) -> Iterator[Expr]:
    """What is multiplied; of integers, each with as many bits as their product has, or more."""
    if isinstance(expr, Binary) and expr.op == "mul" and expr.type in SUMS:
        yield from _factors(expr.left)
        yield from _factors(expr.right)
    else:
        yield expr


def depth_of(sums: Store) -> int:
    """How many terms of each sum one product adds up."""
    return DEPTH * IN_A_WORD if sums.value.type.is_integer else DEPTH


def bytes_of(expr: Expr) -> Load | None:
    """The element that is a factor, if that is a byte."""
    while isinstance(expr, Cast) and expr.type in (INT64, INT32):
        expr = expr.operand
    return expr if isinstance(expr, Load) and expr.type in (INT8, UINT8) else None


def _operands(term: Expr, columns: set[str], others: set[str], shared: set[str]) -> tuple[Expr, Expr] | None:
    """A product as one of what rows give and what columns give; None where it is none. others: names of loops that are
    nothing to columns."""
    left: list[Expr] = []
    right: list[Expr] = []
    if term.type.is_integer:
        while isinstance(term, Cast) and term.type == INT64 and bytes_of(term) is None:
            term = term.operand  # products of bytes in 32 bits are exact
    for factor in _factors(term):
        names = names_in(factor)
        if not _is_at_hand(factor, shared) or (names & columns and names & others):
            return None
        (right if names & columns else left).append(factor)
    if not left or not right:
        return None
    if not term.type.is_integer:
        return _times(left), _times(right)
    first, second = bytes_of(left[0]), bytes_of(right[0])
    return None if len(left) + len(right) > 2 or first is None or second is None else (first, second)


def _times(factors: Sequence[Expr]) -> Expr:
    found = factors[0]
    for one in factors[1:]:
        found = Binary("mul", found, one)
    return found


def _is_at_hand(expr: Expr, shared: set[str]) -> bool:
    """Whether any thread may read it: from shared memory, without a test."""
    kinds = Load, Const, Var, Binary, Unary, Cast
    parts = list(subexpressions(expr))
    return all(isinstance(part, kinds) for part in parts) and all(
        one.array in shared for one in parts if isinstance(one, Load)
    )


# ---- text -------------------------------------------------------------------------------------------------------


def write_tensor_product(loop: For, found: TensorProduct, w: GpuWriter, first: Begun | None = None) -> None:
    """The loop over the depth. first: what writes lines at the beginning of an iteration."""

    def inside() -> None:
        if first is not None:
            first()
        with w.branch(f"{w.function.counters[loop.name]} % {depth_of(found.store)} == 0"):
            _groups(loop, found, found.groups, w)

    write_sequential(replace(loop, body=()), w, first=inside, unroll=w.given.constant_trip(loop))


def _groups(depth: For, found: TensorProduct, groups: Sequence[For], w: GpuWriter) -> None:
    """The products of each group of rows with each group of columns."""
    if not groups:
        _one(depth, found, w)
        return
    write_sequential(replace(groups[0], body=()), w, first=lambda: _groups(depth, found, groups[1:], w))


def _one(depth: For, found: TensorProduct, w: GpuWriter) -> None:
    rows, pair, counters = found.rows, found.pair, w.function.counters
    w.line(f"const int64_t lw_row = {w.text(rows.lower)}, lw_column = {w.text(pair.lower)};")
    own = [f"(lw_row + {number})" for number in range(PAIR)]
    sums: list[str] = []
    for row, column in product(range(PAIR), repeat=2):
        counters |= {rows.name: str(row), pair.name: str(column)}
        with _meaning({rows.name: own[row], pair.name: f"(lw_column + {column})"}, w):
            sums.append(w.element(found.store))
    del counters[rows.name], counters[pair.name]
    with _meaning({found.across: "0L"}, w):
        there = f"({w.text(pair.lower)} + (int64_t)(threadIdx.y % {DOWN}))"
    each = IN_A_WORD if found.store.value.type.is_integer else 1
    first = f"({w.variable(depth.name)} + (int64_t)threadIdx.x * {each}"
    deep = [[f"{first} + {at + byte})" for byte in range(each)] for at in range(0, DEPTH * each, ACROSS * each)]
    for left, right in found.terms:
        operands: list[str] = []
        for places, place in product(deep, own):
            operands.append(_together(left, [{depth.name: at, rows.name: place} for at in places], w))
        for places in deep:
            operands.append(_together(right, [{depth.name: at, pair.name: there} for at in places], w))
        what = f"LW_MULTIPLY_BYTES({left.type.name}_t, {right.type.name}_t, " if each > 1 else "lw_multiply("
        w.line(f"{what}{', '.join((*sums, *operands))});")


def _together(expr: Expr, meanings: Sequence[dict[str, str]], w: GpuWriter) -> str:
    """What a lane gives at once: a number, or some bytes in a row."""
    found: list[str] = []
    for meaning in meanings:
        with _meaning(meaning, w):
            found.append(w.text(expr))
    return found[0] if len(found) == 1 else f"lw_word({', '.join(found)})"


@contextmanager
def _meaning(texts: dict[str, str], w: GpuWriter) -> Iterator[None]:
    """Inside, variables are these C texts."""
    before = w.function.renamed
    w.function.renamed = before | texts
    yield
    w.function.renamed = before
