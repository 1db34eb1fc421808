"""OpenMP may give fewer threads than a loop asks for: what the others would have done is no part of the result."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import numpy as np
import loopwright as lw
from loopwright.codegen import parallel

parallel.GRAIN = 1e-9

@lw.kernel
def count(keys, bins, values):
    total = 0
    last = -1
    for i in range(len(keys)):
        bins[keys[i]] += 1
        total += values[i]
        last = values[i]
    return total, last

@lw.kernel
def histogram(keys, bins):
    for i in range(len(keys)):
        bins[keys[i]] += 1

keys = np.random.default_rng(1).integers(0, 13, 4000)
with lw.options(threads=6):
    for kernel, more in ((count, [np.arange(4000)]), (histogram, [])):
        bins = np.zeros(13, np.int64)
        found = kernel(keys, bins, *more)
        assert bins.tolist() == np.bincount(keys).tolist(), bins
        assert found == ((7998000, 3999) if more else None), found
        loop, = kernel.explain(keys, bins, *more).to_dict()["loops"]
        assert loop["run"] == "parallel", loop
"""


@pytest.mark.parametrize("limit", ["1", "2", "5"])
def test_copies_of_threads_that_never_came_are_not_added(limit: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp() / "fewer threads"  # one for all: what is compiled is compiled once
    folder.mkdir(exist_ok=True)
    script: Path = folder / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    # New memory is never zero by chance.
    environment = {**os.environ, "LOOPWRIGHT_CACHE": str(folder), "OMP_THREAD_LIMIT": limit, "MALLOC_PERTURB_": "90"}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
