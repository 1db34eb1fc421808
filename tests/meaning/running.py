"""Runs a check over many independent random programs, and makes the first one that fails small."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from .programs import Program, program
from .reduce import reduced
from .together import side_by_side


class Found(AssertionError):
    """A program on which the check fails, made small."""


BATCH = 100  # each run of the C compiler takes as long as three programs, whatever it compiles


def each_program(check: Callable[[Program], None], seeds: range) -> None:
    """Call `check` with the program of each seed; what a batch of them has compiled is compiled together. Raises Found
    for the first one on which the check raises."""
    for start in range(seeds.start, seeds.stop, BATCH):
        some = range(start, min(start + BATCH, seeds.stop))
        programs = [program(seed) for seed in some]
        errors = side_by_side([partial(check, one) for one in programs])
        for seed, one, error in zip(some, programs, errors, strict=True):
            if error is not None:
                raise Found(f"seed {seed}\n{explained(check, one, error)}") from error


def failure(check: Callable[[Program], None], program: Program) -> str:
    """The kind of failure, without what differs between programs that fail alike; '' where the check passes."""
    try:
        check(program)
    except Exception as error:
        first = re.sub(r"\d+|'[^']*'|call .*?: ", "_", str(error).split("\n")[0])
        return f"{type(error).__name__} {first}"
    return ""


def explained(check: Callable[[Program], None], program: Program, error: BaseException) -> str:
    """The text of a smaller program that fails in the same way, and how it fails."""
    kind = failure(check, program)
    if not kind:
        return f"{program}\nfails only beside others: {type(error).__name__}: {error}"
    small = reduced(program, lambda candidate: failure(check, candidate) == kind)
    try:
        check(small)
    except Exception as error:
        return f"{small}\n{type(error).__name__}: {error}"
    return f"{program}\nfails only sometimes: {kind}"
