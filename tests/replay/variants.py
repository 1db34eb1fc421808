"""The ways in which the replay compiles every call: options, and a machine that does not have to be this one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True)
class Variant:
    """options: as `lw.options` takes them. vector_bytes, registers: of the vector unit that the recipe plans for.
    parts: the code for a call in parts, in place of that for a whole call."""

    name: str
    options: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    vector_bytes: int = 32
    registers: int = 16
    parts: bool = False


DEFAULT = Variant("avx2")
AVX512 = Variant("avx512", vector_bytes=64, registers=32)
PLAIN = Variant("plain", {"recipe": "plain"})
STRICT = Variant("strict", {"strict": True})
CHECKS = Variant("checks", {"checks": "all"})
DETERMINISTIC = Variant("deterministic", {"deterministic": True})
GPU = Variant("gpu", {"device": "cuda"})
GPU_STRICT = Variant("gpu-strict", {"device": "cuda", "strict": True})
GPU_PARTS = Variant("gpu-parts", {"device": "cuda"}, parts=True)

ON_CPU = (DEFAULT, AVX512, PLAIN, STRICT, CHECKS, DETERMINISTIC)
EVERY = (*ON_CPU, GPU, GPU_STRICT)
