"""Named tuples that the code makes, passes on, compares and returns."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same


class Particle(NamedTuple):
    """A place and a speed."""

    place: float
    speed: float = 2.0


@dataclass
class Line:
    slope: float
    rest: np.ndarray
    ok: bool = True


@dataclass
class Checked:
    slope: float

    def __post_init__(self):
        self.slope = abs(self.slope)


def line(x):
    if len(x) < 2:
        return Line(np.float64(0.0), np.zeros(len(x)))
    first = Line(x.sum(), rest=x - x.mean(), ok=False)
    return Line(first.slope * 2, first.rest, len(x) > 2)


def checked(x):
    return Checked(x)


def test_dataclasses_are_made_and_returned():
    for n in range(4):
        found, wanted = lw.kernel(line)(np.arange(float(n))), line(np.arange(float(n)))
        assert (found.slope, found.ok, type(found)) == (wanted.slope, wanted.ok, Line)
        assert np.array_equal(found.rest, wanted.rest)
    assert "'Checked' is outside the language" in refusal(checked, -1.0)


@dataclass
class Lot:
    amount: float
    side: int


def in_lists(x):
    book = [Particle(0.5, 0.5)]
    lots = []
    for v in x:
        book.append(Particle(v, speed=v * 2.0))
        lots.append(Lot(v, int(v) % 2))
    total = np.float64(0)
    for p in book:
        total += p.place * p.speed
    book[0] = book[-1]._replace(speed=np.float64(9))
    book.sort(key=lambda p: -p.speed)
    last = book.pop()
    return total, book, book[1:], [p for p in book if p.place > 1], lots, last


def test_in_lists():
    for n in range(3, 0, -1):
        found, wanted = lw.kernel(in_lists)(np.arange(1.0, n)), in_lists(np.arange(1.0, n))
        assert found == wanted and [type(one) for one in found] == [type(one) for one in wanted]
        for ours, theirs in zip(found[1:5], wanted[1:5], strict=True):
            assert [type(one) for one in ours] == [type(one) for one in theirs]
    mixed = define("def f(x):\n    l = [P(x, x)]\n    l.append((x, x))\n    return len(l)\n", P=Particle)
    assert "of one class" in refusal(mixed, 1.0)


Span = namedtuple("Span", "low high")
REST = Particle(0.0, 0.0)


class Heavy(Particle):
    """A class that could do anything."""


def moved(particle, time):
    return Particle(particle.place + particle.speed * time, speed=particle.speed)


def fastest(places, time):
    best = REST
    for place in places:
        now = moved(Particle(place), time)
        if now.place > best.place:
            best = now
    return best, best == REST, best[0] - REST.place


def span_of(a):
    low, high = Span(a.min(), a.max())
    return Span(low, high), Span(a * 2.0, len(a))


def given_back(particle, a):
    place, _ = particle
    a[0] = place
    return particle


def in_a_list(a):
    return [Particle(a[0]).speed, Particle(1, 2).place]


def chosen(a):
    return (Particle(a[0]) if a[0] > 0 else Span(a[0], 2.0))[1]


CASES = [
    (fastest, np.array([1.0, 3.0, -2.0]), 0.5), (fastest, np.array([1.0]), 3.0), (span_of, np.array([4.0, -1.0])),
    (given_back, Particle(1.5, 3), np.zeros(1)), (in_a_list, np.ones(1)),
    (chosen, np.ones(1)), (chosen, -np.ones(1)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES[:3] + CASES[4:], ids=lambda case: case[0].__name__)
def test_as_in_python(case):
    function, *arguments = case
    same(function, *arguments)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_compiled(case):
    function, *arguments = case
    expected, found = function(*arguments), lw.kernel(function)(*arguments)
    assert type(found) is type(expected)
    assert repr(found).replace("np.float64", "float") == repr(expected).replace("np.float64", "float")


@dataclass
class Pixel:
    row: int
    light: float


@dataclass(order=True)
class Ordered:
    row: int


@dataclass(eq=False)
class Apart:
    row: int


def objects_in_lists(a):
    pixels = [Pixel(k, x) for k, x in enumerate(a)]
    rows = []
    for k in range(len(a)):
        row = []
        for x in a[:k]:
            row.append(Particle(x, k))
        rows.append(row)
    light = 0.0
    for pixel in pixels:
        light += pixel.light * pixel.row
    ordered = [Particle(-x) for x in a]
    ordered.sort()
    last = ordered.pop()
    return (
        pixels,
        pixels[1:],
        rows,
        light,
        ordered,
        last,
        [Particle(a[0])] * 2 + ordered,
        (last, 1, *last[:1]),
        last[1:],
    )


def compared(a):
    one, other = Pixel(0, a[0]), Pixel(0, a[1])
    among = Pixel(0, a[0]) in [one, other], other in (one, one)
    return one == other, one != other, one == (0, a[0]), one != Particle(0, a[0]), among, Ordered(1) < Ordered(2)


@pytest.mark.parametrize("function", [objects_in_lists, compared])
def test_objects_stay_of_their_class_in_lists_and_where_they_are_compared(function):
    for a in (np.array([3.0, -1.0, 2.0]), np.ones(2)):
        assert repr(lw.kernel(function)(a)) == repr(function(a))


@pytest.mark.parametrize(
    "statement",
    [
        "x, y = p", "p[0]", "[x for x in p]", "len(p)", "p + p", "1 in p", "max(p)", "np.array(p)", "p < p",
        "max(*p)", "sorted([p, p])", "{0: p}", "{p}", "Apart(0) == Apart(0)", "p == Apart(0)",
        "s = [p]; s.append(p); (0, 1.0) in s", "s = [p]; s.append(p); s.sort()", "s = [p]; s.append(Particle(1.0))",
    ],
)  # fmt: skip
def test_an_object_is_no_tuple(statement):
    text = f"def f(a):\n    p = Pixel(0, a[0])\n    {statement}\n    return p\n"
    function = define(text, Pixel=Pixel, Particle=Particle, Apart=Apart)
    assert "class" in refusal(function, np.ones(1))


Alias = namedtuple("Alias_", "x y")  # its module has it under another name


def test_a_class_is_found_by_the_name_that_its_module_gives_it():
    def made(a):
        return Alias(a[0], len(a))

    found = lw.kernel(made)(np.ones(2))
    assert type(found) is Alias and found == (1.0, 2)


def test_refused():
    def missing(a):
        return Span(a[0])

    def unknown(a):
        return Span(a[0], high=1.0, middle=2.0)

    def derived(a):
        return Heavy(a[0])

    def two_classes(a):
        x = Particle(a[0])
        for _ in range(2):
            x = Span(a[0], a[0])
        return x[0]

    def chosen_in_each(a):
        return [(Particle(1.0) if x > 0 else Span(1.0, 2.0))[0] for x in a]

    assert "chooses tuples of one class" in refusal(chosen_in_each, np.ones(1))
    local = namedtuple("local", "x")

    def not_found(a):
        return local(a[0])

    assert "'Span' needs a value for 'high'" in refusal(missing, np.ones(1))
    assert "no keyword 'middle'" in refusal(unknown, np.ones(1))
    assert "'Heavy' is outside the language" in refusal(derived, np.ones(1))
    assert "'x' is a tuple of another class elsewhere" in refusal(two_classes, np.ones(1))
    assert "its class is not found by its name" in refusal(not_found, np.ones(1))
