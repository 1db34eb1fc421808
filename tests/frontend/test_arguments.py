"""Wrong calls of functions that the language knows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from frontend.judge import define, refusal

WRONG = {
    "abs()": "abs() takes 1 argument here, and is given 0",
    "math.atan2(1.0)": "atan2() takes 2 arguments here, and is given 1",
    "math.log(1, 2, 3)": "log() takes 1 to 2 arguments here, and is given 3",
    "np.zeros(3, float, 'C', 4)[0]": "zeros() takes 0 to 3 arguments here, and is given 4",
    "np.zeros(3, like=a)[0]": "zeros() has no keyword 'like' here",
    "np.zeros()[0]": "np.zeros() needs a shape",
    "np.full(3)[0]": "np.full() needs a shape and a value",
    "np.full_like(a)[0]": "np.full_like() needs a value",
    "np.zeros_like(3)[0]": "np.zeros_like() needs an array",
    "np.maximum(1, 2, 3)": "maximum() takes 2 arguments here, and is given 3",
    "np.sqrt(1.0, out=a)": "sqrt() has no keyword 'out' here",
    "math.sqrt(a)": "sqrt() takes numbers here",
    "len(3)": "len() takes an array or a tuple here",
    "a[0].astype()": "astype() takes 1 argument here, and is given 0",
    "(1.5).item()": "Python's numbers have no such method",
    "float('x')": "could not convert string to float",
    "int(1e400)": "cannot convert float infinity to integer",
    "np.float32(1, 2)": "float32() takes 0 to 1 argument here, and is given 2",
}


@pytest.mark.parametrize("expression", WRONG)
def test_messages(expression):
    function = define(f"def f(a):\n    return {expression}\n", math=math)
    assert WRONG[expression] in refusal(function, np.zeros(3))
