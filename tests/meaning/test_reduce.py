"""The reducer: it takes out what does not matter, and the failure stays."""

from __future__ import annotations

from .arguments import Cells, Numbers
from .judge import function_of, run
from .programs import Program
from .reduce import reduced

SOURCE = """
import numpy as np

def limited(x):
    return min(x, 3)

def kernel(a, b, n):
    total = 0
    for i in range(len(a)):
        if a[i] > 100:
            total += limited(i)
        else:
            b[0] = (a[i] + n) * 2 - len(b)
    while n > 0:
        n -= 1
        b[1] = 7 if n > 2 else b[n + 20]
    return total
"""


def test_only_the_cause_is_left() -> None:
    call = (Cells("a", "int64", (3,)), Cells("b", "int64", (4,)), Numbers("n", "2"))

    def fails(program: Program) -> bool:
        try:
            function = function_of(program.source)
        except SyntaxError:
            return False
        return any(isinstance(run(function, one).error, IndexError) for one in program.calls)

    program = Program(SOURCE, (call, call), frozenset(), exact=True)
    assert fails(program)
    small = reduced(program, fails)
    assert fails(small) and len(small.calls) == 1 and len(small.calls[0]) == 1
    body = small.source[small.source.index("def kernel") :]
    assert "limited" not in body and "for" not in body and "while" not in body and body.count("\n") <= 2, body
