"""Which thread runs which iterations of a parallel loop, as C text. Even loops are cut into one stretch a thread.
Loops whose iterations differ in work are cut into pieces: of equal work where an inner loop runs from `p[i]` to
`p[i + 1]`, since then `p` says how much there is before each iteration; else of equal length. Pieces go to whoever is
free, or, where partial results have to be the same in every run, to fixed threads.

The pieces follow from one another for any contents of `p`: what it holds decides the speed only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from loopwright.analysis.row_pointers import is_next
from loopwright.codegen.function import Writer
from loopwright.ir.nodes import (
    Assign,
    Body,
    Break,
    Cast,
    Checked,
    Const,
    Expr,
    For,
    If,
    Load,
    Store,
    Var,
    While,
)
from loopwright.ir.walk import bodies, rewrite_expr, statements, subexpressions

FEWEST, MOST = 16, 64  # pieces per thread where nothing says how much work is in each
EQUAL = 8  # pieces per thread where all have the same work


@dataclass(frozen=True, slots=True)
class Rows:
    """An inner loop over the entries of row i: from `pointer[first]` to `pointer[first + 1]`, where `first` grows by
    one with each iteration of the parallel loop. `loop`: the inner loop's name."""

    pointer: str
    first: Expr
    loop: str


# ---- what is known of the loop ----------------------------------------------------------------------------------


def rows_of(loop: For, w: Writer) -> Rows | None:
    """The first inner loop over the rows of a pointer that nothing changes meanwhile, or None."""
    if not (isinstance(loop.step, Const) and loop.step.value == 1) or w.kernel.overlap:
        return None
    known = definitions(loop.body)
    written = {stmt.array for stmt in statements(loop.body) if isinstance(stmt, Store)}
    for stmt in statements(loop.body):
        if isinstance(stmt, For) and stmt is not loop:
            lower, upper = (_plain(resolved(bound, known)) for bound in (stmt.lower, stmt.upper))
            if not (isinstance(lower, Load) and isinstance(upper, Load) and lower.array == upper.array):
                continue
            if lower.array in written or w.arrays[lower.array].slot is None or not lower.type.is_integer:
                continue
            if len(lower.index) == 1 and is_next(lower.index[0], upper.index[0], loop):
                return Rows(lower.array, lower.index[0], stmt.name)
    return None


def is_uneven(loop: For) -> bool:
    """Whether iterations may differ much in work: inner loops whose length or whose running at all depends on the
    loop's variable or on data, or that may end early."""
    return _uneven_body(loop.body, loop, definitions(loop.body), hidden=False)


def _uneven_body(body: Body, loop: For, known: Mapping[str, Expr | None], hidden: bool) -> bool:
    for stmt in body:
        if isinstance(stmt, While):
            return True
        if isinstance(stmt, For):
            bounds = (resolved(bound, known) for bound in (stmt.lower, stmt.upper))
            if hidden or any(_varies(bound, {loop.name}, known) for bound in bounds):
                return True
            if any(isinstance(inner, Break) and inner.loop == stmt.name for inner in statements(stmt.body)):
                return True
        hides = isinstance(stmt, If) and _varies(resolved(stmt.condition, known), set(), known)
        if any(_uneven_body(inner, loop, known, hidden or hides) for inner in bodies(stmt)):
            return True
    return False


def _varies(expr: Expr, names: set[str], known: Mapping[str, Expr | None]) -> bool:
    parts = subexpressions(expr)
    return any(isinstance(p, Load) or (isinstance(p, Var) and (p.name in names or p.name in known)) for p in parts)


def definitions(body: Body) -> dict[str, Expr | None]:
    """The scalars that a body assigns, with the value of those that it assigns only once."""
    assigns = [stmt for stmt in statements(body) if isinstance(stmt, Assign)]
    counts = Counter(stmt.name for stmt in assigns)
    return {stmt.name: stmt.value if counts[stmt.name] == 1 else None for stmt in assigns}


def resolved(expr: Expr, known: Mapping[str, Expr | None], depth: int = 4) -> Expr:
    """The expression with single assignments put in. Good enough for an estimate: order is not looked at."""
    if depth == 0:
        return expr

    def value(part: Expr) -> Expr:
        definition = known.get(part.name) if isinstance(part, Var) else None
        return part if definition is None else resolved(definition, known, depth - 1)

    return rewrite_expr(expr, value)


def _plain(expr: Expr) -> Expr:
    while isinstance(expr, Cast | Checked):
        expr = expr.operand if isinstance(expr, Cast) else expr.value
    return expr


