"""The loops of machine code: basic blocks, dominators, and natural loops from back edges (Aho, Lam, Sethi, Ullman,
"Compilers", 9.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loopwright.toolchain.sass import Instruction

JUMPS = ("BRA", "EXIT", "RET", "BSYNC", "BRX", "JMP", "JMX", "KILL")


@dataclass(frozen=True, slots=True)
class MachineLoop:
    """A natural loop. inside: the numbers of its instructions, ascending, those of loops inside it too. own: without
    these. latches: those that jump back to its beginning. outer: the number of the smallest loop around it, or -1."""

    inside: tuple[int, ...]
    own: tuple[int, ...]
    latches: tuple[int, ...]
    outer: int


def loops_of(code: Sequence[Instruction]) -> tuple[MachineLoop, ...]:
    """The natural loops of a kernel's instructions, outer ones before those inside them; loops with one beginning are
    one. What is entered at several places is no natural loop, and is not found."""
    if not code:
        return ()
    blocks = blocks_of(code)
    following = _successors(code, blocks)
    before: list[list[int]] = [[] for _ in blocks]
    for place, nexts in enumerate(following):
        for one in nexts:
            before[one].append(place)
    order = _postorder(following)
    rank = {block: place for place, block in enumerate(order)}
    above = _dominators(order, rank, before)
    back: dict[int, list[int]] = {}
    for place in sorted(rank):
        for one in following[place]:
            if rank[one] >= rank[place] and _dominates(one, place, above):
                back.setdefault(one, []).append(place)
    bodies = {header: _body(header, latches, before) for header, latches in back.items()}
    headers = sorted(bodies, key=lambda header: (-len(bodies[header]), header))
    return tuple(_loop(place, headers, bodies, back, blocks) for place in range(len(headers)))


def blocks_of(code: Sequence[Instruction]) -> list[range]:
    """The basic blocks, by the numbers of their instructions."""
    starts = _starts(code)
    return [range(a, b) for a, b in zip(starts, [*starts[1:], len(code)], strict=True)]


def _loop(
    place: int, order: list[int], bodies: dict[int, set[int]], back: dict[int, list[int]], blocks: list[range]
) -> MachineLoop:
    header = order[place]
    body = bodies[header]
    around = [k for k in range(place) if body < bodies[order[k]] and header in bodies[order[k]]]
    inner = set().union(*(bodies[other] for other in order if bodies[other] < body))
    inside = sorted(number for one in body for number in blocks[one])
    own = sorted(number for one in body - inner for number in blocks[one])
    return MachineLoop(
        tuple(inside), tuple(own), tuple(blocks[one][-1] for one in back[header]), around[-1] if around else -1
    )


def _starts(code: Sequence[Instruction]) -> list[int]:
    """Where blocks begin."""
    places = {one.address: number for number, one in enumerate(code)}
    starts = {0} if code else set()
    for number, one in enumerate(code):
        if one.target in places:
            starts.add(places[one.target])
        if one.name in JUMPS and number + 1 < len(code):
            starts.add(number + 1)
    return sorted(starts)


def _successors(code: Sequence[Instruction], blocks: Sequence[range]) -> list[list[int]]:
    """For each block those that may come next. Calls come back."""
    number = {code[block.start].address: place for place, block in enumerate(blocks)}
    meetings = _meetings(code)
    found: list[list[int]] = []
    for place, block in enumerate(blocks):
        last = code[block[-1]]
        target = meetings.get(block[-1]) if last.name == "BSYNC" else last.target
        nexts = [number[target]] if last.name in JUMPS and target in number else []
        sure = last.name in JUMPS and not last.depends
        if (not sure or (last.name == "BSYNC" and not nexts)) and place + 1 < len(blocks):
            nexts.append(place + 1)
        found.append(list(dict.fromkeys(nexts)))
    return found


def _meetings(code: Sequence[Instruction]) -> dict[int, int]:
    """Where threads go on that have met in a BSYNC: where the last BSSY before it says for its barrier register."""
    prepared: dict[str, int] = {}
    found: dict[int, int] = {}
    for place, one in enumerate(code):
        if one.name == "BSSY" and one.target is not None:
            prepared[one.operands.split(",")[0]] = one.target
        elif one.name == "BSYNC" and one.operands in prepared:
            found[place] = prepared[one.operands]
    return found


def _dominators(order: Sequence[int], rank: Mapping[int, int], before: Sequence[Sequence[int]]) -> list[int]:
    """The immediate dominator of each block, itself for the first one, -1 for what is never reached (Cooper, Harvey,
    Kennedy, "A Simple, Fast Dominance Algorithm"). order: blocks in postorder; rank: their places in it."""
    above = [-1] * len(before)
    above[0] = 0
    changed = True
    while changed:
        changed = False
        for block in reversed(order[:-1]):
            known = [one for one in before[block] if above[one] >= 0]
            new = known[0]
            for one in known[1:]:
                new = _meet(one, new, above, rank)
            changed = changed or above[block] != new
            above[block] = new
    return above


def _meet(one: int, other: int, above: Sequence[int], rank: Mapping[int, int]) -> int:
    while one != other:
        while rank[one] < rank[other]:
            one = above[one]
        while rank[other] < rank[one]:
            other = above[other]
    return one


def _postorder(following: list[list[int]]) -> list[int]:
    order: list[int] = []
    seen = {0}
    stack = [(0, iter(following[0]))]
    while stack:
        block, rest = stack[-1]
        step = next((one for one in rest if one not in seen), None)
        if step is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(step)
            stack.append((step, iter(following[step])))
    return order


def _dominates(one: int, other: int, above: list[int]) -> bool:
    while other != one and above[other] != other:
        other = above[other]
    return other == one


def _body(header: int, latches: list[int], before: list[list[int]]) -> set[int]:
    found = {header}
    waiting = [one for one in latches if one != header]
    while waiting:
        block = waiting.pop()
        if block not in found:
            found.add(block)
            waiting.extend(before[block])
    return found
