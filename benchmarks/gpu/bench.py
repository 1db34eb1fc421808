"""The GPU of a run: arrays on it, and clocks. With PyTorch's tensors on a real one, `lw.device_array`s on the emulated
one."""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Literal

import numpy as np

import loopwright as lw
from loopwright.devices.gpus import gpu_of, why_no_gpu

Run = Callable[[], object]
Clock = Literal["gpu", "wall", "call"]
"""The GPU's own clock; the host's, until the GPU is done; the host's, for the call alone."""

ROUNDS, CALLS = 15, 2000


class NoBench(Exception):
    """Why nothing can be measured here, for people."""


class Bench:
    """One GPU. `torch`: PyTorch, None on the emulated GPU. `budget_s`: about how long a case may take."""

    def __init__(self, device: Literal["cuda", "emulated"], budget_s: float) -> None:
        self.device, self.budget_s = device, budget_s
        self.gpu = gpu_of(device)
        if self.gpu is None:
            raise NoBench(why_no_gpu())
        self.torch: Any = None
        if device == "cuda":
            try:
                self.torch = importlib.import_module("torch")
            except ImportError:
                raise NoBench("the GPU benchmark keeps its arrays in PyTorch's tensors: pip install torch") from None
            if not self.torch.cuda.is_available():
                raise NoBench("this PyTorch does not see the GPU: it needs a build for CUDA")

    # ---- arrays

    def array(self, host: np.ndarray) -> Any:
        """A copy on the GPU."""
        if self.torch is not None:
            return self.torch.from_numpy(np.ascontiguousarray(host)).cuda()
        with lw.options(device="emulated"):
            return lw.device_array(host)

    def random(self, shape: int | tuple[int, ...], dtype: str = "float64") -> Any:
        """Numbers from 0 to 1 on the GPU."""
        if self.torch is not None:
            return self.torch.rand(shape, dtype=getattr(self.torch, dtype), device="cuda")
        return self.array(np.random.default_rng(3).random(shape).astype(dtype))

    def whole(self, below: int, count: int, dtype: str) -> Any:
        """Whole numbers on the GPU, each as likely as any other."""
        if self.torch is not None:
            return self.torch.randint(0, below, (count,), device="cuda").to(getattr(self.torch, dtype))
        return self.array(np.random.default_rng(4).integers(0, below, count).astype(dtype))

    def zeros(self, shape: int | tuple[int, ...], dtype: str = "float64") -> Any:
        """Zeros on the GPU."""
        if self.torch is not None:
            return self.torch.zeros(shape, dtype=getattr(self.torch, dtype), device="cuda")
        return self.array(np.zeros(shape, dtype))

    def host(self, array: Any) -> np.ndarray:
        """A copy as a NumPy array."""
        found = array.cpu().numpy() if self.torch is not None else array.numpy()
        assert isinstance(found, np.ndarray)
        return found

    def put(self, target: Any, source: Any) -> None:
        """Copy an array of the GPU, or of the host where it is emulated, to one of the GPU."""
        if self.torch is not None:
            target.copy_(source)
        else:
            target.copy_from(np.asarray(source))

    def wait(self) -> None:
        """Until the GPU has nothing left to do."""
        if self.torch is not None:
            self.torch.cuda.synchronize()
        elif self.gpu is not None:
            self.gpu.synchronize()

    # ---- peers

    def numba(
        self, name: str, kernels: Callable[[], dict[str, Any]], shape: Iterable[int], *arrays: Any
    ) -> dict[str, Run]:
        """The numba.cuda kernel of that name over a grid for `shape` (x first); nothing where that cannot be."""
        if self.torch is None or (found := _loaded(kernels).get(name)) is None:
            return {}
        cuda = importlib.import_module("numba.cuda")
        kernel, block = found
        grid = tuple(-(-size // threads) for size, threads in zip(shape, block, strict=True))
        stream = cuda.external_stream(self.torch.cuda.current_stream().cuda_stream)
        given = [cuda.as_cuda_array(array) for array in arrays]
        return {"numba.cuda": lambda: kernel[grid, block, stream](*given)}

    def compiled(self, function: Callable[..., object], *arrays: Any) -> Run:
        """A function compiled by PyTorch, when it first runs: what is wrong with the compiler is no fault of ours."""
        made: list[Callable[..., object]] = []

        def run() -> object:
            if not made:
                made.append(self.torch.compile(function))
            return made[0](*arrays)

        return run

    @cached_property
    def cupy(self) -> Any:
        """CuPy, None where it is missing or does not work here."""
        if self.torch is None:
            return None
        try:
            found = importlib.import_module("cupy")
            found.zeros(1).sum().item()
        except Exception:
            return None
        return found

    # ---- clocks

    @cached_property
    def copy_bytes_per_s(self) -> float:
        """How fast this GPU copies 2 GiB, read and write counted; 0 for the emulated one."""
        if self.torch is None:
            return 0.0
        one = self.torch.empty(1 << 28, dtype=self.torch.float64, device="cuda").normal_()
        other = self.torch.empty_like(one)
        return float(2 * one.nbytes / self.seconds(lambda: other.copy_(one)))

    @cached_property
    def _events(self) -> tuple[Any, Any]:
        """Two events that are there already: the first time that one is recorded it is made, which takes time too."""
        found = tuple(self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        for one in found:
            one.record()
        self.wait()
        return found

    def once(self, run: Run, clock: Clock = "gpu") -> float:
        """Seconds of one run."""
        if self.torch is None or clock != "gpu":
            self.wait()
            start = time.perf_counter()
            run()
            if clock != "call":
                self.wait()
            return time.perf_counter() - start
        begin, end = self._events
        begin.record()
        run()
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end) / 1e3)

    def seconds(self, run: Run, clock: Clock = "gpu", before: Run | None = None, budget_s: float = 1e9) -> float:
        """The median of up to 15 runs (2000 where calls alone are timed), after one or two that warm up. `before` runs
        ahead of each, off the clock. A run that takes a good part of the budget by itself is not repeated."""

        def one() -> float:
            if before is not None:
                before()
            return self.once(run, clock)

        first = one()
        if self.torch is None or first > budget_s / 3:
            return first
        one()
        if clock == "call":
            return self._calls(run)
        times, start = list[float](), time.perf_counter()
        while len(times) < ROUNDS and (not times or time.perf_counter() - start < budget_s):
            times.append(one())
        return statistics.median(times)

    def _calls(self, run: Run) -> float:
        times = []
        for _ in range(CALLS):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        self.wait()
        return statistics.median(times)


_LOADED: dict[Callable[[], dict[str, Any]], dict[str, Any]] = {}


def _loaded(kernels: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a function that imports numba.cuda gives, made once; nothing where numba.cuda is missing, or fails."""
    if kernels not in _LOADED:
        try:
            _LOADED[kernels] = kernels()
        except Exception:
            _LOADED[kernels] = {}
    return _LOADED[kernels]
