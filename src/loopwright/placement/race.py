"""Several devices make the same call, each on outputs of its own: the first that finishes wins, the others are stopped.

It owns who has won, and nothing that runs: the threads of the devices tell it what becomes of them, and ask whether to
go on. The rules (Dollinger 2015, 5.1.3):

- There is one winner at most. The thread that is told so, by `finished`, hands its outputs to the caller, and no other
  thread does: outputs are never mixed, however close the devices were.
- Outputs are the winner's only when all of it is done. Until then the caller's arrays are as they were.
- A loser that fails loses nothing. Where all devices fail, the first error is the call's.
- The call may return when there is a winner, and its arrays may be freed or changed when the race is `over`: not before
  each device has finished, failed, or noticed that it was to stop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Literal

State = Literal["running", "won", "lost", "stopped", "failed"]
"""lost: it finished, but later. stopped: it noticed in the middle that it had lost."""


class Race:
    """One call. devices: how many, or their names, for messages. Safe for threads. Raises ValueError without devices.

    Each method raises ValueError for a device that is not in the race, and RuntimeError where a device that has ended
    ends once more."""

    def __init__(self, devices: int | Sequence[str]) -> None:
        names = [f"device {k}" for k in range(devices)] if isinstance(devices, int) else list(devices)
        if not names:
            raise ValueError("a race has one device at least")
        self.devices = tuple(names)
        self._states: list[State] = ["running"] * len(names)
        self._errors: list[tuple[int, BaseException]] = []
        self._winner: int | None = None
        self._cancelled = False
        self._changed = threading.Condition()

    def finished(self, device: int) -> bool:
        """A device has done all of the call. True for the winner, to which the caller's outputs belong from now on, and
        for nobody else. Nobody wins after `cancel`."""
        with self._changed:
            wins = self._winner is None and not self._cancelled
            self._end(device, "won" if wins else "lost")
            if wins:
                self._winner = device
            return wins

    def stopped(self, device: int) -> None:
        """A device noticed that it was to stop, and has: what it wrote is worth nothing. Raises RuntimeError where
        nobody has told it to: a device that stops by itself would be missed as a winner."""
        with self._changed:
            self._check(device)
            if not self._over_for(device):
                raise RuntimeError(f"{self.devices[device]} stopped, and nobody has won: it has to run on, or fail")
            self._end(device, "stopped")

    def failed(self, device: int, error: BaseException) -> None:
        """A device cannot finish. Of no consequence while another one may."""
        with self._changed:
            self._end(device, "failed")
            self._errors.append((device, error))

    def should_stop(self, device: int) -> bool:
        """Whether a device works in vain: somebody else has won, or the call was given up. To be asked at the borders
        of chunks, and after each copy; it takes a comparison and no lock."""
        self._check(device)
        return self._over_for(device)

    def cancel(self) -> None:
        """Nobody is to win any more: the caller was interrupted. All devices are to stop; a winner stays one."""
        with self._changed:
            self._cancelled = True
            self._changed.notify_all()

    @property
    def winner(self) -> int | None:
        """Whose outputs are the call's; None while nobody has finished, and where all failed."""
        return self._winner

    @property
    def over(self) -> bool:
        """Whether no device runs any more."""
        with self._changed:
            return "running" not in self._states

    @property
    def states(self) -> tuple[State, ...]:
        """What has become of each device so far."""
        with self._changed:
            return tuple(self._states)

    @property
    def errors(self) -> tuple[tuple[int, BaseException], ...]:
        """Which devices failed and why, in the order in which they did: for reports, where somebody else has won."""
        with self._changed:
            return tuple(self._errors)

    def decided(self, timeout_s: float | None = None) -> bool:
        """Wait until there is a winner or no device runs any more. False where that did not happen in time."""
        with self._changed:
            return self._changed.wait_for(lambda: self._winner is not None or "running" not in self._states, timeout_s)

    def ended(self, timeout_s: float | None = None) -> bool:
        """Wait until no device runs any more. False where that did not happen in time."""
        with self._changed:
            return self._changed.wait_for(lambda: "running" not in self._states, timeout_s)

    def waited(self, until: Callable[[], bool], timeout_s: float | None = None) -> bool:
        """Wait until this holds, which is asked whenever a device has ended. False where it did not in time."""
        with self._changed:
            return self._changed.wait_for(until, timeout_s)

    def result(self) -> int:
        """The winner. Raises the first error where all devices failed, and RuntimeError while nobody has won and some
        device runs, or after `cancel`."""
        with self._changed:
            if self._winner is not None:
                return self._winner
            if "running" in self._states or not self._errors:
                raise RuntimeError("nobody has won this race" + (", it was given up" if self._cancelled else " yet"))
            raise self._errors[0][1]

    def __str__(self) -> str:
        with self._changed:
            return ", ".join(f"{name} {state}" for name, state in zip(self.devices, self._states, strict=True))

    def _check(self, device: int) -> None:
        if not 0 <= device < len(self.devices):
            raise ValueError(f"there is no device {device} among {len(self.devices)} in this race")

    def _over_for(self, device: int) -> bool:
        return self._cancelled or (self._winner is not None and self._winner != device)

    def _end(self, device: int, state: State) -> None:
        self._check(device)
        if self._states[device] != "running":
            raise RuntimeError(f"{self.devices[device]} has {self._states[device]} already, and has {state} again")
        self._states[device] = state
        self._changed.notify_all()
