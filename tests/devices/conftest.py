"""A GPU over a stand-in for CUDA's driver (fake_cuda.c)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from devices.cuda_table import HALF, TEXT, Table
from devices.fake_cuda import fake_driver
from devices.handmade import config_in
from loopwright.devices import cuda
from loopwright.devices.cuda import CudaGpu
from loopwright.toolchain import nvrtc


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return config_in(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def driver(config):
    return fake_driver(config)


@pytest.fixture
def gpu(driver, config, monkeypatch):
    """A GPU with small halves; opened, so that its code is in the test's own cache."""
    monkeypatch.setattr(cuda, "current", lambda: config)
    return CudaGpu(driver, 0, lanes=3, half_bytes=HALF)


@pytest.fixture
def module(gpu, config, tmp_path, monkeypatch):
    """module() -> Table; what NVRTC would give is a file that the stand-in takes for a cubin."""
    path = tmp_path / "kernel.cubin"
    path.write_bytes(b"fake")
    monkeypatch.setattr(
        nvrtc, "build", lambda text, capability, config: SimpleNamespace(path=path, cubin=path.read_bytes())
    )
    return lambda text=TEXT: Table(gpu.module(text, config))
