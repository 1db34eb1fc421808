"""Running a plan of several shares: which of them starts when, and what happens to the others where one fails. Today
they are on one GPU, one after the other, while copies for the next one and of the one before go on.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

from loopwright.errors import DeviceError
from loopwright.ir.plan import Plan
from loopwright.memory.gpu_call import BoundsLeft
from loopwright.memory.gpu_shares import shares_on_gpu
from loopwright.memory.parts import PartedCall


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
