"""Write every text of the corpus into a folder: `python -m replay.collect FOLDER [WORDS]`, in a process of its own,
with the package of some commit on its path. Texts are files `group/call/variant.kind`."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from replay.corpus import GROUPS, Group

MISSING = "missing"
"""The folder with a file for each group and variant that has no texts, which says why."""

NOT_THERE = 3
"""The exit status where this package lacks names that the replay asks for."""


def collect(folder: Path, groups: Sequence[Group], words: Sequence[str] = ()) -> None:
    """Write the texts, or only those whose name `group/call/variant` has one of the words."""
    from replay.texts import headers, refused, texts

    missing = {one.name: why for group in groups for one in group.variants if (why := refused(one))}
    for group in groups:
        try:
            calls = list(group.calls())
        except (ImportError, AttributeError) as error:
            missing[group.name] = f"{type(error).__name__}: {error}"
            continue
        for call in calls:
            place = folder / group.name / re.sub(r"[^\w.-]+", "-", call.name)
            for variant in group.variants:
                name = f"{group.name}/{place.name}/{variant.name}"
                if variant.name not in missing and (not words or any(word in name for word in words)):
                    write(place, variant.name, texts(call.function, call.arguments(), variant))
    for name, why in missing.items():
        write(folder / MISSING, name, {"why": why})
    for name, text in headers().items():
        stem, _, kind = name.rpartition(".")
        write(folder / "headers", stem, {kind: text})


def write(folder: Path, name: str, texts: Mapping[str, str]) -> None:
    """Write texts by kind. Raises FileExistsError where two calls have one name."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, text in texts.items():
        with (folder / f"{name}.{kind}").open("x", encoding="utf-8") as file:
            file.write(text)


def main(folder: str, *words: str) -> int:
    """The exit status."""
    try:
        collect(Path(folder), GROUPS, words)
    except (ImportError, AttributeError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return NOT_THERE
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
