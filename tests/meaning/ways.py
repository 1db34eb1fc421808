"""The ways to run a generated program besides CPython: the interpreter before and after `simplify`, and compiled code
under every option that must not change a result."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import loopwright as lw
from codegen.on_gpu import even_in_one_thread
from loopwright.codegen import arrays, lane_gains, loops, parallel
from loopwright.config import Device
from loopwright.frontend.capture import capture
from loopwright.frontend.lower import lower
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Kernel
from loopwright.ir.signature import Signature
from loopwright.ir.simplify import simplify
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify
from loopwright.runtime.specialise import signature_of

from .arguments import Recipe, make
from .judge import Outcome, difference, function_of, run, set_globals
from .programs import Program

UNSET = ("-ftrivial-auto-var-init=pattern",)
"""Has the C compiler fill what a variable holds before it is given a value with a pattern, which then shows."""
if subprocess.run(["cc", *UNSET, "-E", "-x", "c", "/dev/null"], capture_output=True, check=False).returncode:
    UNSET = ()  # gcc before 12
M_PERTURB = -6


@dataclass(frozen=True)
class Way:
    """One way to run compiled code."""

    threads: int
    strict: bool
    checks: str
    flags: tuple[str, ...] = (*UNSET, "-O1")
    device: Device = "cpu"


def is_eager(program: Program) -> bool:
    """Whether its loops are to run in several threads and vector lanes however short they are: three in four."""
    return drawn(program) % 4 != 1


@contextmanager
def eagerly(on: bool = True, owners: bool = False) -> Iterator[None]:
    """Code generated inside takes threads and vector lanes for loops of any length, and the heap for local arrays:
    the loops here are short, and would else show little of that. `owners`: scatter reductions go by owner of the
    target, however small it is, and not into copies of it."""
    kept = thresholds()
    if on:
        set_thresholds((1e-9, 1, 1, 1, 1, 1, 1, 16, 1, parallel.NEAR, parallel.OWNED))
    if owners:
        parallel.NEAR, parallel.OWNED = -1.0, 0.0
    try:
        yield
    finally:
        set_thresholds(kept)


Thresholds = tuple[float, int, int, int, int, int, int, int, int, float, float]
_THRESHOLDS: tuple[tuple[ModuleType, str], ...] = (
    (parallel, "GRAIN"), (loops, "FEWEST"), (lane_gains, "FEWEST"), (lane_gains, "GATHERED"),
    (lane_gains, "GATHERED_SLOWLY"), (lane_gains, "NARROW"), (loops, "APART"), (arrays, "STACK_BYTES"),
    (parallel, "FEW"), (parallel, "NEAR"), (parallel, "OWNED"),
)  # fmt: skip


def thresholds() -> Thresholds:
    """From which size on code generated now takes threads, lanes, the heap, and so on."""
    return tuple(getattr(module, name) for module, name in _THRESHOLDS)  # type: ignore[return-value]


def set_thresholds(wanted: Thresholds) -> None:
    """Make them these."""
    for (module, name), value in zip(_THRESHOLDS, wanted, strict=True):
        assert hasattr(module, name)
        setattr(module, name, value)


def drawn(program: Program) -> int:
    """A number that the text alone decides: by it programs are dealt out to ways."""
    return int(hashlib.sha256(program.source.encode()).hexdigest()[:8], 16)


def ways_for(program: Program, rounded: bool, rarely: int = 15, device: Device = "emulated") -> list[Way]:
    """Two or more ways, picked by the text, so that over many programs all are taken. Where floats are rounded only
    `strict` must agree with CPython. rarely: one less than how many programs there are for one that runs on this
    GPU too, a power of two."""
    number = drawn(program)
    flags = (*UNSET, "-O3") if number % 8 == 4 else (*UNSET, "-O1")
    stricts = [True] if rounded else [bool(number & 16)] if number % 10 else [True, False]
    checks = ["all" if number & 32 else "auto"] if number % 10 else ["auto", "all"]
    if not number & 64:
        checks = ["auto"]
    ways = [Way(threads, strict, check, flags) for strict in stricts for check in checks for threads in (1, 3)]
    if number >> 8 & rarely == 0:  # it takes long to compile for
        ways.append(Way(1, stricts[0], "auto", device=device))
    return ways


def lowered(function: FunctionType, recipes: tuple[Recipe, ...]) -> tuple[Kernel, Kernel]:
    """The kernel for a call, and what `simplify` makes of it, both verified; their text forms lose nothing. Most calls
    of a program have the same one. Raises KernelError where the front end refuses it."""
    set_globals(function, recipes)
    source = capture(function)
    written = {at for at, parameter in enumerate(source.parameters) if parameter.name in source.written}
    outside = tuple(
        (name, type(value), repr(value))
        for name, value in function.__globals__.items()
        if not (name.startswith("__") or callable(value) or isinstance(value, ModuleType))
    )
    return _lowered(function, signature_of(make(recipes).arguments, written), outside)


@lru_cache(maxsize=256)
def _lowered(function: FunctionType, signature: Signature, _outside: tuple[object, ...]) -> tuple[Kernel, Kernel]:
    """_outside: the values that globals of the function have now."""
    kernel = lower(capture(function), signature).kernel
    verify(kernel)
    simple = simplify(kernel)
    verify(simple)
    for one in (kernel,) if simple is kernel else (kernel, simple):
        text = print_kernel(one)
        again = parse_kernel(text)
        assert again == one, f"the text form does not parse back\n{text}\n{print_kernel(again)}"
    return kernel, simple


def interpreter(kernel: Kernel) -> Callable[..., object]:
    return lambda *arguments: interpret(kernel, arguments)


@contextmanager
def fresh_memory_filled(pattern: int = 0xA5) -> Iterator[None]:
    """What malloc gives meanwhile holds a pattern, as far as the C library can do that (glibc). Not longer: it writes
    to the gigabytes that a call reserves for lists, too, of which it uses little."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", lambda name, value: None)
    mallopt(M_PERTURB, pattern)
    try:
        yield
    finally:
        mallopt(M_PERTURB, 0)


