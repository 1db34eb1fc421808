"""Which GPU an option means."""

from __future__ import annotations

import pytest

from loopwright.devices import gpus
from loopwright.devices.emulated import EmulatedGpu


def test_the_emulated_one_is_made_once() -> None:
    found = gpus.gpu_of("emulated")
    assert isinstance(found, EmulatedGpu) and gpus.gpu_of("emulated") is found


def test_the_first_that_the_driver_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = EmulatedGpu(), EmulatedGpu()
    monkeypatch.setattr(gpus, "find_gpus", lambda: (first, second))
    assert gpus.gpu_of("cuda") is first


def test_none_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "find_gpus", tuple)
    monkeypatch.setattr(gpus, "why_none", lambda: "no driver")
    assert gpus.gpu_of("cuda") is None
    assert gpus.why_no_gpu() == "no driver"
