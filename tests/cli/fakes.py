"""Kernels that are not: what the commands see of a kernel, from hand-made facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from loopwright.analysis.facts import Facts
from loopwright.errors import KernelError, ScheduleError
from loopwright.ir.nodes import Kernel
from loopwright.report.explain import explain
from loopwright.report.explanation import Explanation
from loopwright.search.ranges import Ranges
from loopwright.search.space import Space, space_of
from report.made import GENERATED, RAN, made


@dataclass(frozen=True)
class FakeSpecialised:
    kernel: Kernel
    facts: Facts
    c_text: str = "void spread(void) {}"

    def space(self, ranges: Ranges | None) -> Space:
        return space_of(self.kernel, self.facts, False, "cpu")

    def scheduled(self, steps: str) -> FakeSpecialised:
        if "twist" in steps:
            raise ScheduleError("no step 'twist'", steps, steps.index("twist"))
        return replace(self, c_text=f"void spread_{steps}(void) {{}}")


@dataclass(frozen=True, eq=False)
class FakeKernel:
    name: str
    file: str
    line: int
    called: Sequence[FakeSpecialised] = ()
    asked: list[tuple[object, ...]] = field(default_factory=list)
    refuses: bool = False
    ranges: Ranges | None = None

    def explanations(self) -> Sequence[Explanation]:
        return [explain(one.kernel, one.facts, "parallelize k", GENERATED, RAN) for one in self.called]

    def specialisations(self) -> Sequence[FakeSpecialised]:
        return self.called

    def specialise(self, *arguments: object) -> FakeSpecialised:
        self.asked.append(arguments)
        if self.refuses:
            raise KernelError("this cannot be")
        return FakeSpecialised(*made(Path(self.file).parent))


def fake(folder: Path, name: str = "spread", line: int = 1, calls: int = 1) -> FakeKernel:
    """A kernel of `script.py` in this folder that was called with so many kinds of arguments."""
    return FakeKernel(name, str(folder / "script.py"), line, [FakeSpecialised(*made(folder))] * calls)


def recording(*kernels: FakeKernel) -> Callable[[], AbstractContextManager[list[FakeKernel]]]:
    """In place of the command's own `recording`: the script made these."""
    return lambda: nullcontext(list(kernels))
