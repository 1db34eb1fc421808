"""GPUs in virtual time that a shared call of the product uses as it uses any other (`loopwright.devices.gpu.Gpu`): they
keep no elements and run no kernels, but tell when each copy and each kernel would begin and end.

What is modelled: one queue of kernels and one engine for copies in each direction per GPU; a link for each pair, which
is that of their host or that between hosts, and is taken by one copy at a time at its source; the way to the caller's
arrays, which all GPUs that take part share; and the host, on which one thread at a time executes Python, for so long
for each thing that it asks for. Threads of the call are run one after the other, each from the time at which it began.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from math import prod
from typing import Any
from unittest.mock import patch

from loopwright.devices.cuda_peer import turn
from loopwright.devices.gpu import Limits
from loopwright.devices.peers import PeerCopy
from loopwright.errors import DeviceMemoryError
from loopwright.runtime import shared_call

NS = 1e9
MOST_PULLS, MOST_PULLED = 8, 16 << 20
"""As in devices/cuda_peer.c: so many copies of one GPU, of so many bytes each, are made by one kernel."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What is stated of the machine. Instructions per second, where a fused multiply-add is one: `float32` (also whole
    numbers), `float64`, `special` and `special64` (divisions, roots). Bytes per second: `memory`, `peer` between GPUs
    of one host and `between_hosts`, each GPU and direction; `from_host` of one GPU and direction, `host_memory` of all
    together. `full_threads`: with fewer, a GPU computes and moves proportionally less. `cache_bytes`: its second cache;
    `sector_bytes`: what a read at a place that data tell moves, where the array is larger than that. Microseconds:
    `launch_us` before a kernel begins, `latency_us` and `far_latency_us` before a copy does, in a host and between
    them, and `pull_us` before the copies of few bytes that one kernel makes; and of the host's time `call_us` for a
    call, `part_us` for each part of a region, `kernel_us` and `copy_us` for asking for one, `upload_us` for a copy from
    or to the caller's arrays, `mark_us` for a mark or what waits for one, and `check_us` for looking how a GPU
    ended."""

    float32: float = 25e12
    float64: float = 10.5e12
    special: float = 2e12
    special64: float = 0.2e12
    memory: float = 2.7e12
    full_threads: int = 132 * 256
    cache_bytes: int = 50 << 20
    sector_bytes: int = 32
    memory_bytes: int = 80 << 30
    gpus_per_host: int = 8
    peer: float = 300e9
    between_hosts: float = 40e9
    from_host: float = 48e9
    host_memory: float = 75e9
    launch_us: float = 5.0
    latency_us: float = 10.0
    far_latency_us: float = 30.0
    pull_us: float = 5.0
    call_us: float = 100.0
    part_us: float = 3.0
    kernel_us: float = 4.0
    copy_us: float = 3.0
    upload_us: float = 5.0
    mark_us: float = 1.0
    check_us: float = 8.0

    def told(self) -> dict[str, float]:
        """For a file of results."""
        return asdict(self)


class Occupied:
    """When something that does one thing at a time does one: stretches of time, in order."""

    def __init__(self) -> None:
        self._begins: list[float] = []
        self._ends: list[float] = []
        self.total_ns = 0.0

    def take(self, earliest: float, length: float) -> float:
        """The first time from `earliest` on at which it is free for so long; from now on it is not."""
        place = bisect_right(self._ends, earliest)
        begin = earliest
        while place < len(self._begins) and self._begins[place] < begin + length:
            begin = max(begin, self._ends[place])
            place += 1
        end = begin + length
        self.total_ns += length
        if place and self._ends[place - 1] == begin:
            self._ends[place - 1] = end
        else:
            self._begins.insert(place, begin)
            self._ends.insert(place, end)
        return begin


def together(stretches: Sequence[tuple[float, float]]) -> float:
    """How long at least one of some stretches of time lasts."""
    total, reached = 0.0, float("-inf")
    for begin, end in sorted(stretches):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total


class Machine:
    """Virtual time, and what GPUs share. now_ns: of the thread that runs at present."""

    def __init__(self, rates: Rates, count: int) -> None:
        self.rates = rates
        self.now_ns = 0.0
        self.python = Occupied()
        self.gpus = [VirtualGpu(self, number) for number in range(count)]

    def ask(self, microseconds: float) -> None:
        """The present thread needs the host's time for so long."""
        length = 1e3 * microseconds
        self.now_ns = self.python.take(self.now_ns, length) + length

    def await_ns(self, until: float) -> None:
        """The present thread waits; meanwhile others have the host's time."""
        self.now_ns = max(self.now_ns, until)

    def forget(self) -> None:
        """Begin at 0 again, with the memory as it is."""
        self.now_ns, self.python = 0.0, Occupied()
        for gpu in self.gpus:
            gpu.forget()

    # what shared_call.py takes of the module `time` and of its pools

    def perf_counter_ns(self) -> int:
        """The time that a call sees."""
        return round(self.now_ns)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Done:
        """Do what another thread would, in its own time."""
        began = self.now_ns
        done = Done(self)
        try:
            done.value = function(*arguments)
        except Exception as error:  # who waits for it gets it
            done.error = error
        done.ended_ns, self.now_ns = self.now_ns, began
        return done

    @contextmanager
    def in_charge(self) -> Iterator[None]:
        """Shared calls happen in its time."""
        with (
            patch.object(shared_call, "time", self),
            patch.object(shared_call, "working", self),
            patch.object(shared_call, "finishing", self),
        ):
            yield


