"""Arrays that hold loops together: a row that each iteration fills anew and then uses. With a copy of it for each
iteration the loops need no order, whatever stands in them. It is done where the copies together are no larger than an
array that the call has anyway; and for arrays that are too large for a thread of its own, in a version for calls in
which all copies take little memory, beside others in which so many iterations share a few copies, one after the
other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import takewhile
from operator import or_

from loopwright.ir.linear import most, number
from loopwright.ir.nodes import Allocate, Binary, Const, Dim, Expr, For, If, Kernel, Load, Store, Var, While
from loopwright.ir.queries import arrays_loaded, arrays_made, arrays_stored, contains
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import children, expressions, loops, statements, subexpressions
from loopwright.recipe.grid_rows import number_of
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule, made
from loopwright.recipe.products_in_rows import products_apart
from loopwright.recipe.shape import MOST_ELEMENTS
from loopwright.recipe.wavefronts import is_free
from loopwright.steps.copies import copies_of, length_of
from loopwright.steps.expand import Expand
from loopwright.steps.extent import around as around_of
from loopwright.steps.extent import loops_around
from loopwright.steps.fission import Fission
from loopwright.steps.lift import Lift
from loopwright.steps.privatize import Privatize
from loopwright.steps.specialize import LARGE, TIMES, Specialize
from loopwright.steps.split import Split
from loopwright.steps.threads import constant_size

Wanted = tuple[str, tuple[str, ...]]
"""An array, and loops around one another, outermost first."""

AT_ONCE = 256
"""Iterations that have copies at once where all of them together would take too much memory."""
SHORT, SHORT_AT_ONCE = 1 << 15, 4096
"""Below how many elements copies are short, and how many of them there are at once then: so many keep a GPU busy."""


def with_arrays_of_their_own(partial: PartialSchedule) -> None:
    """Let no array tie the iterations of a loop together that each of them fills anew."""
    with_own_arrays(partial)
    in_copies(partial)
    with_own_arrays(partial, of_any_size=True)
    _updates_apart(partial)
    each_its_own(partial)


def with_own_arrays(partial: PartialSchedule, of_any_size: bool = False) -> None:
    """Make arrays that each iteration of a loop fills anew in these iterations, where a thread has room for them, or
    of_any_size: where only a call tells, too."""
    before = partial.kernel
    for chain in partial.chains():
        for loop in reversed(chain):
            found = partial.facts.loops.get(loop.name)
            if found is not None and found.verdict in ("parallel", "reduction"):
                for made in _made_outside(partial, loop, found.private, of_any_size):
                    why = f"each '{user_name(loop.name)}' fills '{user_name(made.array)}' anew, and may have its own"
                    step = Privatize(made.array, loop.name)
                    if partial.allows(step):
                        partial.take(step, why, anew=True)
    if partial.kernel is not before:
        partial.begin_again()


def _made_outside(partial: PartialSchedule, loop: For, private: tuple[str, ...], of_any_size: bool) -> list[Allocate]:
    """The arrays among these that are made outside of a loop, but no large ones."""
    outside = set(private) - arrays_made(loop.body)
    made = statements(partial.kernel.body, Allocate)
    most = partial.facts.gpu.own_bytes
    mine = [stmt for stmt in made if stmt.array in outside]
    told = {one.array for one in mine if all(isinstance(size, Const) for size in one.shape)}
    return [one for one in mine if (constant_size(one, most) is not None if one.array in told else of_any_size)]


def in_copies(partial: PartialSchedule) -> None:
    """Give loops whose iterations meet only in an array that they fill anew a copy for each iteration."""
    tried: set[Wanted] = set()
    while (found := next((one for one in _wanted(partial) if one not in tried), None)) is not None:
        tried.add(found)
        _copied(partial, *found)


def _copied(partial: PartialSchedule, array: str, run: tuple[str, ...]) -> None:
    words = " and ".join(f"'{user_name(name)}'" for name in run)
    why = f"each {words} fills '{user_name(array)}' anew: with a copy for each of them, iterations are independent"
    kernel = partial.kernel
    with partial.together():
        partial.take(Expand(array, run), why, anew=True)
        facts = partial.present_facts()
        loops = {loop.name: loop for chain in partial.chains() for loop in chain}
        if not all(name in loops and is_free(loops[name], facts.loops[name]) for name in run):
            raise NotTaken
        if any(facts.loops[name].alike for name in run):  # the processor's threads cannot share it
            raise NotTaken
    if partial.kernel is not kernel:
        partial.begin_again()


def _updates_apart(partial: PartialSchedule) -> None:
    """Give what iterations add to elements that others add to as well a loop of its own, where they make arrays which
    no thread has room for: what is left needs no order."""
    for name, loop in list(loops(partial.kernel).items()):
        if not isinstance(loop, For) or len(partial.around(name)) > 1 or not _too_large(partial, name):
            continue
        found = partial.proven(loop)
        targets = set() if found is None else {one.target for one in found.reductions if one.kind != "scalar"}
        if found is None or found.verdict != "reduction" or not targets:
            continue
        first = next(at for at, stmt in enumerate(loop.body) if targets & arrays_stored((stmt,)))
        with partial.together():
            _apart_from(partial, loop, first, targets)


def _apart_from(partial: PartialSchedule, loop: For, first: int, targets: set[str]) -> None:
    """Raises NotTaken where the rest is no less tied together then."""
    words = " and ".join(f"'{user_name(name)}'" for name in sorted(targets))
    why = f"what adds to {words} is apart: the rest of each '{user_name(loop.name)}' needs no order"
    made_here = [stmt.array for stmt in loop.body[:first] if isinstance(stmt, Allocate)]
    used = arrays_loaded(loop.body[first:]) | arrays_stored(loop.body[first:])
    for array in [one for one in made_here if one in used]:
        partial.take(Expand(array, (loop.name,)), why, anew=True)
    place = next(
        at for at, stmt in enumerate(partial.around(loop.name)[-1].body, 1) if targets & arrays_stored((stmt,))
    )
    partial.take(Fission(loop.name, place, kept=True), why, anew=True)
    partial.begin_again()
    if not _is_independent(partial, partial.around(loop.name)[-1]):
        raise NotTaken


def each_its_own(partial: PartialSchedule) -> None:
    """Give each iteration of a loop that needs no order its own copy of the arrays that it makes, and that no thread
    has room for; also in the versions that come of this."""
    seen = set[str]()
    while (name := next((one for one in loops(partial.kernel) if one not in seen), None)) is not None:
        seen.add(name)
        loop = loops(partial.kernel)[name]
        if isinstance(loop, For) and _is_independent(partial, loop):
            _lifted(partial, loop)
            if arrays := _too_large(partial, name):
                with partial.together():
                    _placed(partial, partial.around(name)[-1], arrays)


def _placed(partial: PartialSchedule, loop: For, arrays: list[Allocate]) -> None:
    """Raises NotTaken."""
    around = partial.around(loop.name)
    turns = [at for at, outer in enumerate(around) if outer.name in partial.turns]
    if turns and turns[-1] + 1 < len(around) - 1 and _is_independent(partial, outer := around[turns[-1] + 1]):
        why = f"some '{user_name(outer.name)}' at a time have places in memory"
        for one in arrays:
            partial.take(Lift(one.array, outer.name), why, anew=True)
        _in_places(partial, [outer.name], [one.array for one in arrays], why)
        partial.begin_again()
        return
    run = _run(partial, loop, arrays)
    found = list(_in_rounds(partial, run, arrays))
    partial.begin_again()
    for own in found:
        products_apart(partial, own, _close_ones(run))
    partial.begin_again()


def _run(partial: PartialSchedule, loop: For, arrays: list[Allocate]) -> list[For]:
    """A loop and those around it, all of whose iterations together may have copies, whatever else the outer ones do;
    those with nothing between them where calls do not tell how large the arrays are, or the loop alone where they do
    not tell how many iterations there are."""
    run = [loop]
    for outer in reversed(partial.around(loop.name)[:-1]):
        if not _is_independent(partial, outer):
            break
        run.insert(0, outer)
    close = run[len(run) - 1 - _close_ones(run) :]
    names = tuple(one.name for one in run)
    is_told = number_of(partial, run) is not None and all(_sizes(partial.kernel, one) for one in arrays)
    if is_told and all(partial.allows(Expand(one.array, names)) for one in arrays):
        return run
    return close if number_of(partial, close) is not None else [loop]


def _close_ones(run: Sequence[For]) -> int:
    """How many loops of a run, from the last one outwards, hold nothing but the next one."""
    return sum(1 for _ in takewhile(lambda outer: len(outer.body) == 1, reversed(run[:-1])))


def _is_independent(partial: PartialSchedule, loop: For) -> bool:
    """Whether iterations of a loop need no order and may have arrays of their own."""
    found = partial.proven(loop)
    if found is None or loop.name in partial.turns or length_of(loop, loop) is None:
        return False
    adds_up = found.verdict == "reduction" and all(one.kind == "scalar" for one in found.reductions)
    return adds_up or is_free(loop, found)


def _lifted(partial: PartialSchedule, loop: For) -> None:
    """Make arrays that no thread has room for, and that loops inside make anew, once in each iteration of a loop: those
    of loops that need their order, and where the iteration makes others for itself, so that it is one thread's, all."""
    most, makes_others = partial.facts.gpu.own_bytes, bool(_too_large(partial, loop.name))
    inside = {stmt.name for stmt in statements(loop.body, For)}
    for name in [stmt.array for stmt in statements(loop.body, Allocate) if constant_size(stmt, most) is None]:
        array = next(stmt for stmt in statements(partial.kernel.body, Allocate) if stmt.array == name)
        between = [one for one in loops_around(partial.kernel, array).values() if one.name in inside]
        if not makes_others and any(_is_independent(partial, one) for one in between):
            continue  # then each of these has its own
        step = Lift(name, loop.name)
        if partial.allows(step):
            partial.take(
                step, f"what makes '{user_name(name)}' anew has one in each '{user_name(loop.name)}'", anew=True
            )


