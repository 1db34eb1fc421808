"""Sets and dicts as Python: hashes, the order of a set, what is left after keys come and go."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from loopwright.frontend import table_functions as t

INTS = [0, 1, -1, -2, 7, 2**61 - 1, 2**61, 1 - 2**61, 2**62 + 5, -(2**63), 2**63 - 1]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.37, 1e300, -1e-300, 5e-324, 2.0**61, 2.0**70 * 3, math.pi, math.inf, -math.inf]


@pytest.mark.parametrize("x", INTS)
def test_ints(x):
    assert t.hash_of_key((x,), "int") == hash(x)


@pytest.mark.parametrize("x", [*FLOATS, *(random.Random(1).uniform(-1e9, 1e9) for _ in range(50))])
def test_floats(x):
    assert t.hash_of_key((x,), "float") == hash(x)


@pytest.mark.filterwarnings("ignore:overflow")
def test_tuples():
    for key in [(1, 2), (0, 0), (-1, -2), (3, 4, 5), (2**62, -7), (1, 1, 1, 1)]:
        assert t.hash_of_key(key, "tuple") == hash(key)
        columns = tuple(np.array([0, part]) for part in key)
        assert t.hash_at(columns, 1, "tuple") == hash(key)


def test_nan_is_no_key():
    with pytest.raises(ValueError, match="NaN"):
        t.hash_of_float(math.nan)


def _set():
    keys, state, head = (np.zeros(4096, np.int64),), np.zeros(4096, np.int8), np.zeros(t.HEAD, np.int64)
    t.empty_set(state, head)
    return keys, state, head


@pytest.mark.parametrize("seed", range(5))
def test_a_set_has_cpythons_order(seed):
    chance = random.Random(seed)
    keys, state, head = _set()
    expected = set()
    for _ in range(400):
        key = chance.randrange(-50, 200) * chance.choice((1, 7, 64))
        match chance.randrange(5):
            case 0:
                expected.discard(key)
                t.discard_from_set(keys, state, head, (key,), "int")
            case 1 if expected:
                assert keys[0][t.slot_to_pop(state, head)] == expected.pop()
            case _:
                expected.add(key)
                t.add_to_set(keys, state, head, (key,), "int")
        assert t.is_in_set(keys, state, head, (key,), "int") == (key in expected)
        assert list(keys[0][t.slots_in_order(state, head)]) == list(expected)


@pytest.mark.parametrize("seed", range(5))
def test_a_dict_keeps_the_order_of_its_keys(seed):
    chance = random.Random(seed)
    keys, state, head = _set()
    values, slots = (np.zeros(4096),), np.zeros(4096, np.int32)
    t.empty_dict(slots, head)
    expected: dict[int, float] = {}
    for _ in range(400):
        key = chance.randrange(60)
        found = t.entry_of(keys, state, slots, head, (key,), "int")
        assert (found >= 0) == (key in expected)
        if found >= 0 and chance.random() < 0.5:
            t.delete_entry(state, head, found)
            del expected[key]
        else:
            values[0][t.entry_for(keys, values, state, slots, head, (key,), "int")] = expected[key] = chance.random()
        order = t.entries_in_order(state, head)
        assert dict(zip(keys[0][order], values[0][order], strict=True)) == expected
        assert list(keys[0][order]) == list(expected)
