"""`Explanation` as a value: dictionaries for programs, text for people."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.report.explain import explain
from loopwright.report.explanation import Explanation
from report.made import GENERATED, RAN, made


@pytest.fixture
def explanation(tmp_path: Path) -> Explanation:
    return explain(*made(tmp_path), "parallelize k", GENERATED, RAN)


def test_to_dict_is_json_and_has_the_promised_keys(explanation: Explanation) -> None:
    seen = explanation.to_dict()
    assert json.loads(json.dumps(seen)) == seen
    assert set(seen) == {
        "kernel", "file", "line", "signature", "loops", "arrays", "guard", "schedule", "decisions", "generated",
        "ran", "notes", "choices", "plan", "served_by",
    }  # fmt: skip
    assert {"name", "source_name", "line", "verdict", "reason", "private", "reductions", "conflict", "trip_count"} | {
        "run", "source", "depth", "asserted", "iterations", "notes", "ways",
    } == set(seen["loops"][0])  # fmt: skip
    assert set(seen["arrays"][0]) == {"name", "role", "dtype", "rank", "layout", "accesses", "footprint", "bounds"}
    assert set(seen["arrays"][0]["accesses"][0]) == {
        "text", "line", "write", "pattern", "stride", "bounds", "reason",
    }  # fmt: skip
    assert set(seen["generated"]) == {
        "lines", "source_path", "seconds", "from_cache", "compiler", "notes", "grids", "not_on_gpu", "ways",
    }  # fmt: skip
    assert set(seen["ran"]) == {"device", "calls", "last_ns", "min_ns", "total_ns", "threads", "parts"}
    assert set(seen["ran"]["parts"][0]) == {
        "variant", "device", "calls", "last_ns", "min_ns", "total_ns", "threads", "checked", "options", "kept", "early",
    }  # fmt: skip


def test_to_dict_says_none_where_nothing_was_made(tmp_path: Path) -> None:
    seen = explain(*made(tmp_path)).to_dict()
    assert (seen["generated"], seen["ran"], seen["schedule"]) == (None, None, "")


def test_str_and_rich_say_the_same(explanation: Explanation) -> None:
    rich_lines = [line.rstrip() for line in explanation.__rich__().plain.splitlines()]
    assert rich_lines == str(explanation).splitlines()


def test_html_is_escaped_and_says_the_same(explanation: Explanation) -> None:
    html = explanation._repr_html_()
    assert html.startswith("<pre><span") and html.endswith("</pre>")
    assert "while total &gt; 1.0:" in html and "while total > 1.0:" not in html
    assert "<b>" not in replace(explanation, signature="f(<b>)")._repr_html_()
