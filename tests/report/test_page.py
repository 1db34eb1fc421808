"""The page of a store: what is on it, that it is whole, and that it holds up against what users write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.cost.front import PARETO
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.measurement import Measurement, Work
from loopwright.profile.records import FittedTable, KernelName
from loopwright.profile.store import ProfileStore
from loopwright.report.page import page
from loopwright.report.sortable import SCRIPT
from loopwright.report.subjects import MOST_SUBJECTS, contents
from report.pages import Page, read
from report.stored import CPU, DEFAULT, GPU, KERNEL, NOW, ON_GPU, fill, row

EVIL = "<script>alert('x')</script>\"&amp;</svg></style>\x00\x1b"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return fill(tmp_path / "store.sqlite3")


def made(path: Path, kernel: str = "", now: float = NOW) -> str:
    with ProfileStore.open(path, readonly=True) as store:
        return page(store, contents(store, kernel), now)


def whole(html: str) -> Page:
    found = read(html)
    assert found.faults == []
    return found


def test_what_is_on_it(path: Path, golden: Callable[[str, str], None]) -> None:
    text = "\n".join(whole(made(path)).text).replace(str(path), "store.sqlite3")
    golden("report/page.txt", text)


def test_the_same_store_and_time_give_the_same_page(path: Path) -> None:
    assert made(path) == made(path)


def test_charts_of_all_kinds_are_there(path: Path) -> None:
    found = whole(made(path))
    assert found.tags["figure"] == 7  # times and errors of each device, what was pruned, CPU against GPU, a shared call
    assert found.tags["polyline"] > 6 and found.tags["rect"] > 8
    joined = " ".join(found.text)
    assert "The GPU is faster from n = 397 on" in joined
    assert "Which variants were worth running, at 512 x 512: 2 of 4 variants ran" in joined
    assert "the fastest of these: V1" in joined
    assert "64 64 to 1024" not in joined and "128 to 1024" in joined


def test_what_users_write_is_text(path: Path) -> None:
    with ProfileStore.open(path) as store:
        store.put_kernel(KernelName(KERNEL, EVIL, f"/home/{EVIL}.py", EVIL))
        store.add([row(Variant("cpu", f"split {EVIL}", 2), 64, 0.0, outcome="wrong", reason=EVIL)])
        content = {"names": [EVIL, "b"], "points": [[EVIL, [1.0, 2.0], True, EVIL], ["x", [2.0, 3.0], False, EVIL]]}
        store.put_table(FittedTable(PARETO, CPU.fingerprint, KERNEL, content, NOW))
    html = made(path)
    found = whole(html)
    assert html.count("<script>\n") == 1 and found.scripts == [SCRIPT] and "\x00" not in html and "\x1b" not in html
    assert any("<script>alert('x')</script>\"&amp;</svg></style>" in text for text in found.text)
    assert found.tags["script"] == 1


def test_a_check_of_pages_can_fail() -> None:
    assert read("<p><b>x</p>").faults
    assert read("<p>x").faults == ["<p> is never closed"]
    assert read('<a href="http://example.org">x</a>').faults
    assert read('<img src="x.png">').faults and read("<script src='x.js'></script>").faults
    assert read('<a href="#there">x</a>').faults == ["#there leads nowhere"]
    assert read("<style>@import 'x'</style>").faults == ["@import in the style"]


def test_only_the_kernel_that_is_asked_for(path: Path) -> None:
    with ProfileStore.open(path) as store:
        store.add([replace(row(DEFAULT, 64, 1e6), kernel="other" * 5)])
        store.put_kernel(KernelName("other" * 5, "smooth"))
    both, one = whole(made(path)), whole(made(path, "smooth"))
    assert "gemm" in both.text and "smooth" in both.text
    assert "gemm" not in one.text and "smooth" in one.text
    assert "smooth" in whole(made(path, "otherother")).text  # its fingerprint's beginning
    assert contents_of(path, "nothing") == 0


def contents_of(path: Path, kernel: str) -> int:
    with ProfileStore.open(path, readonly=True) as store:
        return len(contents(store, kernel).tallies)


def test_a_store_of_another_machine_and_of_nothing(tmp_path: Path) -> None:
    path = tmp_path / "bare.sqlite3"
    strange = Measurement("k", "m", Variant("simulated"), Shape(()), Work(), "ok", 5.0, made_at=NOW + 1e6)
    with ProfileStore.open(path) as store:
        store.add([strange])
    found = whole(made(path))
    assert {"kernel k", "machine m", "dated in the future", "types are not known"} <= set(found.text)
    with ProfileStore.open(path) as store:
        store.add([replace(strange, kernel="k2", outcome="crashed", time_ns=0.0, reason="lost")])
    assert "its process died: lost" in whole(made(path)).text


@pytest.mark.parametrize("time_ns", [0.0, 1e-3, 5e17])
def test_times_that_no_axis_expects(path: Path, time_ns: float) -> None:
    with ProfileStore.open(path) as store:
        store.add([row(Variant("cpu", "fuse i j", 2), n, time_ns) for n in (64, 512)])
    whole(made(path))


@pytest.mark.parametrize(
    "content",
    [{}, [], None, {"names": ["a"], "points": [["x", [1.0], True, ""]]}, {"names": [], "points": [1]},
     {"names": ["a", "b"], "points": [["x", [None, None], True, ""]]}, {"names": ["a", "b"], "points": [["x"]]}],
)  # fmt: skip
def test_what_was_pruned_may_be_anything(path: Path, content: object) -> None:
    with ProfileStore.open(path) as store:
        store.put_table(FittedTable(PARETO, CPU.fingerprint, KERNEL, content, NOW))
    assert "worth measuring" not in whole(made(path)).text


def test_only_some_kernels_have_a_section(tmp_path: Path) -> None:
    path = tmp_path / "many.sqlite3"
    with ProfileStore.open(path) as store:
        many = range(MOST_SUBJECTS + 5)
        store.add([replace(row(DEFAULT, 64, 1e6), kernel=f"k{n:04}", made_at=1000.0 + n) for n in many])
    found = whole(made(path))
    assert found.tags["h3"] == MOST_SUBJECTS and len(found.links) == 2 * MOST_SUBJECTS  # at the top, and at the end
    assert "kernel k0000" in found.text  # in the table at the top
    assert any("measured last" in text for text in found.text)


def test_variants_beyond_those_shown_are_counted(path: Path) -> None:
    with ProfileStore.open(path) as store:
        store.add([row(Variant("cpu", f"split i {k}", 2), n, 1e9 + k) for k in range(2, 102) for n in (64, 512)])
    html = made(path)
    assert "and 74 variants more" in whole(html).text
    assert len(html) < 80_000


def test_a_gpu_without_its_processor_stands_alone(tmp_path: Path) -> None:
    path = tmp_path / "gpu.sqlite3"
    with ProfileStore.open(path) as store:
        store.put_machine(GPU)
        store.put_machine(replace(CPU, name="Another CPU"))
        store.add([row(ON_GPU, n, 1e6) for n in (64, 128)])
        another = replace(CPU, name="Another CPU").fingerprint
        store.add([replace(row(DEFAULT, n, 1e6), machine=another) for n in (64, 128)])
    assert not any("CPU against GPU" in text for text in whole(made(path)).text)
