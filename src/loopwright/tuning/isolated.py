"""A process apart in which candidates are tried, and what happened to it, as values: a crash, a hang or a lack of
memory is an answer like any other, and the next trial gets a new process.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import BinaryIO, Self, cast

from loopwright.tuning.jobs import Setting, Trial, Tried, receive, send


class Isolated:
    """Tries variants of one Setting. Use it as a context manager: leaving it ends the process."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._process: subprocess.Popen[bytes] | None = None

    def tried(self, trial: Trial, limit_s: float) -> Tried:
        """The answer, or what kept it from coming within the limit (of starting the process and of the reference run
        too, where this trial is the first)."""
        end = time.monotonic() + limit_s
        try:
            process = self._started()
            send(cast(BinaryIO, process.stdin), trial)
            return self._answer(process, trial, end)
        except OSError as error:
            self.end()
            return Tried(trial.variant, "crashed", f"the process that measures cannot be started: {error}")
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """End the process, whatever it is doing."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "loopwright.tuning.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
                start_new_session=True,  # ctrl-C is for us; and its own children end with it
            )
            send(cast(BinaryIO, self._process.stdin), self._setting)
        return self._process

    def _answer(self, process: subprocess.Popen[bytes], trial: Trial, end: float) -> Tried:
        stream = cast(BinaryIO, process.stdout)
        while not select.select([stream], [], [], max(0.0, min(end - time.monotonic(), 1.0)))[0]:
            if time.monotonic() >= end:
                self.end()
                return Tried(trial.variant, "timeout", "it was given up after its time limit")
        try:
            answer = receive(stream)
        except EOFError:
            status = process.wait()
            self.end()
            return _lost(trial, status)
        assert isinstance(answer, Tried)
        return answer


def _lost(trial: Trial, status: int) -> Tried:
    """What a process that ended by itself tells."""
    if status == -signal.SIGKILL:
        return Tried(trial.variant, "memory", "the system ended the process: most likely there was no memory left")
    with suppress(ValueError):
        return Tried(trial.variant, "crashed", f"the process ended with {signal.Signals(-status).name}")
    return Tried(trial.variant, "crashed", f"the process ended with status {status}")
