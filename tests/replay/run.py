"""`make replay BASE=<commit>`: every schedule, C and CUDA text of the corpus at a commit and in this tree, compared to
the byte. A commit that refactors changes none.

The corpus is this tree's on both sides; of BASE it is only the package that is asked. The sides have other hash seeds,
so that an order that Python chooses shows up as a difference. Exits with 0 where all texts are equal, 1 where some are
not, 2 where there is nothing to compare with. Both sides' texts stay in build/replay, for other tools.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from replay.collect import NOT_THERE
from replay.difference import KINDS, Comparison, compare, kind_of

ROOT = Path(__file__).parents[2]
EQUAL, DIFFERENT, NOTHING, STOPPED = 0, 1, 2, 130
CHANGES, LINES, NAMES = 12, 24, 8
"""How many changes are shown, of each how many lines, and how many names of texts."""


class CannotCompare(Exception):
    """Why one side gives no texts, for people."""


def replay(tree: Path, base: str, words: Sequence[str], folder: Path, everything: bool) -> int:
    """Make the texts of both sides in an empty folder, print what differs, and give the exit status."""
    started = time.monotonic()
    with checked_out(tree, base) as other:
        collect_both({"before": other / "src", "after": tree / "src"}, folder, words)
    found = compare(folder / "before", folder / "after")
    if found.texts.keys() <= {"h", "cuh"} and not found.alone:
        raise CannotCompare("no text's name has any of these words")
    for line in report(found, everything):
        print(line)
    print(f"\n{base} against this tree, in {time.monotonic() - started:.0f} s; the texts are in {folder}")
    return EQUAL if found.is_equal else DIFFERENT


@contextmanager
def checked_out(tree: Path, commit: str) -> Iterator[Path]:
    """A worktree of a commit of the repository that `tree` belongs to, until the end of the block."""

    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *arguments], cwd=tree, capture_output=True, text=True, check=False)

    with tempfile.TemporaryDirectory(prefix="loopwright-replay-") as folder:
        other = Path(folder, "base")
        try:
            added = git("worktree", "add", "--detach", str(other), f"{commit}^{{commit}}")
            if added.returncode:
                raise CannotCompare(f"git: {added.stderr.strip()}")
            yield other
        finally:
            git("worktree", "remove", "--force", str(other))


def collect_both(sources: dict[str, Path], folder: Path, words: Sequence[str]) -> None:
    """The texts that each package makes, into a folder of its side's name, in a process for each side. It ends with the
    first process that fails."""
    sides = {
        side: collecting(source, folder / side, words, seed) for seed, (side, source) in enumerate(sources.items())
    }
    try:
        while True:
            codes = {side: process.poll() for side, process in sides.items()}
            if any(codes.values()) or None not in codes.values():
                break
            time.sleep(0.05)
    finally:
        for process in sides.values():
            process.kill()
            process.wait()
    for side, code in codes.items():
        said = log_of(folder / side).read_text(encoding="utf-8").strip()
        if code == NOT_THERE:
            raise CannotCompare(f"the package {side} lacks a name that tests/replay asks for: {said}")
        if code:
            raise CannotCompare(f"collecting the texts {side} failed with {code}:\n{said}")


def log_of(folder: Path) -> Path:
    """What the process said that wrote this folder of texts."""
    return folder.with_suffix(".log")


def collecting(source: Path, folder: Path, words: Sequence[str], seed: int) -> subprocess.Popen[str]:
    """A process that writes the texts of the package in `source`. No option of ours reaches it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LOOPWRIGHT_")}
    environment["PYTHONPATH"] = os.pathsep.join(map(str, (source, ROOT / "tests", ROOT)))
    environment |= {"PYTHONHASHSEED": str(seed), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "replay.collect", str(folder), *words]
    with log_of(folder).open("w", encoding="utf-8") as log:
        return subprocess.Popen(command, env=environment, stdout=log, stderr=log, text=True)


def report(found: Comparison, everything: bool) -> Iterator[str]:
    """What differs, as lines: a table by kind of text, then the changes, those of most texts first."""
    differing = Counter(map(kind_of, found.differing))
    yield f"{'texts':10} {'all':>6} {'equal':>6} {'differ':>6}"
    for kind in (*(one for one in KINDS if found.texts[one]), ""):
        count, others = (found.texts[kind], differing[kind]) if kind else (found.texts.total(), len(found.differing))
        yield f"{kind or 'together':10} {count:6} {count - others:6} {others:6}"
    for group, why in found.alone.items():
        yield f"\nnot compared: {group}, {why}"
    if found.differing:
        yield f"\nthese differ: {_some(found.differing, everything)}"
    shown = found.changes if everything else found.changes[:CHANGES]
    for number, change in enumerate(shown, 1):
        yield f"\nchange {number} of {len(found.changes)}, in {len(change.names)}: {_some(change.names, everything)}"
        lines = change.picture if everything else change.picture[:LINES]
        yield from (f"  {line}" for line in lines)
        if len(change.picture) > len(lines):
            yield f"  ... {len(change.picture) - len(lines)} more lines"
    if len(shown) < len(found.changes):
        yield f"\n{len(found.changes) - len(shown)} more changes: make replay REPLAY=--all shows everything"


def _some(names: Sequence[str], everything: bool) -> str:
    first = names if everything else names[:NAMES]
    return ", ".join(first) + (f" and {len(names) - len(first)} more" if len(names) > len(first) else "")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; see the module."""
    parser = argparse.ArgumentParser(prog="replay", description=__doc__)
    parser.add_argument("base", help="a commit")
    parser.add_argument("words", nargs="*", help="only texts whose name group/call/variant has one of these")
    parser.add_argument("--all", action="store_true", help="show every change, and all of it")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the other side: a tree of the same repository")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "replay", help="where texts go: emptied first")
    given = parser.parse_args(arguments)
    shutil.rmtree(given.folder, ignore_errors=True)
    given.folder.mkdir(parents=True)
    try:
        return replay(given.tree.resolve(), given.base, given.words, given.folder.resolve(), given.all)
    except CannotCompare as why:
        print(f"replay: {why}", file=sys.stderr)
        return NOTHING
    except KeyboardInterrupt:
        return STOPPED


def _stop(*_: object) -> NoReturn:
    """Leave as with ctrl-C, so that the worktree goes."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    for one in (signal.SIGINT, signal.SIGTERM):  # a shell may have had SIGINT ignored
        signal.signal(one, _stop)
    sys.exit(main())
