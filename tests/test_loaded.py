"""What a program makes Python load: what it needs and no more. A name that is new in one of these lists costs every
program that uses the package some milliseconds; think before you add it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# The modules of each place that `import loopwright` loads.
AT_IMPORT = {
    "choice": {"base", "experience"},
    "config": set(),
    "deferred": set(),
    "devices": {"base", "cpu", "launcher"},
    "errors": set(),
    "forks": set(),
    "frontend": {
        "capture",
        "formatted",
        "markers",
        "object_class",
        "outside",
        "parse",
        "rewritten",
        "scopes",
        "watched",
        "whole",
        "written",
        "written_arguments",
    },
    "ir": {"captured", "location", "long_text", "plan", "program", "reserved_arrays", "signature", "types", "variant"},
    "kernel": set(),
    "memory": {
        "arrays",
        "device_array",
        "dlpack",
        "host_array",
        "in_pieces",
        "on_device",
        "overlap",
        "records",
        "tokens",
    },
    "random": set(),
    "remembered": set(),
    "revision": set(),
    "runtime": {
        "bind",
        "code_table",
        "compiled",
        "config_for",
        "considered",
        "dispatch",
        "execute",
        "in_use",
        "locks",
        "specialise",
    },
    "specialisation": set(),
    "toolchain": {"cc", "library", "machine", "store", "trust"},
}
# Of others: what no program needs before it compiles, tunes, reports or asks for a GPU.
NOT_NEEDED = {"cuda", "cupy", "html", "importlib.resources", "islpy", "numba", "numpy.ma", "rich", "scipy",
              "sklearn", "sqlite3", "torch", "typer", "zipfile"}  # fmt: skip
SCRIPT = """
import os, sys
import numpy as np

before = set(sys.modules)

def told():
    print(" ".join(sorted(set(sys.modules) - before)))

import loopwright as lw

told()

@lw.kernel
def filled(a, n):
    r = np.zeros(n)
    for i in range(n):
        r[i] = a[i] + 1.0
    return r

assert filled(np.ones(9), 9).sum() == 18.0
told()
"""


def modules_of(tmp_path: Path, script: str = SCRIPT, **environment: str) -> list[set[str]]:
    """What is loaded, beside NumPy and what it needs, whenever the script tells."""
    (tmp_path / "script.py").write_text(script)
    told = {name: value for name, value in os.environ.items() if not name.startswith("LOOPWRIGHT_")}
    told |= {"LOOPWRIGHT_CACHE": str(tmp_path / "cache"), "LOOPWRIGHT_CFLAGS": "-O0"}
    told |= {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **environment}
    ran = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, env=told)
    assert ran.returncode == 0, ran.stderr
    return [set(line.split()) for line in ran.stdout.splitlines()]


def own(modules: set[str]) -> dict[str, set[str]]:
    """Those of our package by place."""
    found: dict[str, set[str]] = {}
    for name in modules:
        parts = name.split(".")
        if parts[0] == "loopwright" and len(parts) > 1:
            found.setdefault(parts[1], set()).update(parts[2:])
    return found


def others(modules: set[str]) -> set[str]:
    """Those of NOT_NEEDED that are loaded."""
    return NOT_NEEDED & modules


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache in which the script's kernel is remembered; nothing is tuned."""
    folder = tmp_path_factory.mktemp("loaded")
    _, compiled = modules_of(folder)
    places = Counter(name.split(".")[1] for name in compiled if name.startswith("loopwright."))
    assert places["analysis"] > 20 and places["steps"] > 20  # the passes did run, and this test would see them
    assert not places.keys() & {"cost", "report", "predict", "placement", "answers", "cli"}  # a first call is no tuning
    return folder


def test_what_is_loaded_at_import_and_what_a_remembered_kernels_first_call_adds(folder):
    at_import, after = modules_of(folder)
    assert own(at_import) == AT_IMPORT
    assert others(at_import) == set()
    added = own(after)
    assert {place: names - AT_IMPORT.get(place, set()) for place, names in added.items() if names} == {
        place: {
            "interp",
            "arithmetic",
            "by_identity",  # forty lines that every node's class needs
            "nodes",
            "parse",
            "printing",
            "size_programs",
            "text",
            "tokens",
            "user_text",
            "walk",
        }
        if place == "ir"  # the kernel's arrays are made by the sizes in its text
        else set()
        for place, names in AT_IMPORT.items()
        if names
    }
    assert others(after) == set()


