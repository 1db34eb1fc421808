"""C text of the pieces into which uneven loops are cut (parallel_regions.py). They go to whoever is free, or, where
partial results have to be the same in every run, to fixed threads.

The pieces follow from one another for any contents of `p`: what it holds decides the speed only.
"""

from __future__ import annotations

from loopwright.codegen.decisions import Rows
from loopwright.codegen.function import Writer
from loopwright.codegen.work import UNKNOWN_TRIP, LoopWork
from loopwright.ir.code import AtomicOperation
from loopwright.ir.nodes import For

FEWEST, MOST = 16, 64  # pieces per thread where nothing says how much work is in each
EQUAL = 8  # pieces per thread where all have the same work
BAD = AtomicOperation("set", "lw_bad", "", "1")  # some call has failed


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
        with w.claims("lw_piece", "lw_next", "lw_pieces"):
            _piece(rows, call, w)


def _piece(rows: Rows | None, call: str, w: Writer) -> None:
    """One piece: `call` for its iterations."""
    w.line("int64_t lw_begin = lw_cut(lw_count, lw_piece, lw_pieces);")
    w.line("int64_t lw_end = lw_cut(lw_count, lw_piece + 1, lw_pieces);")
    if rows is not None:
        with w.branch("lw_rows"):
            _search(rows, "lw_begin", "lw_piece", w)
            _search(rows, "lw_end", "lw_piece + 1", w)
    w.only("lw_begin >= lw_end", "continue;")
    end_where_bad(call, w)


def end_where_bad(call: str, w: Writer) -> None:
    """Note where a call fails; this thread then does no more of them."""
    with w.branch(call):
        w.add(BAD)
        w.line("break;")


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
            w.only(f"{here} < lw_share", "lw_least = lw_half + 1;")
            with w.otherwise():
                w.line("lw_most = lw_half;")
        w.line(f"{result} = lw_least;")


def _entry(rows: Rows, at: str, w: Writer) -> str:
    return f"(int64_t){w.arrays[rows.pointer].element_at((f'(lw_row + {at})',))}"


def work_text(work: LoopWork, w: Writer, rows: Rows | None) -> str:
    """C text of how many operations an iteration takes; rows: what tells how many a loop in it has."""
    terms = [f"{float(work.fixed)}"]
    for bounds, inner in work.inner:
        trip = f"{UNKNOWN_TRIP}.0"
        if rows is not None and inner.loop == rows.loop:
            trip = f"(lw_rows ? (double)lw_entries / (double)lw_count : {trip})"
        elif bounds is not None:
            lower, upper, step = (w.text(bound) for bound in bounds)
            trip = f"(double)lw_trip({lower}, {upper}, {step})"
        terms.append(f"{trip} * {work_text(inner, w, rows)}")
    return f"({' + '.join(terms)})"
