"""Numbers beside the recipe's own, for nests that it leaves much as they are: short loops written out, which loop is
innermost, tiles, and iterations side by side. By default none of this is done, and none of it is looked at unless
somebody makes choices: where these steps pay off, only measuring tells."""

from __future__ import annotations

from dataclasses import replace

from loopwright.ir.nodes import For
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule
from loopwright.recipe.tunable import Constraint, Tunable
from loopwright.steps.extent import trip_of
from loopwright.steps.promote import Promote
from loopwright.steps.reorder import Reorder
from loopwright.steps.split import Split
from loopwright.steps.tile import Tile
from loopwright.steps.unroll import Unroll
from loopwright.steps.unroll_and_jam import UnrollAndJam

SHORT = Tunable(
    "short inner loops",
    0,
    (0, 1),
    "loops of a known small number of iterations written out: the loop around them is then innermost",
    leads=True,
    words=("loops", "written out"),
)
INNERMOST = Tunable(
    "innermost loop",
    0,
    (0, 1, 2),
    "of a perfect nest: where the nest walks along rows, and what stays in registers",
    leads=True,
    words=("as it is", "second from inside", "third from inside"),
)
TILE = Tunable("tile", 0, (0, 16, 32, 64, 128), "what a tile touches is to stay in a cache until it is used again")
ROW_TILE = Tunable("tile", 0, (0, 64, 256, 1024), "of the innermost loop: long enough for vectors and prefetching")
SIDE_BY_SIDE = Tunable(
    "side by side",
    1,
    (1, 2, 4, 8),
    "iterations of the loop around the innermost one that share what is loaded in it, and the registers",
)
UNROLLED = Tunable(
    "unrolled", 1, (1, 2, 4, 8), "iterations of an innermost loop that needs its order in a row, without tests between"
)

MOST_TRIPS, MOST_COPIES, MOST_TILED = 16, 64, 3
"""Iterations of a short loop; copies of a statement in all; loops of a nest that are tiled."""
MOST_ELEMENTS = 1 << 27
"""Elements of arrays which the recipe adds that a call may well have besides its own."""

WHY = "asked for: not something that the recipe does by itself"


def shaped(partial: PartialSchedule) -> None:
    """Give every nest the shape that is chosen for it."""
    if partial.choices is None or any(isinstance(decision.step, Promote) for decision in partial.decisions):
        return  # blocks in registers have numbers of their own
    written = set(loops(partial.kernel if not partial.decisions else partial.written))
    done: set[str] = set()
    while (chain := next((c for c in partial.chains() if c[-1].name not in done), None)) is not None:
        before = set(loops(partial.kernel))
        done |= {loop.name for loop in chain}
        with partial.in_nest(chain):
            is_written = {loop.name for loop in chain} <= written
            chain = _in_tiles(partial, _turned(partial, chain)) if is_written else chain
            done.add(chain[-1].name)
            if not (is_written and _written_out(partial, chain)):
                _side_by_side(partial, chain)
        done |= set(loops(partial.kernel)) - before


def _written_out(partial: PartialSchedule, chain: Chain) -> bool:
    """Write the short loops out, if that is chosen."""
    short = short_loops(chain)
    if not short or not partial.number(SHORT):
        return False
    for name in short:
        partial.take(Unroll(name), WHY)
    return True


def short_loops(chain: Chain) -> list[str]:
    """The innermost loops of a nest that run a known small number of times, those inside first."""
    found: list[str] = []
    copies = 1
    for loop in reversed(chain[1:]):
        trip = trip_of(loop)
        if trip is None or trip > MOST_TRIPS or copies * trip > MOST_COPIES:
            break
        if found and sum(isinstance(stmt, For) for stmt in loop.body) != 1:
            break
        found.append(loop.name)
        copies *= trip
    return found


def band_of(chain: Chain) -> list[str]:
    """Of the parts of a nest whose loops hold nothing but one another, the one of most loops, short ones aside; the
    innermost of several."""
    short = short_loops(chain)
    bands: list[list[str]] = [[]]
    for above, loop in zip((None, *chain[:-1]), chain, strict=True):
        if loop.name in short:
            break
        if above is not None and len(above.body) != 1:
            bands.append([])
        bands[-1].append(loop.name)
    return max(reversed(bands), key=len)


def _turned(partial: PartialSchedule, chain: Chain) -> Chain:
    """The nest with the loop innermost that is chosen."""
    inner = chain[-1].name
    band = band_of(chain)
    possible = [0]
    for place in range(1, min(len(band), len(INNERMOST.among))):
        if partial.allows(Reorder(_with_last(band, place))):
            possible.append(place)
    if len(possible) == 1:
        return chain
    words = tuple(INNERMOST.words[place] for place in possible)
    place = partial.number(replace(INNERMOST, among=tuple(possible), words=words))
    if not place:
        return chain
    partial.take(Reorder(_with_last(band, place)), WHY)
    return partial.around(band[-1 - place] if inner == band[-1] else inner)


def _with_last(band: list[str], place: int) -> tuple[str, ...]:
    """The loops with the one at this place, from inside, innermost."""
    last = band[-1 - place]
    return (*(name for name in band if name != last), last)


def _in_tiles(partial: PartialSchedule, chain: Chain) -> Chain:
    """The nest in tiles of the sizes that are chosen."""
    band = band_of(chain)[-MOST_TILED:]
    if len(band) < 2 or not partial.allows(Tile(tuple((name, 2) for name in band))):
        return chain
    sizes: dict[str, int] = {}
    for name in band:
        kind = ROW_TILE if name == band[-1] else TILE
        one = replace(kind, name=f"tile of '{user_name(name)}'")
        sizes[name] = partial.number(one)
    outer = f"tile of '{user_name(band[0])}'"
    others = tuple(f"tile of '{user_name(name)}'" for name in band[1:])
    partial.require(
        Constraint(
            f"{outer} needs a tile of a loop inside",
            lambda numbers: not numbers[outer] or any(numbers.get(other) for other in others),
        )
    )
    tiled = [name for name in band if sizes[name]]
    if not tiled:
        return chain
    inner = chain[-1].name
    before = set(loops(partial.kernel))
    with partial.together():
        for name in tiled:
            partial.take(Split(name, sizes[name]), WHY)
        blocks = [loop.name for loop in partial.around(inner) if loop.name not in before]
        partial.take(Reorder((*blocks, *band)), WHY)
        return partial.around(inner)
    raise NotTaken  # pragma: no cover


def _side_by_side(partial: PartialSchedule, chain: Chain) -> None:
    """Iterations of the loop around the innermost one side by side in it, or of the innermost one in a row."""
    inner = chain[-1]
    if len(chain) > 1 and sum(1 for _ in statements(chain[-2].body, For)) == 1:
        outer = chain[-2].name
        if partial.allows(UnrollAndJam(outer, 2)):
            count = partial.number(SIDE_BY_SIDE)
            if count > 1:
                partial.take(UnrollAndJam(outer, count), WHY)
            return
    if partial.verdict(inner) != "parallel" and partial.allows(Unroll(inner.name, 2)):
        times = partial.number(UNROLLED)
        if times > 1:
            partial.take(Unroll(inner.name, times), WHY)
