"""The store as lines of JSON: what goes out comes in, and what is wrong is refused with its line."""

from __future__ import annotations

import io
import json

import pytest

from faults.stored import HERE, THERE, measured
from loopwright.errors import StoreError
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.exchange import MOST_LINE, exported, imported, lines_of
from loopwright.profile.history import cell_of, merged
from loopwright.profile.records import ChoiceRecord, FittedTable, KernelName, MachineName
from loopwright.profile.store import ProfileStore

HUGE = Shape((2**63,), (0.1,))
RECORDS = [
    MachineName(HERE.fingerprint, HERE),
    MachineName("unheard of"),
    KernelName("kernel1", "gemm", "gemm.py", "float64[:]"),
    merged(
        cell_of(measured(shape=HUGE)),
        cell_of(measured(3.0, shape=HUGE, made_at=2e3)),
    ),
    cell_of(measured(0.0, outcome="wrong", reason='b[3] is "NaN"\nnot 1', machine="unheard of")),
    FittedTable("ranking", HERE.fingerprint, "gemm", {"rows": [[1, 2.5], None]}, 5.0),
    ChoiceRecord("kernel1", HERE.fingerprint, Shape((3,)), Variant("cpu", threads=2), "fastest", 7.0, 0.1, 6.0),
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


def deep(levels):
    return "[" * levels + "]" * levels


@pytest.mark.parametrize(
    ("lines", "line", "what"),
    [
        (changed(5, f"[{2**63}]", "[-5]"), 5, "a length is 0 or more"),
        (changed(8, '"sizes": [3]', '"sizes": [-3]'), 8, "a length is 0 or more"),
        (changed(5, f"[{2**63}]", f"[{10**30}]"), 5, "64 bits"),
        (changed(8, '"sizes": [3]', f'"sizes": [{-(2**63) - 1}]'), 8, "64 bits"),
        (changed(5, f"[{2**63}]", f"[{'9' * 5000}]"), 5, "no JSON"),
        (changed(5, f"[{2**63}]", f"{[1] * 2000}"), 5, "sizes are up to"),
        (changed(8, '"sizes": [3]', '"sizes": [true]'), 8, "whole numbers"),
        (changed(8, '"features": []', '"features": [1e999]'), 8, "features are numbers, all of them finite"),
        (changed(8, '"features": []', '"features": [Infinity]'), 8, "Infinity is no number"),
        (changed(8, '"time_ns": 7.0', '"time_ns": -7.0'), 8, "a time is 0 or more"),
        (changed(8, '"error": 0.1', '"error": -0.1'), 8, "error is -0.1"),
        (changed(8, '"made_at": 6.0', '"made_at": -6.0'), 8, "made_at is -6.0"),
        (changed(8, '"made_at": 6.0', '"made_at": 1' + "0" * 400), 8, "too large"),
        (changed(8, '"fastest"', '"' + "x" * 70000 + '"'), 8, "why is 'x"),
        (changed(8, '"fastest"', r'"\ud800"'), 8, "surrogates"),
        (changed(8, '"why": "fastest"', '"why": "fastest", "why": "x"'), 8, "'why' stands there twice"),
        (changed(4, '"name": "gemm"', '"name": "gemm", "name": "a"'), 4, "'name' stands there twice"),
        (changed(4, '"name": "gemm"', '"name": ["gemm"]'), 4, "name is "),
        (changed(7, "2.5", deep(100)), 7, "deep in one another"),
        (changed(7, "2.5", deep(200_000)), 7, "recursion"),
        (changed(7, "2.5", "9" * 60), 7, "64 bits"),
        (changed(7, "2.5", "-Infinity"), 7, "is no number"),
        (changed(2, '["cores", 2]', f'["cores", {10**30}]'), 2, "64 bits"),
        ([LINES[0], LINES[1][:-2] + b" " * MOST_LINE + b"\n"], 2, "longer than"),
    ],
)
def test_what_a_hostile_file_says_is_refused_with_its_line(lines, line, what):
    with pytest.raises(StoreError, match=rf"^x\.jsonl:{line}: .*{what}"):
        list(imported(lines, "x.jsonl"))


def test_numbers_of_the_caller_may_be_negative_as_many_as_the_signature_has():
    signed = [*LINES[:3], LINES[3].replace(b"float64[:]", b"kernel gemm(a: float64[1] C, n: int64)"), *LINES[4:]]
    assert list(imported([line.replace(b"[%d]" % 2**63, b"[9, -5]") for line in signed], "x"))
    late = [line.replace(b"n: int64)", b"n: int64 argument 3) -> python int64") for line in signed]
    assert list(imported([line.replace(b"[%d]" % 2**63, b"[9, -5]") for line in late], "x"))
    with pytest.raises(StoreError, match=r"x:5: .*a length is 0 or more"):
        list(imported([line.replace(b"[%d]" % 2**63, b"[-9, -5]") for line in signed], "x"))


def test_a_line_that_does_not_end_is_not_read_to_its_end():
    class Endless(io.RawIOBase):
        given = 0

        def readline(self, size=-1):
            self.given += size
            return b"x" * size

    file = Endless()
    with pytest.raises(StoreError, match=r"^x:1: the line is longer"):
        list(imported(lines_of(file), "x"))
    assert file.given <= MOST_LINE + 1


def test_whole_numbers_for_times_are_kept_as_times(tmp_path):
    """SQLite takes no whole number of more than 64 bits."""
    lines = [line.replace(b'"made_at": 6.0', b'"made_at": 1' + b"0" * 30) for line in LINES]
    lines = [line.replace(b'"made_at": 5.0', b'"made_at": 1' + b"0" * 30) for line in lines]
    with ProfileStore.open(tmp_path / "store.sqlite3") as store:
        store.absorb(imported(lines, "x"))
        assert [choice.made_at for choice in store.choices("kernel1", HERE.fingerprint)] == [1e30]


def test_no_batches_is_no_measurement():
    told = json.loads(LINES[4])
    for batches in ([], told["measurement"]["batches"] * 9):
        told["measurement"]["batches"] = batches
        with pytest.raises(StoreError, match="from 1 to 8 batches"):
            list(imported([*LINES[:4], json.dumps(told).encode()], "x"))
