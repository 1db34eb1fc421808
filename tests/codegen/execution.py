"""Running a hand-made kernel both ways: through the interpreter, and as C with every access checked."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path

from loopwright.analysis.facts import NOTHING_PROVEN, Facts
from loopwright.codegen.openmp import generate
from loopwright.config import Config
from loopwright.devices import by_ctypes
from loopwright.devices.base import returns_of
from loopwright.devices.cpu import load
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Kernel
from loopwright.toolchain.cc import build


def compiled(
    kernel: Kernel, cache: Path, facts: Facts = NOTHING_PROVEN, check_all: bool = True, strict: bool = True,
    threads: int = 1, deterministic: bool = False, flags: Sequence[str] = (),
) -> by_ctypes.Entry:  # fmt: skip
    """The kernel as something to call with `run(arguments)`."""
    program = generate(kernel, facts, check_all, strict, deterministic)
    executable = load(build(program.text, program.flags, Config(cache=cache, compiler_flags=("-O1", *flags))), program)
    returns = returns_of(kernel)
    return by_ctypes.Entry(
        entry=executable.entry, guard=executable.guard, threads=threads, parallel=threads > 1, returns=returns.shape,
        values=returns.values, constants=(), fresh=None, fail=executable.failure,
        guard_failed=lambda _arguments, _originals: "guard failed", payload=executable,
    )  # fmt: skip


def both(kernel: Kernel, arguments: Sequence[object], cache: Path) -> tuple[list[object], list[object]]:
    """The arguments after the run, and the returned value or the exception's class, by interpreter and by C."""
    outcomes = []
    entry = compiled(kernel, cache)
    for call in (lambda a: interpret(kernel, a), lambda a: entry.run(tuple(a))):
        own = copy.deepcopy(list(arguments))
        try:
            result = call(own)
        except Exception as error:
            result = type(error)
        outcomes.append([*own, result])
    return outcomes[0], outcomes[1]
