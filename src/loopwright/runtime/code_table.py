"""The code of one kernel by the Compilation that it came from: each is compiled once, whoever asks."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.ir.variant import Compilation
from loopwright.runtime.compiled import Compile
from loopwright.runtime.in_use import How, Interpreted, InUse, refreshed
from loopwright.runtime.locks import Locks

MOST_VALUES = 8
"""For how many values of its captured constants a kernel keeps code, for one Compilation: a global counter that changes
at every call must not fill the memory."""


class CodeTable:
    """Safe under threads. compile: makes what is not there; no lock that other calls need is held meanwhile."""

    def __init__(self, compile: Compile, locks: Locks) -> None:
        self.compile, self._locks = compile, locks
        self._kept: dict[Compilation, list[InUse]] = {}

    def code(self, wanted: Compilation, how: How = "compiled") -> InUse:
        """The code whose constants still hold, compiled where there is none. Raises what `compile` does."""
        found = self._known(wanted)
        if found is None:
            with self._locks.making(wanted):
                found = self._known(wanted) or self._made(wanted, how)
        return found

    def _known(self, wanted: Compilation) -> InUse | None:
        with self._locks.tables:
            return next((one for one in self._kept.get(wanted, ()) if refreshed(one)), None)

    def _made(self, wanted: Compilation, how: How) -> InUse:
        compiled = self.compile(wanted)
        values = tuple(constant.value for constant in compiled.constants)
        how = "interpreter" if compiled.executable is None else how
        made = InUse(wanted, compiled, values, how, Interpreted(compiled))
        with self._locks.tables:
            kept = self._kept.setdefault(wanted, [])
            kept.append(made)
            del kept[:-MOST_VALUES]
        return made

    def holds(self, code: InUse) -> bool:
        """Whether its constants are as they were."""
        with self._locks.tables:
            return refreshed(code)

    def __iter__(self) -> Iterator[InUse]:
        """Everything that is kept, oldest Compilation first."""
        with self._locks.tables:
            return iter([one for kept in self._kept.values() for one in kept])

    def clear(self) -> None:
        """Forget all of it."""
        self._kept.clear()
