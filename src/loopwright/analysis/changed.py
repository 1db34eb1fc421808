"""Where two trees of the same statements differ: what the judge of steps has to look at."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.ir.nodes import Block, Body, For, If, Kernel, Stmt, While


@dataclass(frozen=True, slots=True)
class Changed:
    """Inside the loops named `stack`, which are the same in both trees, the statements `before` became `after`."""

    stack: tuple[str, ...]
    before: Body
    after: Body


def changed(kernel: Kernel, after: Kernel) -> Changed:
    """The smallest part that differs: equal statements before and after it are left out, and so is what stands around
    it, be it a loop, a branch or a block."""
    stack: list[str] = []
    old, new = kernel.body, after.body
    while True:
        old, new = _trimmed(old, new)
        inner = _inner(old[0], new[0]) if len(old) == len(new) == 1 else None
        if inner is None:
            return Changed(tuple(stack), old, new)
        if isinstance(old[0], For | While):
            stack.append(old[0].name)
        old, new = inner


def _trimmed(old: Body, new: Body) -> tuple[Body, Body]:
    start = 0
    while start < min(len(old), len(new)) and old[start] is new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] is new[-1 - end]:
        end += 1
    return old[start : len(old) - end], new[start : len(new) - end]


def _inner(old: Stmt, new: Stmt) -> tuple[Body, Body] | None:
    """The bodies that differ, where all else of the two statements is the same."""
    match old, new:
        case For(), For() if (old.name, old.lower, old.upper, old.step) == (new.name, new.lower, new.upper, new.step):
            return old.body, new.body
        case While(), While() if old.condition is new.condition:
            return old.body, new.body
        case Block(), Block() if old.name == new.name:
            return old.body, new.body
        case If(), If() if old.condition is new.condition and old.otherwise is new.otherwise:
            return old.then, new.then
        case If(), If() if old.condition is new.condition and old.then is new.then:
            return old.otherwise, new.otherwise
        case _:
            return None
