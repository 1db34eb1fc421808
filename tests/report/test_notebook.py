"""What notebooks show: kernels, explanations, what came of tuning, and a bar while it goes on."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.variant import Variant
from loopwright.profile.measurement import Measurement
from loopwright.report.notebook import STYLE, fragment
from loopwright.report.tune_progress import HiddenBar, NotebookBar, TerminalBar, tune_bar
from loopwright.report.tune_report import MOST_BARS, TuneReport
from loopwright.tuning.comparison import PairedTimes
from loopwright.tuning.recorded_call import RecordedCall
from report.contrast import GRAPHICS, TEXT, contrast
from report.pages import Page, read
from report.stored import DEFAULT, TILED, row

PAPERS = ("#ffffff", "#111111", "#1e1e1e")  # of notebooks, light and dark


@pytest.fixture
def twice() -> lw.LoopKernel:
    @lw.kernel
    def twice(a):
        for i in range(len(a)):
            a[i] = a[i] * 2.0

    return twice


@pytest.fixture
def call(twice: lw.LoopKernel) -> RecordedCall:
    one = twice.specialise(np.ones(300))
    return RecordedCall(one, ("a",), (0,), one.compilation.tools, lw_shape(300), None)  # type: ignore[arg-type]


def lw_shape(*sizes: int) -> Any:
    from loopwright.ir.signature import Shape

    return Shape(sizes)


def report(call: RecordedCall, before: float, after: float, many: int = 3) -> TuneReport:
    """Of tuning in which the default took `before`, and the rival `after`, in 11 pairs."""
    default, best = row(DEFAULT, 512, before), row(TILED, 512, after)
    pairs = PairedTimes((before,) * 11, (after,) * 11)
    others = tuple(row(Variant("cpu", f"split i {k}", 2), 512, before * (2 + k)) for k in range(2, many))
    best = best if pairs.is_clear else default
    return TuneReport(
        call, default, best, {"ok": many, "wrong": 1}, 0, {"x": "dominated"}, "", pairs, "space", 9.0,
        (default, row(TILED, 512, after), *others),
    )  # fmt: skip


def whole(html: str) -> Page:
    found = read(html)
    assert found.faults == [] and "<script" not in html
    return found


# ---- kernels and explanations -------------------------------------------------------------------------------------


def test_a_kernel_shows_what_is_compiled(twice: lw.LoopKernel) -> None:
    assert repr(twice) == "<loopwright kernel twice(a): nothing compiled yet>"
    assert "nothing is compiled yet" in whole(twice._repr_html_()).text
    twice(np.ones(3)), twice(np.ones(3)), twice(np.ones(3, np.float32))
    assert repr(twice) == "<loopwright kernel twice(a): compiled for (float64[:]), (float32[:]); 3 calls>"
    page = whole(twice._repr_html_())
    assert page.tags["tr"] == 3 and {"(float64[:])", "(float32[:])", "cpu: recipe"} <= set(page.text)
    assert twice(np.ones((2, 8))[:, ::2][0]) is None and "(any strides)" in repr(twice)


def test_a_kernel_that_holds_others_shows_theirs() -> None:
    @lw.kernel
    def total(arrays):
        s = 0.0
        for i in range(len(arrays[0])):
            s += arrays[0][i] + arrays[1][i]
        return s

    total((np.ones(3), np.ones(3)))
    assert repr(total) == "<loopwright kernel total(arrays): compiled for (float64[:], float64[:]); 1 call>"


def test_an_explanation_has_tables(twice: lw.LoopKernel) -> None:
    twice(np.ones(3))
    page = whole(twice.explain(np.ones(3))._repr_html_())
    assert page.tags["table"] == 4  # loops, the call, what ran, arrays
    assert {"for i in range(len(a)):", "parallel", "safe because", "schedule", "ran"} <= set(page.text)
    several = whole(twice.explanations()._repr_html_())
    assert several.tags["summary"] == 2 and "twice(a: float64[:])" in several.text
    assert len(repr(twice.explanations())) < 2500


# ---- tuning -------------------------------------------------------------------------------------------------------


def test_what_tuning_says_in_a_line(call: RecordedCall) -> None:
    text = repr(report(call, 2e6, 1e6))
    assert text.startswith("<tuned twice for a 300: 2.00 times as fast with 'cpu 2: tile i 32 j 32; parallelize i.o'; ")
    assert "2.00 to 2.00 times in 11 alternating pairs; 2 ms before, 1 ms now; " in text
    assert "4 variants measured, 1 of them failed" in text
    assert str(report(call, 2e6, 1e6)) == text and len(text) < 400


def test_no_gain_is_claimed_where_none_is_sure(call: RecordedCall) -> None:
    text = repr(report(call, 1e6, 1.0001e6))
    assert "the default variant serves; no other variant is certainly faster: the fastest is 1.00 to 1.00" in text
    page = whole(report(call, 1e6, 1.0001e6)._repr_html_())
    assert "none" in page.text and not any("2.00" in one for one in page.text)


def test_what_tuning_shows_in_a_notebook(call: RecordedCall) -> None:
    page = whole(report(call, 2e6, 1e6, many=40)._repr_html_())
    assert {"2 ms", "1 ms", "2.00 times as fast", "2.00 to 2.00 times in 11 alternating pairs"} <= set(page.text)
    assert page.tags["figure"] == 1 and page.tags["rect"] == MOST_BARS
    assert f"The fastest {MOST_BARS} of 41 variants that ran: time of a call" in page.text


def test_tuning_that_came_to_nothing(call: RecordedCall) -> None:
    found = TuneReport(call, why_not="it runs in the interpreter <b>")
    assert repr(found) == "<not tuned: twice for a 300: it runs in the interpreter <b>>"
    assert "<b>" not in found._repr_html_() and "it runs in the interpreter" in " ".join(
        whole(found._repr_html_()).text
    )


def test_a_default_that_failed_is_said(call: RecordedCall) -> None:
    found = report(call, 2e6, 1e6)
    failed: Measurement = row(DEFAULT, 512, 0.0, outcome="crashed", reason="lost", runs=0)
    found.default, found.compared = failed, None
    assert found.gain == 1.0 and "crashed: lost" in whole(found._repr_html_()).text


# ---- the bar ------------------------------------------------------------------------------------------------------


class Handle:
    def __init__(self) -> None:
        self.shown: list[str] = []

    def update(self, html: Any) -> None:
        self.shown.append(html.data)


class NoIPython:
    """Its display, as far as a bar needs it."""

    def __init__(self, kernel: object) -> None:
        self.handle = Handle()
        self.display = SimpleNamespace(
            HTML=lambda data: SimpleNamespace(data=data),
            display=lambda html, display_id: (self.handle.update(html), self.handle)[1],
        )
        self.get_ipython = lambda: SimpleNamespace(kernel=kernel)


def test_a_bar_in_a_notebook(call: RecordedCall, monkeypatch: pytest.MonkeyPatch) -> None:
    here = NoIPython(object())
    monkeypatch.setitem(sys.modules, "IPython", here)  # type: ignore[arg-type]
    bar = tune_bar(10.0)
    assert isinstance(bar, NotebookBar)
    monkeypatch.setattr("loopwright.report.tune_progress.APART_S", 0.0)
    with bar:
        bar.begun(call)
        bar.tried(call, None, 2e6)  # type: ignore[arg-type]
        bar.turned(call, 3, 11)
    shown = here.handle.shown
    assert "twice: measuring the default (0 of 10 s)" in shown[1] and "best so far 2 ms" in shown[2]
    assert "alternating the default and the fastest: 3 of 11" in shown[3] and shown[-1] == ""
    assert all(whole(one).tags["progress"] == 1 for one in shown[:-1])


def test_a_bar_is_only_where_somebody_sees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", NoIPython(None))  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: False, write=len, flush=int))
    assert isinstance(tune_bar(1.0), HiddenBar)
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True, write=len, flush=int))
    assert isinstance(tune_bar(1.0), TerminalBar)


# ---- how it looks -------------------------------------------------------------------------------------------------


def test_colours_read_on_white_and_on_black() -> None:
    """Chips bring their ground; text has the notebook's colour; what is drawn stands out on either paper."""
    grounds = re.findall(r"\.(good|wait|bad) \{ background: (#\w{6})", STYLE)
    assert len(grounds) == 3 and "chip { border-radius: .3em; padding: .05em .45em; color: #ffffff" in STYLE
    assert all(contrast("#ffffff", ground) >= TEXT for _, ground in grounds)
    (bar,) = re.findall(r"\.bar \{ fill: (#\w{6})", STYLE)
    assert all(contrast(bar, paper) >= GRAPHICS for paper in PAPERS)
    others = set(re.findall(r"#\w{6}", STYLE)) - {"#ffffff", bar, *(ground for _, ground in grounds)}
    assert others == set()


