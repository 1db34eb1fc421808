"""Looking for candidates while a kernel serves: in the spaces of its devices, a little at a time, as calls pay for
it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from loopwright.config import Config
from loopwright.ir.variant import Variant
from loopwright.specialisation import Specialisation
from loopwright.tuning.judge import judge_for
from loopwright.tuning.members import Members

EACH = 4
"""Candidates of a device that come of looking once: the most promising of those looked at so far."""

ENOUGH = 32
"""Members of a space that are looked at."""


class BackgroundSearch:
    """For the devices of one kernel. over: there is nothing more to look at."""

    def __init__(
        self,
        one: Specialisation,
        devices: Sequence[str],
        config: Config,
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        self._one, self._devices, self._config, self._clock = one, tuple(devices), config, clock
        self._members: dict[str, Members] = {}
        self._longest_ns = dict.fromkeys(devices, 0)
        self.over = False

    def more(self, arguments: tuple[object, ...], budget_ns: int) -> tuple[Variant, ...]:
        """The most promising of all that were looked at, after looking for so long. A member is begun only where it
        ends within the budget if it takes no longer than the longest before; to make the space may take longer."""
        end_ns, ended = self._clock() + budget_ns, 0
        found: list[Variant] = []
        for place, device in enumerate(self._devices):
            share_ns = (end_ns - self._clock()) // (len(self._devices) - place)
            ended += self._look(device, arguments, self._clock() + share_ns)
            threads = self._config.threads if device == "cpu" else 0
            best = self._members[device].pruned(lambda: True, EACH)
            found += [Variant(device, schedule, threads) for schedule in best.measure]
        self.over = ended == len(self._devices)
        return tuple(found)

    def _look(self, device: str, arguments: tuple[object, ...], end_ns: int) -> bool:
        """Whether there is nothing more to look at."""
        members = self._members.get(device)
        if members is None:
            judge = judge_for(self._one, device, self._config, arguments)
            members = self._members[device] = Members(self._one, device, self._config, judge)
        last_ns, is_spent = self._clock(), False

        def enough() -> bool:
            nonlocal last_ns, is_spent
            now = self._clock()
            self._longest_ns[device] = max(self._longest_ns[device], now - last_ns)
            last_ns, is_spent = now, now + self._longest_ns[device] > end_ns
            return is_spent or len(members.judged) >= ENOUGH

        members.pruned(enough, EACH)
        return not is_spent
