"""What every part is given: the device, the sizes, the time that there is, and the rows so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from benchmarks.choice.cases import Device, Size
from benchmarks.choice.rows import Book, Row
from loopwright.config import Config
from loopwright.ir.variant import Variant


@dataclass
class Bench:
    """One run. cores: how many processes may compile at once. budget_s: of each part. say: for people who
    watch. only: parts, or cases as `part/case`; all where it is empty."""

    book: Book
    device: Device
    size: Size
    budget_s: float
    cores: int
    config: Config
    say: Callable[[str], None]
    only: frozenset[str] = frozenset()
    _begun: float = field(default=0.0, init=False)
    _end: float = field(default=0.0, init=False)

    def wanted(self, part: str, case: str) -> bool:
        """Whether a row is asked for and missing."""
        if self.only and not self.only & {part, f"{part}/{case}"}:
            return False
        return not self.book.row(part, case).done

    def begin(self) -> None:
        """A part begins."""
        self._begun = time.monotonic()
        self._end = self._begun + self.budget_s

    def left_s(self) -> float:
        """What is left of the part's time."""
        return max(0.0, self._end - time.monotonic())

    def gone_s(self) -> float:
        """For how long the part has gone on."""
        return time.monotonic() - self._begun

    def spent(self) -> bool:
        return self.left_s() <= 0.0

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Inside, what is left ends when the part has gone on for so long, if not before."""
        before, self._end = self._end, min(self._end, self._begun + seconds)
        try:
            yield
        finally:
            self._end = before

    def variant(self, schedule: str) -> Variant:
        """On the device of the run."""
        return Variant(self.device, schedule, self.config.threads if self.device == "cpu" else 0)

    def kept(self, row: Row, measure: Callable[[Row], None]) -> None:
        """Measure a row, write it, and tell of it. What goes wrong is the row's fault; ctrl-C is not."""
        try:
            measure(row)
            row.done = True
        except Exception as error:
            row.fault = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:300]
        self.book.write()
        shown = ", ".join(f"{name} {_text(value)}" for name, value in row.values.items())
        self.say(f"{row.part}: {row.case}: {row.fault or shown}")


def _text(value: object) -> str:
    if isinstance(value, dict):
        return _text(value["median"]) if "median" in value else f"{len(value)}"
    if isinstance(value, list):
        return f"{len(value)}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