@pytest.fixture
def stored(folder: Path) -> Iterator[Callable[..., None]]:
    """Runs a script that puts something into the store, which is gone afterwards."""

    def put(script: str, **environment: str) -> None:
        modules_of(folder, script, **environment)

    yield put
    for path in (folder / "cache").glob("profile.sqlite3*"):
        path.unlink()


def test_a_store_without_the_kernel_is_looked_into_and_no_more(folder, stored):
    stored(ANOTHER)
    _, after = modules_of(folder)
    assert others(after) == {"sqlite3"}
    loaded = own(after)
    assert loaded["choice"] == AT_IMPORT["choice"]
    assert not loaded.keys() & {"cost", "search", "predict", "placement", "tuning", "analysis", "steps"}
    assert not loaded["devices"] & {"cuda", "emulated", "gpus"}  # nor does anybody look for a GPU


def test_a_choice_among_measured_variants_needs_no_compiler_and_no_search(folder, stored):
    stored(SCRIPT + TUNED, LOOPWRIGHT_DEVICE="cpu")
    _, after = modules_of(folder, LOOPWRIGHT_DEVICE="cpu")
    assert "sqlite3" in others(after) <= {"sqlite3", "numpy.ma", "importlib.resources"}
    loaded = own(after)
    assert {"chooser", "predictors", "adapt", "drift"} <= loaded["choice"]  # it did choose
    assert not loaded.keys() & {"analysis", "answers", "compiler", "cost", "recipe", "report", "search", "steps"}
    assert "tuning" not in loaded


RUN = """
import sys
from pathlib import Path
from loopwright.cli.main import run

Path("run.py").write_text("import sys\\nprint(' '.join(sorted(sys.modules)))\\n")
sys.argv = ["loopwright", "run", "run.py"]
run()
"""


def test_a_command_loads_what_it_needs(folder):
    """To run a script, no compiler, no tuner, and nothing that writes reports."""
    [loaded] = modules_of(folder, RUN)
    assert own(loaded)["cli"] == {"main", "refuse", "run", "kernels", "script", "terminal"}
    assert own(loaded).keys() - AT_IMPORT.keys() == {"cli", "report"}
    assert own(loaded)["report"] == {"words"}
    assert others(loaded) <= {"rich", "typer", "importlib.resources", "zipfile"}


ANOTHER = """
import os, pathlib
from loopwright.ir.variant import Variant
from loopwright.ir.signature import Shape
from loopwright.profile.measurement import Measurement, Work
from loopwright.profile.store import ProfileStore
store = ProfileStore(pathlib.Path(os.environ["LOOPWRIGHT_CACHE"]) / "profile.sqlite3")
store.add([Measurement("another", "machine", Variant("cpu", "plain", 1), Shape((9,)), Work(), "ok", 1.0)])
store.close()
"""
TUNED = """
from loopwright.config import current
from loopwright.profile.journal import journal_of
from loopwright.profile.machine import machine_of
from loopwright.ir.variant import Variant
from loopwright.ir.signature import Shape
from loopwright.profile.measurement import Measurement
from loopwright.ir.variant import default_variant
from loopwright.tuning.recorded_call import RecordedCall
from loopwright.tuning.tune import put_kernel
from loopwright.tuning.work import work_form

(one,), config, shape = filled.specialisations(), current(), Shape((9, 9))
journal, machine = journal_of(config), machine_of("cpu", config)
form = work_form(one.analysed.written, one.analysed.facts, one.signature)
put_kernel(journal, RecordedCall(one, ("a", "n"), (), config, shape, None), form)
for variant, time_ns in ((default_variant(config), 1e3), (Variant("cpu", "plain", 1), 1e6)):
    work = form.at(shape)
    journal.add(Measurement(one.fingerprint, machine.fingerprint, variant, shape, work, "ok", time_ns, 0.01, 9))
assert journal.flush()
"""