def test_a_style_touches_nothing_else_on_the_page() -> None:
    rules = re.findall(r"^([^{}\n]+)\{", STYLE, re.MULTILINE)
    assert rules and all(part.strip().startswith(".loopwright") for rule in rules for part in rule.split(","))
    assert "<b>" not in fragment("<b>") and "color-scheme" not in STYLE


def test_ipython_shows_the_tables(twice: lw.LoopKernel, call: RecordedCall) -> None:
    formatters = pytest.importorskip("IPython.core.formatters", reason="IPython is not installed")
    twice(np.ones(3))
    for one in (twice, twice.explain(np.ones(3)), twice.explanations(), report(call, 2e6, 1e6)):
        data, _ = formatters.DisplayFormatter().format(one)
        assert data["text/html"] == one._repr_html_() and len(data["text/plain"]) < 4000


def test_a_notebook_is_executed(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    (tmp_path / "doubling.py").write_text(
        "import loopwright as lw\n\n@lw.kernel\ndef twice(a):\n    for i in range(len(a)):\n        a[i] = a[i] * 2.0\n"
    )
    cells = (
        "import numpy as np, loopwright as lw\nfrom pathlib import Path\nfrom doubling import twice",
        "lw.set_options(store=Path('store.sqlite3'))\na = np.ones(1000)\ntwice(a)\ntwice",
        "twice.explain(a)",
        "twice.tune(a, budget=0.5)",
    )
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    done = nbclient.NotebookClient(made, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in done.cells for output in cell.outputs]
    pages = [output.data["text/html"] for output in shown if "text/html" in output.get("data", {})]
    assert [output for output in shown if output.output_type in ("error", "stream")] == []
    assert sum('class="loopwright"' in page for page in pages) == 3
    assert any(("<table" in page and "how sure" in page) or "not tuned" in page for page in pages)
