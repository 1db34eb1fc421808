"""`Explanation`: what was proven about one specialised kernel, what was generated, and what ran. Frozen values with
two faces: text for people (`report/layout.py`), and `to_dict()` for programs. It computes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Literal

from loopwright.analysis.facts import ReductionKind, ReductionOp, Verdict
from loopwright.ir.nodes import Layout, Run
from loopwright.ir.program import Way
from loopwright.report.explanation_html import explanation_html, explanations_html
from loopwright.report.layout import as_rich, as_text
from loopwright.report.shared_report import DevicesReport

if TYPE_CHECKING:
    from rich.text import Text


@dataclass(frozen=True, slots=True)
class ReductionReport:
    """`target op= value`. exact: another order cannot change the result, so that strict allows it as well. by: the
    scalar that keeps an extreme value, where the target goes along with it; or the target itself."""

    target: str
    op: ReductionOp
    kind: ReductionKind
    exact: bool
    by: str = ""


@dataclass(frozen=True, slots=True)
class ConflictReport:
    """Two accesses that force an order: texts in the user's words, with their lines; distance in iterations."""

    target: str
    kind: str
    first: str
    first_line: int
    second: str
    second_line: int
    distance: str


@dataclass(frozen=True, slots=True)
class LoopReport:
    """One loop, outer before inner. name: the unique name that schedules use; source_name: the user's variable, or
    `while`; source: the user's line of text, '' where it cannot be read; depth: how many loops are around it;
    run: how its schedule says that it runs; ways: how a CPU's program runs it, or the loops that the schedule made of
    it, () for in order, None where there is no such program; restructured: it made others of it, or none; asserted: by
    prange, or by the step that made it; trip_count: the iterations of one run of the loop, as text over sizes and
    enclosing loops; iterations: those of the whole call; either None where it is not a formula; notes: what the
    generated code does about it, such as how work is shared out among threads."""

    name: str
    source_name: str
    source: str
    line: int
    depth: int
    verdict: Verdict
    reason: str
    private: tuple[str, ...]
    reductions: tuple[ReductionReport, ...]
    conflict: ConflictReport | None
    trip_count: str | None
    iterations: str | None
    asserted: bool
    run: Run
    notes: tuple[str, ...] = ()
    ways: tuple[Way, ...] | None = None
    restructured: bool = False


@dataclass(frozen=True, slots=True)
class AccessReport:
    """One read or write. pattern: per axis, affine, indirect or data-dependent; stride: elements from one iteration
    of the innermost loop to the next, '' where not constant; bounds: `proven` or `checked`; reason: why checked."""

    text: str
    line: int
    write: bool
    pattern: tuple[str, ...]
    stride: str
    bounds: str
    reason: str


@dataclass(frozen=True, slots=True)
class ArrayReport:
    """One array: role is argument, result or local. footprint: the number of its elements that a call touches, as
    text over the sizes, or None. bounds: `proven`, `checked` (tested at each access), or both; after `where` stands
    the condition on the sizes that the proof needs."""

    name: str
    role: str
    dtype: str
    rank: int
    layout: Layout
    accesses: tuple[AccessReport, ...]
    footprint: str | None
    bounds: str


@dataclass(frozen=True, slots=True)
class WarpReport:
    """What the first warp of a block does to memory with one access. bytes: what a thread touches at once; threads: how
    many of the warp take part; sectors, least: of 32 bytes of global memory, touched and needed (0 where that is not
    known); conflicts: for shared memory, the different words that one bank is asked for at once. said: the same in
    words."""

    text: str
    line: int
    write: bool
    memory: Literal["global", "shared"]
    said: str
    bytes: int
    threads: int
    sectors: int
    least: int
    conflicts: int


