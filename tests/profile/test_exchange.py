"""The store as lines of JSON: what goes out comes in, and what is wrong is refused with its line."""

from __future__ import annotations

import json

import pytest

from faults.stored import HERE, THERE, measured
from loopwright.errors import StoreError
from loopwright.profile.exchange import exported, imported
from loopwright.profile.history import cell_of, merged
from loopwright.profile.measurement import Shape, Variant
from loopwright.profile.records import Choice, KernelName, MachineName, Table

HUGE = Shape((2**70,), (0.1,))
RECORDS = [
    MachineName(HERE.fingerprint, HERE),
    MachineName("unheard of"),
    KernelName("kernel1", "gemm", "gemm.py", "float64[:]"),
    merged(
        cell_of(measured(shape=Shape((2**70,), (0.1,)))),
        cell_of(measured(3.0, shape=Shape((2**70,), (0.1,)), made_at=2e3)),
    ),
    cell_of(measured(0.0, outcome="wrong", reason='b[3] is "NaN"\nnot 1', machine="unheard of")),
    Table("ranking", HERE.fingerprint, "gemm", {"rows": [[1, 2.5], None]}, 5.0),
    Choice("kernel1", HERE.fingerprint, Shape((3,)), Variant("cpu", threads=2), "fastest", 7.0, 0.1, 6.0),
]
LINES = [line.encode() for line in exported(RECORDS)]


def test_what_goes_out_comes_in():
    assert list(imported(LINES, "x")) == RECORDS
    assert json.loads(LINES[0]) == {"format": "loopwright store", "version": 1, "lines": 7}
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in LINES)


def test_nothing_of_where_a_file_is_goes_out():
    [_, line] = exported([KernelName("k", "gemm", "/home/someone/secret/gemm.py", "")])
    assert json.loads(line)["kernel"]["file"] == "gemm.py"


def test_an_empty_store():
    assert list(imported([line.encode() for line in exported([])], "x")) == []


def changed(number: int, old: str, new: str) -> list[bytes]:
    lines = list(LINES)
    assert old.encode() in lines[number - 1]
    lines[number - 1] = lines[number - 1].replace(old.encode(), new.encode())
    return lines


@pytest.mark.parametrize(
    ("lines", "line", "what"),
    [
        ([], 0, "the file is empty"),
        ([b"\xff\xfe\n"], 1, "no JSON"),
        ([b"SQLite format 3\0"], 1, "no JSON"),
        ([b"[]"], 1, "an? (JSON )?object is wanted"),
        ([b"{}"], 1, "no export of a store"),
        (changed(1, '"version": 1', '"version": 2'), 1, "newer Loopwright"),
        (changed(1, '"version": 1', '"version": true'), 1, "version of the format is missing"),
        (changed(1, '"lines": 7', '"lines": -1'), 1, "number of lines"),
        (LINES[:-1], 7, "1 lines are missing"),
        ([*LINES, LINES[-1]], 9, "more lines"),
        (changed(4, '{"kernel"', '{"colonel"'), 4, "an object with one of"),
        (changed(4, "{", "{{"), 4, "no JSON"),
        (changed(4, '"name": "gemm", ', ""), 4, "the fields are fingerprint, name"),
        (changed(4, '"gemm"', "7"), 4, "name is 7"),
        (changed(2, "Some CPU", "Other CPU"), 2, "fingerprint is that of another machine"),
        (changed(2, '"cpu"', '"abacus"'), 2, "wrong type"),
        (changed(5, '"kernel1"', '"kernel9"'), 5, "no line before says what kernel 'kernel9' is"),
        (changed(5, HERE.fingerprint, THERE.fingerprint), 5, "no line before says what machine"),
        (changed(5, '"time_ns": 3.0', '"time_ns": -3.0'), 5, "cannot have been measured"),
        (changed(5, '"time_ns": 3.0', '"time_ns": NaN'), 5, "NaN is no number"),
        (changed(5, '"time_ns": 3.0', '"time_ns": 1e999'), 5, "time_ns is inf"),
        (changed(5, '"time_ns": 3.0', '"time_ns": 1' + "0" * 400), 5, "measurement: "),
        (changed(5, '"runs": 5', '"runs": true'), 5, "runs is True"),
        (changed(5, '"runs": 5', '"runs": 5.5'), 5, "runs is 5.5"),
        (changed(5, '"cpu 2: ', '"cpu two: '), 5, "number of threads"),
        (changed(5, '"sizes": [', '"sizes": [1.5, '), 5, "sizes are whole numbers"),
        (changed(5, '"features": [', '"features": ["a", '), 5, "features are numbers"),
        (changed(5, '"warm"', '"hot"'), 5, "cache is 'hot'"),
        (changed(5, '"batches": [', '"batches": [3, '), 5, "the fields are made_at"),
        (changed(5, '"batches"', '"notches"'), 5, "the fields are"),
        (changed(7, "2.5", "1e999"), 7, "table: "),
        (changed(8, '"time_ns": 7.0', '"time_ns": null'), 8, "time_ns is None"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(lines, line, what):
    with pytest.raises(StoreError, match=rf"^x\.jsonl:{line}: .*{what}"):
        list(imported(lines, "x.jsonl"))


def test_no_batches_is_no_measurement():
    told = json.loads(LINES[4])
    for batches in ([], told["measurement"]["batches"] * 9):
        told["measurement"]["batches"] = batches
        with pytest.raises(StoreError, match="from 1 to 8 batches"):
            list(imported([*LINES[:4], json.dumps(told).encode()], "x"))
