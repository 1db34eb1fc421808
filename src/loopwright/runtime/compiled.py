"""What the runtime is handed by whoever compiles: one `Compiled` for each Compilation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from loopwright.choice.base import Measured
from loopwright.devices.base import Returns
from loopwright.ir.captured import CapturedConstant
from loopwright.ir.variant import Compilation

if TYPE_CHECKING:
    from loopwright.memory.region_call import RegionProgram


class Compiled(Measured, Protocol):
    """A kernel made ready for one Signature.

    compilation: what it was made of: for a CPU where a GPU was asked for that cannot run it.
    results: from the arguments to (shape, dtype, fill) of each array the call allocates, or None where it
    allocates none; may raise. Arguments are always all of them, in order, NumPy arrays and scalars."""

    @property
    def compilation(self) -> Compilation: ...
    @property
    def takes_device_arrays(self) -> bool: ...
    @property
    def returns(self) -> Returns: ...
    @property
    def constants(self) -> Sequence[CapturedConstant]: ...
    @property
    def results(self) -> Callable[[Sequence[object]], Sequence[tuple[tuple[int, ...], Any, object]]] | None: ...

    def regions(self, device: str) -> RegionProgram | None:
        """Its parallel regions on a device; None where devices cannot share it. To be asked of that of a CPU."""

    def interpret(self, arguments: Sequence[object]) -> object:
        """Run by the slow reference, writing into the arrays, and return what the function returns."""

    def on_guard_failure(self, arguments: Sequence[object]) -> Exception | None:
        """Where the guard was false: the exception of a violation that is certain, or None where the call may
        still be right, so that it has to run with every access checked."""


Compile = Callable[[Compilation], Compiled]