@dataclass(slots=True)
class Done:
    """What a thread has come to; for whoever waits for it, in virtual time."""

    machine: Machine
    value: Any = None
    error: Exception | None = None
    ended_ns: float = 0.0

    def result(self) -> Any:
        """See concurrent.futures.Future."""
        self.machine.await_ns(self.ended_ns)
        if self.error is not None:
            raise self.error
        return self.value


@dataclass(slots=True)
class Doings:
    """What a GPU did in a call: when it computed and copied, and how many bytes came to it, by where from."""

    computed: list[tuple[float, float]] = field(default_factory=list)
    copied: list[tuple[float, float]] = field(default_factory=list)
    received: dict[str, int] = field(default_factory=dict)
    copies: int = 0


class VirtualGpu:
    """See loopwright.devices.gpu.Gpu. number: GPUs 0 to 7 are those of the first host, and so on; the caller's arrays
    are there."""

    def __init__(self, machine: Machine, number: int) -> None:
        self.machine, self.number = machine, number
        self.name, self.late_ns = "a simulated GPU", 0
        rates = machine.rates
        self.limits = Limits((9, 0), 132, rates.memory_bytes)
        self.used_bytes, self._next, self._sizes = 0, 1 << 20, dict[int, int]()
        self.sharing = 1
        """How many GPUs copy from and to the host at once."""
        self.forget()

    def forget(self) -> None:
        """Of a call that is over."""
        self.free_ns = {"work": 0.0, "up": 0.0, "down": 0.0}
        self._marks: dict[int, float] = {}
        self.sends = Occupied()
        self.did = Doings()

    @property
    def host(self) -> int:
        """Which host it is in."""
        return self.number // self.machine.rates.gpus_per_host

    # memory

    def allocate(self, size_bytes: int, before_bytes: int = 0) -> int:
        """Raises DeviceMemoryError where all of an array has no room beside the others."""
        if self.used_bytes + size_bytes > self.limits.memory_bytes:
            raise DeviceMemoryError(f"{size_bytes / 1e9:.1f} GB have no room beside {self.used_bytes / 1e9:.1f} GB")
        self.used_bytes += size_bytes
        address = self._next + before_bytes
        self._next = address + size_bytes + 256 - (address + size_bytes) % 256
        self._sizes[address] = size_bytes
        return address

    def release(self, address: int) -> None:
        """See Gpu."""
        self.used_bytes -= self._sizes.pop(address)

    # work

    def run(self, length_ns: float) -> None:
        """Kernels that take so long come next."""
        begin = max(self.machine.now_ns, self.free_ns["work"]) + 1e3 * self.machine.rates.launch_us
        self.free_ns["work"] = begin + length_ns
        self.did.computed.append((begin, begin + length_ns))

    def meet(self, others: Sequence[VirtualGpu]) -> None:
        """They all reach one another."""

    def exchange(
        self, order: Sequence[tuple[VirtualGpu, VirtualGpu]], copies: Sequence[PeerCopy]
    ) -> Callable[[], None]:
        """See devices.gpu.Gpu."""

        def run() -> None:
            marks = {other: other.mark("work") for other in dict.fromkeys(other for _, other in order)}
            for one, other in order:
                one.wait("work", marks[other])
            for target, some in by_target.items():
                sizes = [copy.size_bytes * copy.rows for copy in some]
                if len(some) <= MOST_PULLS and max(sizes) <= MOST_PULLED:  # by one kernel
                    self.machine.ask(rates.kernel_us)
                    for k, (copy, size) in enumerate(zip(some, sizes, strict=True)):
                        target.receive(copy.source, size, 0.0 if k else rates.pull_us)
                    continue
                for copy in some:
                    target.copy_from(copy.source, copy.address, copy.other, copy.size_bytes, copy.rows)

        rates = self.machine.rates
        by_target: dict[VirtualGpu, list[Any]] = {}
        for copy in copies:
            by_target.setdefault(copy.target, []).append(copy)
        count = len(self.machine.gpus)
        for target, some in by_target.items():
            some.sort(key=lambda copy, target=target: turn(target.number, copy.source.number, count))
        return run

    def visible(self, size_bytes: int) -> None:
        """See devices.gpu.Gpu."""

    def together(self, parts: Sequence[Any]) -> None:
        """See devices.gpu.Gpu."""

    def upload(self, address: int, source: Any, queue: str = "work", inside: Sequence[range] | None = None) -> None:
        """From the caller's arrays; it waits for that."""
        self._across(_size(source, inside), queue, "cpu")

    def download(self, target: Any, address: int, inside: Sequence[range] | None = None, queue: str = "work") -> None:
        """To the caller's arrays."""
        self._across(_size(target, inside), queue, None)

    def _across(self, size_bytes: int, queue: str, source: str | None) -> None:
        rates = self.machine.rates
        self.machine.ask(rates.upload_us)
        link = rates.from_host if self.host == 0 else min(rates.from_host, rates.between_hosts)
        length = NS * size_bytes / min(link, rates.host_memory / self.sharing)
        length += 1e3 * (rates.latency_us if self.host == 0 else rates.far_latency_us)
        begin = max(self.machine.now_ns, self.free_ns[queue])
        self._note(begin, begin + length, queue, size_bytes, source)
        self.machine.await_ns(begin + length)

    def copy_from(
        self, source: VirtualGpu, address: int, other: int, size_bytes: int, rows: int = 1, pitch_bytes: int = 0
    ) -> bool:
        """From another GPU, in the order of `work`."""
        self.machine.ask(self.machine.rates.copy_us)
        self.receive(source, size_bytes * rows, self.machine.rates.latency_us)
        return True

    def receive(self, source: VirtualGpu, size_bytes: int, latency_us: float) -> None:
        """The host has asked for so many bytes of another GPU, which come so long after what was asked for before."""
        rates = self.machine.rates
        near = source.host == self.host
        length = NS * size_bytes / (rates.peer if near else rates.between_hosts)
        begin = max(self.machine.now_ns, self.free_ns["work"]) + 1e3 * (latency_us if near else rates.far_latency_us)
        begin = source.sends.take(begin, length)
        self._note(begin, begin + length, "work", size_bytes, f"gpu{source.number}")

    def _note(self, begin: float, end: float, queue: str, size_bytes: int, source: str | None) -> None:
        self.free_ns[queue] = end
        self.did.copied.append((begin, end))
        self.did.copies += 1
        received = self.did.received
        received[source or "back"] = received.get(source or "back", 0) + size_bytes

    # order

    def mark(self, queue: str) -> int:
        """See Gpu."""
        self.machine.ask(self.machine.rates.mark_us)
        self._marks[len(self._marks)] = self.free_ns[queue]
        return self.number << 32 | len(self._marks) - 1

    def wait(self, queue: str, mark: int) -> None:
        """See Gpu."""
        self.machine.ask(self.machine.rates.mark_us)
        there = self.machine.gpus[mark >> 32]._marks[mark & 0xFFFFFFFF]
        self.free_ns[queue] = max(self.free_ns[queue], there)

    def settle(self, queue: str) -> None:
        """See Gpu."""
        self.machine.await_ns(self.free_ns[queue])

    def synchronize(self) -> None:
        """See Gpu."""
        self.machine.await_ns(max(self.free_ns.values()))

    def timer(self, stream: int = 0) -> VirtualTimer:
        """See Gpu."""
        return VirtualTimer(self)


