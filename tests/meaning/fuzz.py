"""`make fuzz`: many random programs, each judged by CPython. Programs of one batch are compiled together.

    python -m meaning.fuzz --programs 100000             # others in each run; --first names the seed to begin with
    python -m meaning.fuzz --programs 200 --memory       # under the sanitizers and valgrind too (meaning/drivers.py)

Each worker is a process, and takes a stretch of seeds at a time; where one dies, its seeds are run one by one, so
that the one is found which killed it. Every failure is one line of JSON: its seed, what went wrong, the small program.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from loopwright.config import Device
from loopwright.errors import KernelError

from .drivers import found_by_sanitizers, found_by_valgrind, has_sanitizers, has_valgrind
from .programs import Program, program
from .refusals import may_be_refused
from .running import explained
from .together import side_by_side
from .ways import check_program, drawn

TESTS = Path(__file__).resolve().parents[1]
BATCH = 40  # programs that are compiled together
STRETCH = 400  # seeds of one process
RARELY = 127  # of so many programs and one more, one runs on the emulated GPU too: that takes seconds to compile
RARELY_ON_A_GPU = 7  # the same for a real one
PATIENCE_S = 60.0, 3.0  # what a process may take, and what more for each of its programs


@dataclass(frozen=True)
class Failure:
    """A program that some way to run gets wrong, or that ends the process. text: the program made small, and how."""

    seed: int
    text: str


# ---- in a worker --------------------------------------------------------------------------------------------------


def check_seeds(seeds: range, cache: Path, device: Device = "emulated") -> Iterator[Failure]:
    """Check the programs of these seeds. Raises nothing."""
    for some in _batches(seeds):
        checks = [partial(_check, program(seed), cache, device) for seed in some]
        for seed, error in zip(some, side_by_side(checks), strict=True):
            if error is not None:
                yield Failure(seed, explained(partial(_check, cache=cache, device=device), program(seed), error))
        shutil.rmtree(cache, ignore_errors=True)


def _batches(seeds: range) -> list[range]:
    return [range(at, min(at + BATCH, seeds.stop)) for at in range(seeds.start, seeds.stop, BATCH)]


def _check(one: Program, cache: Path, device: Device = "emulated") -> None:
    often = RARELY if device == "emulated" else RARELY_ON_A_GPU
    try:
        check_program(one, cache, interpret_it=drawn(one) % 3 == 0, rarely=often, device=device)
    except KernelError as error:
        if not may_be_refused(error):
            raise


def check_memory(seeds: range, folder: Path) -> Iterator[Failure]:
    """The programs of these seeds under the sanitizers and valgrind, as far as these are installed."""
    checkers = [found_by_sanitizers] * has_sanitizers() + [found_by_valgrind] * has_valgrind()
    folder.mkdir(exist_ok=True)
    for some in _batches(seeds):
        for checker in checkers:
            if text := checker(some, folder):
                named = re.search(r"program_(\d+)_call", text)
                yield Failure(int(named.group(1)) if named else some.start, f"{checker.__name__}: {text}")


def _work(arguments: argparse.Namespace) -> None:
    first, last = (int(word) for word in arguments.seeds.split(":"))
    seeds = range(first, last)
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    faulthandler.dump_traceback_later(0.9 * _patience_s(seeds))  # before it is killed: where it hangs
    with tempfile.TemporaryDirectory(prefix="loopwright-fuzz-") as folder:
        checks = [check_seeds(seeds, Path(folder, "cache"), arguments.device)]
        checks += [check_memory(seeds, Path(folder, "memory"))] if arguments.memory else []
        for failure in chain(*checks):
            print(json.dumps({"seed": failure.seed, "text": failure.text}), flush=True)
    print(json.dumps({"done": len(seeds)}), flush=True)


# ---- the parent ---------------------------------------------------------------------------------------------------


def run_stretch(seeds: range, options: Sequence[str] = ()) -> list[Failure]:
    """Check the programs of these seeds in a process of their own; options: of the command."""
    code, lines, noise = _child(seeds, options)
    failures = [Failure(line["seed"], line["text"]) for line in lines if "seed" in line]
    if any("done" in line for line in lines):
        return failures
    if len(seeds) > 1:  # the process has died: whose fault is it?
        half = len(seeds) // 2
        parts = (range(seeds.start, seeds.start + half), range(seeds.start + half, seeds.stop))
        return [failure for part in parts for failure in run_stretch(part, options)]
    return [Failure(seeds.start, f"{program(seeds.start)}\nthe process ended with {code}\n{noise}")]


def _patience_s(seeds: range) -> float:
    return PATIENCE_S[0] + PATIENCE_S[1] * len(seeds)


def _child(seeds: range, options: Sequence[str]) -> tuple[int, list[dict[str, Any]], str]:
    """Exit code, the lines that it printed, and the end of what it complained of."""
    command = [sys.executable, "-W", "ignore", "-m", "meaning.fuzz", "--seeds", f"{seeds.start}:{seeds.stop}", *options]
    environment = {**os.environ, "LOOPWRIGHT_STORE": "off"}
    more = environment.get("PYTHONPATH", "")
    environment["PYTHONPATH"] = os.pathsep.join([str(TESTS), str(TESTS.parent / "src"), *filter(None, (more,))])
    patience_s = _patience_s(seeds) * (3 if "--memory" in options else 1)
    try:
        done = subprocess.run(
            command, cwd=TESTS, env=environment, capture_output=True, text=True, check=False, timeout=patience_s
        )
    except subprocess.TimeoutExpired as late:
        said = late.stderr or b""
        said = said.decode(errors="replace") if isinstance(said, bytes) else said
        return -1, [], f"it ran for more than {patience_s:.0f} s\n{said[-6000:]}"
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return done.returncode, lines, done.stderr[-4000:]


@dataclass(frozen=True)
class Plan:
    """What a run checks: this many programs from this seed on, but no more are begun after so many seconds."""

    programs: int
    first: int
    workers: int
    seconds: float
    stretch: int
    options: tuple[str, ...] = ()
    report: Path | None = None


def run(plan: Plan) -> int:
    """Check the programs of a plan; prints as it goes, and gives the number of failures."""
    last = plan.first + plan.programs
    stretches = [range(at, min(at + plan.stretch, last)) for at in range(plan.first, last, plan.stretch)]
    started, failures, done = time.monotonic(), 0, 0
    print(f"{plan.programs} programs, seeds {plan.first} to {last - 1}, {plan.workers} processes", flush=True)

    def in_time(seeds: range) -> list[Failure] | None:
        if time.monotonic() - started > plan.seconds:
            return None
        return run_stretch(seeds, plan.options)

    with ThreadPoolExecutor(plan.workers) as pool:
        begun = {pool.submit(in_time, seeds): seeds for seeds in stretches}
        for ended in as_completed(begun):
            seeds, found = begun[ended], ended.result()
            if found is None:
                continue
            done, failures = done + len(seeds), failures + len(found)
            for failure in found:
                print(f"\nseed {failure.seed}\n{failure.text}\n", flush=True)
            if plan.report is not None:
                with plan.report.open("a") as file:
                    file.writelines(json.dumps({"seed": one.seed, "text": one.text}) + "\n" for one in found)
            rate = done / (time.monotonic() - started)
            told = f"{done} programs, {failures} failures, {rate:.1f} a second"
            print(f"seeds {seeds.start} to {seeds.stop - 1} done: {told}", flush=True)
    return failures


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=None, help="the first seed; one that was never used by default")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--memory", action="store_true", help="under the sanitizers and valgrind, too")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="after these no more programs are begun")
    parser.add_argument("--stretch", type=int, default=STRETCH, help="how many programs each process takes")
    parser.add_argument("--report", type=Path, default=None, help="where a line of JSON is added for each failure")
    parser.add_argument("--device", default="emulated", choices=("emulated", "cuda"), help="the GPU of some programs")
    parser.add_argument("--seeds", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.seeds:
        _work(arguments)
        return 0
    first = random.SystemRandom().randrange(10**9) if arguments.first is None else arguments.first
    options = (f"--device={arguments.device}", *(("--memory",) if arguments.memory else ()))
    plan = Plan(
        arguments.programs, first, arguments.workers, arguments.seconds, arguments.stretch, options, arguments.report
    )
    return 1 if run(plan) else 0


if __name__ == "__main__":
    sys.exit(main())
