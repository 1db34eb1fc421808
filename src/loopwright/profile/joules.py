"""The joules that a call takes, from what the machine counts: NVIDIA's counter of a GPU, RAPL for the CPU; else from
stated watts.

It owns the meters and the difference between two readings. It decides nothing (`placement/energy.py` does), and nothing
here is needed for a call: where a counter is missing or may not be read, there is an `Unmetered` with the reason in
words, and all goes on without it.

- **nvml**: `nvmlDeviceGetTotalEnergyConsumption`, millijoules since the driver was loaded, of Volta and later. Through
  the package pynvml where that is installed, else through `libnvidia-ml.so.1`. NVML counts GPUs in the order of the bus
  and knows nothing of CUDA_VISIBLE_DEVICES: give the bus id.
- **rapl**: `/sys/class/powercap/*/energy_uj`, microjoules of each package and its memory, which begin again at
  `max_energy_range_uj`, after some minutes to hours. Since 2020 Linux lets only root read them: `chmod o+r` on these
  files allows it. It is the whole machine that is counted, with all other programs in it.
- **stated**: watts times time, where somebody says the watts. Nothing is measured then.

Counters move in steps: about 0.1 s for NVML, 1 ms for RAPL. What is measured in less time is not known well, and
`Joules.error` says so: let a short call run many times in one `measured`.
"""

from __future__ import annotations

import ctypes
import importlib
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

Source = Literal["nvml", "rapl", "stated"]
Clock = Callable[[], float]

POWERCAP = Path("/sys/class/powercap")
LIBRARY = "libnvidia-ml.so.1"
STEP_S: dict[Source, float] = {"nvml": 0.1, "rapl": 0.001, "stated": 0.0}
"""How often a counter moves, at the least."""
COUNTED = ("package", "dram")
"""The zones of RAPL that are added up. The others are parts of a package, or the whole machine once more."""


class Meter(Protocol):
    """A counter of one device. source: what counts."""

    @property
    def source(self) -> Source: ...

    def read_joules(self) -> float:
        """Joules since some moment, never fewer than before. Raises OSError where it cannot be read any more."""
        ...


@dataclass(frozen=True, slots=True)
class Unmetered:
    """A device whose joules nobody knows. why: in words, with what to do about it."""

    why: str


@dataclass(frozen=True, slots=True)
class Joules:
    """What a device took in `seconds`. total: all of it. idle: what it would have taken with nothing to do, 0 where
    nobody knows. error: by how much `total` may be off because counters move in steps, as a part; infinite where
    nothing was measured."""

    total: float
    idle: float
    seconds: float
    source: Source
    error: float

    @property
    def above_idle(self) -> float:
        """What the work took; never negative."""
        return max(0.0, self.total - self.idle)

    def __str__(self) -> str:
        how = {"nvml": "counted by NVML", "rapl": "counted by RAPL", "stated": "from stated watts"}[self.source]
        return f"{self.above_idle:.4g} J above {self.idle:.4g} J idle, {how}"


@dataclass(slots=True)
class EnergyUse:
    """What came of one `measured`, complete when it has ended. devices: of those that have a meter. unmetered: why the
    others have none. seconds: from start to end."""

    devices: dict[str, Joules] = field(default_factory=dict)
    unmetered: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def joules(self) -> float | None:
        """Above idle, of all devices together; None where one of them is not known."""
        if self.unmetered or not self.devices:
            return None
        return sum(one.above_idle for one in self.devices.values())


@contextmanager
def measured(
    meters: Mapping[str, Meter | Unmetered],
    idle_watts: Mapping[str, float] | None = None,
    clock: Clock = time.perf_counter,
) -> Iterator[EnergyUse]:
    """Measure what runs inside: `with measured(meters) as used: ...`, then `used.joules`. meters: by device.
    idle_watts: of those of which it is known, to be subtracted. A meter that fails in between is one that is not there;
    what runs inside fails or not as without this."""
    idle_watts = idle_watts or {}
    use = EnergyUse()
    before = {device: _read(device, meter, use) for device, meter in meters.items()}
    started = clock()
    try:
        yield use
    finally:
        use.seconds = clock() - started
        for device, first in before.items():
            meter = meters[device]
            last = _read(device, meter, use) if first is not None else None
            if first is not None and last is not None and not isinstance(meter, Unmetered):
                idle = idle_watts.get(device, 0.0) * use.seconds
                use.devices[device] = Joules(
                    max(0.0, last - first), idle, use.seconds, meter.source, _error(meter.source, use.seconds)
                )