def _too_large(partial: PartialSchedule, name: str) -> list[Allocate]:
    """The arrays that an iteration of a loop makes for itself, unless a thread can have them all."""
    arrays = [stmt for stmt in loops(partial.kernel)[name].body if isinstance(stmt, Allocate)]
    most = partial.facts.gpu.own_bytes
    return arrays if any(constant_size(stmt, most) is None for stmt in arrays) else []


def _in_rounds(partial: PartialSchedule, run: list[For], arrays: list[Allocate]) -> Iterator[str]:
    """The innermost of the loops all of whose iterations have copies at once, if there are such. Raises NotTaken."""
    loop = run[-1]
    words = " and ".join(f"'{user_name(one.array)}'" for one in arrays)
    why = f"each '{user_name(loop.name)}' makes {words}, which no thread has room for: each gets a place in memory"
    largest = max((_sizes(partial.kernel, one) for one in arrays), key=len)
    names = [one.array for one in arrays]
    has_versions = any(isinstance(one, If) for one in around_of(partial.kernel, run[0]))
    if largest:
        number = loop.name if len(run) == 1 else number_of(partial, run) or ""
        yield from _where_few(partial, run, names, TIMES.join((number, *largest)), why)
    if _close_ones(run) < len(run) - 1:
        for name in names:
            partial.take(Lift(name, run[0].name), why, anew=True)
        run = run[:1]
    if largest and not has_versions:  # each one more takes time, which other moves may need
        with partial.together():
            copies, own = _version_for_less(partial, run, names, TIMES.join(largest), SHORT, why)
            _in_turns(partial, copies, own, SHORT_AT_ONCE, why)
    _in_turns(partial, [one.name for one in run], names, AT_ONCE, why)


