"""A store's content made by hand: a kernel on a CPU and a GPU of one host, at sizes where now the one, now the other is
faster, with something of everything that can become of a candidate. (A fixed clock: NOW.)"""

from __future__ import annotations

from pathlib import Path

from loopwright.cost.front import PARETO, JudgedCandidates, Point, front_content
from loopwright.ir.signature import Shape
from loopwright.ir.variant import PLAIN, RECIPE, Variant
from loopwright.profile.machine import Machine
from loopwright.profile.measurement import Measurement, Work
from loopwright.profile.records import TIMELINE, ChoiceRecord, FittedTable, KernelName, timeline_name
from loopwright.profile.store import ProfileStore
from loopwright.report.stored_timelines import content_of
from report.shared import LAST

NOW = 1_800_000_000.0
DAY = 86400.0
KERNEL = "k" * 32
CPU = Machine("cpu", "Some CPU", limits=(("cores", 2),), instructions="avx2", compiler="gcc 12", text="abc")
GPU = Machine("cuda", "Some GPU", host="Some CPU", instructions="9.0", driver="580.95", compiler="NVRTC 13", text="abc")

DEFAULT = Variant("cpu", RECIPE, 2)
ONE_THREAD = Variant("cpu", RECIPE, 1)
TILED = Variant("cpu", "tile i 32 j 32; parallelize i.o", 2)
LOOPS = Variant("cpu", PLAIN, 2)
ON_GPU = Variant("cuda")
WRONG = Variant("cpu", "split i 7", 2)
CRASHED = Variant("cuda", "tile i 64 j 64")
SHARED_SHAPE = Shape((1000, 1000, 7))
SIZES = (64, 128, 256, 512, 1024)


def work_of(n: int) -> Work:
    """Of a product of square matrices."""
    return Work(float(n) ** 3, float(n) ** 2, float(n), 24.0 * n * n, 16.0 * n * n, 8.0 * n * n)


def row(variant: Variant, n: int, time_ns: float, **changes: object) -> Measurement:
    """Of KERNEL, three days ago."""
    machine = GPU if variant.device == "cuda" else CPU
    told: dict[str, object] = {"spread": 0.02, "runs": 12, "made_at": NOW - 3 * DAY, "outcome": "ok"} | changes
    return Measurement(
        KERNEL, machine.fingerprint, variant, Shape((n, n)), work_of(n), time_ns=time_ns, **told,  # type: ignore[arg-type]
    )  # fmt: skip


def rows() -> list[Measurement]:
    """One thread is the fastest for small sizes, tiles in the middle, the GPU for large ones."""
    found: list[Measurement] = []
    for n in SIZES:
        found += [
            row(ONE_THREAD, n, n**3 * 1.0),
            row(DEFAULT, n, 400_000 + n**3 * 0.55),
            row(TILED, n, 380_000 + n**3 * 0.50),
            row(LOOPS, n, 400_000 + n**3 * 4.0),
            row(ON_GPU, n, 30_000_000 + n**3 * 0.02),
        ]
    found.append(row(DEFAULT, 256, 10_000_000, source="call", runs=400, made_at=NOW - 300))
    found.append(row(WRONG, 64, 0.0, outcome="wrong", runs=0, reason="c[0, 3] is 4.0 and not 5.0"))
    found.append(row(CRASHED, 64, 0.0, outcome="crashed", runs=0, reason="an illegal address\n in <kernel>"))
    return found


def front() -> JudgedCandidates:
    """As pruning leaves it."""
    by = f"dominated by '{TILED.schedule}': 2 times its efficiency"
    return JudgedCandidates(
        ("efficiency", "utilisation"),
        (
            Point(RECIPE, (1.0, 4.0), True, ""),
            Point(TILED.schedule, (2.0, 3.0), True, ""),
            Point("tile i 8 j 8", (1.0, 2.5), False, by),
            Point("tile i 2 j 2", (0.1, 0.5), False, by),
        ),
        (512, 512),
    )


def timeline(
    kernel: str = KERNEL, shape: Shape = SHARED_SHAPE, made_at: float = NOW - 600, **changes: object
) -> FittedTable:
    """The last shared call of a kernel, as a program leaves it."""
    content = {
        "kernel": kernel,
        "name": "gemm",
        "file": "gemm.py",
        "types": "(float64[:, :], int64)",
        "axes": [["c", 2], ["n", 0]],
        "sizes": list(shape.sizes),
        "models": {"cuda": "Some GPU"},
        "call": content_of(LAST),
    }
    return FittedTable(TIMELINE, CPU.fingerprint, timeline_name(kernel, shape), content | changes, made_at)


def fill(path: Path, name: str = "gemm") -> Path:
    """A store with all of it."""
    with ProfileStore.open(path) as store:
        store.put_machine(CPU)
        store.put_machine(GPU)
        store.add(rows())
        store.put_kernel(KernelName(KERNEL, name, "gemm.py", "gemm(c: float64[:, :], n: int64)"))
        chosen = Shape((512, 512))
        store.put_choice(
            ChoiceRecord(KERNEL, CPU.fingerprint, chosen, TILED, "predicted fastest", 6.75e7, 0.04, NOW - 90)
        )
        store.put_table(FittedTable(PARETO, CPU.fingerprint, KERNEL, front_content(front()), NOW - 3 * DAY))
        store.put_table(timeline(name=name))
    return path
