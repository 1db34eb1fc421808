"""Looking for candidates while a kernel serves: in the spaces of its devices, a little at a time, as calls pay for
it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from loopwright.config import Config
from loopwright.profile.measurement import Variant
from loopwright.specialisation import Specialisation
from loopwright.tuning.judge import judge_for
from loopwright.tuning.members import Members

EACH = 4
"""Candidates of a device that come of looking once: the most promising of those looked at so far."""

ENOUGH = 32
"""Members of a space that are looked at."""


class Looking:
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
        self.over = False

    def more(self, arguments: tuple[object, ...], budget_ns: int) -> tuple[Variant, ...]:
        """The most promising after looking for so long, without what was told before being left out. A member that is
        likely not to be made within the budget, by the longest that one took so far, is not begun."""
        found: list[Variant] = []
        end, seen = self._clock() + budget_ns, 0
        for place, device in enumerate(self._devices):
            spent = _Spent(self._clock, self._clock() + (end - self._clock()) // (len(self._devices) - place))
            members = self._members.get(device)
            if members is None:
                judge = judge_for(self._one, device, self._config, arguments)
                members = self._members[device] = Members(self._one, device, self._config, judge)
            pruned = members.pruned(lambda: spent() or len(members.judged) >= ENOUGH, EACH)  # noqa: B023
            seen += not spent.over
            threads = self._config.threads if device == "cpu" else 0
            found += [Variant(device, schedule, threads) for schedule in pruned.measure]
        self.over = seen == len(self._devices)
        return tuple(found)


class _Spent:
    """Whether what is next is likely to end too late. It is asked before each; what was before the first counts as
    one."""

    def __init__(self, clock: Callable[[], int], end_ns: int) -> None:
        self._clock, self._end_ns = clock, end_ns
        self._last_ns, self._longest_ns = clock(), 0
        self.over = False

    def __call__(self) -> bool:
        now = self._clock()
        self._longest_ns = max(self._longest_ns, now - self._last_ns)
        self._last_ns = now
        self.over = now + self._longest_ns > self._end_ns
        return self.over
