"""The process in which candidates run: `python -m loopwright.tuning.worker`. It is told a Setting, then Trials, and
answers each Trial. What a candidate does to it - a crash, a hang, no memory left - happens to nobody else.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np

from loopwright.analysis.analyse import analyse
from loopwright.codegen.gpu_writer import NotOnGpu
from loopwright.config import options
from loopwright.devices.gpus import gpu_of
from loopwright.errors import CompilerError, DeviceMemoryError, LoopwrightError, ScheduleError
from loopwright.ir.text import parse_kernel
from loopwright.ir.variant import Compilation, Variant
from loopwright.memory.arrays import Array
from loopwright.memory.device_array import DeviceArray, device_array
from loopwright.profile.clock import Flush, measure
from loopwright.profile.measurement import Outcome
from loopwright.runtime.dispatch import Dispatch
from loopwright.specialisation import Specialisation, specialise_kernel
from loopwright.tuning.agreement import disagreement
from loopwright.tuning.arguments import read, restore, save, write
from loopwright.tuning.jobs import Setting, Trial, Tried, receive, reference_path, send

FLUSHED_BYTES = 1 << 28
"""Written before each run that is to find nothing in the caches: several times the largest of them."""

BEYOND_DOUBT = 4
"""A first run that takes so many times longer than what is hopeless needs no second one."""


class Bench:
    """One call, and what runs it."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._kernel = parse_kernel(setting.kernel)
        self._facts = analyse(self._kernel)
        self.host = restore(read(Path(setting.saved)))
        self._expected: tuple[object, ...] | None = None
        self._flush = Flush(FLUSHED_BYTES)
        self._kept: dict[Variant, tuple[Runnable, int]] = {}

    def tried(self, trial: Trial) -> Tried:
        """Never raises, but for what ends the process."""
        try:
            is_kept = trial.variant in self._kept
            run, compile_ns = self._kept.pop(trial.variant) if is_kept else self._timed(trial.variant)
        except (ScheduleError, NotOnGpu, CompilerError) as error:
            return Tried(trial.variant, "refused", _first_line(error))
        except Exception as error:
            return Tried(trial.variant, _outcome_of(error), _first_line(error))
        if trial.compile_only or trial.is_turn:
            self._kept[trial.variant] = run, compile_ns
        if trial.compile_only:
            return Tried(trial.variant, "ok", compile_ns=compile_ns)
        try:
            return self._measured(trial, run, compile_ns)
        except Exception as error:
            return Tried(trial.variant, _outcome_of(error), _first_line(error), compile_ns=compile_ns)

    def _timed(self, variant: Variant) -> tuple[Runnable, int]:
        """A variant, and how long making it took."""
        started = time.perf_counter_ns()
        run = self._made(variant)
        return run, time.perf_counter_ns() - started

    def _made(self, variant: Variant) -> Runnable:
        setting = self.setting

        def compile(wanted: Compilation) -> Specialisation:
            return specialise_kernel(self._kernel, self._facts, wanted)

        names = setting.names
        written = [names[position] for position in setting.written]
        dispatch = Dispatch(self._kernel.name, names, {}, written, compile)
        with self.options(variant):
            dispatch.prepare(self.host.arguments, {})
        return Runnable(self, dispatch, variant)

    def _measured(self, trial: Trial, run: Runnable, compile_ns: int) -> Tried:
        expected = self._reference()
        run.place()
        run.reset()
        begun, late_ns = time.perf_counter_ns(), run.late_ns
        result = run()
        run.finish()
        late_ns = run.late_ns - late_ns
        first_ns = time.perf_counter_ns() - begun - late_ns
        compile_ns += late_ns
        wrong = disagreement(expected, (*self._results(result), *run.outputs()), self.setting.config.strict)
        if wrong:
            return Tried(trial.variant, "wrong", wrong, compile_ns=compile_ns)
        if 0 < BEYOND_DOUBT * trial.hopeless_ns < first_ns:
            return Tried(trial.variant, "ok", "", first_ns, 0.0, 1, compile_ns)
        if 0 < trial.hopeless_ns < first_ns:  # the first run loads code and pages: one more tells
            timing = measure(run.to_the_end, run.reset, time.perf_counter_ns, 0, _nothing)
            if timing.median_ns > trial.hopeless_ns:
                return Tried(trial.variant, "ok", "", timing.median_ns, 0.0, timing.runs, compile_ns)
        flush = self._flush if trial.cache == "cold" else None
        timing = measure(run.to_the_end, run.reset, time.perf_counter_ns, trial.budget_ns, flush)
        return Tried(trial.variant, "ok", "", timing.median_ns, timing.spread, timing.runs, compile_ns)

    def _reference(self) -> tuple[object, ...]:
        """Computed by the first process of a setting; the others, and those after a crash, find it beside the
        arguments."""
        if self._expected is None:
            self._expected = self._kept_reference()
        if self._expected is None:
            run = self._made(self.setting.reference)
            run.place()
            run.reset()
            found = self._results(run())
            run.finish()
            self._expected = (*found, *run.outputs(copied=True))
            self._keep_reference(self._expected)
        return self._expected

    def _kept_reference(self) -> tuple[object, ...] | None:
        try:
            name, *found = restore(read(reference_path(self.setting.saved))).arguments
        except OSError:
            return None
        return tuple(found) if name == self._reference_name() else None

    def _keep_reference(self, expected: tuple[object, ...]) -> None:
        path = reference_path(self.setting.saved)
        ours = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            write(save((self._reference_name(), *expected)), ours)
            ours.replace(path)
        except OSError:  # a full disk: the next process computes it again
            with suppress(OSError):
                ours.unlink(missing_ok=True)

    def _reference_name(self) -> str:
        """What these results are of."""
        setting = self.setting
        return f"{setting.reference} {setting.config.strict} {setting.kernel}"

    def options(self, variant: Variant) -> AbstractContextManager[object]:
        """Those of the setting, for a `with`, under which this variant runs."""
        config = self.setting.config
        kept = {name: getattr(config, name) for name in ("threads", "strict", "narrowing")}
        return options(variant=str(variant), **kept)

    def _results(self, result: object) -> tuple[object, ...]:
        """What the call returned; an array of the caller that it returned is among the outputs anyway."""
        items = result if isinstance(result, tuple) else (result,)
        return tuple(one.copy() if isinstance(one, np.ndarray) else one for one in items)


