"""Cases in a process of their own: what hangs is ended, what dies is started again, and neither takes rows along."""

from __future__ import annotations

import hashlib
import importlib
import multiprocessing
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

import numpy as np

import loopwright as lw
from benchmarks.gpu.bench import Bench, NoBench
from benchmarks.gpu.rows import Row
from benchmarks.gpu.trial import Part, Size, rows

START_S = 300.0
"""How long a process may take to load the libraries and find the GPU."""

Device = Literal["cuda", "emulated"]
Told = dict[str, Any]


def serve(pipe: Connection, parts: Sequence[Part], device: Device, budget_s: float) -> None:
    """The process: what there is, then a list of rows for each case asked for, each better than the one before it."""
    try:
        bench = Bench(device, budget_s)
        pipe.send(facts(bench))
    except NoBench as error:
        pipe.send(str(error))
        return
    by_name = {part.name: part for part in parts}
    while True:
        try:
            name, case, size = pipe.recv()
        except EOFError:  # whoever asked is gone
            return
        try:
            for row in rows(bench, by_name[name], case, size):
                pipe.send(row)
            pipe.send(None)
        except Exception as error:
            pipe.send(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:300])


def facts(bench: Bench) -> Told:
    """What the rows rest on."""
    found: Told = {"gpu": bench.gpu.name if bench.gpu else "", "copy_bytes_per_s": bench.copy_bytes_per_s}
    found["revision"] = content_of(Path(lw.__file__).parent)
    versions = {"python": platform.python_version(), "numpy": np.__version__, "loopwright": lw.__version__}
    for name in ("torch", "triton", "numba", "cupy") if bench.torch is not None else ():
        try:
            versions[name] = str(importlib.import_module(name).__version__)
        except Exception:
            continue
    if bench.torch is not None:
        versions["cuda"] = str(bench.torch.version.cuda)
    return found | {"versions": versions}


def content_of(package: Path) -> str:
    """A digest of a package's sources: copies of the same text have the same one, whenever they were made."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*")):
        if path.suffix in (".py", ".c", ".h", ".cuh"):
            digest.update(str(path.relative_to(package)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


class Worker:
    """The process, started when it is first needed and again after each row with a fault: a GPU's context may be beyond
    use then. Raises NoBench where it cannot measure at all."""

    def __init__(
        self, parts: Sequence[Part], device: Device, budget_s: float, serving: Callable[..., None] = serve
    ) -> None:
        self._given = (tuple(parts), device, budget_s)
        self._serving = serving
        self.deadline_s = 60.0 + 10.0 * budget_s
        self._process: Any = None
        self._pipe: Any = None
        self.told: Told = {}

    def start(self) -> None:
        """Unless it runs already."""
        if self._process is not None and self._process.is_alive():
            return
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=self._serving, args=(other, *self._given))
        self._process.start()
        other.close()
        try:
            told = self._pipe.recv() if self._pipe.poll(START_S) else "the measuring process does not start"
        except EOFError:
            told = "the measuring process died at its start"
        if isinstance(told, str):
            self.stop()
            raise NoBench(told)
        self.told = told

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = None

    def row(self, part: Part, case: str, size: Size) -> Row:
        """Measure one case."""
        self.start()
        self._pipe.send((part.name, case, size))
        row = Row(part.name, case, "", 0.0, "")
        fault = ""
        for answer in self._answers():
            if isinstance(answer, Row):
                row = answer
            else:
                fault = answer
        if fault:
            self.stop()
            known = f"{fault}; before that: {row.note}" if row.seconds else fault
            return replace(row, fault=known, note="")
        return row

    def _answers(self) -> Iterator[Row | str]:
        """Rows, and at the end what went wrong, if anything did."""
        end = time.monotonic() + self.deadline_s
        while True:
            try:
                if not self._pipe.poll(max(0.0, end - time.monotonic())):
                    yield f"stopped after {self.deadline_s:.0f} s"
                    return
                answer = self._pipe.recv()
            except EOFError:
                yield "the measuring process died"
                return
            if answer is None:
                return
            yield answer
            if isinstance(answer, str):
                return
