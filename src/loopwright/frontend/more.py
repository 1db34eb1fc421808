"""NumPy's functions and Python's that fewer programs call, all together: what no other table has is looked for here."""

from __future__ import annotations

from typing import Any

from loopwright.frontend import (
    arrangement,
    decompositions,
    eigenvectors,
    further,
    gradients,
    numerics,
    python_library,
    read_only_views,
    sets,
)

FUNCTIONS: dict[Any, Any] = {
    **arrangement.FUNCTIONS, **numerics.FUNCTIONS, **sets.FUNCTIONS, **python_library.FUNCTIONS,
    **decompositions.FUNCTIONS, **eigenvectors.FUNCTIONS, **gradients.FUNCTIONS,
}  # fmt: skip
METHODS: dict[str, Any] = {**arrangement.METHODS, **numerics.METHODS}
ELEMENTWISE = numerics.ELEMENTWISE
HANDLERS: dict[Any, further.Handler] = {**further.HANDLERS, **read_only_views.HANDLERS}
method_of_ufunc, norm, repeat_each = further.method_of_ufunc, numerics.norm, arrangement.repeat_each
holds, numbers_of_range = sets.holds, sets.numbers_of_range
norm_of_singular_values = decompositions.norm_of_singular_values
