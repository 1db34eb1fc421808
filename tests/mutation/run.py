"""`make mutate`: plant one fault at a time in a copy of this tree, and see whether the tests notice.

Of each fault, first the tests run that are likely to notice, then those of its folder, then the random programs, then
all. A fault counts as noticed only where the very test that failed passes without it, and golden files do not count: in
the copies they are rewritten, since all that they say is that some text is another one. Each copy has a cache of its
own.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mutation.fault import Fault
from mutation.faults import FAULTS

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(
    "__pycache__", ".venv", ".git", "build", "dist", "*.egg-info", ".*_cache", ".hypothesis", "results", "shared"
)
STAGES = ("first", "folder", "random", "all")
SECONDS = {"first": 900, "folder": 1800, "random": 3600, "all": 4 * 3600}
"""After so long, a run hangs: a fault that makes it so is noticed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """noticed: the test that fails with the fault and passes without it, '' where none does. doubtful: tests that fail
    with and without it. how: whether it failed, crashed or hung; or why nothing runs with the fault at all."""

    fault: str
    file: str
    noticed: str
    how: str
    stage: str
    seconds: float
    doubtful: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Ended:
    """One run of pytest. test: what failed, or ran when the process ended; '' where all passed. broken: the tests could
    not even be collected, which is no way to be noticed."""

    test: str
    how: str
    broken: str = ""


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the tree, below a folder that also has what it caches."""

    folder: Path

    @classmethod
    def made(cls, folder: Path, fault: Fault | None = None) -> Copy:
        """A copy in an empty folder, with a fault or without."""
        shutil.copytree(ROOT, folder / "tree", ignore=LEFT_OUT, symlinks=True)
        if fault is not None:
            path = folder / "tree" / "src" / "loopwright" / fault.file
            path.write_text(fault.planted(path.read_text(encoding="utf-8")), encoding="utf-8")
        (folder / "temporary").mkdir()
        return cls(folder)

    @property
    def tree(self) -> Path:
        return self.folder / "tree"

    def tested(self, targets: Sequence[str], limit_s: float, skipped: Sequence[str] = ()) -> Ended:
        """Run tests until one of them fails."""
        notes = self.folder / "notes"
        notes.write_text("", encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=line", "--update-golden"]
        command += ["-p", "mutation.noted", "-p", "no:cacheprovider", "--ignore=tests/mutation", *targets]
        command += [word for test in skipped for word in ("--deselect", test)]
        with (self.folder / "output").open("w") as output:
            process = subprocess.Popen(
                command, cwd=self.tree, env=self._environment(notes), stdout=output, stderr=output,
                stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            try:
                code = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                _end(process)
        lines = notes.read_text(encoding="utf-8").splitlines()
        failed = [line.removeprefix("failed ") for line in lines if line.startswith("failed ")]
        last = next((line.removeprefix("began ") for line in reversed(lines) if line.startswith("began ")), "")
        if failed:
            return Ended(failed[0], "failed")
        if code in (0, 5):
            return Ended("", "")
        if code is None or code < 0:
            return Ended(last, "hung" if code is None else f"crashed ({signal.Signals(-code).name})")
        tail = (self.folder / "output").read_text(encoding="utf-8", errors="replace").splitlines()[-12:]
        return Ended("", "", "\n".join(tail) or "pytest ended without a word")

    def _environment(self, notes: Path) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("LOOPWRIGHT_") and k != "PYTEST_ADDOPTS"}
        return kept | {
            "PYTHONPATH": os.pathsep.join([str(self.tree / "src"), str(self.tree / "tests")]),
            "LOOPWRIGHT_CACHE": str(self.folder / "cache"),
            "TMPDIR": str(self.folder / "temporary"),
            "MUTATION_NOTES": str(notes),
        }


def _end(process: subprocess.Popen[bytes]) -> None:
    """The process and all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def targets_of(fault: Fault, stage: str) -> list[str]:
    """What pytest is to run."""
    folder, _, name = fault.file.rpartition("/")
    match stage:
        case "first":
            return list(fault.first)
        case "folder":
            one = f"tests/{folder}" if folder else f"tests/test_{name}"
            return [one] if (ROOT / one).exists() else []
        case "random":
            return ["tests/meaning"]
        case _:
            return ["tests"]


def tried(fault: Fault, sound: Copy, stages: Sequence[str]) -> Outcome:
    """Plant a fault, and run tests until one notices. sound: a copy without any fault."""
    started, doubtful = time.monotonic(), list[str]()

    def outcome(noticed: str, how: str, stage: str) -> Outcome:
        return Outcome(fault.name, fault.file, noticed, how, stage, round(time.monotonic() - started, 1), doubtful)

    with tempfile.TemporaryDirectory(prefix="mutation-", ignore_cleanup_errors=True) as folder:
        copy = Copy.made(Path(folder), fault)
        for stage in stages:
            targets = targets_of(fault, stage)
            while targets:
                ended = copy.tested(targets, SECONDS[stage], doubtful)
                if ended.broken:  # no silent fault: it has to be another one
                    return outcome("", f"nothing runs with it: {ended.broken}", stage)
                if not ended.test:
                    break
                if not sound.tested([ended.test], SECONDS["first"]).test:
                    return outcome(ended.test, ended.how, stage)
                doubtful.append(ended.test)
    return outcome("", "", "")


def outcomes(faults: Sequence[Fault], stages: Sequence[str]) -> Iterator[Outcome]:
    """Of each fault, as soon as it is known."""
    with tempfile.TemporaryDirectory(prefix="mutation-", ignore_cleanup_errors=True) as folder:
        sound = Copy.made(Path(folder))
        for fault in faults:
            yield tried(fault, sound, stages)


def table_of(found: Sequence[Outcome]) -> Table:
    """All outcomes, and the score."""
    score = f"{sum(bool(one.noticed) for one in found)} of {len(found)} noticed"
    table = Table("fault", "in", "noticed by", "after", title=score)
    for one in found:
        by = one.noticed if one.how in ("", "failed") else f"{one.noticed} ({one.how})".strip()
        table.add_row(one.fault, one.file, escape(by) or "[bold red]nothing", f"{one.seconds:.0f} s")
    return table


def main(arguments: Sequence[str]) -> int:
    """The command; 0 where every fault was noticed."""
    parser = argparse.ArgumentParser(description="Plant faults one at a time, and see which the tests notice.")
    parser.add_argument("only", nargs="*", help="faults by (parts of) their names or files; all where there is none")
    parser.add_argument("--until", choices=STAGES, default=STAGES[-1], help="how far to go for a fault nobody notices")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "mutation.json", help="where results are written")
    options = parser.parse_args(arguments)
    chosen = [one for one in FAULTS if not options.only or any(w in f"{one.name} {one.file}" for w in options.only)]
    stages = STAGES[: STAGES.index(options.until) + 1]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    console, found = Console(), list[Outcome]()
    for one in outcomes(chosen, stages):
        found.append(one)
        by = one.noticed or one.how or "NOTHING"
        console.print(
            f"{len(found)}/{len(chosen)} {one.fault}: {by} ({one.seconds:.0f} s)", markup=False, soft_wrap=True
        )
        written = {"date": datetime.date.today().isoformat(), "faults": [asdict(each) for each in found]}
        options.out.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    console.print(table_of(found))
    return 0 if all(one.noticed for one in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
