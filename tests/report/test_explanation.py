"""`Explanation` as a value: dictionaries for programs, text for people."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.report.explain import explain
from loopwright.report.explanation import Explanation, Explanations
from report.made import GENERATED, RAN, made
from report.pages import read


@pytest.fixture
def explanation(tmp_path: Path) -> Explanation:
    return explain(*made(tmp_path), "parallelize k", GENERATED, RAN)


def test_to_dict_is_json_and_has_the_promised_keys(explanation: Explanation) -> None:
    seen = explanation.to_dict()
    assert json.loads(json.dumps(seen)) == seen
    assert set(seen) == {
        "kernel", "file", "line", "signature", "loops", "arrays", "guard", "schedule", "decisions", "generated",
        "ran", "notes", "choices", "plan", "served_by", "devices",
        "shared_calls",
    }  # fmt: skip
    assert {"name", "source_name", "line", "verdict", "reason", "private", "reductions", "conflict", "trip_count"} | {
        "run", "source", "depth", "asserted", "iterations", "notes", "ways", "restructured",
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


def test_html_is_escaped(explanation: Explanation) -> None:
    html = explanation._repr_html_()
    assert "while total &gt; 1.0:" in html and "while total > 1.0:" not in html
    assert "<evil>" not in replace(explanation, signature="f(<evil>)")._repr_html_()


def test_html_says_all_that_the_text_says(explanation: Explanation) -> None:
    """Every word of the report, but for those that only join others."""
    seen = " ".join(read(explanation._repr_html_()).text)
    joining = {
        "line",
        "loops",
        "arrays",
        "why:",
        "runs:",
        "bounds",
        "reads",
        "writes",
        "call",
        "calls",
        "fastest",
        "in",
    }
    joining |= {"last", "all", "iterations"}
    missing = [word for word in str(explanation).split() if word.strip(",:;") not in seen and word not in joining]
    assert missing == []


def test_the_repr_is_what_is_printed(explanation: Explanation) -> None:
    several = Explanations([explanation, replace(explanation, signature="other()")])
    assert repr(explanation) == str(explanation) and repr(several) == f"{several[0]}\n\n{several[1]}"
    assert str(several) == repr(several) and repr(Explanations()) == "nothing is compiled yet"
    assert read(several._repr_html_()).tags["details"] > 2 and "nothing is compiled" in Explanations()._repr_html_()
