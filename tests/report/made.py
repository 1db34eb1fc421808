"""One kernel and its facts, made by hand, with something of everything that a report has to say."""

from __future__ import annotations

from pathlib import Path

from loopwright.analysis.facts import AccessFacts, Bounds, Condition, Conflict, Facts, LoopFacts, Reduction, SizeGuard
from loopwright.ir.nodes import (
    Allocate,
    ArrayParam,
    Assign,
    Binary,
    Compare,
    Const,
    Dim,
    For,
    Kernel,
    Load,
    Location,
    ResultArray,
    ScalarParam,
    Store,
    Var,
    While,
)
from loopwright.ir.types import FLOAT64, INT32, INT64
from loopwright.ir.walk import expressions, statements
from loopwright.report.explanation import CodeRan, Generated, Ran, ServedBy

SOURCE = """\
def spread(a, col, hist, n):
    out = np.zeros(len(a))
    w = np.empty(3)
    for t in range(n):
        a[t + 1] = a[t]
    for k in range(len(col)):
        hist[col[k]] += 1
        total += a[k]
    while total > 1.0:
        total = total * 0.5
    return out
"""

GENERATED = Generated(
    120,
    "/cache/spread.c",
    0.0625,
    False,
    "gcc 12.2.0",
    (("k", "shares: pieces of equal length, for the next free thread"),),
)
TIMES = (3, 1_500_000, 1_250_000, 4_000_000)
RAN = Ran("cpu", *TIMES, 2, (CodeRan("", "cpu", 2, *TIMES),))
SERVED_BY = ServedBy("cpu", 2)


ONE, ZERO = Const(1, INT64), Const(0, INT64)
GUARD = SizeGuard((Condition("n + 1 <= a0", (("n", "a0"),)),), "n + 1 <= a.shape[0]", ())
PROVEN = Bounds("proven", condition="n + 1 <= a.shape[0]", certain=True)
CHECKED = Bounds("checked", reason="the index col[k] is read from an array")
BOUNDS = {"a[t]": PROVEN, "a[t + 1]": PROVEN, "a[k]": CHECKED, "col[k]": Bounds("proven"), "hist[col[k]]": CHECKED}


def made(folder: Path) -> tuple[Kernel, Facts]:
    """The kernel (its source written to a file of the folder) and what an analysis could say of it."""
    path = folder / "spread.py"
    path.write_text(SOURCE, encoding="utf-8")
    kernel = _kernel(str(path))
    return kernel, _facts(kernel)


def _at(file: str, line: int, text: str) -> Location:
    column = SOURCE.splitlines()[line - 1].index(text)
    return Location(file, line, column, column + len(text))


def _kernel(file: str) -> Kernel:
    t, k, total = Var("t", INT64), Var("k", INT64), Var("total", FLOAT64)
    step = Store(
        "a", (Binary("add", t, ONE),), Load("a", (t,), FLOAT64, at=_at(file, 5, "a[t]")), at=_at(file, 5, "a[t + 1]")
    )
    col = Load("col", (k,), INT32, at=_at(file, 7, "col[k]"))
    hist = _at(file, 7, "hist[col[k]]")
    count = Store("hist", (col,), Binary("add", Load("hist", (col,), INT64, at=hist), ONE), at=hist)
    add = Assign("total", Binary("add", total, Load("a", (k,), FLOAT64, at=_at(file, 8, "a[k]"))))
    halve = Assign("total", Binary("mul", total, Const(0.5, FLOAT64)))
    until = Compare("gt", total, Const(1.0, FLOAT64))
    return Kernel(
        "spread",
        (
            ArrayParam("a", FLOAT64, 0, 1),
            ArrayParam("col", INT32, 1, 1, "strided"),
            ArrayParam("hist", INT64, 2, 1),
            ScalarParam("n", INT64, 3),
        ),
        (
            Allocate("w", FLOAT64, (Const(3, INT64),), None),
            For("t", ZERO, Var("n", INT64), ONE, (step,), at=_at(file, 4, "for t")),
            For("k", ZERO, Dim("col", 0), ONE, (count, add), run="parallel", at=_at(file, 6, "for k")),
            While("while.1", until, (halve,), at=_at(file, 9, "while")),
        ),
        (ResultArray("out", FLOAT64, (Dim("a", 0),), Const(0.0, FLOAT64)),),
        file=file,
        line=1,
    )


def _facts(kernel: Kernel) -> Facts:
    nodes = [e for e in expressions(kernel.body) if isinstance(e, Load)]
    nodes += [s for s in statements(kernel.body) if isinstance(s, Store)]
    by_text = {(_text(node), isinstance(node, Store)): node for node in nodes}
    conflict = Conflict("a", "RAW", "a[t + 1]", "a[t]", by_text["a[t + 1]", True].at, by_text["a[t]", False].at, "1")
    sums = (Reduction("hist", "add", "scatter", True), Reduction("total", "add", "scalar", False))
    unknown = "how often a while loop runs is known only at its end"
    strides = {"a": "1", "col": "1", "hist": ""}
    return Facts(
        loops={
            "t": LoopFacts("t", "sequential", "each iteration needs the one before", conflict=conflict, trip_count="n"),
            "k": LoopFacts("k", "reduction", "only sums cross iterations", private=("x", "w"), reductions=sums),
            "while.1": LoopFacts("while.1", "undecided", unknown),
        },
        accesses=tuple(
            AccessFacts(
                node.array,
                text,
                write,
                ("indirect" if node.array == "hist" else "affine",),
                strides[node.array],
                node.at,
            )
            for (text, write), node in sorted(by_text.items())
        ),
        guard=GUARD,
        bounds={id(node): (BOUNDS[_text(node)],) for node in nodes},
    )


def _text(node: Load | Store) -> str:
    assert node.at is not None
    return SOURCE.splitlines()[node.at.line - 1][node.at.column : node.at.end_column]
