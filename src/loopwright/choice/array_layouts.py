"""Whether an array that stays on a GPU is kept in planes between calls: what is known of each kind of call (`CallKind`)
and what each array has been used for (`ArrayUses`), under the option `layout="auto"`.

How it decides. A kind of call of which little of the moved bytes is used is tried in planes once its calls have taken
so long that the trial costs little of it: some calls with records and some with planes, each timed the same way (Leo;
Farooqui and others, 2014, section 3.3). From then on both times are known, and every array keeps account of what each
layout would have cost since it was converted last: it is converted when, in hindsight, that would have paid (ski
rental: Karlin and others, 1988). A kind of call that has gained more than a conversion costs may bet that on a new
array: it is expected to be used as often as those before it, and converted before its first use, or not at all. What
conversions may lose, against never converting, is a fiftieth of the time of all calls.

Pure logic: no clock, no arrays. Times in nanoseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any, Literal

LEAST_SAVED = 0.1
"""Part of the time that planes are taken to save where all of the moved bytes are used: threads ask for one field after
the other, each of which is spread over many sectors."""
LOOK_NS = 100_000_000
"""How long calls have taken before anybody looks at what they use: that takes some milliseconds."""
MAKING_NS = 500_000_000
"""What it takes to make the code for planes, and the conversions."""
LOADING_NS = 80_000_000
"""What it takes to load code for planes that was made before."""
FRESH_NS = 200_000
"""What filling the planes of an array takes the first time, beside copying: memory, and calls that repeat no other."""
TRIAL_SHARE = 0.02
"""Of the time of calls, what conversions for a trial may cost."""
BET_SHARE = 0.02
"""Of the time of calls, what conversions that did not pay may cost."""
LEAST_GAIN = 0.03
"""Part of the time that has to be gained."""
LEAST_NS = 20_000
"""Calls that take less are over before anything matters but starting them."""
TIMED = 3
"""Calls of each kind that a trial times."""
FIRST = 2
"""Calls before any is timed: they may wait for compilers."""
DRIFTED = 1.25
"""A call that takes so many times what it did has changed, or one over that."""
EARLIER, LEAST_EARLIER = 6, 3
"""Arrays that are remembered for how often such calls use one, and how many there have to be."""
SEVERAL = 64
"""After so many calls not each of them is looked at before anything is known."""
NEAR = 1.1
"""Planes that others have filled may take so many times as long."""
USUAL_USES = 64
"""So many uses count for what one gains on average."""
LIKELY = 1.25
"""What is expected has to be so many times the price."""
OFTEN = 1024
"""No more calls are between two that are timed."""

Phase = Literal["new", "recalled", "counted", "records", "planes", "known", "follows", "over"]


@dataclass(frozen=True, slots=True)
class PlaneUse:
    """What a kernel does with an array that could be in planes. fields: that it uses; written: of these; saved: part of
    the bytes moved for them that planes are predicted to save. fits: whether planes are predicted to be no loss."""

    position: int
    fields: tuple[str, ...]
    written: tuple[str, ...]
    saved: float
    fits: bool = True


@dataclass(slots=True)
class CallKind:
    """Calls of one kernel with arrays of certain types and sizes. uses: of the arrays that could be in planes. A kind
    that `follows` gains nothing by planes, but runs on those that other kernels have filled, instead of having them
    written back."""

    uses: Sequence[PlaneUse] = ()
    phase: Phase = "new"
    calls: int = 0
    records_ns: float = 0.0
    planes_ns: float = 0.0
    spent_ns: float = 0.0
    in_ns: dict[int, float] = field(default_factory=dict)
    """What filling the planes of each array costs, by its position, as measured."""
    written_ns: dict[int, float] = field(default_factory=dict)
    """What writing back those that are written costs."""
    is_made: bool = False
    """Whether there is code for planes."""
    won_ns: float = 0.0
    """What planes have gained so far, less conversions."""
    total_ns: float = 0.0
    """Of all calls, as measured on some."""
    why: str = ""
    _accounts: list[ArrayUses] = field(default_factory=list)
    """Of the last arrays."""
    _uses: int = 0
    _net_ns: float = 0.0
    _times: list[float] = field(default_factory=list)
    _next: int = FIRST
    _alarms: int = 0
    _patience: float = 1.0
    _terms: tuple[tuple[PlaneUse, float, float, float], ...] | None = None

    @property
    def due(self) -> bool:
        """Whether somebody should look at what such calls use."""
        return self.phase == "new" and self.spent_ns >= LOOK_NS

    def inspected(self, uses: Sequence[PlaneUse]) -> None:
        """That is what they use."""
        fits = [one for one in uses if one.fits]
        self._terms = None
        self.uses = tuple(replace(one, saved=max(one.saved, LEAST_SAVED)) for one in fits)
        if not self.uses:
            self.phase, self.why = "over", "data decides which parts of its arrays it uses, or it goes along them"
        elif self.records_ns < LEAST_NS:
            self.phase, self.spent_ns = "follows", 0.0
            self.why = f"its calls take {_us(self.records_ns)}, too little to gain anything"
        else:
            self.phase = "counted"

    def content(self) -> dict[str, Any]:
        """What a later process may start from, as JSON can say it."""
        uses = [[one.position, one.fields, one.written, one.saved] for one in self.uses]
        prices = [[self.in_ns.get(one.position, 0.0), self.back_ns(one)] for one in self.uses]
        return {"uses": uses, "prices": prices, "records_ns": self.records_ns, "planes_ns": self.planes_ns}

    def recall(self, content: Any) -> None:
        """Start from what another process has found. Raises where that is something else (KeyError, TypeError,
        ValueError)."""
        uses = [
            PlaneUse(int(position), tuple(map(str, fields)), tuple(map(str, written)), float(saved))
            for position, fields, written, saved in content["uses"]
        ]
        prices = [(float(in_ns), float(back_ns)) for in_ns, back_ns in content["prices"]]
        records_ns, planes_ns = float(content["records_ns"]), float(content["planes_ns"])
        if not uses or not 0.0 < planes_ns < (1.0 - LEAST_GAIN) * records_ns or not all(one.fields for one in uses):
            return
        self.uses, self.records_ns, self.planes_ns, self._terms = uses, records_ns, planes_ns, None
        for one, (in_ns, back_ns) in zip(uses, prices, strict=True):
            self.in_ns[one.position], self.written_ns[one.position] = in_ns, back_ns
        self.phase = "recalled"
        self.why = f"measured {_us(planes_ns)} in planes, {_us(records_ns)} with records, by an earlier process"

    @property
    def follows(self) -> bool:
        """Whether such calls run on planes that others have filled."""
        was_tried = self.phase == "counted" and 0.0 < self.planes_ns <= NEAR * self.records_ns
        return self.phase == "follows" or was_tried

    @property
    def could_follow(self) -> bool:
        """Whether such calls would run on planes if there were some."""
        return self.phase == "known" or (self.follows and self.is_made)

    def is_meant(self, in_planes: bool) -> bool:
        """Whether the time of such a call counts."""
        return self.phase == "known" or in_planes == (self.phase in ("planes", "follows"))

    def avoids(self, price_ns: float) -> bool:
        """A call that follows finds its arrays in planes, and to write them back and fill them again costs so much:
        whether there should be code for planes."""
        self.spent_ns += price_ns
        return self.is_made or self.spent_ns >= MAKING_NS

    @property
    def timed(self) -> bool:
        """Whether the next call is timed."""
        if self.phase in ("records", "planes"):
            return True
        if self.phase == "follows":
            return self.is_made and len(self._times) <= TIMED
        return self.phase not in ("over", "recalled") and self.calls >= self._next

    @property
    def saved(self) -> float:
        """The part of the time that planes are predicted to save."""
        return max((one.saved for one in self.uses), default=0.0)

    def gain_ns(self) -> float:
        """Of a call in planes, against one with records; negative where that is slower."""
        return self.records_ns - self.planes_ns if self.phase == "known" else 0.0

    def terms(self) -> tuple[tuple[PlaneUse, float, float, float], ...]:
        """Of a kind that is known, for each of its arrays: what planes gain in a call, what it costs to fill them, and
        to write them back. Kept until one of these changes, as each call asks."""
        if self._terms is None:
            gain_ns = self.gain_ns()
            self._terms = tuple(
                (one, gain_ns * self.share(one), self.in_ns.get(one.position, 0.0), self.back_ns(one))
                for one in self.uses
            )
        return self._terms

    def made(self, in_planes: bool, time_ns: float | None) -> None:
        """A call has been made. time_ns: where it was timed."""
        self.calls += 1
        self.total_ns += self.planes_ns if in_planes else self.records_ns
        if self.phase == "known":
            self.won_ns += self.gain_ns() if in_planes else 0.0
        if time_ns is not None and self.is_meant(in_planes):
            self._take(in_planes, time_ns)
        if self.phase in ("new", "recalled", "counted"):
            self.spent_ns += self.records_ns
            if self.phase == "recalled" and self.spent_ns * (1.0 - self.planes_ns / self.records_ns) >= LOADING_NS:
                self.phase, self._next, self._terms = "known", self.calls + 1, None
            if self.phase == "counted" and self.spent_ns * self.saved >= self._patience * self._price_ns():
                self.phase, self._times = "records", []

    def unasked(self) -> int:
        """So many calls from now on are made without asking, as nothing is decided yet; they count as made."""
        if self.phase not in ("new", "counted") or self.calls < SEVERAL or self.follows:
            return 0
        calls = min(SEVERAL // 2, self.calls // 8)
        self.calls += calls
        self.spent_ns += calls * self.records_ns
        self.total_ns += calls * self.records_ns
        return calls

    def failed(self, why: str) -> None:
        """It cannot be run in planes."""
        self.phase, self.why = "over", why

    def converted(self, time_ns: float) -> None:
        """Something was converted for a call of this kind."""
        self.won_ns -= time_ns

    def uses_left(self, account: ArrayUses) -> float:
        """How many more uses an array is expected to have, by those that arrays had before it; 0.0 where nobody knows.
        One that has had more than usual may have any number."""
        if account not in self._accounts:
            self._accounts = [*self._accounts[-EARLIER:], account]
        if len(self._accounts) <= LEAST_EARLIER:
            return 0.0
        earlier = [one.uses for one in self._accounts if one is not account]
        earlier.sort()
        middle = len(earlier) // 2  # of statistics.median only the checks cost time
        usual = earlier[middle] if len(earlier) % 2 else 0.5 * (earlier[middle - 1] + earlier[middle])
        return max(0.0, usual - account.uses)

    def usual_ns(self, net_ns: float) -> float:
        """What planes gain in a use on average, less what others' looks cost, by the last ones and this one."""
        self._uses += 1
        self._net_ns += (net_ns - self._net_ns) / min(self._uses, USUAL_USES)
        return self._net_ns

    def may_bet(self, price_ns: float) -> bool:
        """Whether a conversion may be lost: others have won more, or it is little beside the time of all calls."""
        return self.won_ns + BET_SHARE * self.total_ns >= price_ns

    def back_ns(self, use: PlaneUse) -> float:
        """What writing back costs."""
        return self.written_ns.get(use.position, 0.0)

    def priced(self, use: PlaneUse, in_ns: float, back_ns: float) -> None:
        """What converting an array costs has been measured, twice in and once back."""
        self.in_ns[use.position] = FRESH_NS + in_ns
        self.written_ns[use.position] = FRESH_NS + back_ns if use.written else 0.0
        self._terms = None
        self.converted(2.0 * in_ns + back_ns)

    def told(self, use: PlaneUse, name: str, is_there: bool, filled: int, written_back: int) -> str:
        """What is known of one of its arrays, in words."""
        fields = ", ".join(use.fields)
        what = f"planes of {fields} of '{name}'" if fields else f"'{name}' with its axes turned"
        now = f"{what} are kept on the GPU between calls" if is_there else f"{what} are not kept between calls"
        now = now if fields else now.replace(" are ", " is ")
        if self.phase == "follows":
            return f"{what} serve it where other kernels have filled them; {self.why}"
        more = f"; {self.why}" if self.why else "; calls have not taken long enough for a trial"
        done = f"; filled {_times(filled)}, written back {_times(written_back)}" if filled else ""
        price = f", at {_us(self.in_ns[use.position])} each" if filled and use.position in self.in_ns else ""
        saved = f"; {100 * use.saved:.0f} % of the bytes moved for it are not used" if not is_there else ""
        return now + more + done + price + saved

    def share(self, use: PlaneUse) -> float:
        """Of a gain, what is due to one of its arrays."""
        return use.saved / sum(one.saved for one in self.uses)

    def _price_ns(self) -> float:
        return max(MAKING_NS, 2.0 * sum(self.in_ns.values()) / TRIAL_SHARE)

    def _take(self, in_planes: bool, time_ns: float) -> None:
        match self.phase:
            case "new" | "counted":
                self._next = self.calls + min(OFTEN, max(1, self.calls))
                self.records_ns = time_ns
            case "records":
                self._times.append(time_ns)
                if len(self._times) == TIMED:
                    self.records_ns, self._times, self.phase = median(self._times), [], "planes"
            case "planes":
                self._times.append(time_ns)
                if len(self._times) == TIMED + 1:  # the first one may have waited for a compiler
                    self.planes_ns, self._times = median(self._times[1:]), []
                    self._judge()
            case "follows":
                self._times.append(time_ns)
                avoided = self.spent_ns / max(1, self.calls)
                if len(self._times) > TIMED and median(self._times[1:]) > self.records_ns + avoided:
                    self.failed(f"measured to be slower in planes: {_us(median(self._times[1:]))}")
            case "known":
                self._watch(in_planes, time_ns)

    def _judge(self) -> None:
        self._next, self._alarms = 2 * self.calls, 0
        figures = f"{_us(self.planes_ns)} in planes, {_us(self.records_ns)} with records"
        if self.planes_ns > (1.0 - LEAST_GAIN) * self.records_ns:
            self._patience *= 4.0  # behaviour may drift, and then there is another trial
            self.phase, self.spent_ns, self.why = "counted", 0.0, f"measured to give no gain: {figures}"
            return
        self.phase, self.why, self._patience, self._terms = "known", f"measured {figures}", 1.0, None

    def _watch(self, in_planes: bool, time_ns: float) -> None:
        """Whether calls still take what they did: by two that are timed one after the other."""
        known = self.planes_ns if in_planes else self.records_ns
        if known / DRIFTED <= time_ns <= known * DRIFTED:
            self._next, self._alarms = self.calls + min(OFTEN, max(1, self.calls)), 0
            return
        self._next, self._alarms = self.calls, self._alarms + 1
        if self._alarms >= 2:
            self.phase, self.spent_ns, self.records_ns, self._times = "records", 0.0, 0.0, []
            self.why = f"calls have come to take {_us(time_ns)}: compared again"


