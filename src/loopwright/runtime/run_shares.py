"""Running a plan of several shares: which of them starts when, and what happens to the others where one fails. Today
they are on one GPU, one after the other, while copies for the next one and of the one before go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

from loopwright.errors import DeviceError
from loopwright.ir.plan import Plan
from loopwright.ir.variant import Variant
from loopwright.memory.gpu_call import BoundsLeft, NoRoom
from loopwright.memory.gpu_shares import shares_on_gpu
from loopwright.memory.offload import OffloadCall
from loopwright.memory.parts import Divider, PartedCall, moved_bytes


class MadeOnGpu(NamedTuple):
    """Makes calls of a variant. names: of the parameters."""

    variant: Variant
    names: Sequence[str]

    def __call__(self, call: OffloadCall) -> bool:
        """Make one as a whole, in shares whose copies overlap with kernels, or in shares that fit the GPU's memory;
        whether the GPU is done with it. Raises NoRoom, and nothing is done."""
        moved = moved_bytes((*call.arguments, *call.fresh), call.parts)
        divider = Divider(call.entry.payload, self.variant, self.names, call.arguments, call.fresh, moved)
        try:
            found = divider.overlapping()
            if found is None:
                return call.at_once()
            _in_shares(call, *found, in_windows=False)
        except NoRoom as full:
            found = divider.fitting()
            if found is None:
                raise
            try:
                _in_shares(call, *found, in_windows=True)
            except NoRoom:  # somebody has taken what was free
                raise full from None
        return True


def _in_shares(call: OffloadCall, parted: PartedCall, plan: Plan, in_windows: bool) -> None:
    module = parted.found.executable.module
    late_ns = module.late_ns
    try:
        run_shares(plan, parted, call.entry.threads, in_windows)
    finally:
        call.entry.late_in_parts_ns += module.late_ns - late_ns


def run_shares(plan: Plan, call: PartedCall, threads: int, in_windows: bool) -> None:
    """Make a call in shares. in_windows: memory is for two of them. Where one fails, what those before have written is
    the caller's, and later ones do not begin. Raises what a call raises, and NoRoom, with nothing done."""
    with shares_on_gpu(call, plan.shares, threads, in_windows) as device:
        bringing: list[Future[None]] = []
        with ThreadPoolExecutor(1) as behind:
            try:
                for share in plan.shares:
                    if in_windows and len(bringing) > 1:
                        bringing[-2].result()
                    bringing.append(behind.submit(device.finish, device.start(share)))
                for one in bringing:
                    one.result()
            except (BoundsLeft, DeviceError):
                raise
            except BaseException:  # a signal, in the main thread: kernels end before who waits for them
                device.gpu.stop()
                raise
