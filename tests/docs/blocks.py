"""Markdown as programs: the Python blocks of a page, at their own line numbers, and what each must print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

MARK = "\x00end of block"
_FENCE = re.compile(r"^```(\w*)\s*$")
_LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the line of its first line of text (from 1), and its lines."""

    language: str
    line: int
    lines: tuple[str, ...]

    @property
    def end(self) -> int:
        """The line of its closing fence."""
        return self.line + len(self.lines)


def blocks(text: str) -> Iterator[Block]:
    """Every fenced block of a page."""
    start, language = 0, ""
    inside: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        fence = _FENCE.match(line)
        if fence and not start:
            start, language, inside = number + 1, fence[1], []
        elif fence:
            yield Block(language, start, tuple(inside))
            start = 0
        elif start:
            inside.append(line)


def program(text: str) -> str:
    """All Python blocks of a page as one program, each line where it stands in the page; each block ends by printing
    MARK on the line of its closing fence."""
    lines = [""] * len(text.splitlines())
    for block in blocks(text):
        if block.language == "python":
            lines[block.line - 1 : block.end - 1] = block.lines
            lines[block.end - 1] = f"print({MARK!r})"
    return "\n".join(lines) + "\n"


def expected(text: str) -> list[tuple[Block, str | None]]:
    """Each Python block with the text block right below it, which is what it must print; None where there is none."""
    found = list(blocks(text))
    page = text.splitlines()
    wanted: list[tuple[Block, str | None]] = []
    for block, after in pairwise([*found, None]):
        if block is None or block.language != "python":
            continue
        between = page[block.end : after.line - 2] if after is not None else ["no block"]
        follows = after is not None and after.language == "text" and not any(line.strip() for line in between)
        wanted.append((block, "\n".join(after.lines) if after is not None and follows else None))
    return wanted


def matches(wanted: str, printed: str) -> bool:
    """Line by line, spaces at line ends aside; `...` stands for any text within a line, a line of it for any lines."""
    pattern = ""
    for line in wanted.strip("\n").splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*"
        else:
            pattern += r".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n"
    return re.fullmatch(pattern, printed.strip("\n") + "\n") is not None


def links(text: str) -> list[str]:
    """The targets of a page's links within the project; code is none."""
    lines = text.splitlines()
    for block in blocks(text):
        lines[block.line - 1 : block.end - 1] = [""] * len(block.lines)
    text = re.sub(r"`[^`\n]*`", "", "\n".join(lines))
    return [target for target in _LINK.findall(text) if not target.startswith(("http:", "https:", "mailto:"))]
