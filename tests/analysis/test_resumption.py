"""A walk goes on from inside of loops and branches that changed behind that place, and says what one from the beginning
does; where a change has to do with what stands before it, it begins earlier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from analysis.small import kernel
from analysis.test_trace import HEAD, ask_more, told
from loopwright.analysis import resumption
from loopwright.analysis.effort import together
from loopwright.analysis.resumption import begun_by, walks_from
from loopwright.analysis.trace import trace
from loopwright.ir.nodes import Assign, Body, Break, Const, For, If, Kernel, Stmt, Store
from loopwright.ir.types import INT64
from loopwright.ir.walk import bodies, statements, with_bodies

TEXT = """
    m = n * 2
    c = 0
    for t in range(n):
        for i in range(m):
            a[i] = b[c] + 1.0
        if m > 4 and a[0] > 1.0:
            for j in range(4, m):
                b[j] = a[j - 4]
            m = m - 1
            for k in range(n):
                for l in range(k, n):
                    a[l] = b[m + k]
        else:
            for p in range(n):
                s = a[p] * 0.5
                b[p] = s
            for q in range(m):
                a[q] = b[q // 2]
        for u in range(n):
            b[u] = a[u]
            if a[u] > 2.0:
                b[0] = 1.0
        c = c + 1
    for v in range(m):
        b[v] = a[v]
"""


@pytest.fixture(autouse=True)
def many_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resumption, "APART", 1)


def variants(whole: Kernel, change: Callable[[Stmt], Body | None]) -> Iterator[Kernel]:
    """Kernels that differ in one statement each."""
    for one in statements(whole.body):
        if (new := change(one)) is not None:
            yield replace(whole, body=_instead(whole.body, one, new))


def _instead(body: Body, old: Stmt, new: Body) -> Body:
    found: list[Stmt] = []
    for one in body:
        if one is old:
            found += new
        elif any(inner is old for part in bodies(one) for inner in statements(part)):
            found.append(with_bodies(one, tuple(_instead(part, old, new) for part in bodies(one))))
        else:
            found.append(one)
    return tuple(found)


def again(stmt: Stmt) -> Body | None:
    """The same statement once more, which is another one, and a copy of it behind."""
    return (replace(stmt), replace(stmt)) if isinstance(stmt, Store) else None


def ended(stmt: Stmt) -> Body | None:
    return (replace(stmt, body=(*stmt.body, Break(stmt.name))),) if isinstance(stmt, For) else None


def assigned(stmt: Stmt) -> Body | None:
    return (replace(stmt, value=Const(-3, INT64)),) if isinstance(stmt, Assign) and stmt.value.type == INT64 else None


def without(stmt: Stmt) -> Body | None:
    return () if not isinstance(stmt, If) else (stmt.then or stmt.otherwise)[:1]


def shorter(stmt: Stmt) -> Body | None:
    return (replace(stmt, upper=stmt.step),) if isinstance(stmt, For) else None


def test_walks_go_on_inside_of_what_changed() -> None:
    whole = kernel(HEAD + TEXT)
    asked = [whole, *(one for change in (again, ended, assigned, without, shorter) for one in variants(whole, change))]
    alone = [told(trace(one)) for one in asked]
    with together():
        for one, expected in zip(asked, alone, strict=True):
            for _ in range(2):
                found = trace(one)
                assert told(found) == expected
            ask_more(one, found)


def test_how_far_a_walk_need_not_go() -> None:
    whole = kernel(HEAD + TEXT)
    last = list(variants(whole, again))[-3:]  # in the last loop over time but one, and behind it
    with together():
        count = len(trace(whole).values)
        begun = [begun_by(walks_from(one), one.body) for one in last]
        progress = [0 if one is None else one.marks[-1].progress for one in begun]
    assert count // 2 < progress[0] <= progress[1] < progress[2] < count
    with together():
        trace(whole)
        (stopped,) = variants(whole, lambda stmt: ended(stmt) if isinstance(stmt, For) and stmt.name == "t" else None)
        assert (
            begun_by(walks_from(stopped), stopped.body) is None
        )  # whether a loop ends early counts from its beginning