def check_program(
    program: Program,
    cache: Path,
    *,
    interpret_it: bool = True,
    rarely: int = 15,
    more_flags: tuple[str, ...] = (),
    device: Device = "emulated",
) -> None:
    """Run every call of the program in every way; AssertionError where one differs from CPython.

    interpret_it: in the interpreter too. rarely: as for `ways_for`. more_flags: for the C compiler. Raises KernelError
    where the front end refuses the program."""
    function = function_of(program.source)
    outcomes = [run(function, call) for call in program.calls]
    if interpret_it:
        for number, (call, right) in enumerate(zip(program.calls, outcomes, strict=True)):
            check_interpreter(function, call, right, f"call {number}")
    check_compiled(program, outcomes, cache, rarely, more_flags, device)


def check_interpreter(function: FunctionType, call: tuple[Recipe, ...], right: Outcome, where: str) -> None:
    """The interpreter agrees, before and after `simplify`, and the text form loses nothing."""
    kernel, simple = lowered(function, call)
    _same(right, run(interpreter(kernel), call), f"{where}, interpreter", kernel)
    if simple is not kernel:
        _same(right, run(interpreter(simple), call), f"{where}, interpreter after simplify", simple)


def check_compiled(
    program: Program,
    outcomes: list[Outcome],
    cache: Path,
    rarely: int = 15,
    more_flags: tuple[str, ...] = (),
    device: Device = "emulated",
) -> None:
    """Compiled code agrees in every way."""
    rounded = any(right.inexact for right in outcomes)
    kernel = lw.kernel(function_of(program.source))
    with eagerly(is_eager(program), owners=bool(drawn(program) & 128)), fresh_memory_filled():
        for way in ways_for(program, rounded, rarely, device):
            check_way(kernel, program.calls, outcomes, replace(way, flags=(*way.flags, *more_flags)), cache)


Calls = Sequence[tuple[Recipe, ...]]


def check_way(kernel: Callable[..., Any], calls: Calls, outcomes: Sequence[Outcome], way: Way, cache: Path) -> None:
    """Compiled code agrees in this way on every call; on a GPU also code that one thread runs there."""
    for number, (call, right) in enumerate(zip(calls, outcomes, strict=True)):
        with lw.options(
            threads=way.threads, strict=way.strict, checks=way.checks, cache=cache, compiler_flags=way.flags,
            device=way.device,
        ), even_in_one_thread():  # fmt: skip
            other = run(kernel, call)
        if isinstance(other.error, lw.KernelError):
            raise other.error  # a refusal, and no run
        text = difference(right, other, way.strict, in_order=way.threads == 1 and way.device == "cpu")
        assert not text, f"call {number}, {way}: {text}"
        if isinstance(other.error, lw.BoundsError) and other.error.before_run:
            assert not (touched := _touched(call, other)), f"{way}: {other.error} wrote to buffer {touched}"


def _touched(call: tuple[Recipe, ...], outcome: Outcome) -> list[int]:
    fresh = make(call).buffers
    pairs = enumerate(zip(fresh, outcome.buffers, strict=True))
    return [at for at, (before, after) in pairs if before.tobytes() != after.tobytes()]


def _same(right: Outcome, other: Outcome, where: str, kernel: Kernel) -> None:
    text = difference(right, other)
    assert not text, f"{where}: {text}\n{print_kernel(kernel)}"
