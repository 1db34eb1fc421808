"""Random programs without Python around them: a C program that makes their calls, which gcc's sanitizers and valgrind
watch. Arrays stand in blocks of memory of exactly their extent; what lies between their elements was never written.

It looks at every element and every returned number afterwards, so that one that nothing was written to is seen.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from loopwright import compiler
from loopwright.config import Config
from loopwright.errors import KernelError
from loopwright.frontend.capture import capture
from loopwright.ir.nodes import Kernel, ReturnedScalar, ScalarParam
from loopwright.ir.program import Program as Code
from loopwright.ir.variant import compilation_of
from loopwright.runtime.specialise import signature_of

from .arguments import make
from .judge import function_of, set_globals
from .programs import Program, program
from .together import joined
from .ways import eagerly, is_eager

PLAIN = ("cc", "-std=gnu11", "-w", "-g1", "-fwrapv", "-fno-strict-aliasing", "-fopenmp")
SANITIZED = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
WATCHED = ("-O0", "-march=x86-64-v3")
"""For valgrind: every variable has a place in memory of which it knows whether it was written to; and no AVX-512."""
VALGRIND = ("valgrind", "--quiet", "--error-exitcode=9")
TIMEOUT_S = 600.0

MAIN = """
#include <stdio.h>
static unsigned char *lw_block(size_t bytes, const unsigned char *values, const unsigned char *known) {
  unsigned char *block = malloc(bytes ? bytes : 1);
  for (size_t k = 0; k < bytes; ++k) if (known[k]) block[k] = values[k];
  return block;
}
static __attribute__((noinline)) void lw_mark(void) { puts(""); }
/* A branch: of nothing else does valgrind ask whether it depends on a value that there is. */
#define LW_SEEN(value) if (value) lw_mark()
static __attribute__((noinline)) void lw_look(const unsigned char *block, size_t bytes, const unsigned char *known) {
  for (size_t k = 0; k < bytes; ++k) if (known[k]) LW_SEEN(block[k]);
}
"""


@dataclass(frozen=True)
class Made:
    """One call of one program as C: `text` is the code of its kernel, `body` makes the call."""

    seed: int
    number: int
    code: Code
    body: str


def calls_of(seed: int, threads: int) -> Iterator[Made]:
    """The calls of a program for which there is code, and whose results the caller need not make room for."""
    for made in _for_any_threads(program(seed), seed):
        yield replace(made, body=made.body.replace("THREADS", str(threads)))


@lru_cache(maxsize=64)  # so many programs are looked at by several checkers
def _for_any_threads(one: Program, seed: int) -> tuple[Made, ...]:
    """The calls, with THREADS where the number of threads has to be."""
    function, found = function_of(one.source), list[Made]()
    for number, call in enumerate(one.calls):
        set_globals(function, call)
        source = capture(function)
        written = {at for at, parameter in enumerate(source.parameters) if parameter.name in source.written}
        made = make(call)
        config = Config(checks="all" if seed % 5 == 0 else "auto", strict=bool(seed % 2))
        try:
            with eagerly(is_eager(one), owners=bool(seed % 3)):
                wanted = compilation_of(signature_of(made.arguments, written), config)
                code = compiler.program_of(analysed := compiler.analysed(source, wanted), wanted)
        except KernelError:
            continue
        if not analysed.written.results:
            found.append(Made(seed, number, code, _call(analysed.written, made.arguments, code)))
    return tuple(found)


def _call(kernel: Kernel, arguments: Sequence[object], code: Code) -> str:
    """C statements that make one call. `ENTRY` and `GUARD` are its functions, `THREADS` how many it may take."""
    lines: list[str] = []
    places = dict(_blocks(arguments, lines))
    scalars = {param.argument: param for param in kernel.params if isinstance(param, ScalarParam)}
    data, shapes, strides, slots = [], [], [], []
    for at, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray):
            data.append(places[at])
            shapes.append(f"(const int64_t[]){{{_numbers(argument.shape)}}}")
            strides.append(f"(const int64_t[]){{{_numbers(argument.strides)}}}")
            slots.append("{.i = 0}")
        else:
            data.append("NULL")
            shapes.append("NULL")
            strides.append("NULL")
            slots.append(_slot(argument, scalars.get(at)))
    returned = [one for one in kernel.returned or () if isinstance(one, ReturnedScalar)]
    room = max(len(returned), 1)
    lines += [
        f"char *data[] = {{{', '.join(data) or 'NULL'}}};",
        f"const int64_t *shape[] = {{{', '.join(shapes) or 'NULL'}}};",
        f"const int64_t *strides[] = {{{', '.join(strides) or 'NULL'}}};",
        f"lw_slot scalars[] = {{{', '.join(slots) or '{.i = 0}'}}};",
        f"lw_slot *returned = malloc({room} * sizeof(lw_slot));",
        "lw_failure failure = {-1, 0, 0};",
        "lw_call call = {.data = data, .shape = shape, .strides = strides, .scalars = scalars, .returned = returned, "
        ".threads = THREADS, .failure = &failure};",
        f"const int fits = {'GUARD(&call)' if code.guard else '1'};",
        "if (fits && ENTRY(&call) == 0) {",
    ]
    for at, one in enumerate(returned):
        member = {"float64": "d != 0", "float32": "f != 0"}.get(one.type.name, "i")
        lines.append(f"  LW_SEEN(returned[{at}].{member});")
    lines += ["}", *(f"lw_look(block{k}, bytes{k}, known{k});" for k in range(_count(lines))), "free(returned);"]
    lines += [f"free(block{k});" for k in range(_count(lines))]
    return "\n".join("  " + line for line in lines)


def _count(lines: Sequence[str]) -> int:
    return sum(line.startswith("unsigned char *block") for line in lines)


def _blocks(arguments: Sequence[object], lines: list[str]) -> Iterator[tuple[int, str]]:
    """Write the blocks of memory, one for arrays that share some; the C text of where each array begins."""
    arrays = {at: one for at, one in enumerate(arguments) if isinstance(one, np.ndarray)}
    groups: list[list[int]] = []
    for at in arrays:
        same = next((group for group in groups if np.may_share_memory(arrays[group[0]], arrays[at])), None)
        if same is None:
            groups.append([at])
        else:
            same.append(at)
    for number, group in enumerate(groups):
        bounds = [np.lib.array_utils.byte_bounds(arrays[at]) for at in group]
        low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
        values, known = np.zeros(high - low, np.uint8), np.zeros(high - low, np.uint8)
        for at in group:
            for place, content in _elements(arrays[at], low):
                values[place : place + len(content)] = np.frombuffer(content, np.uint8)
                known[place : place + len(content)] = 1
            yield at, f"(char *)block{number} + {arrays[at].ctypes.data - low if arrays[at].size else 0}"
        lines.append(f"const size_t bytes{number} = {high - low};")
        lines.append(f"static const unsigned char values{number}[] = {{{_numbers(values) or '0'}}};")
        lines.append(f"static const unsigned char known{number}[] = {{{_numbers(known) or '0'}}};")
        lines.append(f"unsigned char *block{number} = lw_block(bytes{number}, values{number}, known{number});")


def _elements(array: np.ndarray, low: int) -> Iterator[tuple[int, bytes]]:
    start = array.ctypes.data - low
    for index in np.ndindex(array.shape):
        place = start + sum(i * stride for i, stride in zip(index, array.strides, strict=True))
        yield place, np.asarray(array[index], array.dtype).tobytes()


def _numbers(values: Sequence[int] | np.ndarray) -> str:
    return ", ".join(str(int(value)) for value in values) or "0"


def _slot(value: object, param: ScalarParam | None) -> str:
    if param is None:
        return "{.i = 0}"
    number = param.type.dtype.type(value)
    if param.type.name in ("float64", "float32"):
        return f"{{.u = {int.from_bytes(number.tobytes(), 'little')}u}}"
    return f"{{.u = {int(number) & 0xFFFFFFFFFFFFFFFF}u}}"


# ---- the program ------------------------------------------------------------------------------------------------


def text_of(calls: Sequence[Made]) -> str:
    """The C program that makes these calls."""
    parts = [joined([call.code.text for call in calls]), MAIN]
    for number, call in enumerate(calls):
        body = call.body.replace("ENTRY(", f"{call.code.entry}_{number}(")
        body = body.replace("GUARD(", f"{call.code.guard}_{number}(")
        name = f"program_{call.seed}_call_{call.number}"
        parts.append(f"static __attribute__((noinline)) void {name}(void) {{\n{body}\n}}")
    names = [f"  program_{call.seed}_call_{call.number}();" for call in calls]
    return "\n".join([*parts, "int main(void) {", *names, "  return 0;", "}", ""])


def found_by_sanitizers(seeds: Sequence[int], folder: Path) -> str:
    """What the address and undefined-behaviour sanitizers say of the calls of these programs; '' for nothing."""
    environment = {"ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1", "OMP_NUM_THREADS": "3"}
    return watched([call for seed in seeds for call in calls_of(seed, 3)], SANITIZED, (), folder, environment)


def found_by_valgrind(seeds: Sequence[int], folder: Path) -> str:
    """What valgrind says of them: above all of values that depend on memory that nothing was written to."""
    return watched([call for seed in seeds for call in calls_of(seed, 1)], WATCHED, VALGRIND, folder, {})


def watched(
    calls: Sequence[Made], flags: Sequence[str], command: Sequence[str], folder: Path, environment: dict[str, str]
) -> str:
    """Compile the calls, and run them behind a command."""
    source, target = folder / "driver.c", folder / "driver"
    source.write_text(text_of(calls))
    made = subprocess.run(
        [*PLAIN, *flags, "-o", target, source, "-lm"], capture_output=True, text=True, check=False, timeout=TIMEOUT_S
    )
    if made.returncode:
        return made.stderr[-4000:]
    ended = subprocess.run(
        [*command, target], capture_output=True, text=True, check=False, timeout=TIMEOUT_S,
        env={"PATH": "/usr/bin:/bin", **environment},
    )  # fmt: skip
    return "" if ended.returncode == 0 else f"it ended with {ended.returncode}\n{ended.stderr[:6000]}"


@cache
def has_valgrind() -> bool:
    """Whether valgrind is installed here."""
    return shutil.which("valgrind") is not None


@cache
def has_sanitizers() -> bool:
    """Whether the C compiler has the sanitizers' libraries."""
    return all(_has_library(name) for name in ("libasan.so", "libubsan.so"))


def _has_library(name: str) -> bool:
    says = subprocess.run(["cc", f"-print-file-name={name}"], capture_output=True, text=True, check=False)
    return "/" in says.stdout and Path(says.stdout.strip()).exists()
