"""The kernels by hand for numba.cuda give what PolyBench's loops give, in numba's simulator of a GPU.

The simulator is chosen when numba is first imported, so all of them run in one new process."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from polybench.data import shaken, sizes
from polybench.test_verdicts import every_module

ROOT = Path(__file__).parents[2]
pytest.importorskip("numba")


@cache
def found() -> dict[str, str]:
    """By PolyBench's name what is wrong with a kernel, '' for nothing."""
    paths = os.pathsep.join((str(ROOT), str(ROOT / "tests"), str(ROOT / "src")))
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    faults = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(faults, dict)
    return faults


@every_module
def test_by_hand_as_the_loops(module: ModuleType) -> None:
    assert found()[module.NAME] == ""


def fault(module: ModuleType, by_hand: Any, cuda: Any) -> str:
    """What differs between the kernel by hand and the loops."""
    given = shaken(module.initialise(**sizes(module)))
    expected = copy.deepcopy(given)
    module.kernel(*expected.values())
    there = {name: cuda.to_device(v) if isinstance(v, np.ndarray) else v for name, v in given.items()}
    by_hand(*there.values())
    for name in module.OUTPUTS:
        tolerance = 1e-4 if expected[name].dtype == np.float32 else 1e-9
        if not np.allclose(there[name].copy_to_host(), expected[name], rtol=tolerance):
            return f"'{name}' differs"
    return ""


def main() -> None:
    """All kernels with small blocks, so that there are several of them; the faults as one line of JSON."""
    from benchmarks.polybench import MODULES
    from benchmarks.polybench_cuda import KERNELS, grid
    from numba import cuda

    grid.LINE, grid.ROWS, grid.COLUMNS = 8, 2, 4
    print(json.dumps({module.NAME: fault(module, KERNELS[module.NAME], cuda) for module in MODULES}))


if __name__ == "__main__":
    main()
