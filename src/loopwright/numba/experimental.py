"""Numba's `experimental`, of which `jitclass` is all that programs use."""

from __future__ import annotations

from loopwright.numba.classes import jitclass

__all__ = ["jitclass"]
