"""What differs between two folders of texts: which texts, and which changes, each told once however many texts have
it."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from replay.collect import MISSING

KINDS = ("schedule", "program", "c", "cu", "h", "cuh")
"""The last part of a text's name, see `texts.py`; the package's headers have theirs."""

CONTEXT = 2


@dataclass
class Change:
    """A stretch of lines that became another one. `names`: the texts that have it. `picture`: it in the first of them,
    as a unified diff with some lines around."""

    names: list[str]
    picture: list[str]


@dataclass
class Comparison:
    """texts: how many there are on either side by kind, differing: the names of those that are not equal. alone: by
    name of a group or a variant, why it could not be compared."""

    texts: Counter[str] = field(default_factory=Counter)
    differing: list[str] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    alone: dict[str, str] = field(default_factory=dict)

    @property
    def is_equal(self) -> bool:
        return not self.differing and not self.alone


def compare(before: Path, after: Path) -> Comparison:
    """Text by text, in the order of their names. A text that only one side has differs from an empty one."""
    found = Comparison(alone=_alone(before, "before") | _alone(after, "after"))
    changes: dict[tuple[str, ...], Change] = {}
    for name in sorted(_names(before) | _names(after)):
        if any(part in found.alone for part in parts_of(name)):
            continue
        found.texts[kind_of(name)] += 1
        old, new = (_lines(folder / name) for folder in (before, after))
        if old == new and (before / name).exists() == (after / name).exists():
            continue
        found.differing.append(name)
        for key, picture in _changes(old, new):
            change = changes.setdefault(key, Change([], picture))
            change.names += [name] if name not in change.names[-1:] else []
    found.changes = sorted(changes.values(), key=lambda change: -len(change.names))
    return found


def parts_of(name: str) -> tuple[str, str]:
    """`polybench/gemm/avx2.c` -> `polybench`, `avx2`: the group and the variant."""
    return name.partition("/")[0], name.rpartition("/")[2].partition(".")[0]


def kind_of(name: str) -> str:
    """`polybench/gemm/avx2.c` -> `c`."""
    return name.rpartition(".")[2]


def _names(folder: Path) -> set[str]:
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*.*") if path.is_file())
    return {name for name in names if not name.startswith(f"{MISSING}/")}


def _alone(folder: Path, side: str) -> dict[str, str]:
    return {path.stem: f"{side}: {path.read_text(encoding='utf-8')}" for path in sorted((folder / MISSING).glob("*"))}


def _lines(path: Path) -> list[str]:
    """Split at ends of lines only, which stay: texts are compared to the byte."""
    return path.read_bytes().decode().split("\n") if path.exists() else []


def _changes(old: list[str], new: list[str]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Each stretch that differs: its own lines as in a unified diff, and those with some lines around."""
    same = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), len(old))
    first = max(0, same - CONTEXT)  # most of a text is its header: matching starts where the texts part
    old, new = old[first:], new[first:]
    for kind, left, right, low, high in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            own = *(f"-{line}" for line in old[left:right]), *(f"+{line}" for line in new[low:high])
            before, after = old[max(0, left - CONTEXT) : left], old[right : right + CONTEXT]
            yield own, [*(f" {line}" for line in before), *own, *(f" {line}" for line in after)]
