"""Binding, against what CPython itself does and says."""

from __future__ import annotations

import pytest

from loopwright.runtime.bind import bind

DEFAULT = object()


def smooth(a, b, n=DEFAULT):
    return (a, b, n)


CALLS = [
    ((1, 2, 3), {}),
    ((1, 2), {}),
    ((1,), {"b": 2}),
    ((), {"n": 3, "b": 2, "a": 1}),
    ((), {}),
    ((1,), {}),
    ((1,), {"n": 3}),
    ((1, 2, 3, 4), {}),
    ((1, 2), {"a": 1}),
    ((1, 2), {"z": 1}),
    ((1, 2, 3), {"n": 3}),
]


@pytest.mark.parametrize(("args", "kwargs"), CALLS)
def test_as_python_does(args, kwargs):
    def ours() -> tuple[object, ...]:
        return bind("smooth", ("a", "b", "n"), {"n": DEFAULT}, args, kwargs)

    try:
        wanted = smooth(*args, **kwargs)
    except TypeError as error:
        with pytest.raises(TypeError) as caught:
            ours()
        # Python says "from 2 to 3 positional arguments" where there are defaults
        assert str(caught.value) == str(error).replace("from 2 to 3", "3")
    else:
        assert ours() == wanted


def test_three_missing_ones_are_listed_as_python_lists_them():
    with pytest.raises(TypeError, match=r"missing 3 required positional arguments: 'a', 'b', and 'c'$"):
        bind("f", ("a", "b", "c"), {}, (), {})
