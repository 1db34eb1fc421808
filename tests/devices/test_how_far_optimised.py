"""Tests of this folder ask what code means, so little of it is optimised (tests/conftest.py)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices import emulated_build
from loopwright.toolchain import cc


@pytest.mark.parametrize(("device", "module", "level"), [("cpu", cc, "-O0"), ("emulated", emulated_build, "-Og")])
def test_here_little(device, module, level, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, commands = module.run_compiler, []
    monkeypatch.setattr(
        module, "run_compiler", lambda command, *more: (commands.append(command), run(command, *more))[1]
    )

    def doubled(a, b):
        for i in range(len(a)):
            b[i] = 2 * a[i]

    b = np.zeros(3)
    with lw.options(cache=tmp_path, device=device):
        lw.kernel(doubled)(np.ones(3), b)
    levels = {tuple(word for word in one if word.startswith("-O")) for one in commands if "-shared" in one}
    assert levels == {(level,)} and b.tolist() == [2.0] * 3
