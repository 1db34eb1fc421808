"""Peak memory over the arrays: what a kernel allocates is seen, and what was freed before it is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import fresh

MB = 1 << 20
pytestmark = pytest.mark.skipif(not fresh.STATUS.exists(), reason="needs Linux's /proc to see the peak of one call")


def test_a_call_in_place_needs_no_memory() -> None:
    array = np.ones(64 * MB // 8)
    warm = np.ones(64 * MB // 8) * 2.0  # freed below: an earlier peak, which is not the call's
    del warm
    assert 1.0 <= fresh.memory_ratio(lambda a: a.fill(3.0), {"a": array}) < 1.1


def test_what_a_call_allocates_counts() -> None:
    array = np.ones(64 * MB // 8)
    assert 1.9 <= fresh.memory_ratio(lambda a: a.__iadd__(np.ones_like(a)), {"a": array}) < 2.2


def test_the_words_of_a_failure_come_back(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no-such-kernel"):
        fresh.in_new_process("no-such-kernel", "MINI", 1, tmp_path, timeout_s=120.0)


def test_a_process_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(command: list[str], **options: object) -> None:
        assert command[:3] == [sys.executable, "-m", "benchmarks.fresh"]
        raise subprocess.TimeoutExpired(command, 7.0)

    monkeypatch.setattr(subprocess, "run", hangs)
    with pytest.raises(RuntimeError, match="more than 7 s"):
        fresh.in_new_process("gemm", "MINI", 1, tmp_path, timeout_s=7.0)
