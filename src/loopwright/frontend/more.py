"""NumPy's functions that fewer programs call, all together: what no other table has is looked for here."""

from __future__ import annotations

from typing import Any

from loopwright.frontend import arrangement, numerics

FUNCTIONS: dict[Any, Any] = {**arrangement.FUNCTIONS, **numerics.FUNCTIONS}
ELEMENTWISE = numerics.ELEMENTWISE
