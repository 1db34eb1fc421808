"""The code of one kernel by the Compilation that it came from: each is compiled once, whoever asks."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.ir.variant import Compilation
from loopwright.runtime.compiled import Compile
from loopwright.runtime.in_use import CallCount, How, Interpreted, InUse, Run, refreshed, run_of, runs_of
from loopwright.runtime.locks import Locks

MOST_VALUES = 8
"""For how many values of its captured constants a kernel keeps code, for one Compilation: a global counter that changes
at every call must not fill the memory."""


class CodeTable:
    """Safe under threads. compile: makes what is not there; no lock that other calls need is held meanwhile."""

    def __init__(self, compile: Compile, locks: Locks) -> None:
        self.compile, self._locks = compile, locks
        self._kept: dict[Compilation, list[InUse]] = {}
        self._gone: dict[tuple[Compilation, How, int], CallCount] = {}

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
            for old in kept[:-MOST_VALUES]:
                self._note(old)
            del kept[:-MOST_VALUES]
        return made

    def _note(self, old: InUse) -> None:
        """Code that is not kept any more: what it has measured is."""
        for run in runs_of(old):
            self._gone.setdefault((run.compilation, run.how, run.threads), CallCount()).add(run)

    def holds(self, code: InUse) -> bool:
        """Whether its constants are as they were."""
        with self._locks.tables:
            return refreshed(code)

    def __iter__(self) -> Iterator[InUse]:
        """Everything that is kept, oldest Compilation first."""
        with self._locks.tables:
            return iter([one for kept in self._kept.values() for one in kept])

    def runs(self) -> list[Run]:
        """What has run, oldest Compilation first; last, what code has run that is not kept any more."""
        with self._locks.tables:
            found = [run for kept in self._kept.values() for one in kept for run in runs_of(one)]
            gone = [run_of(of, None, how, threads, tally) for (of, how, threads), tally in self._gone.items()]
            return found + gone

    def clear(self) -> None:
        """Forget all of it."""
        self._kept.clear()
        self._gone.clear()
