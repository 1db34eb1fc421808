"""The C loops beside us: builds `c/<name>.c`, or `pluto/<name>.c`, with the system's gcc and calls it through ctypes.

Every file defines `void run(...)` with the Python kernel's parameters in their order: an array is a pointer to its
C-contiguous elements, an integer an int64_t, a float a double. Where the Python kernel reads sizes off its arrays
(PolyBench's are handed them), `shapes` puts an array's shape, one int64_t for each axis, before its pointer.

The pragmas of OpenMP in a file are comments on one thread, and count where it is built for several.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "c"
PLUTO = Path(__file__).parent / "pluto"
FLAGS = ("-O3", "-march=native")
OPENMP = "-fopenmp"


def compiler() -> str:
    """The C compiler's path: gcc, or else cc. Raises FileNotFoundError where there is neither."""
    found = shutil.which("gcc") or shutil.which("cc")
    if found is None:
        raise FileNotFoundError("no C compiler: install gcc")
    return found


def build(name: str, folder: Path, flags: tuple[str, ...] = FLAGS, sources: Path | None = None) -> ctypes.CDLL:
    """Compile `<name>.c` of sources (or of c/) into a library in folder, and load it.

    Raises RuntimeError with gcc's words."""
    sources = sources or FOLDER
    target = folder / f"{sources.name}-{name}{OPENMP if OPENMP in flags else ''}.so"
    warnings = ("-Wall", "-Wno-unknown-pragmas")
    command = [compiler(), "-std=gnu11", *warnings, *flags, "-shared", "-fPIC", "-o", str(target)]
    done = subprocess.run([*command, str(sources / f"{name}.c"), "-lm"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"gcc refused {name}.c:\n{done.stderr}")
    return ctypes.CDLL(str(target))


def has_openmp(name: str) -> bool:
    """Does `c/<name>.c` say which of its loops are parallel?"""
    return "#pragma omp" in (FOLDER / f"{name}.c").read_text(encoding="utf-8")


def has_pluto(name: str) -> bool:
    """Is there a `pluto/<name>.c`?"""
    return (PLUTO / f"{name}.c").exists()


def converted(argument: Any, shapes: bool) -> list[Any]:
    """What C receives for one argument of a Python call (see the module's text). Raises TypeError."""
    if isinstance(argument, np.ndarray):
        if not argument.flags.c_contiguous:
            raise TypeError("the C loops take C-contiguous arrays only")
        shape = map(ctypes.c_int64, argument.shape) if shapes else ()
        return [*shape, ctypes.c_void_p(argument.ctypes.data)]
    if isinstance(argument, int | np.integer):
        return [ctypes.c_int64(int(argument))]
    if isinstance(argument, float | np.floating):
        return [ctypes.c_double(float(argument))]
    raise TypeError(f"the C loops take no {type(argument).__name__}")


def binder(
    name: str, folder: Path, shapes: bool, threads: int | None = None, sources: Path | None = None
) -> Callable[..., Callable[[], object]]:
    """Takes what the Python kernel takes, and returns what then runs the C loop on it. Raises as `build` does.

    threads: how many OpenMP may use; with None it is built without OpenMP."""
    library = build(name, folder, FLAGS if threads is None else (*FLAGS, OPENMP), sources)
    run = library.run
    run.restype = None

    def bind(*arguments: Any) -> Callable[[], object]:
        if threads is not None:
            library.omp_set_num_threads(ctypes.c_int(threads))
        return partial(run, *[part for argument in arguments for part in converted(argument, shapes)])

    return bind
