"""Schedules in words: what each step does to the loops, for people who do not know the steps' names. The steps
themselves stay the reference (docs/schedules.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from loopwright.ir.variant import PLAIN, RECIPE, Variant

Words = Sequence[str]
"""Of a step, behind its name."""

_AXES = {"x": "along x", "y": "along y", "z": "along z"}


def schedule_words(schedule: str) -> list[str]:
    """A phrase for each step, in their order; equal ones beside one another once."""
    if schedule == RECIPE:
        return ["the default: what the facts about the kernel promise a gain from"]
    if schedule == PLAIN:
        return ["the loops as they are written, on all threads where they may"]
    told = [_step(step.split()) for step in schedule.split(";") if step.strip()]
    return [one for number, one in enumerate(told) if not number or one != told[number - 1]]


def variant_words(variant: Variant) -> str:
    """What a variant is, in a line: its threads or device, and the steps that matter most."""
    where = f"{variant.threads} thread{'' if variant.threads == 1 else 's'}" if variant.threads else variant.device
    if variant.schedule in (RECIPE, PLAIN):
        return f"{'default' if variant.is_default else 'as written'}, {where}"
    names = [step.split()[0] for step in variant.schedule.split(";") if step.strip()]
    kinds = list(dict.fromkeys(SHORT[name] for name in names if name in SHORT))
    return f"{', '.join(kinds[:3]) or 'other order'}, {where}"


def _relayout(words: Words) -> str:
    """Of `p in t soa`, or without a loop."""
    is_for_loop = len(words) > 2 and words[1] == "in"
    layout = " ".join(words[3:] if is_for_loop else words[1:])
    return f"keeps {words[0]} as '{layout}' in memory while {words[2] if is_for_loop else 'it is used'}" + (
        " runs" if is_for_loop else ""
    )


def _step(words: Words) -> str:
    name, rest = words[0], words[1:]
    try:
        return PHRASES[name](rest) if name in PHRASES else " ".join(words)
    except (IndexError, ValueError):  # a store may say anything
        return " ".join(words)


def _pairs(words: Words) -> list[tuple[str, str]]:
    return list(zip(words[::2], words[1::2], strict=True))


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _tile(words: Words) -> str:
    pairs = _pairs(words)
    sizes, loops = " x ".join(size for _, size in pairs), _and([loop for loop, _ in pairs])
    return f"goes through {loops} in blocks of {sizes} iterations"


PHRASES: Mapping[str, Callable[[Words], str]] = {
    "split": lambda w: f"goes through {w[0]} in pieces of {w[1]} iterations",
    "tile": _tile,
    "align": lambda w: f"begins the pieces of {w[0]} where memory is aligned",
    "reorder": lambda w: f"nests the loops {' around '.join(w)}",
    "swap": lambda w: f"has two statements in {w[0]} change places",
    "hoist": lambda w: f"computes {w[0]} before {w[1]}, once for all its iterations",
    "sink": lambda w: f"computes in each iteration of {w[0]} what stands before it",
    "fuse": lambda w: f"makes one loop of {w[0]} and {w[1]}",
    "fission": lambda w: f"makes two loops of {w[0]}, one after the other",
    "distribute": lambda w: f"gives statements of {w[0]} loops of their own, as far as they may have them",
    "cut": lambda w: f"cuts {w[0]} in two where its iterations differ",
    "partition": lambda w: f"runs the first and the last iterations of {w[0]} apart, so that the others need no tests",
    "normalize": lambda w: f"counts the iterations of {w[0]} from 0 on",
    "reverse": lambda w: f"runs {w[0]} backwards",
    "shift": lambda w: f"counts {w[0]} from another start",
    "skew": lambda w: f"slants {w[1]} against {w[0]}, so that iterations may run side by side",
    "guard": lambda w: f"moves what stands around {w[0]} into it, under a condition",
    "predicate": lambda w: f"asks in each iteration of {w[0]} for the condition around it",
    "collapse": lambda w: f"counts all iterations of {_and(w)} in one loop",
    "flatten": lambda w: f"counts all iterations of {_and(w)} in one loop, whose ranges arrays tell",
    "uncap": lambda w: f"counts {w[0]} on where it has reached its bound",
    "complete": lambda w: f"computes whole blocks of {_and(w)}, and keeps the part that counts",
    "overrun": lambda w: f"lets {w[0]} run on to a whole block",
    "separate": lambda w: f"runs the iterations of {w[0]} with few iterations of {w[1]} apart from the others",
    "specialize": lambda w: f"has code of its own for {'whole blocks' if 'full' in w else 'some sizes'} of {w[0]}",
    "hold": lambda w: f"keeps what {w[1]} touches of {w[0]} in a local array while it runs",
    "promote": lambda w: f"keeps elements of {w[0]} in registers while {w[1]} runs",
    "rank": lambda w: f"numbers the iterations of {w[0]} that count in the same element, by sorting them",
    "resolve": lambda w: f"lets only the last of the iterations of {w[0]} write that write to the same place",
    "bucket": lambda w: f"sorts the iterations of {w[0]} by the element they use, and runs those of each in order",
    "inspect": lambda w: (
        f"looks whether what iterations of {w[0]} go through meets, and runs them in any order where not"
    ),
    "carry": lambda w: f"keeps what each {w[1]} hands on of {w[0]} in a register",
    "forward": lambda w: f"computes {w[0]} where it is read",
    "demote": lambda w: f"keeps {w[0]} in memory instead of a register",
    "expand": lambda w: f"gives {w[0]} an element for each iteration of {_and(w[1:])}",
    "propagate": lambda w: f"takes {w[2]} for the size of axis {w[1]} of {w[0]}",
    "contract": lambda w: f"keeps one element of {w[0]} at a time, in a scalar",
    "lift": lambda w: f"makes an array {w[0]} once in each iteration of {w[1]}, not in loops inside it",
    "privatize": lambda w: f"makes an array {w[0]} in each iteration of {w[1]}",
    "pack": lambda w: f"copies what {w[1]} needs of {w[0]} into one piece",
    "stage": lambda w: f"keeps a tile of {w[0]} in fast memory while {w[1]} runs",
    "reduce": lambda w: f"adds up {w[0]} in {w[1]} partial results",
    "redirect": lambda w: f"runs the iterations of {w[0]} in another order, similar ones side by side",
    "group": lambda w: f"runs the iterations of {w[0]} by the path that they take",
    "abreast": lambda w: f"takes iterations of {w[0]} side by side through their inner loops",
    "lockstep": lambda w: f"has iterations of {w[0]} go on together until data end them, {w[1]} vectors of them (SIMD)",
    "relayout": lambda w: _relayout(w),
    "renumber": lambda w: f"keeps what {w[0]} counts in another order while {w[2]} runs, neighbours side by side",
    "scan": lambda w: f"computes the running results of {w[0]} in {w[1]} pieces",
    "find": lambda w: f"looks for the iteration that leaves {w[0]} in chunks of {w[1]}, in any order",
    "unroll": lambda w: f"writes out {w[1] if len(w) > 1 else 'all'} iterations of {w[0]}",
    "modulo_unroll": lambda w: f"writes out {w[1]} iterations of {w[0]}, for what they leave divided by it",
    "unroll_and_jam": lambda w: f"does {w[1]} iterations of {w[0]} side by side",
    "reschedule": lambda w: "finds a new order of all iterations by integer programming",
    "vectorize": lambda w: f"does several iterations of {w[0]} at once (SIMD)",
    "parallelize": lambda w: f"shares {w[0]} among threads",
    "balance": lambda w: f"gives blocks equal parts of {w[0]} and {w[1]} together",
    "bind": lambda w: f"runs {w[0]} on {w[1].split('.')[0]}s of the GPU, {_AXES[w[1].split('.')[1]]}",
}
"""By the name of each step."""

SHORT: Mapping[str, str] = {
    "tile": "blocks", "split": "pieces", "pack": "packed copies", "stage": "staged tiles", "promote": "registers",
    "hold": "held tiles", "modulo_unroll": "by remainders",
    "unroll_and_jam": "iterations side by side", "reschedule": "new order", "skew": "slanted", "balance": "balanced",
    "scan": "running results", "find": "chunks searched", "reduce": "partial results", "fuse": "fused",
    "fission": "loops apart", "reorder": "reordered", "redirect": "iterations sorted", "relayout": "other layout",
    "renumber": "neighbours side by side", "group": "by paths",
}  # fmt: skip
"""What a variant is called by, for steps that say much of it."""
