"""What Python's lists do with their elements, written in the language: a call is read as that of any helper.

A list of tuples is given as a tuple of arrays, one for each place; an element is then a tuple too.
"""

from __future__ import annotations

from typing import Any

from loopwright.frontend.sorting import _argsort, _sort_in_place


def sort_numbers(a: Any) -> None:
    """The numbers in order; NaN comes last."""
    n = len(a)
    if n > 16:
        _sort_in_place(a)
    else:
        for i in range(1, n):
            x = a[i]
            k = i
            while k > 0 and (x < a[k - 1] or (a[k - 1] != a[k - 1] and x == x)):
                a[k] = a[k - 1]
                k -= 1
            a[k] = x


def order_of(a: Any) -> Any:
    """Where the elements stand in order, equal ones as they are."""
    return _argsort(a)


def ordered_further(order: Any, a: Any) -> Any:
    """An order of elements, in order of `a` first."""
    return order[_argsort(a[order])]


def rearrange(a: Any, order: Any) -> None:
    """Each element to its place in an order."""
    moved = a[order]
    for k in range(len(a)):
        a[k] = moved[k]


def turn_around(a: Any) -> None:
    """The elements from last to first."""
    n = len(a)
    for k in range(n // 2):
        a[k], a[n - 1 - k] = a[n - 1 - k], a[k]


def are_equal(a: Any, b: Any) -> Any:
    """Whether two lists have equal numbers, in one order."""
    equal = len(a) == len(b)
    if equal:
        for i in range(len(a)):
            if a[i] != b[i]:
                equal = False
                break
    return equal


def place_to_insert(n: Any, index: Any) -> Any:
    """Where `list.insert(index, x)` puts x in a list of n elements."""
    return min(index, n) if index >= 0 else max(index + n, 0)


def smallest(x: Any) -> Any:
    """`min(x)` of tuples: the first one that no other is below."""
    if len(x) == 0:
        raise ValueError("min() arg is an empty sequence")
    best = x[0]
    for k in range(1, len(x)):
        if x[k] < best:
            best = x[k]
    return best


def largest(x: Any) -> Any:
    """`max(x)` of tuples."""
    if len(x) == 0:
        raise ValueError("max() arg is an empty sequence")
    best = x[0]
    for k in range(1, len(x)):
        if x[k] > best:
            best = x[k]
    return best


def smaller(x: Any, y: Any) -> Any:
    """`min(x, y)` of tuples."""
    return y if y < x else x


def larger(x: Any, y: Any) -> Any:
    """`max(x, y)` of tuples."""
    return y if y > x else x


def first_place(parts: Any, wanted: Any) -> Any:
    """Where the first element stands that equals `wanted`, or -1."""
    for k in range(len(parts[0])):
        is_same = True
        for number, part in enumerate(parts):
            if part[k] != wanted[number]:
                is_same = False
        if is_same:
            return k
    return -1


def known_place(parts: Any, wanted: Any) -> Any:
    """The same; ValueError where there is none."""
    place = first_place(parts, wanted)
    if place < 0:
        raise ValueError("x is not in the list")
    return place


def is_among(parts: Any, wanted: Any) -> Any:
    """Whether some element equals `wanted`."""
    return first_place(parts, wanted) >= 0


def first_row(numbers: Any, starts: Any, sizes: Any, elements: Any, wanted: Any) -> Any:
    """Where the first list stands, in a list of lists, that has the elements of `wanted`, or -1."""
    for k in range(len(numbers)):
        row = numbers[k]
        if sizes[row] == len(wanted):
            is_same = True
            for j in range(len(wanted)):
                if elements[starts[row] + j] != wanted[j]:
                    is_same = False
                    break
            if is_same:
                return k
    return -1


def known_row(numbers: Any, starts: Any, sizes: Any, elements: Any, wanted: Any) -> Any:
    """The same; ValueError where there is none."""
    place = first_row(numbers, starts, sizes, elements, wanted)
    if place < 0:
        raise ValueError("x is not in the list")
    return place


def is_row_among(numbers: Any, starts: Any, sizes: Any, elements: Any, wanted: Any) -> Any:
    """Whether some list in a list has the elements of `wanted`."""
    return first_row(numbers, starts, sizes, elements, wanted) >= 0


def times_among(parts: Any, wanted: Any) -> Any:
    """How many elements equal `wanted`."""
    count = 0
    for k in range(len(parts[0])):
        is_same = True
        for number, part in enumerate(parts):
            if part[k] != wanted[number]:
                is_same = False
        if is_same:
            count += 1
    return count
