"""Dispatchers and entries of the C extension, for its tests."""

from __future__ import annotations

import sys
from contextvars import ContextVar

from devices.handmade import NOTHING, executable
from loopwright.ir.signature import BY_ELEMENT
from loopwright.memory.arrays import refuses
from loopwright.memory.records import alignment_of

CONTEXT: ContextVar[object] = ContextVar("test", default=("default",))


def dispatcher(
    launcher,
    names="abc",
    written=(True, False, False),
    slow=lambda args, kwargs: "slow",
    defaults=(),
    indices=None,
    failed=None,
    own=None,
):
    return launcher.Dispatcher(
        slow=slow,
        context=CONTEXT,
        names=tuple(map(sys.intern, names)),
        defaults=defaults,
        written=written,
        refuses=refuses,
        describe=alignment_of,
        indices=indices or (BY_ELEMENT,) * len(names),
        failed=failed,
        own=own,
    )


def entry(launcher, config, text=NOTHING, **changes):
    code = executable(text, config)
    rest = {"returns": 0, "values": (), "constants": (), "fresh": None, "guard_failed": print, "payload": code}
    return launcher.Entry(entry=code.entry, guard=0, threads=1, parallel=False, fail=code.failure, **(rest | changes))
