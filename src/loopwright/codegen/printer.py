"""Code trees to lines: the layout that all languages share. What C has no word for, each spells by a table, its
`Language` (print_c.py, print_cuda.py). No printer decides anything. A language has no word for some nodes: code for it
has none of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from loopwright.ir.code import Branch, Claims, Code, CodeBlock, CodeRegion, Leaf, Loop, Otherwise, Question, Repeat


@dataclass(frozen=True, slots=True)
class Language:
    """leaf: the lines of a node that nothing stands inside of. before: the lines before a block. claim: the C text that
    claims the next number, and is it. All of them raise NoWord."""

    leaf: Callable[[Leaf], Iterator[str]]
    before: Callable[[CodeBlock], Iterator[str]]
    claim: Callable[[Claims], str]


class NoWord(Exception):
    """A language has no word for a node: no code in it should have one."""


def print_code(code: Code, depth: int, lines: list[str], around: CodeRegion, language: Language) -> None:
    """Append the lines of a piece of code to those of a text, and its loops and branches to the region around."""
    for node in code:
        if isinstance(node, CodeBlock):
            _print_block(node, depth, lines, around, language)
        else:
            lines += ("  " * depth + line for line in language.leaf(node))
        if isinstance(node, Question):
            around.inner.append(CodeRegion("then", len(lines), len(lines), question=True, outer=around))


def parameter_list(parameters: Iterable[tuple[str, str]]) -> str:
    """Names and types of parameters, as they stand in brackets."""
    return ", ".join(f"{ctype}{'' if ctype[-1] in '* ' else ' '}{name}" for name, ctype in parameters)


def _head(node: CodeBlock, language: Language) -> str:
    match node:
        case Loop():
            return f"for ({node.head})"
        case Repeat():
            return f"while ({node.condition})"
        case Claims():
            return f"while (({node.number} = {language.claim(node)}) < {node.count})"
        case Branch():
            return f"if ({node.condition})"
        case Otherwise():
            return "else"
        case _:
            return ""


def _print_block(node: CodeBlock, depth: int, lines: list[str], around: CodeRegion, language: Language) -> None:
    shift = "  " * depth
    lines += (shift + line for line in language.before(node))
    head = _head(node, language)
    opening = f"{head} {{" if head else "{"
    if isinstance(node, Otherwise):
        lines[-1] += f" {opening}"
    else:
        lines.append(shift + opening)
    here = _region_of(node, len(lines), around)
    print_code(node.body, depth + 1, lines, here, language)
    lines.append(shift + "}")
    if here is not around:
        here.last = len(lines)


def _region_of(node: CodeBlock, line: int, around: CodeRegion) -> CodeRegion:
    """The region that a block is; the one around, where it is none of its own."""
    match node:
        case Loop():
            unroll = 1 if node.unroll is None else node.unroll
            found = CodeRegion("loop", line, 0, node.name, node.trips, unroll, node.part, node.at_once, outer=around)
        case Branch():
            found = CodeRegion("then", line, 0, node.name, part=node.part, condition=node.condition, outer=around)
            found.axes, found.versions, found.plain = node.axes, node.versions, node.plain
        case Otherwise():
            found = CodeRegion("else", line, condition=around.inner[-1].condition, outer=around)
        case _:
            return around
    around.inner.append(found)
    return found