@dataclass(slots=True, eq=False)
class ArrayUses:
    """The account of one array: what it would have gained so far in the layout that it is not in."""

    in_planes: bool = False
    credit_ns: float = 0.0
    uses: int = 0
    price_ns: float = 0.0
    """Of filling its planes."""
    version: object = None
    """Of the array after the last use."""

    def stays(self, net_ns: float) -> bool:
        """It is in planes, and one more use gains so much from that."""
        self.uses += 1
        self.credit_ns = max(0.0, self.credit_ns - net_ns)
        return True

    def wanted(
        self, net_ns: float, in_ns: float, back_ns: float, expected_ns: float | None = None, may_bet: bool = True
    ) -> bool:
        """Whether it is in planes for its next use. net_ns: what planes gain in it, less what it takes to have them up
        to date and to write back what others have looked at since the last use; negative: they lose. in_ns, back_ns: of
        converting. expected_ns: what planes would gain in this use and all later ones, None where nobody knows.
        may_bet: whether a conversion may be for nothing."""
        self.uses += 1
        both_ns = in_ns + back_ns
        if self.in_planes:
            self.credit_ns = max(0.0, self.credit_ns - net_ns)
            if self.credit_ns >= max(1.0, back_ns):
                self.in_planes, self.credit_ns = False, 0.0
            return self.in_planes
        self.credit_ns = max(0.0, self.credit_ns + net_ns) if expected_ns is None else 0.0
        if expected_ns is None:
            pays = self.credit_ns >= max(1.0, both_ns)
        else:
            pays = expected_ns > LIKELY * both_ns
        if pays and may_bet:
            self.in_planes, self.credit_ns = True, 0.0
        return self.in_planes


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _us(time_ns: float) -> str:
    return f"{time_ns / 1e3:.3g} us" if time_ns < 999_500 else f"{time_ns / 1e6:.3g} ms"