def measured_idle_watts(
    meters: Mapping[str, Meter | Unmetered],
    seconds: float = 1.0,
    sleep: Callable[[float], None] = time.sleep,
    clock: Clock = time.perf_counter,
) -> dict[str, float]:
    """The watts of each device while this process does nothing, of those that are counted. Stated watts are those of a
    device at work, and say nothing of it."""
    with measured(meters, clock=clock) as use:
        sleep(seconds)
    return {
        device: one.total / one.seconds
        for device, one in use.devices.items()
        if one.source != "stated" and one.seconds > 0
    }


def find_meter(
    device: str,
    *,
    stated_watts: float | None = None,
    bus_id: str | None = None,
    nvml: Nvml | Unmetered | None = None,
    powercap: Path = POWERCAP,
) -> Meter | Unmetered:
    """The best meter of a device: its counter, else its stated watts, else the reason why there is none.

    device: `cpu`, `cuda` or `cuda:1`; others have no counter. bus_id: of a GPU, such as `0000:1b:00.0`; without one its
    number is NVML's. nvml, powercap: where to look, for tests. Raises ValueError for watts that are none."""
    if stated_watts is not None and not 0 <= stated_watts < math.inf:
        raise ValueError(f"stated_watts = {stated_watts} is no number of watts")
    kind, _, number = device.partition(":")
    if kind == "cpu":
        found: Meter | Unmetered = find_rapl(powercap)
    elif kind == "cuda":
        found = _of_gpu(nvml if nvml is not None else find_nvml(), int(number) if number.isdecimal() else 0, bus_id)
    else:
        found = Unmetered(f"nothing counts the joules of '{device}'")
    if isinstance(found, Unmetered) and stated_watts is not None:
        return StatedMeter(stated_watts)
    return found


# ---- stated -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class StatedMeter:
    """As if a device took the same watts all the time."""

    watts: float
    clock: Clock = time.perf_counter
    source: Source = "stated"

    def read_joules(self) -> float:
        """Watts times the seconds of the clock."""
        return self.watts * self.clock()


# ---- RAPL ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class RaplMeter:
    """The CPU's packages and their memory. zones: folders, with the microjoules at which their counters begin again."""

    zones: tuple[tuple[Path, int], ...]
    source: Source = "rapl"
    _last: dict[Path, int] = field(default_factory=dict)
    _joules: float = 0.0

    def read_joules(self) -> float:
        """Joules since the first reading. It has to be read once in each round of the counters, which take minutes at
        least. Raises OSError where a counter cannot be read."""
        for folder, most in self.zones:
            now = _number(folder / "energy_uj")
            by = now - self._last.get(folder, now)
            self._joules += (by if by >= 0 else by + most) / 1e6
            self._last[folder] = now
        return self._joules


def find_rapl(powercap: Path = POWERCAP) -> RaplMeter | Unmetered:
    """The counters of all packages that may be read. All of them or none: half a machine would look like a frugal
    one."""
    zones: list[tuple[Path, int]] = []
    try:
        folders = sorted(powercap.iterdir())
    except OSError:
        return Unmetered(f"this machine counts no joules of its CPU: there is no {powercap}")
    for folder in folders:
        try:
            name = (folder / "name").read_text().strip()
        except OSError:
            continue  # a driver's own folder, or `enabled`
        if not name.startswith(COUNTED):
            continue
        try:
            _number(folder / "energy_uj")
            zones.append((folder, _number(folder / "max_energy_range_uj")))
        except PermissionError:
            return Unmetered(f"{folder / 'energy_uj'} may not be read: chmod o+r allows it, as root")
        except OSError as error:
            return Unmetered(f"{folder / 'energy_uj'} cannot be read: {error.strerror or error}")
    if not zones:
        return Unmetered(f"this machine counts no joules of its CPU: no package under {powercap}")
    return RaplMeter(tuple(zones))


def _number(path: Path) -> int:
    try:
        return int(path.read_text())
    except ValueError as error:
        raise OSError(f"no number in {path}") from error


