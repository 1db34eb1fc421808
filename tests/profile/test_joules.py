"""Meters of energy, with folders and libraries that only look like a machine's."""

from __future__ import annotations

import ctypes
import math
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from loopwright.profile import joules
from loopwright.profile.joules import (
    Joules,
    Meter,
    Nvml,
    NvmlByLibrary,
    NvmlByPackage,
    NvmlMeter,
    RaplMeter,
    StatedMeter,
    Unmetered,
    find_meter,
    find_nvml,
    find_rapl,
    measured,
    measured_idle_watts,
)

BUS = "0000:1b:00.0"


class FakePynvml:
    """As the package: it raises."""

    class NVMLError(Exception):
        pass

    def __init__(self, fails: str = "") -> None:
        self.energy = 5000
        self.fails = fails

    def nvmlInit(self) -> None:
        self._may("nvmlInit")

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any:
        self._may("nvmlDeviceGetHandleByIndex")
        return ("index", index)

    def nvmlDeviceGetHandleByPciBusId(self, bus: bytes) -> Any:
        return ("bus", bus)

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: Any) -> int:
        self._may("nvmlDeviceGetTotalEnergyConsumption")
        return self.energy

    def _may(self, name: str) -> None:
        if name == self.fails:
            raise self.NVMLError("Not Supported")


class FakeLibrary:
    """As the library: it returns a code, and writes through pointers."""

    def __init__(self, codes: dict[str, int] | None = None) -> None:
        self.energy, self.codes, self.asked = 5000, codes or {}, ""

    def nvmlInit_v2(self) -> int:
        return self.codes.get("init", 0)

    def nvmlDeviceGetHandleByIndex_v2(self, index: ctypes.c_uint, handle: Any) -> int:
        self.asked = f"index {index.value}"
        handle._obj.value = 7
        return self.codes.get("handle", 0)

    def nvmlDeviceGetHandleByPciBusId_v2(self, bus: ctypes.c_char_p, handle: Any) -> int:
        self.asked = f"bus {(bus.value or b'').decode()}"
        handle._obj.value = 7
        return self.codes.get("handle", 0)

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: ctypes.c_void_p, energy: Any) -> int:
        assert handle.value == 7
        energy._obj.value = self.energy
        return self.codes.get("energy", 0)


def powercap(folder: Path, zones: dict[str, tuple[str, str, str]]) -> Path:
    """A folder as Linux has it: name, energy_uj, max_energy_range_uj of each zone."""
    (folder / "intel-rapl").mkdir(parents=True)
    (folder / "intel-rapl" / "enabled").write_text("1\n")
    for zone, contents in zones.items():
        (folder / zone).mkdir()
        for name, text in zip(("name", "energy_uj", "max_energy_range_uj"), contents, strict=True):
            (folder / zone / name).write_text(text + "\n")
    return folder


TWO_PACKAGES = {
    "intel-rapl:0": ("package-0", "1000000", "9000000"),
    "intel-rapl:0:0": ("core", "700000", "9000000"),
    "intel-rapl:0:1": ("dram", "300000", "5000000"),
    "intel-rapl:1": ("package-1", "8000000", "9000000"),
    "intel-rapl:2": ("psys", "9", "9000000"),
}


def ticking(*times: float) -> Any:
    left = iter(times)
    return lambda: next(left)


# ---- RAPL ---------------------------------------------------------------------------------------------------------


def test_packages_and_their_memory_are_added_up(tmp_path: Path) -> None:
    meter = find_rapl(powercap(tmp_path / "cap", TWO_PACKAGES))
    assert isinstance(meter, RaplMeter)
    assert [folder.name for folder, _ in meter.zones] == ["intel-rapl:0", "intel-rapl:0:1", "intel-rapl:1"]
    assert meter.read_joules() == 0.0
    (tmp_path / "cap/intel-rapl:0/energy_uj").write_text("1500000")
    (tmp_path / "cap/intel-rapl:0:1/energy_uj").write_text("400000")
    (tmp_path / "cap/intel-rapl:0:0/energy_uj").write_text("800000")  # a part of its package
    assert meter.read_joules() == pytest.approx(0.6)


def test_a_counter_that_begins_again(tmp_path: Path) -> None:
    meter = find_rapl(powercap(tmp_path / "cap", TWO_PACKAGES))
    assert isinstance(meter, RaplMeter)
    meter.read_joules()
    (tmp_path / "cap/intel-rapl:1/energy_uj").write_text("250000")  # 1 J to the end, and 0.25 J from the beginning
    assert meter.read_joules() == pytest.approx(1.25)
    assert meter.read_joules() == pytest.approx(1.25)