# ---- text ---------------------------------------------------------------------------------------------------------


def write_rows(rows: Rows, costs: tuple[str, str], loop: For, w: Writer) -> None:
    """Where the loop is entered: whether all of `pointer` that it needs is there, how many entries it spans, and the
    whole work. `costs`: C texts of the work of an iteration without its inner loop, and of an entry."""
    size = w.size(rows.pointer, 0)
    before = dict(w.function.renamed)
    w.function.renamed[loop.name] = "lw_lower"
    first = w.text(rows.first)
    w.function.renamed = before
    for symbol in w.arrays[rows.pointer].address_symbols:
        w.use(symbol)
    begin, end = (_entry(rows, at, w) for at in ("0", "lw_count"))
    w.line(f"const int64_t lw_row = {first}, lw_per_row = {costs[0]}, lw_per_entry = (int64_t){costs[1]};")
    w.line(f"int lw_rows = lw_climbs(lw_row, lw_row + lw_count, {size});")
    w.line(f"const int64_t lw_before = lw_rows ? {begin} : 0, lw_entries = lw_rows ? {end} - lw_before : 0;")
    w.line("const double lw_total = (double)lw_count * lw_per_row + (double)lw_entries * lw_per_entry;")
    w.line("lw_rows = lw_rows && lw_entries >= 0 && lw_total < 0x1p62;")


def write_pieces(rows: Rows | None, fixed: bool, call: str, w: Writer) -> None:
    """Inside the team: each thread's pieces, `call` for each from lw_begin to lw_end. `fixed`: always the same pieces
    for the same thread."""
    most = "lw_team_size" if fixed else f"{EQUAL} * lw_team_size"
    plain = f"lw_handed(lw_team_size, lw_work, {FEWEST}, {MOST})"
    w.line(f"const int64_t lw_pieces = {plain if rows is None else f'lw_rows ? {most} : {plain}'};")
    if fixed:
        # There and back again: of pieces that grow or shrink, each thread gets small ones and large ones.
        with w.loop("int64_t lw_turn = 0; lw_turn * lw_team_size < lw_pieces; ++lw_turn"):
            w.line("const int64_t lw_place = lw_turn & 1 ? lw_team_size - 1 - lw_thread : lw_thread;")
            w.line("const int64_t lw_piece = lw_turn * lw_team_size + lw_place;")
            _piece(rows, call, w)
    else:
        w.line("int64_t lw_piece;")
        with w.repeat("(lw_piece = __atomic_fetch_add(&lw_next, 1, __ATOMIC_RELAXED)) < lw_pieces"):
            _piece(rows, call, w)


def _piece(rows: Rows | None, call: str, w: Writer) -> None:
    """One piece: `call` for its iterations."""
    w.line("int64_t lw_begin = lw_cut(lw_count, lw_piece, lw_pieces);")
    w.line("int64_t lw_end = lw_cut(lw_count, lw_piece + 1, lw_pieces);")
    if rows is not None:
        with w.branch("lw_rows"):
            _search(rows, "lw_begin", "lw_piece", w)
            _search(rows, "lw_end", "lw_piece + 1", w)
    w.line("if (lw_begin >= lw_end) continue;")
    w.line(f"if ({call}) {{ __atomic_store_n(&lw_bad, 1, __ATOMIC_RELAXED); break; }}")


def _search(rows: Rows, result: str, piece: str, w: Writer) -> None:
    """The first iteration before which there is this piece's share of the work. In whole numbers, so that one piece
    ends exactly where the next one begins; and a larger share never gives an earlier iteration, whatever the pointer
    holds, because the same halves are looked at."""
    here = f"lw_half * lw_per_row + ({_entry(rows, 'lw_half', w)} - lw_before) * lw_per_entry"
    whole = "(__int128)(lw_count * lw_per_row + lw_entries * lw_per_entry)"
    with w.branch(f"({piece}) % lw_pieces"):
        w.line(f"const int64_t lw_share = (int64_t)({whole} * ({piece}) / lw_pieces);")
        w.line("int64_t lw_least = 0, lw_most = lw_count;")
        with w.repeat("lw_least < lw_most"):
            w.line("const int64_t lw_half = lw_least + (lw_most - lw_least) / 2;")
            w.line(f"if ({here} < lw_share) lw_least = lw_half + 1; else lw_most = lw_half;")
        w.line(f"{result} = lw_least;")


def _entry(rows: Rows, at: str, w: Writer) -> str:
    return f"(int64_t){w.arrays[rows.pointer].element_at((f'(lw_row + {at})',))}"
