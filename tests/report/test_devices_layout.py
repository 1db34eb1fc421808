"""How calls that several devices share look, as text and in a notebook."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from loopwright.report.devices_layout import devices_lines, devices_parts
from loopwright.report.explain import explain
from loopwright.report.notebook import fragment
from loopwright.report.shared_report import DeviceReport, DevicesReport
from report.made import GENERATED, RAN, made
from report.pages import read
from report.shared import LAST, SHARED

TEXT = """\
cpu, cuda can share such a call
cuda1 takes no part: there is no such GPU
next call: a part for each, predicted 8 ms: the best that was measured
cpu takes 10 us and 13 ns for each iteration, from 3 calls
cuda takes 900 us and 12 ns for each iteration, from 3 calls
expected: cpu alone 13 ms; cuda alone not measured; parts for all 8 ms
3 calls of these sizes were shared; the last one, a part for each, took 10 ms, predicted 8 ms (25 % slower); \
imbalance 25 %
  device  iterations  busy  computes  copies  waits
  cpu     600         8 ms  8 ms      0 ns    2 ms
  cuda    400         6 ms  3 ms      4 ms    3 ms
  copied cpu to cuda 3 MiB in 2 copies; cuda to cpu 1 MiB in 1 copy"""

ALONE = DevicesReport(
    "auto", "energy", (DeviceReport("cpu", "no loop"), DeviceReport("cuda", "no loop")), "single",
    "not measured yet", unshared="no loop",
)  # fmt: skip


def test_the_text_of_a_call_that_two_share() -> None:
    assert "\n".join(devices_lines(SHARED)) == TEXT


def test_the_text_of_a_call_that_nobody_shares() -> None:
    assert list(devices_lines(ALONE)) == [
        "one of cpu, cuda makes such a call: no loop",
        "next call: one device, for energy: not measured yet",
    ]


def test_a_device_that_did_other_than_it_was_given_and_one_that_failed() -> None:
    first, second = LAST.members
    members = (replace(first, iterations=1000), replace(second, iterations=0, failed=True))
    last = replace(LAST, members=members, moved=(), ended_early=True, calls=1)
    told = list(devices_lines(replace(SHARED, last=last)))
    assert "1000 of 600" in told[8] and told[9].startswith("  cuda, failed  0 of 400")
    assert told[10] == "  copied nothing"
    assert "1 call of these sizes was shared" in told[6] and "it did not finish" in told[6]


def test_the_notebook_says_all_that_the_text_says() -> None:
    for report in (SHARED, ALONE):
        page = read(fragment(*devices_parts(report)))
        assert page.faults == []
        seen = " ".join(page.text)
        missing = [
            word for line in list(devices_lines(report))[1:] for word in line.split() if word.strip(",:;") not in seen
        ]
        assert [word for word in missing if word not in ("takes", "no", "part:")] == []


def test_an_explanation_has_it_between_the_choice_and_what_ran(tmp_path: Path) -> None:
    found = replace(explain(*made(tmp_path), "parallelize k", GENERATED, RAN), devices=SHARED, shared_calls=3)
    text = str(found)
    assert f"devices       {TEXT.splitlines()[0]}\n              {TEXT.splitlines()[1]}\n" in text
    assert text.index("\ndevices ") < text.index(
        "\nran           3 calls that several devices shared\n              3 calls on"
    )
    assert found.to_dict()["devices"]["last"]["members"][1]["copies_ns"] == 4_000_000
    html = found._repr_html_()
    assert read(html).faults == []
    assert "devices: cpu, cuda can share such a call" in html and "3 calls that several devices shared" in html
    assert "devices" not in str(replace(found, devices=None, shared_calls=0))
    alone = str(replace(found, ran=None))
    assert "not yet, in this process" not in alone and "not yet, in this process" in str(
        replace(found, ran=None, devices=None, shared_calls=0)
    )


def test_what_others_wrote_cannot_become_markup() -> None:
    evil = replace(SHARED, why="<b>\x1b[31m")
    html = fragment(*devices_parts(evil))
    assert "<b>\x1b" not in html and "&lt;b&gt;" in html
