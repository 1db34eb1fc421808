"""Tracebacks of errors that a call raises, as the user wants them: the frames of his own code. Ours are shown with
LOOPWRIGHT_DEBUG, and where the error is a mistake of ours."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from loopwright.config import current
from loopwright.errors import LoopwrightError

_HERE = str(Path(__file__).parent)
_RAISES_FOR_USERS = str(Path(__file__).parent / "runtime")  # what a call does: TypeError, the user's own exceptions


def for_user(error: Exception) -> Exception:
    """The same error, without our frames in its traceback where they tell nothing."""
    frames: list[TracebackType] = []
    place = error.__traceback__
    while place is not None:
        frames.append(place)
        place = place.tb_next
    files = [frame.tb_frame.f_code.co_filename for frame in frames]
    is_expected = isinstance(error, LoopwrightError) or (bool(files) and not _is_mistake(files[-1]))
    if current().debug or not is_expected:
        return error
    kept: TracebackType | None = None
    for frame, file in zip(reversed(frames), reversed(files), strict=True):
        if not file.startswith(_HERE):
            kept = TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return error.with_traceback(kept)


def _is_mistake(file: str) -> bool:
    return file.startswith(_HERE) and not file.startswith(_RAISES_FOR_USERS)