def _in_turns(partial: PartialSchedule, run: list[str], arrays: list[str], at_once: int, why: str) -> None:
    """Copies for so many iterations of the innermost loop at a time, which use the same memory one after the other.
    Raises NotTaken."""
    (turn,) = made(partial, Split(run[-1], at_once), why, anew=True)
    partial.turns |= {turn, *run[:-1]}
    _in_places(partial, [run[-1]], arrays, why)


def _where_few(partial: PartialSchedule, run: list[For], arrays: list[str], size: str, why: str) -> Iterator[str]:
    """A version for calls in which all copies take little memory. Raises NotTaken."""
    copies, own = _version_for_less(partial, run, arrays, size, MOST_ELEMENTS, why)
    _in_places(partial, copies, own, why)
    yield copies[-1]


def _version_for_less(
    partial: PartialSchedule, run: list[For], arrays: list[str], size: str, least: int, why: str
) -> tuple[list[str], list[str]]:
    """A version for calls in which a product of sizes is smaller than that: the loops of the run there, and the arrays.
    Raises NotTaken."""
    before = set(loops(partial.kernel))
    inside = [one.name for one in statements((run[0],), For, While)]
    there = arrays_made(partial.kernel.body)
    partial.take(Specialize((size,), LARGE, least, run[0].name), why, anew=True)
    added = (name for name in loops(partial.kernel) if name not in before)  # in the order of those they are copies of
    names = dict(zip(inside, added, strict=False))
    copies = [names[one.name] for one in run]
    body = loops(partial.kernel)[copies[-1]].body
    own = [stmt.array for stmt in body if isinstance(stmt, Allocate) and stmt.array not in there]
    if len(own) != len(arrays):
        raise NotTaken
    return copies, own


