"""C identifiers for the names of a kernel. Every name gets a trailing `_`, so that none is C's or the library's."""

from __future__ import annotations

import re


class Names:
    """A one-to-one map from IR names to C identifiers: `i.o` -> `i_o_`, unicode letters as their code points."""

    def __init__(self) -> None:
        self._by_name: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, name: str) -> str:
        """The identifier of an IR name, always the same one."""
        if name not in self._by_name:
            plain = re.sub(r"[^A-Za-z0-9_]", lambda found: _spelled(found.group()), name)
            plain = plain if plain[0].isalpha() and not plain.startswith("lw_") else "v" + plain
            self._by_name[name] = self.fresh(plain + "_")
        return self._by_name[name]

    def fresh(self, wanted: str) -> str:
        """An identifier that nothing else has: `wanted`, or with a number behind it."""
        candidate, count = wanted, 1
        while candidate in self._taken:
            count += 1
            candidate = f"{wanted}{count}"
        self._taken.add(candidate)
        return candidate


def _spelled(letter: str) -> str:
    return "_" if letter == "." else f"u{ord(letter):x}"
