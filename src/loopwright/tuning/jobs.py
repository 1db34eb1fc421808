"""What whoever tunes and the process that measures tell each other, and how: pickled values, each behind its length.

The process is started by us and reads only what we send it; nothing here is a format for files.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from loopwright.config import Config
from loopwright.ir.signature import Signature
from loopwright.ir.variant import Variant
from loopwright.profile.measurement import CacheState, Outcome


@dataclass(frozen=True, slots=True)
class Setting:
    """One call of a kernel, to be made by many variants. kernel: its IR as text, as it was written. names: of the
    parameters. written: positions of arguments that it may write. saved: the file with the arguments (arguments.py).
    reference: the variant whose results are taken to be right. resident: arrays are in the GPU's memory before the
    call, and stay there."""

    kernel: str
    names: tuple[str, ...]
    written: tuple[int, ...]
    signature: Signature
    config: Config
    saved: str
    reference: Variant
    resident: bool = False


def reference_path(saved: str) -> Path:
    """Where the results of the reference are kept, beside the arguments."""
    return Path(f"{saved}.expected")


@dataclass(frozen=True, slots=True)
class Trial:
    """A variant to try. budget_ns: how long to measure, about. compile_only: make it, have it in the cache of compiled
    code, and keep it until it is tried. hopeless_ns: one that takes longer is measured no further; 0 for no limit.
    is_turn: it is one of several trials of this variant, so that what was made is kept for the next one."""

    variant: Variant
    budget_ns: int
    cache: CacheState = "warm"
    compile_only: bool = False
    hopeless_ns: int = 0
    is_turn: bool = False


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of a trial. time_ns: the median; spread: half the distance of the quartiles, over the median;
    compile_ns: until it could be called."""

    variant: Variant
    outcome: Outcome
    reason: str = ""
    time_ns: float = 0.0
    spread: float = 0.0
    runs: int = 0
    compile_ns: int = 0


def send(stream: BinaryIO, message: Setting | Trial | Tried) -> None:
    """Raises OSError where nobody listens any more."""
    body = pickle.dumps(message, protocol=5)
    stream.write(len(body).to_bytes(8, "little") + body)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """The next message. Raises EOFError at the end."""
    head = _exactly(stream, 8)
    return pickle.loads(_exactly(stream, int.from_bytes(head, "little")))


def _exactly(stream: BinaryIO, count: int) -> bytes:
    found = bytearray()
    while len(found) < count:
        more = stream.read(count - len(found))
        if not more:
            raise EOFError
        found += more
    return bytes(found)
