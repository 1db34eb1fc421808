"""What a planted fault is: one place of the package, another text for it, and why nothing would say so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """file: below `src/loopwright`; `before` stands there once, and `after` in its place is the fault. why: what would
    be wrong without a word. first: the tests that are most likely to notice, as arguments of pytest."""

    name: str
    file: str
    before: str
    after: str
    why: str
    first: tuple[str, ...]

    def planted(self, text: str) -> str:
        """The file's text with the fault. Raises ValueError where the place is not found, or not once."""
        if text.count(self.before) != 1:
            raise ValueError(f"{self.name}: {text.count(self.before)} places in {self.file}, not one")
        return text.replace(self.before, self.after)