# ---- NVML ---------------------------------------------------------------------------------------------------------


class Nvml(Protocol):
    """What of NVML is needed, however it is reached. Each raises OSError with NVML's own words where it fails."""

    def handle(self, index: int, bus_id: str | None) -> Any:
        """A GPU, by the id of its bus where that is given."""
        ...

    def energy_mj(self, handle: Any) -> int:
        """Millijoules since the driver was loaded."""
        ...


@dataclass(slots=True)
class NvmlMeter:
    """One GPU."""

    nvml: Nvml
    handle: Any
    source: Source = "nvml"

    def read_joules(self) -> float:
        """Joules since the driver was loaded. Raises OSError where the GPU does not answer."""
        return self.nvml.energy_mj(self.handle) / 1e3


def find_nvml() -> Nvml | Unmetered:
    """NVML through pynvml, else through NVIDIA's library itself."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a package of this name that is out of date says so
            module = importlib.import_module("pynvml")
        return NvmlByPackage(module)
    except (ImportError, OSError):
        pass
    try:
        return NvmlByLibrary(ctypes.CDLL(LIBRARY))
    except OSError as error:
        return Unmetered(f"NVML cannot be used: {error}")


class NvmlByPackage:
    """Through pynvml. Raises OSError where NVML does not start."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._ask("nvmlInit")

    def handle(self, index: int, bus_id: str | None) -> Any:
        """See `Nvml`."""
        if bus_id is not None:
            return self._ask("nvmlDeviceGetHandleByPciBusId", bus_id.encode())
        return self._ask("nvmlDeviceGetHandleByIndex", index)

    def energy_mj(self, handle: Any) -> int:
        """See `Nvml`."""
        return int(self._ask("nvmlDeviceGetTotalEnergyConsumption", handle))

    def _ask(self, name: str, *arguments: Any) -> Any:
        try:
            return getattr(self._module, name)(*arguments)
        except (self._module.NVMLError, AttributeError) as error:
            raise OSError(f"{name}: {error}") from error


class NvmlByLibrary:
    """Through ctypes. Raises OSError where NVML does not start."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._ask("nvmlInit_v2")

    def handle(self, index: int, bus_id: str | None) -> Any:
        """See `Nvml`."""
        found = ctypes.c_void_p()
        if bus_id is not None:
            self._ask("nvmlDeviceGetHandleByPciBusId_v2", ctypes.c_char_p(bus_id.encode()), ctypes.byref(found))
        else:
            self._ask("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(found))
        return found

    def energy_mj(self, handle: Any) -> int:
        """See `Nvml`."""
        found = ctypes.c_ulonglong()
        self._ask("nvmlDeviceGetTotalEnergyConsumption", handle, ctypes.byref(found))
        return found.value

    def _ask(self, name: str, *arguments: Any) -> None:
        try:
            function = getattr(self._library, name)
        except AttributeError as error:
            raise OSError(f"{name}: this driver has none") from error
        code = function(*arguments)
        if code:
            raise OSError(f"{name}: {_NVML_ERRORS.get(code, 'error')} ({code})")


_NVML_ERRORS = {
    1: "not initialized",
    2: "invalid argument",
    3: "not supported",
    4: "no permission",
    6: "not found",
    9: "driver not loaded",
    15: "GPU is lost",
    18: "driver and library differ",
}


def _of_gpu(nvml: Nvml | Unmetered, index: int, bus_id: str | None) -> NvmlMeter | Unmetered:
    if isinstance(nvml, Unmetered):
        return nvml
    try:
        handle = nvml.handle(index, bus_id)
        nvml.energy_mj(handle)
    except OSError as error:
        return Unmetered(f"GPU {bus_id or index} counts no joules: {error}")
    return NvmlMeter(nvml, handle)


def _read(device: str, meter: Meter | Unmetered, use: EnergyUse) -> float | None:
    if isinstance(meter, Unmetered):
        use.unmetered[device] = meter.why
        return None
    try:
        return meter.read_joules()
    except OSError as error:
        use.unmetered[device] = f"the {meter.source} counter cannot be read: {error.strerror or error}"
        return None


def _error(source: Source, seconds: float) -> float:
    if source == "stated":
        return math.inf
    return min(1.0, STEP_S[source] / seconds) if seconds > 0 else 1.0