class Runnable:
    """A variant that can be called with the arguments of the setting."""

    def __init__(self, bench: Bench, dispatch: Dispatch, variant: Variant) -> None:
        self._bench, self._dispatch, self._variant = bench, dispatch, variant
        self._gpu = None if variant.device == "cpu" else gpu_of(variant.device)
        self._arguments: tuple[object, ...] = bench.host.arguments
        self._on_device = bench.setting.resident and self._gpu is not None

    def place(self) -> None:
        """Have the arguments where they are to be, before the first call."""
        if self._on_device:
            with self._bench.options(self._variant):
                self._arguments = tuple(
                    device_array(one) if isinstance(one, np.ndarray) else one for one in self._bench.host.arguments
                )

    def __call__(self) -> object:
        with self._bench.options(self._variant):
            return self._dispatch.call(*self._arguments)

    def to_the_end(self) -> None:
        """Call it, and wait for what it has started."""
        self()
        self.finish()

    def finish(self) -> None:
        if self._gpu is not None:
            self._gpu.synchronize()

    @property
    def late_ns(self) -> int:
        """How long compilers have taken so far for kernels that calls needed when they started them."""
        return 0 if self._gpu is None else self._gpu.late_ns

    def reset(self) -> None:
        """The arguments hold again what they held before the first call."""
        self._bench.host.reset(self._bench.setting.written)
        if self._on_device:
            for position in self._bench.setting.written:
                there, here = self._arguments[position], self._bench.host.arguments[position]
                if isinstance(there, DeviceArray) and isinstance(here, np.ndarray):
                    there.copy_from(here)
            self.finish()

    def outputs(self, copied: bool = False) -> tuple[Array, ...]:
        """The arrays that a call may have written."""
        found: list[Array] = []
        for position in self._bench.setting.written:
            one = self._arguments[position]
            if isinstance(one, DeviceArray):
                found.append(one.numpy())
            elif isinstance(one, np.ndarray):
                found.append(one.copy() if copied else one)
        return tuple(found)


def _nothing() -> None:
    """In place of emptying caches, where one run is enough."""


def _outcome_of(error: Exception) -> Outcome:
    return "memory" if isinstance(error, MemoryError | DeviceMemoryError) else "crashed"


def _first_line(error: Exception) -> str:
    words = str(error).splitlines()
    name = "" if isinstance(error, LoopwrightError) else f"{type(error).__name__}: "
    return name + (words[0] if words else type(error).__name__)


def serve(commands: queue.Queue[Setting | Trial], answers: BinaryIO) -> None:
    """Answer every Trial. Ends with the process."""
    bench: Bench | None = None
    while True:
        message = commands.get()
        if isinstance(message, Setting):
            bench = Bench(message)
        elif bench is not None:
            send(answers, bench.tried(message))


def main() -> None:
    """Commands come from stdin, answers go to stdout; what anybody prints goes to stderr. When nobody is there to ask,
    the process ends, whatever it is doing."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    commands: queue.Queue[Setting | Trial] = queue.Queue()
    threading.Thread(target=serve, args=(commands, answers), daemon=True).start()
    try:
        while True:
            commands.put(receive(sys.stdin.buffer))
    except (EOFError, KeyboardInterrupt):
        os._exit(0)


if __name__ == "__main__":
    main()