def _in_places(partial: PartialSchedule, run: list[str], arrays: list[str], why: str) -> None:
    """Copies: side by side, element by element, where each is one thread's; else rows, which threads share."""
    for array in arrays:
        step = Expand(array, tuple(run), innermost=_is_alone(partial, run[-1], array))
        partial.take(step, why, anew=True)


def _is_alone(partial: PartialSchedule, loop: str, array: str) -> bool:
    """Whether most of what an iteration does with an array needs its order."""
    body = partial.around(loop)[-1].body
    inner = [stmt for stmt in statements(body, For, While) if array in arrays_loaded((stmt,)) | arrays_stored((stmt,))]
    innermost = [stmt for stmt in inner if not contains(stmt.body, For, While)]
    verdicts = [None if isinstance(stmt, While) else partial.verdict(stmt) for stmt in innermost]
    if contains(body, While) and not any(isinstance(stmt, While) for stmt in innermost):
        known = partial.present_facts().loops  # other steps have made some of what stands in its stages
        verdicts = [known[stmt.name].verdict for stmt in innermost if isinstance(stmt, For)]
    return any(one not in ("parallel", "reduction") for one in verdicts)


def _sizes(kernel: Kernel, made: Allocate) -> list[str]:
    """The sizes of the call that the shape of an array is made of, each as often as the number of elements grows with
    it; none where it is made of others, too."""
    given = {one.name for one in kernel.arrays}
    scalars = {one.name for one in kernel.scalars if one.type.is_integer}
    for part in (part for size in made.shape for part in subexpressions(size, Dim, Var)):
        if not (part.array in given if isinstance(part, Dim) else isinstance(part, Var) and part.name in scalars):
            return []
    return list(sum((_degrees(size) for size in made.shape), Counter[str]()).elements())


def _degrees(size: Expr) -> Counter[str]:
    """How often each size is a factor of a number, or of a part of it."""
    match size:
        case Dim():
            return Counter((f"{size.array}.{size.axis}",))
        case Var():
            return Counter((size.name,))
        case Binary(op="mul"):
            return _degrees(size.left) + _degrees(size.right)
    return reduce(or_, map(_degrees, children(size)), Counter[str]())


def _wanted(partial: PartialSchedule) -> Iterator[Wanted]:
    """The outermost loops first, as many around one another as hold nothing but the next."""
    for chain in partial.chains():
        for at, loop in enumerate(chain[:-1]):
            for array in _used_again(partial, loop):
                run = [loop]
                for inner in chain[at + 1 : -1]:
                    if len(run[-1].body) != 1 or array not in _used_again(partial, inner):
                        break
                    run.append(inner)
                if _is_no_larger(partial.kernel, array, chain, run):
                    yield array, tuple(one.name for one in run)


def _used_again(partial: PartialSchedule, loop: For) -> list[str]:
    """The arrays that a loop writes, and of which it uses the same elements in each iteration."""
    inside = {id(stmt) for stmt in statements(loop.body)}
    own = [walk for walk in partial.walks() if id(walk.stmt) in inside]
    moving = {walk.array for walk in own if walk.strides.get(loop.name) != 0}
    return list(dict.fromkeys(walk.array for walk in own if walk.is_write and walk.array not in moving))


def _is_no_larger(kernel: Kernel, array: str, chain: Chain, run: list[For]) -> bool:
    """Whether the loops use, of an argument or a result, an element for each element of each copy."""
    first = run[0]
    if any(length_of(loop, first) is None for loop in run):
        return False
    shape = copies_of(kernel, array, run).shape
    loops = {stmt.name: stmt for stmt in statements((first,), For)}
    given = ({one.name for one in kernel.arrays} | {one.name for one in kernel.results}) - {array}
    accesses: list[Load | Store] = list(expressions(first.body, Load))
    accesses += list(statements(first.body, Store))
    wanted = [loop.name for loop in run]
    for access in accesses:
        names = [axis.name for axis in access.index if isinstance(axis, Var)]
        rest = [_length(loops[name], first) for name in names if name in loops and name not in wanted]
        if access.array in given and set(wanted) <= set(names) and _all_in(shape, rest):
            return True
    return False


def _length(loop: For, first: For) -> Expr | None:
    return length_of(loop, first) if loop.lower == Const(0, loop.lower.type) else None


def _all_in(shape: tuple[Expr, ...], rest: list[Expr | None]) -> bool:
    left = list(rest)
    for size in shape:
        one = next((one for one in left if one in (size, most(number(0), size))), None)
        if one is None:
            return False
        left.remove(one)
    return True
