"""Lists that a conditional expression chooses, against CPython."""

from __future__ import annotations

import ast

import numpy as np

from frontend.judge import same
from loopwright.frontend.rewritten import rewritten


def chosen(h, k):
    queue = [(0, 0)] if k > 1 else []
    values = [v * 2 for v in h] if k else [0.0 * h[0]]
    rest = [1.5] if k == 2 else list() if k else [2.5, 3.5]
    queue.append((k, k))
    while len(rest) < 4:
        rest += [0.5]
    return queue, values, sum(rest), len(queue)


def test_chosen_lists():
    for k in range(3):
        same(chosen, np.arange(3.0), k)


def test_what_needs_no_other_form_stays_as_it_is():
    plain, other = ast.parse("def f(x):\n    y = x if x else 1\ndef g(x):\n    y = [x] if x else []\n").body
    assert isinstance(plain, ast.FunctionDef) and isinstance(other, ast.FunctionDef)
    assert rewritten(plain) is plain
    assert rewritten(other) is rewritten(other) and isinstance(rewritten(other).body[0], ast.If)
    assert isinstance(other.body[0], ast.Assign)
