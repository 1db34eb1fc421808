"""Programs written by hand after lw_call, for tests of everything below the code generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from loopwright.config import DEFAULT, Config
from loopwright.devices.base import Executable, Returns
from loopwright.devices.cpu import load
from loopwright.ir.code import CodeRegion, DeviceFunction, KernelEntry
from loopwright.ir.nodes import Location
from loopwright.ir.program import DeviceText, FailureSite, Program
from loopwright.toolchain.cc import build

HEADER = resources.files("loopwright.codegen").joinpath("loopwright.h").read_text()
SITES = (FailureSite("bounds", "a", 1, Location("k.py", 3, 4, 8)), FailureSite("zero_division", "", 0, None))

# Each is `int run(const lw_call *call)`, for the arguments that its comment gives.
ADD = """ /* a: float64 rank 1, any stride; n: int */
int guard(const lw_call *call) { return call->shape[0][0] < 100; }
int run(const lw_call *call) {
  for (int64_t i = 0; i < call->shape[0][0]; i++)
    *(double *)(call->data[0] + i * call->strides[0][0]) += (double)call->scalars[1].i;
  return 0;
}
"""
ADD_CHECKED = ADD.replace("#define", "").replace("int guard", "static int unused")
FAIL = """ /* n: int, the site */
int run(const lw_call *call) {
  call->failure->site = call->scalars[0].i;
  call->failure->index = -7;
  call->failure->size = 15; /* no kind of number */
  return 1;
}
"""
THREADS = """ /* out: int64 rank 1 of size 2 */
int run(const lw_call *call) {
  int64_t *out = (int64_t *)call->data[0], count = 0;
#pragma omp parallel num_threads(call->threads) reduction(+ : count)
  count += 1;
  out[0] = call->threads;
  out[1] = count;
  return 0;
}
"""
NOTHING = "int run(const lw_call *call) { return 0; }\n"


def config_in(folder: Path, **changes: Any) -> Config:
    """The default options, with a cache of the test's own."""
    return replace(DEFAULT, cache=folder, device="auto", checks="auto", **{"threads": 2, **changes})


def executable(text: str, config: Config, guard: bool = False, parallel: bool = False) -> Executable:
    """The text, compiled and loaded."""
    program = Program(HEADER + text, "run", "guard" if guard else "", SITES, ("i",) if parallel else ())
    return load(build(program.text, (), config), program)


@dataclass
class Handmade:
    """A Compiled without a kernel."""

    executable: Executable | None
    returns: Returns = field(default_factory=lambda: Returns(0))
    constants: Sequence[Any] = ()
    results: Callable[[Sequence[object]], Sequence[tuple[tuple[int, ...], Any, object]]] | None = None
    interpret: Callable[[Sequence[object]], object] = lambda arguments: "interpreted"
    on_guard_failure: Callable[[Sequence[object]], Exception | None] = lambda arguments: None
    takes_device_arrays: bool = False
    compilation: Any = None


def device_text(entry: str, *names: str) -> DeviceText:
    """A CUDA text with a kernel on each line, which `entry` gives for a name. Those that end alike but for `_32`, `_64`
    and `_even` are versions of one function."""
    functions: dict[str, list[KernelEntry]] = {}
    for line, name in enumerate(names, 1):
        function, _, version = name.rpartition("_")
        one = KernelEntry(name, line, 64 if version == "64" else 32, version == "even")
        functions.setdefault(function, []).append(one)
    return DeviceText(
        "\n".join(map(entry.format, names)),
        names,
        functions=tuple(
            DeviceFunction(name, "", 32, (), (), CodeRegion("kernel", 1), tuple(entries))
            for name, entries in functions.items()
        ),
    )
