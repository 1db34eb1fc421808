"""The calls that a program makes, kept so that they can be made again: one of each kind and shape, and how often."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from loopwright.config import Config
from loopwright.ir.signature import Shape, shape_of
from loopwright.memory.on_device import is_on_device
from loopwright.profile.features import row_features
from loopwright.runtime.dispatch import Prepared
from loopwright.specialisation import Specialisation
from loopwright.tuning.arguments import save, write
from loopwright.tuning.recorded_call import RecordedCall
from loopwright.tuning.work import row_pointers

MOST_BYTES = 1 << 33
"""Of all arguments that are kept on disk for one program."""


class Recording:
    """Give `of` to each kernel as its recorder. Arguments go to files in a folder."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._folder, self._left = folder, most_bytes
        self._pointers: dict[str, tuple[int, ...]] = {}
        self._calls: dict[tuple[str, Config, Shape], RecordedCall] = {}

    @property
    def calls(self) -> tuple[RecordedCall, ...]:
        """Those that ended well, the most expensive first."""
        found = [call for call in self._calls.values() if call.calls]
        return tuple(sorted(found, key=lambda call: -call.total_ns))

    @contextmanager
    def of(self, names: Sequence[str], written: Sequence[int], prepared: Prepared) -> Iterator[None]:
        """A call is made inside. Under `deterministic` it is not kept: no variant but the default one may serve it."""
        assert isinstance(prepared.compiled, Specialisation)
        if prepared.config.deterministic:
            yield
            return
        sizes = shape_of(prepared.arguments).sizes
        pointers = self._row_pointers(prepared.compiled)
        shape = Shape(sizes, row_features(prepared.arguments, pointers))
        config = replace(prepared.config, explore=True, store=None)  # on which no time depends
        key = prepared.compiled.fingerprint, config, shape
        call = self._calls.get(key)
        if call is None:
            saved = self._saved(prepared)
            call = RecordedCall(prepared.compiled, tuple(names), tuple(written), prepared.config, shape, saved)
            self._calls[key] = call
        started = time.perf_counter_ns()
        yield
        spent_ns = time.perf_counter_ns() - started
        call.min_ns = min(call.min_ns, spent_ns) if call.calls else spent_ns
        call.calls += 1

    def _row_pointers(self, one: Specialisation) -> tuple[int, ...]:
        found = self._pointers.get(one.fingerprint)
        if found is None:
            found = self._pointers[one.fingerprint] = row_pointers(one.analysed.written)
        return found

    def _saved(self, prepared: Prepared) -> Path | None:
        if any(map(is_on_device, prepared.arguments)) or prepared.signature.overlap:
            return None
        size = sum(one.nbytes for one in prepared.arguments if isinstance(one, np.ndarray))
        if size > self._left:
            return None
        path = self._folder / f"call{len(self._calls)}"
        try:
            write(save(prepared.arguments), path)
        except OSError:  # a full disk: this call cannot be tuned, the program goes on
            path.unlink(missing_ok=True)
            return None
        self._left -= size
        return path