def test_no_counters_of_the_cpu(tmp_path: Path) -> None:
    missing = find_rapl(tmp_path / "none")
    assert isinstance(missing, Unmetered) and "there is no" in missing.why
    empty = find_rapl(powercap(tmp_path / "cap", {}))
    assert isinstance(empty, Unmetered) and "no package" in empty.why
    broken = find_rapl(powercap(tmp_path / "broken", {"intel-rapl:0": ("package-0", "much", "9")}))
    assert isinstance(broken, Unmetered) and "cannot be read: no number" in broken.why


def test_a_counter_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = powercap(tmp_path / "cap", TWO_PACKAGES)

    def refused(path: Path) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(joules, "_number", refused)
    found = find_rapl(folder)
    assert isinstance(found, Unmetered) and "chmod o+r" in found.why


# ---- NVML ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fake", [FakePynvml, FakeLibrary])
def test_a_gpu_is_read_through_a_package_and_through_the_library(fake: Any) -> None:
    told = fake()
    nvml: Nvml = NvmlByPackage(told) if fake is FakePynvml else NvmlByLibrary(told)
    meter = find_meter("cuda:0", nvml=nvml)
    assert isinstance(meter, NvmlMeter) and meter.source == "nvml"
    assert meter.read_joules() == 5.0
    told.energy += 2500
    assert meter.read_joules() == 7.5


def test_gpus_are_found_by_their_bus() -> None:
    library = FakeLibrary()
    find_meter("cuda:1", nvml=NvmlByLibrary(library))
    assert library.asked == "index 1"
    find_meter("cuda:1", nvml=NvmlByLibrary(library), bus_id=BUS)
    assert library.asked == f"bus {BUS}"
    meter = find_meter("cuda", nvml=NvmlByPackage(FakePynvml()), bus_id=BUS)
    assert isinstance(meter, NvmlMeter) and meter.handle == ("bus", BUS.encode())


@pytest.mark.parametrize(
    ("nvml", "why"),
    [
        (
            NvmlByLibrary(FakeLibrary({"energy": 3})),
            "GPU 0 counts no joules: nvmlDeviceGetTotalEnergyConsumption: not supported (3)",
        ),
        (NvmlByLibrary(FakeLibrary({"handle": 6})), "not found"),
        (NvmlByLibrary(FakeLibrary({"handle": 77})), "error (77)"),
        (NvmlByPackage(FakePynvml("nvmlDeviceGetTotalEnergyConsumption")), "Not Supported"),
        (NvmlByPackage(FakePynvml("nvmlDeviceGetHandleByIndex")), "Not Supported"),
        (Unmetered("NVML cannot be used: no driver"), "no driver"),
    ],
)
def test_a_gpu_without_a_counter_says_why(nvml: Any, why: str) -> None:
    found = find_meter("cuda:0", nvml=nvml)
    assert isinstance(found, Unmetered)
    assert why in found.why


def test_a_driver_without_nvml() -> None:
    with pytest.raises(OSError, match="driver not loaded"):
        NvmlByLibrary(FakeLibrary({"init": 9}))
    with pytest.raises(OSError, match="this driver has none"):
        NvmlByLibrary(SimpleNamespace())
    with pytest.raises(OSError, match="Not Supported"):
        NvmlByPackage(FakePynvml("nvmlInit"))


def test_nvml_is_looked_for_in_both_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", FakePynvml())  # type: ignore[arg-type]
    assert isinstance(find_nvml(), NvmlByPackage)
    monkeypatch.setitem(sys.modules, "pynvml", FakePynvml("nvmlInit"))  # type: ignore[arg-type]
    monkeypatch.setattr(ctypes, "CDLL", lambda name: FakeLibrary())
    assert isinstance(find_nvml(), NvmlByLibrary)
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert isinstance(find_nvml(), NvmlByLibrary)

    def none(name: str) -> Any:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", none)
    found = find_nvml()
    assert isinstance(found, Unmetered) and "libnvidia-ml.so.1: cannot open" in found.why


# ---- which meter --------------------------------------------------------------------------------------------------


