"""For files whose tests compile the same functions for a GPU again and again, and are not about the passes: these run
once for each function and kind of call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from loopwright import compiler


@contextmanager
def analysed_once() -> Iterator[None]:
    """In the block, what the passes made of a function for a GPU is kept, also for a call in parts."""
    analysed, in_parts = compiler.analysed, compiler.analysed_in_parts
    known: dict[object, Any] = {}

    def kept_analysed(source: Any, wanted: Any, outside: Any = None, **more: Any) -> Any:
        if outside is not None:  # on the CPU, where programs are remembered anyway
            return analysed(source, wanted, outside, **more)
        key = (source.function, source.code, wanted, *more.items())
        if key not in known:
            known[key] = analysed(source, wanted, **more)
        return known[key]

    def kept_in_parts(found: Any, wanted: Any) -> Any:
        key = (id(found), wanted)
        if key not in known:
            known[key] = found, in_parts(found, wanted)  # which keeps its identity its own
        return known[key][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "analysed", kept_analysed)
        patch.setattr(compiler, "analysed_in_parts", kept_in_parts)
        yield
