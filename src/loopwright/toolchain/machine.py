"""What of this machine decides whether compiled code may be reused: the CPU's identity and instruction sets.

`-march=native` names no CPU, so cached binaries are keyed by this text. It also reads the sizes of caches and vector
registers. It describes; it measures nothing.
"""

from __future__ import annotations

import platform
import re
from functools import cache
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
WITHOUT_AVX512 = frozenset(
    f"-march={name}"
    for name in ("haswell", "broadwell", "skylake", "alderlake", "znver1", "znver2", "znver3", "core-avx2")
)
"""What asks for code without AVX-512, among the names of processors with AVX2."""
_IDENTITY = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags", "Features", "CPU part")


@cache
def cpu_fields() -> dict[str, str]:
    """Name and value of each line of /proc/cpuinfo for the first processor; empty where there is no such file."""
    try:
        text = CPUINFO.read_text(errors="replace")
    except OSError:
        return {}
    first = text.split("\n\n", 1)[0]
    pairs = (line.split(":", 1) for line in first.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}


@cache
def cpu_fingerprint() -> str:
    """A text that differs between CPUs whose compiled code may not be exchanged."""
    known = cpu_fields()
    named = [f"{name}={known[name]}" for name in _IDENTITY if name in known]
    # platform.processor() runs another program, for a word that /proc/cpuinfo says better.
    return "\n".join([platform.system(), platform.machine(), *(named or [platform.processor()])])


@cache
def cache_bytes() -> dict[int, int]:
    """The size of the data cache of each level, as the kernel lists them for the first processor; empty where it does
    not."""
    sizes: dict[int, int] = {}
    for folder in sorted(CACHES.glob("index*")):
        try:
            kind, level, size = ((folder / name).read_text().strip() for name in ("type", "level", "size"))
        except OSError:
            continue
        found = re.fullmatch(r"(\d+)([KMG]?)", size)
        if kind in ("Data", "Unified") and found and level.isdecimal():
            sizes[int(level)] = int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2]]
    return sizes


@cache
def vector_registers(flags: tuple[str, ...] = ()) -> tuple[int, int]:
    """Bytes of one vector register, and how many there are, where the compiler gets these flags besides its own: they
    may ask for code for older processors (`-march=x86-64-v3`, `-mno-avx512f`)."""
    found = set(cpu_fields().get("flags", "").split())
    asked = next((flag for flag in reversed(flags) if flag.startswith("-march=")), "")
    level = re.fullmatch(r"-march=x86-64(?:-v([234]))?", asked)
    if level is not None:
        found -= {"avx512f"} if level[1] != "4" else set()
        found -= {"avx"} if level[1] in (None, "2") else set()
    elif asked in WITHOUT_AVX512:
        found -= {"avx512f"}
    found -= {flag.removeprefix("-mno-") for flag in flags if flag.startswith("-mno-")}
    if "avx512f" in found and "avx" in found:
        return 64, 32
    if "avx" in found:
        return 32, 16
    return 16, 32 if platform.machine() in ("aarch64", "arm64") else 16
