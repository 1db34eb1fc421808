"""The parts of one region that GPUs of CUDA's share, started and waited for in one call of C each (cuda_parts.c)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING

from loopwright.devices.cuda_timer import CudaTimer
from loopwright.devices.gpu import Timer
from loopwright.devices.peers import GpuPart

if TYPE_CHECKING:
    from loopwright.devices.cuda import CudaGpu


class CudaPart(ctypes.Structure):
    """struct lw_part of cuda_parts.c."""

    _fields_ = (
        ("entry", ctypes.c_void_p),
        ("call", ctypes.c_void_p),
        ("site", ctypes.c_void_p),
        ("module", ctypes.c_void_p),
        ("told", ctypes.c_void_p),
        ("begun", ctypes.c_void_p),
        ("ended", ctypes.c_void_p),
        ("failed", ctypes.c_int64),
        ("suspect", ctypes.c_int64),
    )


class CudaParts:
    """See devices.gpu.PartsTogether. gpus: of each part."""

    def __init__(self, parts: Sequence[GpuPart], gpus: Sequence[CudaGpu]) -> None:
        made = [
            CudaPart(part.entry, part.call, part.site, part.module, part.told or None, None, None, 0, 0)
            for part in parts
        ]
        self._parts, self._gpus, self._are_timed = (CudaPart * len(made))(*made), gpus, False
        code = gpus[0].launcher
        self._start, self._wait = code.lw_cuda_start_parts, code.lw_cuda_wait_parts
        self._given = ctypes.byref(self._parts), len(made)

    def start(self, timers: Sequence[Timer]) -> Sequence[int]:
        """See PartsTogether."""
        if timers or self._are_timed:
            self._are_timed = bool(timers)
            for place, part in enumerate(self._parts):
                timer = timers[place] if timers else None
                part.begun, part.ended = timer.events if isinstance(timer, CudaTimer) else (None, None)
        failed = self._start(*self._given)
        return [place for place, part in enumerate(self._parts) if part.failed] if failed else ()

    def wait(self) -> Sequence[int]:
        """See PartsTogether."""
        suspect = self._wait(*self._given)
        for gpu in self._gpus[:1]:  # a signal's handler has raised in this process, whatever it was that waited
            gpu.raise_held()
        return [place for place, part in enumerate(self._parts) if part.suspect] if suspect else ()