def test_stated_watts_stand_in_for_a_counter_that_is_not_there(tmp_path: Path) -> None:
    assert isinstance(find_meter("cpu", powercap=tmp_path / "none", stated_watts=64.0), StatedMeter)
    assert isinstance(find_meter("emulated", stated_watts=10.0), StatedMeter)
    counted = find_meter("cpu", powercap=powercap(tmp_path / "cap", TWO_PACKAGES), stated_watts=64.0)
    assert isinstance(counted, RaplMeter)
    nothing = find_meter("simulated")
    assert nothing == Unmetered("nothing counts the joules of 'simulated'")
    for watts in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="no number of watts"):
            find_meter("cpu", stated_watts=watts)


def test_this_machine_has_a_meter_or_a_reason() -> None:
    for device in ("cpu", "cuda:0"):
        found = find_meter(device)
        assert found.why if isinstance(found, Unmetered) else found.read_joules() >= 0


# ---- measuring ----------------------------------------------------------------------------------------------------


class Counter:
    """Reads what it is given, one after the other; fails where there is no more."""

    source: joules.Source = "nvml"

    def __init__(self, *readings: float) -> None:
        self.readings = list(readings)

    def read_joules(self) -> float:
        if not self.readings:
            raise OSError(5, "Input/output error")
        return self.readings.pop(0)


def test_joules_above_idle() -> None:
    meters: dict[str, Meter | Unmetered] = {"cuda:0": Counter(100, 350), "cpu": Counter(7, 107)}
    with measured(meters, {"cuda:0": 50.0}, clock=ticking(10.0, 12.0)) as use:
        assert use.joules is None
    assert use.seconds == 2.0
    assert use.devices["cuda:0"] == Joules(250.0, 100.0, 2.0, "nvml", 0.05)
    assert use.devices["cuda:0"].above_idle == 150.0 and use.devices["cpu"].above_idle == 100.0
    assert use.joules == 250.0
    assert str(use.devices["cuda:0"]) == "150 J above 100 J idle, counted by NVML"


def test_stated_watts_are_watts_times_time() -> None:
    meter = StatedMeter(64.0, ticking(1.0, 4.0))
    with measured({"cpu": meter}, {"cpu": 14.0}, clock=ticking(1.0, 4.0)) as use:
        pass
    assert use.joules == pytest.approx(150.0)
    assert use.devices["cpu"].error == math.inf and "from stated watts" in str(use.devices["cpu"])


def test_a_device_without_a_meter_leaves_the_sum_unknown() -> None:
    meters: dict[str, Meter | Unmetered] = {"cpu": Unmetered("may not be read"), "cuda:0": Counter(0, 10)}
    with measured(meters) as use:
        pass
    assert use.joules is None and use.unmetered == {"cpu": "may not be read"}
    assert use.devices["cuda:0"].total == 10


@pytest.mark.parametrize("readings", [(), (5.0,)])
def test_a_meter_that_fails_in_between_is_none(readings: tuple[float, ...]) -> None:
    with measured({"cuda:0": Counter(*readings)}) as use:
        pass
    assert use.devices == {} and "Input/output error" in use.unmetered["cuda:0"] and use.joules is None


def test_what_fails_inside_fails_as_without_it() -> None:
    with pytest.raises(ZeroDivisionError), measured({"cuda:0": Counter(1, 2)}) as use:
        raise ZeroDivisionError
    assert use.joules == 1.0


def test_more_idle_than_there_was_is_no_energy_back() -> None:
    with measured({"cpu": Counter(0, 10)}, {"cpu": 100.0}, clock=ticking(0.0, 1.0)) as use:
        pass
    assert use.joules == 0.0 and use.devices["cpu"].idle == 100.0


def test_short_measurements_say_that_they_are_not_exact() -> None:
    for seconds, error in ((0.0, 1.0), (0.01, 1.0), (1.0, 0.1), (100.0, 0.001)):
        with measured({"cuda:0": Counter(0, 10)}, clock=ticking(0.0, seconds)) as use:
            pass
        assert use.devices["cuda:0"].error == pytest.approx(error)


def test_idle_watts_are_measured_while_nothing_runs() -> None:
    slept: list[float] = []
    meters: dict[str, Meter | Unmetered] = {
        "cuda:0": Counter(0, 140),
        "cpu": StatedMeter(64.0),
        "cuda:1": Unmetered("lost"),
    }
    assert measured_idle_watts(meters, 2.0, slept.append, ticking(0.0, 2.0)) == {"cuda:0": 70.0}
    assert slept == [2.0]
