"""What a measurement belongs to: a device, and all that compiles for it.

A fingerprint is made of what can be read here, so that two machines of the same kind have the same one, and results can
be carried from one to the other. There is no name of a host, no serial number and no path in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from loopwright.config import Config
from loopwright.deferred import deferred
from loopwright.ir.variant import is_gpu, kind_of
from loopwright.revision import PACKAGE, revision
from loopwright.toolchain.cc import BASE_FLAGS, find_compiler
from loopwright.toolchain.machine import cache_bytes, cpu_fields
from loopwright.toolchain.store import find, keep, key_of

if TYPE_CHECKING:
    from loopwright.devices import gpus
    from loopwright.devices.limits import Limits
    from loopwright.toolchain import nvrtc
else:
    gpus = deferred("loopwright.devices.gpus")
    nvrtc = deferred("loopwright.toolchain.nvrtc")

MachineKind = Literal["cpu", "cuda", "emulated", "simulated"]
DRIVER = Path("/proc/driver/nvidia/version")
# What decides how long a compiled kernel takes. A change anywhere else leaves measurements as good as they were.
MAKERS = (
    "ir", "frontend", "analysis", "steps", "recipe", "codegen", "toolchain", "devices", "memory",
    "compiler.py", "specialisation.py",
)  # fmt: skip
MODEL = ("cpu family", "model", "stepping")  # in virtual machines the name says little
CALLED = re.compile(r"^\S+ (?=\()")  # the first word of `gcc (Debian 12.2.0) 12.2.0`: it is cc as well
TEXTS = (".py", ".c", ".h", ".cuh")
DIGEST = "text"
FINGERPRINT_LENGTH = 32


@dataclass(frozen=True, slots=True)
class Machine:
    """kind: of the device. name: of the processor or GPU. host: of the processor beside a GPU, which copies and starts
    kernels; '' for a CPU. limits: sizes of caches, numbers of cores and so on, by name. instructions: the CPU's, or the
    compute capability. driver: its version, '' for a CPU. compiler, flags: what makes the code. text: digest of the
    parts of this package that make code; '' where it cannot be told."""

    kind: MachineKind
    name: str
    host: str = ""
    limits: tuple[tuple[str, int], ...] = ()
    instructions: str = ""
    driver: str = ""
    compiler: str = ""
    flags: tuple[str, ...] = ()
    text: str = ""

    @property
    def fingerprint(self) -> str:
        """Differs between machines whose measurements may not stand for one another. '' where `text` cannot be told:
        nobody could say later what was measured, so it is not to be kept."""
        return fingerprint_of(self) if self.text else ""


@cache
def fingerprint_of(machine: Machine) -> str:
    """A digest of all that the machine is."""
    return hashlib.sha256(machine_text(machine).encode()).hexdigest()[:FINGERPRINT_LENGTH]


def machine_text(machine: Machine) -> str:
    """As JSON, in one way only."""
    return json.dumps(asdict(machine), sort_keys=True)


def parse_machine(text: str) -> Machine:
    """Reads `machine_text`. Raises ValueError for what is no machine."""
    told: Any = json.loads(text)
    names = {field.name for field in fields(Machine)}
    if not isinstance(told, dict) or set(told) != names:
        raise ValueError(f"a machine has the fields {', '.join(sorted(names))}")
    words = names - {"limits", "flags"}
    limits, flags = told["limits"], told["flags"]
    fits = (
        all(isinstance(told[name], str) for name in words)
        and told["kind"] in get_args(MachineKind)
        and isinstance(flags, list)
        and all(isinstance(flag, str) for flag in flags)
        and isinstance(limits, list)
        and all(isinstance(pair, list) and [type(part) for part in pair] == [str, int] for pair in limits)
    )
    if not fits:
        raise ValueError("a field of this machine has the wrong type")
    return Machine(**{**told, "limits": tuple((name, size) for name, size in limits), "flags": tuple(flags)})


def machine_of(device: str, config: Config) -> Machine | None:
    """The machine that a device of this Config is; None for a device that there is none of. device: `cpu`, `cuda` or
    `emulated`."""
    if device == "cpu":
        return _cpu(config)
    if not is_gpu(device):
        return None
    gpu = gpus.gpu_of(device)
    return None if gpu is None else _gpu(kind_of(device), gpu.name, gpu.limits, config)  # type: ignore[arg-type]


# ---- reading ----------------------------------------------------------------------------------------------------


def _cpu(config: Config) -> Machine:
    compiler = find_compiler(config)
    told = cpu_fields()
    limits = {"cores": os.cpu_count() or 1, **{f"L{level} bytes": size for level, size in cache_bytes().items()}}
    limits |= {name: int(told[name]) for name in MODEL if told.get(name, "").isdecimal()}
    tuning = (*compiler.tuning, *compiler.openmp) if compiler else ()
    return Machine(
        kind="cpu",
        name=_cpu_name(),
        limits=tuple(sorted(limits.items())),
        instructions=told.get("flags") or told.get("Features") or "",
        compiler=CALLED.sub("GCC ", compiler.version) if compiler else "",
        flags=(*BASE_FLAGS, *tuning, *config.compiler_flags),
        text=makers_digest(config.cache),
    )


def _gpu(kind: MachineKind, name: str, limits: Limits, config: Config) -> Machine:
    numbers = {key: value for key, value in asdict(limits).items() if key != "capability"}
    if kind == "emulated":  # by the CPU, in code of the C compiler
        host = _cpu(config)
        compiler, flags, driver = host.compiler, host.flags, ""
        numbers |= {f"host {key}": value for key, value in host.limits}
    else:
        found = nvrtc.find_nvrtc()
        compiler = f"NVRTC {found.version[0]}.{found.version[1]}" if found else ""
        flags, driver = nvrtc.BASE_FLAGS, _driver()
    return Machine(
        kind=kind,
        name=name,
        host=_cpu_name(),
        limits=tuple(sorted(numbers.items())),
        instructions=".".join(map(str, limits.capability)),
        driver=driver,
        compiler=compiler,
        flags=tuple(flags),
        text=makers_digest(config.cache),
    )


def _cpu_name() -> str:
    told = cpu_fields()
    return told.get("model name") or " ".join(filter(None, (os.uname().machine, told.get("CPU part"))))


def _driver() -> str:
    """NVIDIA's driver, `580.95.05`; '' where the kernel does not tell."""
    try:
        found = re.search(r"\b\d+\.\d+(\.\d+)?\b", DRIVER.read_text(errors="replace"))
    except OSError:
        return ""
    return found[0] if found else ""


@cache
def makers_digest(folder: Path) -> str:
    """What this package's text is, where it makes code; '' while somebody is editing it. It is the same wherever the
    package is installed. To read all of it takes some milliseconds: it is kept in the cache `folder` by the revision,
    which is the place and the times of these files."""
    now = revision()
    if not now:
        return ""
    key = key_of(("makers", *MAKERS, now))
    kept = find(folder, key)
    try:
        if kept is not None:
            return kept.contents[DIGEST].decode()
        digest = _digest(PACKAGE)
    except (OSError, UnicodeDecodeError):
        return ""

    def make(entry: Path) -> None:
        (entry / DIGEST).write_text(digest)

    keep(folder, key, make)
    return digest


def _digest(package: Path) -> str:
    files = [
        path
        for name in MAKERS
        for path in ([package / name] if name.endswith(".py") else (package / name).rglob("*"))
        if path.suffix in TEXTS
    ]
    told = {path.relative_to(package).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:FINGERPRINT_LENGTH]
