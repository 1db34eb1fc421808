"""python -m benchmarks.layout.on_gpu [out.json]: streams of calls with arrays that stay on a GPU, by turns in one
process: arrays as they are (`off`), each fixed layout of each array, and by default (`auto`), conversions included, the
last one back too; the oracle is the best of all of them. And how fast conversions are, beside a copy on the device."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

import loopwright as lw
from benchmarks.layout.gpu_cases import STREAMS, Stream
from benchmarks.machine import versions
from loopwright.choice import array_layouts
from loopwright.devices import gpus
from loopwright.kernel import kernel_with
from loopwright.memory.device_array import DeviceArray
from loopwright.memory.planes import Planes
from loopwright.tuning.in_planes import plane_compiler

STEPS = (1, 3, 10, 100)
MOST_S = 0.5
"""A stream that would take longer is left out."""
WARM_S = 1.5
COLD_S = 2.0
"""A stream of kernels of which nothing is known takes so long with arrays as they are."""
USUAL = array_layouts.LOOK_NS, array_layouts.MAKING_NS
EARLIER, LEAST_EARLIER = array_layouts.EARLIER, array_layouts.LEAST_EARLIER


@dataclass
class Row:
    """Of a stream of so many steps, the medians of seconds. converted: how often `auto` filled planes, and wrote back,
    in a stream of that length; layouts: in the end."""

    stream: str
    used: str
    steps: int
    seconds: dict[str, float]
    converted: list[int]
    layouts: dict[str, str]

    @property
    def oracle(self) -> str:
        fixed = {name: one for name, one in self.seconds.items() if name != "auto"}
        return min(fixed, key=lambda name: fixed[name])

    def speed(self, of: str) -> float:
        """Of `auto`, where that of this way is 1."""
        return self.seconds[of] / self.seconds["auto"]


@dataclass
class Conversion:
    """payload: bytes of the fields, read and written; fractions: of the speed of a copy on the device."""

    array: str
    payload: int
    in_s: float
    back_s: float
    in_of_copy: float = 0.0
    back_of_copy: float = 0.0


@dataclass
class Found:
    """All of one stream."""

    rows: list[Row] = field(default_factory=list)
    conversions: list[Conversion] = field(default_factory=list)
    why: list[str] = field(default_factory=list)
    same: bool = True
    cold: dict[str, float] = field(default_factory=dict)


class Running:
    """A stream with its arrays on the GPU."""

    def __init__(self, stream: Stream, scale: float) -> None:
        self.stream = stream
        self.host = stream.data(max(64, int(stream.n * scale)))
        self.arrays = {name: lw.device_array(one) for name, one in self.host.items()}
        self.kernels = self.new_kernels()
        self.compilers = {f: plane_compiler(one.specialise, kernel_with) for f, one in self.kernels.items()}
        self.gpu = next(iter(self.arrays.values())).gpu

    def new_kernels(self) -> dict[Callable[..., object], Any]:
        return {function: lw.kernel(function) for function, _ in self.stream.calls}

    def unknown(self) -> None:
        """All arrays as if they were new ones."""
        for one in self.arrays.values():
            one.beside, one.account, one.touched = None, None, False

    def fresh(self) -> None:
        """The same, with the elements of the beginning."""
        self.unknown()
        for name, one in self.arrays.items():
            one.copy_from(self.host[name])

    def plain(self, kernels: Mapping[Callable[..., object], Any]) -> Callable[[int], None]:
        """So many steps, as users write them. Each way has kernels of its own: they remember calls under one Config."""

        def steps(count: int) -> None:
            made = [(kernels[function], [self.arrays[name] for name in names])
                    for function, names in self.stream.calls]  # fmt: skip
            for _ in range(count):
                for kernel, arguments in made:
                    kernel(*arguments)

        return steps

    def uses(self, function: Callable[..., object], names: Sequence[str]) -> dict[int, Any]:
        arguments = tuple(self.arrays[name] for name in names)
        found = {k: one for k, one in enumerate(arguments) if names[k] in self.stream.arrays}
        compiler = self.compilers[function]
        return {use.position: (use, compiler) for use in compiler.uses(arguments, found)}

    def fixed(self, in_planes: frozenset[str]) -> Callable[[int], None]:
        """So many steps with these arrays in planes all the time."""
        made, kernels = [], self.new_kernels()
        for function, names in self.stream.calls:
            uses = {k: one for k, one in self.uses(function, names).items() if names[k] in in_planes}
            made.append((kernels[function], names, uses))

        def steps(count: int) -> None:
            given: dict[int, list[Any]] = {}
            for _ in range(count):
                for at, (kernel, names, uses) in enumerate(made):
                    for k, (use, compiler) in uses.items():
                        array = self.arrays[names[k]]
                        if array.beside is None:
                            array.put_beside(Planes(array, compiler.convert))
                        array.beside.bring(array, use.fields)
                    if at not in given:
                        given[at] = [self.arrays[name] for name in names]
                        for k, (use, _) in uses.items():
                            given[at][k] = self.arrays[names[k]].beside.view(self.arrays[names[k]], use.fields)
                    for k, (use, _) in uses.items():
                        self.arrays[names[k]].beside.written(self.arrays[names[k]], use.written)
                    kernel(*given[at])

        return steps

    def timed(self, steps: Callable[[int], None], count: int) -> float:
        """Seconds of a stream, until somebody may look at its arrays."""
        self.unknown()
        self.gpu.synchronize()
        started = time.perf_counter()
        steps(count)
        for one in self.arrays.values():
            one.used()
        self.gpu.synchronize()
        return time.perf_counter() - started

    def values(self, steps: Callable[[int], None], count: int) -> list[bytes]:
        self.fresh()
        steps(count)
        return [one.numpy().tobytes() for one in self.arrays.values()]


@contextmanager
def options(layout: str) -> Iterator[None]:
    with lw.options(layout=layout, explore=False, store="off"):
        yield


def measured(stream: Stream, scale: float, rounds: int, copy: Callable[[int], float]) -> Found:
    """All ways of one stream."""
    found, running = Found(), Running(stream, scale)
    ways = {"off": ("off", running.plain(running.new_kernels())), "auto": ("auto", running.plain(running.kernels))}
    for some in product((False, True), repeat=len(stream.arrays)):
        chosen = [name for name, one in zip(stream.arrays, some, strict=True) if one]
        if chosen:
            with options("off"):
                ways[f"planes of {', '.join(chosen)}"] = "off", running.fixed(frozenset(chosen))
    reference: list[bytes] = []
    for name, (layout, steps) in ways.items():
        with options(layout):
            found_values = running.values(steps, 2)
        reference = reference or found_values
        if found_values != reference:
            found.same = False
            found.why.append(f"{name} gives other results")
    warm(running, found)
    step_s = {}
    for name, (layout, steps) in ways.items():
        with options(layout):
            running.timed(steps, 2)
            step_s[name] = running.timed(steps, 5) / 5
    for count in STEPS:
        if count * max(step_s.values()) > MOST_S and count > 1:
            break
        found.rows.append(row_of(running, ways, count, rounds))
    with options("off"):
        found.conversions += conversions(running, copy)
    if any(kind.phase == "known" for _, kind in kinds_of(running)):
        found.cold = cold(running, step_s["off"])
    return found


def cold(running: Running, step_s: float) -> dict[str, float]:
    """Seconds of a stream of kernels of which nothing is known, trial and all, beside one with arrays as they are. The
    code is in the cache."""
    count = int(COLD_S / max(step_s, 1e-5))
    look_ns, making_ns = array_layouts.LOOK_NS, array_layouts.MAKING_NS
    array_layouts.LOOK_NS, array_layouts.MAKING_NS = USUAL
    found: dict[str, float] = {"steps": count}
    for name in ("off", "auto"):
        with options(name):
            steps = running.plain(running.new_kernels())
            running.timed(steps, 1)
            found[name] = running.timed(steps, count)
    array_layouts.LOOK_NS, array_layouts.MAKING_NS = look_ns, making_ns
    return found


def warm(running: Running, found: Found) -> None:
    """Until what is to be known of the calls is known."""
    started = time.perf_counter()
    with options("auto"):
        while time.perf_counter() - started < WARM_S:
            running.plain(running.kernels)(4)
            running.gpu.synchronize()
            if all(kind.phase in ("known", "over", "follows") for _, kind in kinds_of(running)):
                break
    for function, kind in kinds_of(running):
        kind.total_ns = max(kind.total_ns, float(USUAL[1]))  # as before other trials
        if kind.phase != "over":
            saved = ", ".join(f"{use.saved:.2f} of {use.fields}" for use in kind.uses)
            found.why.append(f"{function.__name__}: {kind.phase}: {kind.why} (predicted to save {saved})")


def kinds_of(running: Running) -> Iterator[tuple[Callable[..., object], Any]]:
    """What is known of the calls."""
    for function, one in running.kernels.items():
        planes = one._dispatch._known_planes
        for kind in () if planes is None else planes._kinds.values():
            yield function, kind


def row_of(running: Running, ways: Mapping[str, tuple[str, Callable[[int], None]]], count: int, rounds: int) -> Row:
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    converted, layouts = [0, 0], {}
    with options("auto"):
        for _ in range(EARLIER if count < 50 else LEAST_EARLIER + 1):  # learned while running
            running.timed(ways["auto"][1], count)
    names = list(ways)
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            with options(ways[name][0]):
                seconds[name].append(running.timed(ways[name][1], count))
            if name == "auto":
                besides = {key: one.beside for key, one in running.arrays.items() if isinstance(one.beside, Planes)}
                converted = [sum(one.filled for one in besides.values()),
                             sum(one.written_back for one in besides.values())]  # fmt: skip
                there = {key: one.account for key, one in running.arrays.items() if one.account is not None}
                layouts = {key: "planes" for key, one in there.items() if one.in_planes}
    medians = {name: statistics.median(some) for name, some in seconds.items()}
    return Row(running.stream.name, running.stream.used, count, medians, converted, layouts)


def conversions(running: Running, copy: Callable[[int], float]) -> Iterator[Conversion]:
    done = set[str]()
    for function, names in running.stream.calls:
        for k, (use, compiler) in running.uses(function, names).items():
            if names[k] in done:
                continue
            done.add(names[k])
            array: DeviceArray = running.arrays[names[k]]
            array.put_beside(planes := Planes(array, compiler.convert))
            times: list[list[float]] = [[], []]
            for _ in range(4):
                planes.forget()
                times[0].append(_seconds(running, lambda p=planes, a=array, u=use: p.bring(a, u.fields)))
                planes.written(array, use.fields)
                times[1].append(_seconds(running, lambda p=planes, a=array: p.settle(a)))
            one = Conversion(names[k], planes.bytes_of(use.fields), *(min(some[1:]) for some in times))
            copied = copy(one.payload)
            one.in_of_copy, one.back_of_copy = copied / one.in_s, copied / one.back_s
            array.beside = None
            yield one


def _seconds(running: Running, make: Callable[[], object]) -> float:
    running.gpu.synchronize()
    timer = running.gpu.timer()
    with timer:
        make()
    running.gpu.synchronize()
    return (timer.finished_ns() or 0) / 1e9


def device_copy() -> Callable[[int], float]:
    """How many seconds a copy of so many bytes takes, from and to memory of the GPU."""
    import torch

    if not torch.cuda.is_available():
        return lambda size: float("nan")

    def seconds(size: int) -> float:
        source = torch.empty(size, dtype=torch.uint8, device="cuda")
        target = torch.empty_like(source)
        best = float("inf")
        for _ in range(5):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            target.copy_(source)
            end.record()
            end.synchronize()
            best = min(best, begin.elapsed_time(end) / 1e3)
        del source, target
        torch.cuda.empty_cache()
        return best

    return seconds


def gpu_name(device: str) -> str:
    gpu = gpus.gpu_of(device)
    return "" if gpu is None else gpu.name


def table(rows: Sequence[Row]) -> str:
    """For a page."""
    lines = ["| stream | used | steps | as they are | `auto` | gain | best fixed layout | `auto` of it |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for row in rows:
        best = row.seconds[row.oracle]
        lines.append(
            f"| {row.stream} | {row.used} | {row.steps} | {1e3 * row.seconds['off']:.2f} ms | "
            f"{1e3 * row.seconds['auto']:.2f} ms, {'/'.join(map(str, row.converted))} | {row.speed('off'):.2f} | "
            f"{row.oracle}, {1e3 * best:.2f} ms | {row.speed(row.oracle):.2f} |"
        )
    for what, values in (
        ("as they are", [row.speed("off") for row in rows]),
        ("the best", [row.speed(row.oracle) for row in rows]),
    ):
        if values:
            mean = statistics.geometric_mean(values)
            lines.append(f"Speed of `auto`, {what} = 1: geometric mean {mean:.3f}, least {min(values):.3f}.")
    return "\n".join(lines)


def main() -> None:
    """Measure, print the table, and keep all figures where a file is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", help="a file for the figures, as JSON; written after each stream")
    parser.add_argument("--only", action="append", default=[], help="streams whose names hold one of the words")
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of records")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no stream after that")
    parser.add_argument("--soon", action="store_true", help="trials begin at once: what they cost is not in any row")
    asked = parser.parse_args()
    if asked.soon:
        array_layouts.LOOK_NS, array_layouts.MAKING_NS = 1_000_000, 5_000_000
    started, rows, told = time.perf_counter(), [], {}
    with lw.options(device=asked.device):
        copy = device_copy() if asked.device != "emulated" else lambda size: float("nan")
        for stream in STREAMS:
            if asked.only and not any(word in stream.name for word in asked.only):
                continue
            if time.perf_counter() - started > asked.seconds:
                break
            try:
                found = measured(stream, asked.scale, asked.rounds, copy)
            except (lw.LoopwrightError, MemoryError) as error:
                print(f"{stream.name}: {error}", flush=True)
                told[stream.name] = {"error": str(error)}
                continue
            rows += found.rows
            told[stream.name] = {**asdict(found), "seconds": time.perf_counter() - started}
            print("\n".join(table(found.rows).splitlines()[2:-2]), *found.why, sep="\n")
            if found.cold:
                print(f"  unknown: {found.cold}, {found.cold['off'] / found.cold['auto']:.3f}")
            print(*(f"  {one}" for one in found.conversions), f"  {time.perf_counter() - started:.0f} s", sep="\n",
                  flush=True)  # fmt: skip
            if asked.out:
                with open(asked.out, "w", encoding="utf-8") as file:
                    about = {"date": time.strftime("%Y-%m-%d"), "gpu": gpu_name(asked.device), "versions": versions()}
                    json.dump({**about, "scale": asked.scale, "rounds": asked.rounds, "streams": told}, file, indent=1)
    print(table(rows))


if __name__ == "__main__":
    main()