@dataclass(frozen=True, slots=True)
class GridReport:
    """One kernel of a GPU's program. threads: of a block. block: along x, y and z. registers: of a thread, None where
    no compiler was there to tell, and so for what rests on them: at_once, blocks in one multiprocessor; occupancy, the
    part of its threads; limiter, what keeps it from being more. blocks: of a launch, None where `blocks_words` has a
    formula or nothing. bytes_least: what has to be moved between memory and the GPU at least, or `bytes_words`. around:
    the host's loops, each of whose iterations is a launch; the bytes are those of each iteration of `repeated`, or of
    all launches together where that is empty. unknown: arrays that are not in it, because data
    decides. lowered: what was decided of its text. fault: what the compiler said. Where there is a kernel for whole
    tiles only (codegen/full_tiles.py), registers are those of it."""

    name: str
    threads: int
    registers: int | None = None
    shared_bytes: int = 0
    spilled_bytes: int = 0
    at_once: int | None = None
    occupancy: float | None = None
    limiter: str = ""
    block: tuple[int, int, int] | None = None
    blocks: int | None = None
    blocks_words: str = ""
    bytes_least: int | None = None
    bytes_words: str = ""
    unknown: tuple[str, ...] = ()
    around: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    accesses: tuple[WarpReport, ...] = ()
    lowered: tuple[str, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Generated:
    """The generated C: lines of text, where it and the library lie ('' where nothing was kept), seconds of
    compiling (0.0 where the cache had it), and who compiled it. notes: of loops by name, what the code does about
    them. ways: of loops by name, see Program; None where no CPU runs the loops. grids: the kernels of a GPU's program;
    not_on_gpu: why the CPU runs it, where a GPU was asked for."""

    lines: int
    source_path: str
    seconds: float
    from_cache: bool
    compiler: str
    notes: tuple[tuple[str, str], ...] = ()
    grids: tuple[GridReport, ...] = ()
    not_on_gpu: str = ""
    ways: tuple[tuple[str, tuple[Way, ...]], ...] | None = None


@dataclass(frozen=True, slots=True)
class CodeRan:
    """Calls that one code ran under one number of threads. variant: its text; checked: code that tests every access;
    options: those that it was made under, where they are not those of the explanation; kept: False where the code is
    gone, as it was made for other values of what the function finds outside itself. device, threads, times: see Ran.
    early: calls that returned before the GPU had run them, so that their times are those of starting them."""

    variant: str
    device: str
    threads: int
    calls: int
    last_ns: int
    min_ns: int
    total_ns: int
    checked: bool = False
    options: str = ""
    kept: bool = True
    early: int = 0


@dataclass(frozen=True, slots=True)
class Ran:
    """The calls of this kind that were made in this process so far, whatever code ran them; those that ended with an
    error in the loops count too. device: of the last one, `cpu`, `interpreter` or a GPU's name; threads: so many it was
    allowed, 0 where that says nothing. Times are nanoseconds in the loops. parts: by code, the last one first."""

    device: str
    calls: int
    last_ns: int
    min_ns: int
    total_ns: int
    threads: int
    parts: tuple[CodeRan, ...] = ()


@dataclass(frozen=True, slots=True)
class DecisionReport:
    """Steps that were taken together, as text, and the reason in the user's words."""

    steps: str
    why: str


@dataclass(frozen=True, slots=True)
class CandidateReport:
    """One variant under one shape. status: `serves`, `slower` (than the one that serves, or not clearly faster),
    `untried`, `pruned` (never run, for what is known without running), or the outcome that it failed with. why: in
    words. measured_ns: at this very shape; predicted_ns: from other shapes alone, as if this one had not been
    measured; each within the part `..._error` of itself, None where there is none. how: as of a Prediction, '' for
    none. tuned_runs, called_runs: of the evidence at this shape, by experiments and by calls; elsewhere: at so many
    other shapes there is some; age_s: how many seconds ago the last of it was made. calls: that it served in this
    process."""

    variant: str
    status: str
    why: str
    measured_ns: float | None = None
    measured_error: float | None = None
    predicted_ns: float | None = None
    predicted_error: float | None = None
    how: str = ""
    tuned_runs: int = 0
    called_runs: int = 0
    age_s: float | None = None
    elsewhere: int = 0
    calls: int = 0


@dataclass(frozen=True, slots=True)
class ChoiceReport:
    """Which variant serves calls of one shape, and why. serves: its text, '' where nothing is said of one shape.
    pinned: the option that decides, '' for none. runner_up: the next best, which takes the part `margin` longer.
    candidates: the one that serves first, then by time, then those without one."""

    why: str
    sizes: tuple[int, ...] = ()
    serves: str = ""
    pinned: str = ""
    runner_up: str = ""
    margin: float | None = None
    candidates: tuple[CandidateReport, ...] = ()


@dataclass(frozen=True, slots=True)
class ServedBy:
    """What runs the calls that an explanation is about. device: as of Ran, '' where nothing is known of it. threads: so
    many may be used, 0 where that is not known. checked: it tests every access, and relies on no condition."""

    device: str = ""
    threads: int = 0
    checked: bool = False


UNKNOWN = ServedBy()


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """Everything that is known about one kernel for one kind of call. `print` it, or take `to_dict()`.

    guard: the condition on the sizes that is tested once per call, '' if there is none; schedule: the steps that were
    taken, as text that replays them; decisions: the reasons for those that restructure loops; generated and ran: None
    if nothing was compiled, or called, yet; notes: what is unusual about this specialisation; choices: which variants
    serve its calls, for each shape that is asked for or was called with; plan: what a call with exactly these arguments
    does, as the text of an `ir.plan.Plan`, '' in an explanation of all calls; served_by: what runs such calls; devices:
    those that may share them, and what they did in the last call, None if only one may run them; shared_calls: how many
    calls of this kind, besides those of `ran`, several devices have shared in this process."""

    kernel: str
    file: str
    line: int
    signature: str
    loops: tuple[LoopReport, ...]
    arrays: tuple[ArrayReport, ...]
    guard: str
    schedule: str
    decisions: tuple[DecisionReport, ...] = ()
    generated: Generated | None = None
    ran: Ran | None = None
    notes: tuple[str, ...] = ()
    choices: tuple[ChoiceReport, ...] = ()
    plan: str = ""
    served_by: ServedBy = UNKNOWN
    devices: DevicesReport | None = None
    shared_calls: int = 0

    def __repr__(self) -> str:
        return as_text(self)

    def __rich__(self) -> Text:
        return as_rich(self)

    def _repr_html_(self) -> str:
        return explanation_html(self)

    def to_dict(self) -> dict[str, Any]:
        """The same as dictionaries, lists, strings, numbers, bools and None: ready for json.dumps."""
        plain = _plain(self)
        assert isinstance(plain, dict)
        return plain


class Explanations(list[Explanation]):
    """Several that print themselves, one below the other."""

    def __repr__(self) -> str:
        return "\n\n".join(map(as_text, self)) or "nothing is compiled yet"

    def _repr_html_(self) -> str:
        return explanations_html(self)


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value
