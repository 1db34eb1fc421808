"""Write every text of the corpus into a folder: `python -m replay.collect FOLDER [WORDS]`, in a process of its own,
with the package of some commit on its path. Texts are files `group/call/variant.kind`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from replay.corpus import GROUPS, Group

MISSING = "missing"
"""The file that says why a group has no texts."""

NOT_THERE = 3
"""The exit status where this package lacks names that the replay asks for."""


def collect(folder: Path, groups: Iterable[Group], words: Sequence[str] = ()) -> None:
    """Write the texts, or only those whose name `group/call/variant` has one of the words."""
    from replay.texts import headers, texts

    for group in groups:
        below = folder / group.name
        below.mkdir(parents=True)
        try:
            calls = list(group.calls())
        except (ImportError, AttributeError) as error:
            (below / MISSING).write_text(f"{type(error).__name__}: {error}\n", encoding="utf-8")
            continue
        for call in calls:
            place = below / re.sub(r"[^\w.-]+", "-", call.name)
            for variant in group.variants:
                if words and not any(word in f"{group.name}/{place.name}/{variant.name}" for word in words):
                    continue
                place.mkdir(exist_ok=True)
                for kind, text in texts(call.function, call.arguments(), variant).items():
                    with (place / f"{variant.name}.{kind}").open("x", encoding="utf-8") as file:
                        file.write(text)
    for name, text in headers().items():
        (folder / "headers").mkdir(exist_ok=True)
        (folder / "headers" / name).write_text(text, encoding="utf-8")


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