def _size(array: Any, inside: Sequence[range] | None) -> int:
    """Bytes of a box of an array."""
    return int(array.itemsize * prod(map(len, map(range, array.shape) if inside is None else inside)))


class VirtualTimer:
    """See Timer."""

    def __init__(self, gpu: VirtualGpu) -> None:
        self._gpu, self._from = gpu, 0

    def __enter__(self) -> VirtualTimer:
        self._gpu.machine.ask(self._gpu.machine.rates.mark_us)
        self._from = len(self._gpu.did.computed)
        return self

    def __exit__(self, *_: object) -> None:
        self._gpu.machine.ask(self._gpu.machine.rates.mark_us)
        self._to = len(self._gpu.did.computed)

    def finished_ns(self) -> int:
        """See Timer."""
        return round(sum(end - begin for begin, end in self._gpu.did.computed[self._from : self._to]))


class VirtualRegion:
    """In place of runtime.gpu_region.GpuRegion: takes as long as `takes_ns` says for the numbers of a part."""

    def __init__(self, gpu: VirtualGpu, takes_ns: Callable[[Sequence[object]], float]) -> None:
        self._gpu, self._takes_ns = gpu, takes_ns
        self.part, self.hides_failures = None, False

    def put(self, position: int, placed: Any, array: Any) -> None:
        """See GpuRegion."""

    def start(self, everything: Sequence[object], waits: bool = True) -> None:
        """See GpuRegion; the host has made the part ready before."""
        self._gpu.machine.ask(self._gpu.machine.rates.part_us + self._gpu.machine.rates.kernel_us)
        self._gpu.run(self._takes_ns(everything))

    def check(self, failed: bool = False) -> None:
        """See GpuRegion."""
        self._gpu.settle("work")
        self._gpu.machine.ask(self._gpu.machine.rates.check_us)
