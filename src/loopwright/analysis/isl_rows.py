"""Rows of isl's schedules, as numbers: what each counts of the loops around a statement."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from loopwright.analysis import isl

Counts = dict[int, list[Fraction]]
"""For each statement: how often a row of a schedule counts each of its loops."""


def rows_of(schedule: isl.MultiUnionPwAff) -> list[isl.UnionPwAff]:
    """The rows, outermost first."""
    return [schedule.get_union_pw_aff(k) for k in range(schedule.dim(isl.dim_type.out))]


def coefficients(row: isl.UnionPwAff) -> Counts:
    """What a row counts; statements for which it has several pieces are left out."""
    found: Counts = {}

    def note(part: isl.PwAff) -> None:
        pieces = part.get_pieces()
        if len(pieces) == 1:
            some = pieces[0][1]
            count = some.dim(isl.dim_type.in_)
            numbers = [some.get_coefficient_val(isl.dim_type.in_, k) for k in range(count)]
            statement = int(part.get_tuple_id(isl.dim_type.in_).get_name()[1:])
            found[statement] = [Fraction(str(number)) for number in numbers]

    row.foreach_pw_aff(note)
    return found


def numbers_of(points: isl.UnionSet) -> list[int]:
    """The statements that have instances there, in the order of the text."""
    found: set[int] = set()
    points.foreach_set(lambda part: found.add(int(part.get_tuple_name()[1:])))
    return sorted(found)


def rank(rows: Sequence[Sequence[Fraction]]) -> int:
    """How many of the rows do not follow from others."""
    left = [list(row) for row in rows]
    found = 0
    for column in range(len(left[0]) if left else 0):
        pivot = next((k for k in range(found, len(left)) if left[k][column]), None)
        if pivot is None:
            continue
        left[found], left[pivot] = left[pivot], left[found]
        for k in range(found + 1, len(left)):
            factor = left[k][column] / left[found][column]
            left[k] = [a - factor * b for a, b in zip(left[k], left[found], strict=True)]
        found += 1
    return found
