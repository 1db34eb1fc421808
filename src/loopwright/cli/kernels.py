"""What the commands need of a kernel, the kernels that a script made, and finding one by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Protocol, TypeAlias

from loopwright.kernel import WATCHERS, LoopKernel

if TYPE_CHECKING:  # a command that only runs a script needs no compiler
    from loopwright.analysis.facts import Facts
    from loopwright.ir.nodes import Kernel
    from loopwright.report.explanation import Explanation
    from loopwright.report.irregular import IrregularReport
    from loopwright.search.ranges import Ranges
    from loopwright.search.space import Space


class Specialised(Protocol):
    """A kernel for one kind of call. c_text: the generated C, '' where none was generated. scheduled: the same after
    another schedule; raises ScheduleError."""

    @property
    def kernel(self) -> Kernel: ...
    @property
    def facts(self) -> Facts: ...
    @property
    def c_text(self) -> str: ...
    def scheduled(self, steps: str, /) -> Specialised: ...
    def space(self, ranges: Ranges | None, /) -> Space: ...


class Recorded(Protocol):
    """A decorated function. `specialise` prepares it for arguments of these types and runs nothing."""

    @property
    def name(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def ranges(self) -> Ranges | None: ...
    def explanations(self) -> Sequence[Explanation]: ...
    def specialisations(self) -> Sequence[Specialised]: ...
    def specialise(self, *arguments: object) -> Specialised: ...


Looked: TypeAlias = "tuple[Recorded, IrregularReport]"
"""A kernel, and what data decides in a call of it."""


@contextmanager
def recording() -> Iterator[list[Recorded]]:
    """A list of every kernel that is made inside the `with` block, which keeps them alive; sorted at its end."""
    kernels: list[Recorded] = []
    WATCHERS.append(kernels.append)
    try:
        yield kernels
    finally:
        WATCHERS.remove(kernels.append)
        kernels.sort(key=lambda kernel: (kernel.file, kernel.line))


@contextmanager
def looking_at_calls() -> Iterator[list[Looked]]:
    """A list of what data decides in calls of kernels that are made inside the `with` block, the first of each kind."""
    reports: list[Looked] = []

    def look(kernel: LoopKernel) -> None:
        kernel.look_at_calls(lambda report: reports.append((kernel, report)))

    WATCHERS.append(look)
    try:
        yield reports
    finally:
        WATCHERS.remove(look)


def named(kernels: Sequence[Recorded], name: str) -> list[Recorded]:
    """The kernels of this name; all of them where the name is empty."""
    return [kernel for kernel in kernels if name in ("", kernel.name)]


def where(kernel: Recorded) -> str:
    """`spread (script.py:12)`."""
    return f"{kernel.name} ({PurePath(kernel.file).name}:{kernel.line})"
