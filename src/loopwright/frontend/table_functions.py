"""Python's sets and dicts, written in the language: hashing as CPython's, so that a set has CPython's order.

Keys are given as a tuple of arrays, one for each place of the tuples that they are, or one for numbers; a key as a
tuple too. A set is a table of slots; `state` says of each whether it is FREE, USED or GONE. A dict has its entries in
the order in which they came, `state` says whether each is still there, and `slots` is a table of their places, -1 where
there is none. `head` has what the names of its places say. Sources: Objects/setobject.c, tupleobject.c and
Python/pyhash.c of CPython 3.11.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MASK, FILL, COUNT, FINGER, CHANGES = 0, 1, 2, 3, 4
HEAD = 5
FREE, USED, GONE = 0, 1, 2
LEAST = 8
MOST = 2**27
MODULUS = 2**61 - 1
LOW = 2**59 - 1


def _reuses() -> bool:
    """Whether a new key may take the slot of one that is gone: versions of CPython differ."""
    tried: set[int] = set()
    for step in (tried.add, tried.discard):
        step(5)
    tried |= {13}
    tried |= {3}
    return list(tried) == [3, 13]


REUSES = _reuses()


# ---- hashes ---------------------------------------------------------------------------------------------------


def hash_of_int(x: Any) -> Any:
    """`hash(x)` of an int of 64 bits."""
    found = x % MODULUS
    if x < 0 and found != 0:
        found -= MODULUS
    return -2 if found == -1 else found


def hash_of_float(x: Any) -> Any:
    """`hash(x)` of a float. Raises ValueError for NaN, of which no two are one key in Python."""
    if x != x:
        raise ValueError("NaN cannot be a key here")
    if x - x != 0.0:
        return 314159 if x > 0.0 else -314159
    rest, power = abs(x), 0
    while rest >= 1.0:
        rest, power = rest * 0.5, power + 1
    while rest != 0.0 and rest < 0.5:
        rest, power = rest * 2.0, power - 1
    found = 0
    while rest != 0.0:
        found = ((found << 28) & MODULUS) | (found >> 33)
        rest, power = rest * 268435456.0, power - 28
        digits = int(rest)
        rest -= digits
        found += digits
        if found >= MODULUS:
            found -= MODULUS
    power = power % 61
    found = ((found << power) & MODULUS) | (found >> (61 - power))
    if x < 0.0:
        found = -found
    return -2 if found == -1 else found


def mixed(so_far: Any, hashed: Any) -> Any:
    """The hash of a tuple with one more item; all of it modulo 2**64."""
    so_far = so_far + hashed * np.uint64(14029467366897019727)
    so_far = (so_far << np.uint64(31)) | (so_far >> np.uint64(33))
    return so_far * np.uint64(11400714785074694791)


def finished(so_far: Any, count: Any) -> Any:
    """The hash of a tuple of `count` items."""
    found = (so_far + (np.uint64(count) ^ np.uint64(2870177450012600261 ^ 3527539))).astype(np.int64)
    return 1546275796 if found == -1 else int(found)


def hash_of_key(key: Any, kind: Any) -> Any:
    """The hash of a key; `kind` is "int", "float" or "tuple"."""
    if kind == "int":
        return hash_of_int(int(key[0]))
    if kind == "float":
        return hash_of_float(float(key[0]))
    so_far = np.uint64(2870177450012600261)
    for one in key:
        so_far = mixed(so_far, np.int64(hash_of_int(int(one))).astype(np.uint64))
    return finished(so_far, len(key))


def hash_at(keys: Any, place: Any, kind: Any) -> Any:
    """The hash of the key at a place."""
    if kind == "int":
        return hash_of_int(int(keys[0][place]))
    if kind == "float":
        return hash_of_float(float(keys[0][place]))
    so_far = np.uint64(2870177450012600261)
    for part in keys:
        so_far = mixed(so_far, np.int64(hash_of_int(int(part[place]))).astype(np.uint64))
    return finished(so_far, len(keys))


def is_key_at(keys: Any, place: Any, key: Any) -> Any:
    """Whether the key at a place is this one."""
    is_same = True
    for number, part in enumerate(keys):
        if part[place] != key[number]:
            is_same = False
    return is_same


# ---- sets -----------------------------------------------------------------------------------------------------


def empty_set(state: Any, head: Any) -> None:
    """No keys."""
    for k in range(LEAST):
        state[k] = FREE
    head[MASK], head[FILL], head[COUNT] = LEAST - 1, 0, 0
    head[CHANGES] += 1


def slot_of(keys: Any, state: Any, head: Any, key: Any, kind: Any) -> Any:
    """The slot of a key; where it is not in the set, -1 less the slot that it would get."""
    mask = head[MASK]
    perturb = hash_of_key(key, kind)
    i = perturb & mask
    gone = -1
    while True:
        last = i + 9 if i + 9 <= mask else i
        for slot in range(i, last + 1):
            if state[slot] == FREE:
                return -1 - (slot if gone < 0 else gone)
            if state[slot] == GONE and REUSES:
                gone = slot
            if state[slot] == USED and is_key_at(keys, slot, key):
                return slot
        perturb = (perturb >> 5) & LOW
        i = (i * 5 + 1 + perturb) & mask


def is_in_set(keys: Any, state: Any, head: Any, key: Any, kind: Any) -> Any:
    """Whether a key is in the set."""
    return slot_of(keys, state, head, key, kind) >= 0


def add_to_set(keys: Any, state: Any, head: Any, key: Any, kind: Any) -> None:
    """Put a key in, unless it is there."""
    slot = slot_of(keys, state, head, key, kind)
    if slot < 0:
        slot = -1 - slot
        is_fresh = state[slot] == FREE
        state[slot] = USED
        for number, part in enumerate(keys):
            part[slot] = key[number]
        head[COUNT] += 1
        head[CHANGES] += 1
        if is_fresh:
            head[FILL] += 1
        if is_fresh and head[FILL] * 5 >= head[MASK] * 3:
            resize_set(keys, state, head, kind, head[COUNT] * (2 if head[COUNT] > 50000 else 4))


def resize_set(keys: Any, state: Any, head: Any, kind: Any, wanted: Any) -> None:
    """A table for more than `wanted` keys; MemoryError where there is no room."""
    size = LEAST
    while size <= wanted:
        size *= 2
    if size > MOST:
        raise MemoryError("a set of this size does not fit")
    count, mask = head[COUNT], size - 1
    places, hashes = np.empty(count, np.int64), np.empty(count, np.int64)
    n = 0
    for slot in range(head[MASK] + 1):
        if state[slot] == USED:
            places[n], hashes[n] = slot, hash_at(keys, slot, kind)
            n += 1
    moved = np.empty(count, np.int64)
    for slot in range(size):
        state[slot] = FREE
    for n in range(count):
        perturb = hashes[n]
        i = perturb & mask
        found = -1
        while found < 0:
            last = i + 9 if i + 9 <= mask else i
            for slot in range(i, last + 1):
                if state[slot] == FREE:
                    found = slot
                    break
            perturb = (perturb >> 5) & LOW
            i = (i * 5 + 1 + perturb) & mask
        state[found] = USED
        moved[n] = found
    for part in keys:
        before = part[places]
        for n in range(count):
            part[moved[n]] = before[n]
    head[MASK], head[FILL] = mask, count


def discard_from_set(keys: Any, state: Any, head: Any, key: Any, kind: Any) -> Any:
    """Take a key out; whether it was there."""
    slot = slot_of(keys, state, head, key, kind)
    if slot >= 0:
        state[slot] = GONE
        head[COUNT] -= 1
        head[CHANGES] += 1
    return slot >= 0


def remove_from_set(keys: Any, state: Any, head: Any, key: Any, kind: Any) -> None:
    """Take a key out; KeyError where it is not there."""
    if not discard_from_set(keys, state, head, key, kind):
        raise KeyError("the key is not in the set")


def slot_to_pop(state: Any, head: Any) -> Any:
    """The slot of the key that `pop()` takes; KeyError where there is none."""
    if head[COUNT] == 0:
        raise KeyError("pop from an empty set")
    slot = head[FINGER] & head[MASK]
    while state[slot] != USED:
        slot = slot + 1 if slot < head[MASK] else 0
    state[slot] = GONE
    head[COUNT] -= 1
    head[CHANGES] += 1
    head[FINGER] = slot + 1
    return slot


def slots_in_order(state: Any, head: Any) -> Any:
    """The slots of the keys, in the order of the set."""
    found = np.empty(head[COUNT], np.int64)
    n = 0
    for slot in range(head[MASK] + 1):
        if state[slot] == USED:
            found[n] = slot
            n += 1
    return found


def copy_set(keys: Any, state: Any, head: Any, others: Any, kept: Any, other: Any) -> None:
    """Make a set another one, slot by slot."""
    for slot in range(other[MASK] + 1):
        state[slot] = kept[slot]
        for number, part in enumerate(keys):
            part[slot] = others[number][slot]
    for k in range(CHANGES):
        head[k] = other[k]
    head[CHANGES] += 1


# ---- dicts ----------------------------------------------------------------------------------------------------


def empty_dict(slots: Any, head: Any) -> None:
    """No entries."""
    for k in range(LEAST):
        slots[k] = -1
    head[MASK], head[FILL], head[COUNT] = LEAST - 1, 0, 0
    head[CHANGES] += 1


def entry_of(keys: Any, state: Any, slots: Any, head: Any, key: Any, kind: Any) -> Any:
    """The place of the entry with a key; where there is none, -1 less the free slot."""
    mask = head[MASK]
    perturb = hash_of_key(key, kind)
    i = perturb & mask
    while True:
        entry = int(slots[i])
        if entry < 0:
            return -1 - i
        if state[entry] == USED and is_key_at(keys, entry, key):
            return entry
        perturb = (perturb >> 5) & LOW
        i = (i * 5 + 1 + perturb) & mask


def is_in_dict(keys: Any, state: Any, slots: Any, head: Any, key: Any, kind: Any) -> Any:
    """Whether there is an entry with a key."""
    return entry_of(keys, state, slots, head, key, kind) >= 0


def known_entry(keys: Any, state: Any, slots: Any, head: Any, key: Any, kind: Any) -> Any:
    """The place of the entry with a key; KeyError where there is none."""
    entry = entry_of(keys, state, slots, head, key, kind)
    if entry < 0:
        raise KeyError("the key is not in the dict")
    return entry


def entry_for(keys: Any, values: Any, state: Any, slots: Any, head: Any, key: Any, kind: Any) -> Any:
    """The place of the entry with a key, a new one if need be; its value is to be written then."""
    entry = entry_of(keys, state, slots, head, key, kind)
    if entry < 0:
        if (head[FILL] + 1) * 3 > (head[MASK] + 1) * 2:
            rebuild_dict(keys, values, state, slots, head, kind)
            entry = entry_of(keys, state, slots, head, key, kind)
        slot, entry = -1 - entry, head[FILL]
        slots[slot] = entry
        state[entry] = USED
        for number, part in enumerate(keys):
            part[entry] = key[number]
        head[FILL] += 1
        head[COUNT] += 1
        head[CHANGES] += 1
    return entry


def rebuild_dict(keys: Any, values: Any, state: Any, slots: Any, head: Any, kind: Any) -> None:
    """A table four times as large as there are entries, without those that are gone."""
    size = LEAST
    while size < head[COUNT] * 4:
        size *= 2
    if size > MOST:
        raise MemoryError("a dict of this size does not fit")
    n = 0
    for entry in range(head[FILL]):
        if state[entry] == USED:
            for part in keys:
                part[n] = part[entry]
            for part in values:
                part[n] = part[entry]
            state[n] = USED
            n += 1
    for k in range(size):
        slots[k] = -1
    mask = size - 1
    for entry in range(n):
        perturb = hash_at(keys, entry, kind)
        i = perturb & mask
        while slots[i] >= 0:
            perturb = (perturb >> 5) & LOW
            i = (i * 5 + 1 + perturb) & mask
        slots[i] = entry
    head[MASK], head[FILL] = mask, n


def copy_dict(columns: Any, state: Any, slots: Any, head: Any, others: Any, kept: Any, places: Any, other: Any) -> None:
    """Make a dict another one, entry by entry."""
    for entry in range(other[FILL]):
        state[entry] = kept[entry]
        for number, part in enumerate(columns):
            part[entry] = others[number][entry]
    for slot in range(other[MASK] + 1):
        slots[slot] = places[slot]
    for k in range(CHANGES):
        head[k] = other[k]
    head[CHANGES] += 1


def delete_entry(state: Any, head: Any, entry: Any) -> None:
    """Take an entry out."""
    state[entry] = GONE
    head[COUNT] -= 1
    head[CHANGES] += 1


def entries_in_order(state: Any, head: Any) -> Any:
    """The places of the entries, in the order in which they came."""
    found = np.empty(head[COUNT], np.int64)
    n = 0
    for entry in range(head[FILL]):
        if state[entry] == USED:
            found[n] = entry
            n += 1
    return found


def check_unchanged(head: Any, changes: Any) -> None:
    """RuntimeError where keys came or went while a loop goes over them."""
    if head[CHANGES] != changes:
        raise RuntimeError("keys changed during iteration")


# ---- sets from sets ---------------------------------------------------------------------------------------------


def make_room(keys: Any, state: Any, head: Any, kind: Any, count: Any) -> None:
    """Room for `count` keys more, as CPython makes it before it takes them from a set or a dict."""
    if (head[FILL] + count) * 5 >= head[MASK] * 3:
        resize_set(keys, state, head, kind, (head[COUNT] + count) * 2)


def takes_layout(keys: Any, state: Any, head: Any, others: Any, kept: Any, other: Any) -> Any:
    """Whether an empty set becomes a copy of another one, slot by slot; then it is done."""
    if head[FILL] != 0 or head[MASK] != other[MASK] or other[FILL] != other[COUNT]:
        return False
    for slot in range(other[MASK] + 1):
        state[slot] = kept[slot]
        for number, part in enumerate(keys):
            part[slot] = others[number][slot]
    head[FILL], head[COUNT] = other[FILL], other[COUNT]
    head[CHANGES] += 1
    return True


def sweep(keys: Any, state: Any, head: Any, kind: Any) -> None:
    """A new table where more than a fourth of the slots are those of keys that are gone."""
    if head[FILL] - head[COUNT] > head[MASK] // 4:
        resize_set(keys, state, head, kind, head[COUNT] * (2 if head[COUNT] > 50000 else 4))
