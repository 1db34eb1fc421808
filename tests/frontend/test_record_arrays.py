"""Parts of arrays of records, and arrays of records that a kernel makes, against CPython."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same

HIT = np.dtype([("time", "i8"), ("area", "f8"), ("wave", "f4", (3,)), ("ok", "?")])
PADDED = np.dtype({"names": ["a", "b"], "formats": ["i4", "f8"], "offsets": [0, 8], "itemsize": 24})


def hits(n):
    random, made = np.random.default_rng(n), np.zeros(n, HIT)
    made["time"], made["area"] = np.arange(n) * 3 % 7, random.random(n)
    made["wave"], made["ok"] = random.random((n, 3)), made["time"] > 2
    return made


def parts(r, k):
    total = np.float64(0.0)
    for p in r[k:]:
        total += p["area"] * p["wave"][1]
    for p in r[::-2]:
        total += p["time"]
    good = r[r["ok"]]
    return total, len(good), good["area"].sum(), r[1:-1]["wave"][:, 0].max(initial=0), good["wave"].shape, r[k:].size


def fields_as_wholes(r):
    r["area"] = 1.5
    r["time"] += 2
    r["wave"][:, 1] = r["area"]
    r["ok"] = r["time"] > 4
    r[:2]["area"] = 7
    r[1:]["area"][0] = 9


def chosen(r, places):
    some = r[places]
    some["area"] *= 2
    return some["area"], r["area"].sum(), some[-1]["time"], some[0]["wave"][2]


def assigned(r, out):
    out[1:3] = r[:2]
    out[0] = r[-1]
    out[3:] = r[0]
    own = r.copy()
    own["area"] = 0
    return own["area"].sum(), r["area"].sum(), len(own)


def test_parts():
    for r, k in ((hits(7), 2), (hits(0), 2), (hits(1), -1), (hits(14)[::-2], -3)):
        same(parts, r, k)
    for n in (5, 1, 0, 2):
        same(fields_as_wholes, hits(n))
    same(chosen, hits(5), np.array([4, 0, -1]))
    same(chosen, hits(5), np.array([5]))
    same(assigned, hits(4), hits(5))
    same(assigned, hits(2), hits(4))


def filled(out, k):
    out[k]["time"] = 5
    out["area"][k] += 1
    return out


def made(n):
    out = np.zeros(n, dtype=HIT)
    for i in range(n):
        out[i]["time"] = i
        out["area"][i] = i * 0.5
        out[i]["wave"][2] = i
        out["ok"][i] = i % 2
    other = np.zeros_like(out)
    other[:1] = out[:1]
    return out, filled(other, 0), out.dtype == other.dtype, out.shape


def kept(r):
    out = np.empty(len(r) * 2, dtype=HIT)
    k = 0
    for p in r:
        if p["area"] > 0.3:
            out[k] = p
            k += 1
    return out[:k]


def padded(n):
    out = np.ones((n, 2), PADDED)
    out["a"][0] = 3
    return out, out["b"].sum()


def test_arrays_of_records_are_made_and_returned():
    for n in (1, 4):
        same(made, n)
        same(padded, n)
    for n in (0, 6):
        same(kept, hits(n))


def test_a_new_process_makes_the_same_of_the_results(tmp_path):
    with lw.options(cache=tmp_path):
        for _ in range(2):
            found, wanted = lw.kernel(kept)(hits(6)), kept(hits(6))
            assert found.dtype == HIT and all(np.array_equal(found[name], wanted[name]) for name in HIT.names)


@pytest.mark.parametrize(("text", "message"), [
    ("r[1:] = o[1:]", "the fields of the two differ"),
    ("r[1:] = 0", "a whole record cannot be assigned"),
    ("np.zeros(3, dtype=TEXT)", "field 'name' is no type of the language"),
])  # fmt: skip
def test_refused(text, message):
    function = define(f"def f(r, o):\n    {text}\n    return 0\n", TEXT=np.dtype([("x", "f8"), ("name", "U3")]))
    assert message in refusal(function, hits(3), np.zeros(3, PADDED))


def test_records_of_the_type_of_an_argument():
    function = define("""
        def f(p, chosen):
            made = np.zeros(len(chosen), dtype=p.dtype)
            for k in range(len(chosen)):
                made[k] = p[chosen[k]]
            copy = p.copy()
            copy[0]["a"] = 9
            return made, copy, p[chosen], p.dtype == made.dtype
    """)
    same(function, np.array([(1, 0.5), (2, 1.5), (3, 2.5)], PADDED), np.array([2, 0, 2, 1]))
    text = "def f(p):\n    return np.zeros(2, p.dtype)\n"
    unknown = np.zeros(2, [("a", "i4"), ("name", "U3")])
    assert "'.dtype' of an array is outside" in refusal(define(text), unknown)


def latest(r, k):
    best, other = r[0], None
    for i in range(1, len(r)):
        if r[i]["time"] > best["time"]:
            best = r[i]
    for p in r:
        if other is None or p["area"] < other["area"]:
            other = p
    best["area"] += 1.0
    best, other = other, best
    mine = r.copy()
    chosen = mine[k]
    while chosen["time"] < 3 and k < len(r) - 1:
        k += 1
        chosen = mine[k]
        chosen["time"] += 1
    other["wave"][1] = chosen["time"]
    return best["time"], other["wave"][0] + best["wave"][2], chosen["area"], mine


def test_a_name_is_one_record_and_then_another():
    for n, k in ((5, 0), (7, -3), (1, 0), (3, 9)):
        same(latest, hits(n), k)
    function = define("def f(r, q):\n    b = r[0]\n    for i in range(2):\n        b = q[i]\n    return b['time']\n")
    assert "'b' is a record here and something else" in refusal(function, hits(3), hits(2))


PACKED = np.dtype([("s", "i2"), ("w", "f4", (3,)), ("c", "c16"), ("ok", "?"), ("x", "f8")])


def made_often(n, m, keep):
    made, grid = np.zeros(n, PACKED), np.zeros((n, m), PADDED)
    for k in range(n):
        made[k]["s"], made[k]["ok"], made[k]["x"], made[k]["c"] = -k, k % 2 == 0, 0.5 * k, k + 2j
        made["w"][k, 2] = k
        for i in range(m):
            grid[k, i]["a"], grid[k, i]["b"] = k - i, k * i
    return made[:keep], grid


def test_records_of_repeated_calls():
    """From the second call on, the launcher makes them."""
    function = lw.kernel(made_often)
    for n, m, keep in ((3, 2, 2), (5, 1, 5), (4, 3, 0), (0, 2, 0)):
        for got, want in zip(function(n, m, keep), made_often(n, m, keep), strict=True):
            assert got.dtype == want.dtype and got.shape == want.shape
            assert all((got[name] == want[name]).all() for name in want.dtype.names)
