"""NumPy's functions that put elements into another order or place."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, same
from frontend.numpy_table import expressions, judge

EXPRESSIONS = """
np.argpartition(a, 3)[3]; np.partition(a, 3)[3]; np.take(a, p); np.take(a, 2); np.take(m, p2, axis=0)
np.take(m, p2, axis=1); np.take(m, 5); np.append(a, b); np.append(a, 3.0); np.append(m, m, axis=0); np.atleast_1d(x)
np.atleast_1d(a); np.atleast_2d(a); np.atleast_2d(m); np.atleast_3d(a); np.broadcast_to(a, (3, 7)).copy()
np.broadcast_to(x, (3, 2)).copy(); np.delete(a, 2); np.delete(a, p2); np.delete(a, [1, 3]); np.diag(a); np.diag(q)
np.diag(q, k=1); np.diag(a, k=-1); np.diagflat(a); np.diag_indices(3); np.diag_indices(0)[1]
np.dstack((m, m)); np.extract(a > 1, a); np.flip(a); np.flip(m)
np.flip(m, 0); np.flip(m, axis=1); np.fliplr(m); np.flipud(m); np.flipud(a); np.place(a, a > 1, b); np.put(a, p2, 9.0)
np.putmask(a, a > 1, 0.0); np.copyto(a, b); np.resize(a, 9); np.roll(a, 2); np.roll(a, -1); np.roll(m, 1, axis=0)
np.roll(m, -1, axis=1); np.roll(m, 3); np.rot90(m); np.rot90(m, 2); np.tile(a, 2); np.tile(m, (2, 1)); np.tile(m, 2)
np.tile(a, (2, 2)); np.tri(3); np.tri(3, 4, 1); np.tril_indices(3); np.triu_indices(3, 1); np.tril_indices_from(q)
np.triu_indices_from(q, k=1); np.trim_zeros(a); np.pad(a, 2); np.pad(a, (1, 2)); np.pad(m, 1)
np.pad(a, 2, mode='edge'); np.pad(a, 2, 'reflect'); np.pad(a, 2, 'wrap'); np.pad(a, (1, 2), constant_values=3.0)
np.pad(m, ((1, 0), (0, 2))); np.insert(a, 2, 9.0); np.roll(c3, 1, axis=2); np.flip(c3); np.pad(a, 2, 'symmetric')
np.rot90(m, k=3); np.take(c3, p2, axis=2); np.repeat(a, i); np.take_along_axis(a, p2, 0)
np.take_along_axis(m, np.argsort(m, axis=1), axis=1); np.take_along_axis(q, np.argmax(q, axis=0)[None], 0)
np.take_along_axis(m, p2[:, None], axis=-1); np.take_along_axis(m, p2[None], 1); np.take_along_axis(m, p2, axis=None)
np.take_along_axis(c3, np.argsort(c3, axis=1), 1); np.take_along_axis(c3[:, :1], p2[None, :, None], 2);
np.take_along_axis(c3[:1], p2[None, :, None], 1); np.take_along_axis(m[:1], p2[:, None], 1)
"""


@pytest.mark.parametrize("text", expressions(EXPRESSIONS))
def test_as_numpy(text):
    judge(text)


def test_several_places_of_a_partition():
    function = define("def f(a, k):\n    return np.partition(a, k)[k], a[np.argpartition(a, k)[k]]\n")
    for places in (np.array([0, 3]), np.array([2]), np.array([-1, 1]), 1):
        same(function, np.array([3.0, 1.0, 2.0, 5.0]), places)
    with pytest.raises(ValueError, match="kth is out of bounds"):
        lw.kernel(function)(np.arange(4.0), np.array([0, 4]))
