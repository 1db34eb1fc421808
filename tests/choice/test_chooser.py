"""The chooser of real kernels, with stores that were filled by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import loopwright as lw
from loopwright.choice import chooser as choosing
from loopwright.choice.chooser import KernelChooser
from loopwright.config import current
from loopwright.devices.gpus import gpu_of
from loopwright.ir.signature import Shape
from loopwright.ir.variant import PLAIN, Variant
from loopwright.memory.on_device import OnDevice, on_device
from loopwright.memory.sampled import APART_NS
from loopwright.profile.journal import journal_of
from loopwright.profile.machine import machine_of
from loopwright.profile.measurement import Measurement, Work
from loopwright.tuning import background_search

N = 64
SHAPE = Shape((N,))
COPIED = Work(N, N, 1, 8 * N, 8 * N, 8 * N)


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[lw.LoopKernel]:
    @lw.kernel
    def twice(a):
        for i in range(len(a)):
            a[i] = a[i] * 2.0

    with lw.options(store=tmp_path / "store.sqlite3", threads=1):
        yield twice


def choosers(kernel: lw.LoopKernel) -> dict[bool, KernelChooser]:
    """By whether arrays are on the GPU."""
    found = {kind.resident: one for kind, (_, one) in kernel._dispatch._choosers.items()}
    return {resident: one for resident, one in found.items() if isinstance(one, KernelChooser)}


def there() -> OnDevice:
    gpu = gpu_of("emulated")
    assert gpu is not None
    address = gpu.allocate(8 * N)
    gpu.upload(address, np.ones(N))
    return on_device(address, (N,), np.dtype("f8"), None, "emulated", None)


def test_times_with_copies_are_evidence_but_no_times_of_calls_without(kernel: lw.LoopKernel) -> None:
    default, other = Variant("emulated"), Variant("emulated", PLAIN)
    with lw.options(device="emulated"):
        machine = machine_of("emulated", current())
        assert machine is not None
        fingerprint = kernel.specialise(np.ones(N)).fingerprint
        journal = journal_of(current())
        for variant, time_ns in ((default, 9e6), (other, 1e6)):
            row = Measurement(fingerprint, machine.fingerprint, variant, SHAPE, COPIED, "ok", time_ns, 0.01, 5)
            journal.add(row)
        assert journal.flush()
        kernel(np.ones(N))
        a = there()
        kernel(a)
        host, resident = (choosers(kernel)[one] for one in (False, True))
        assert [one.prediction.how for one in host.standings(SHAPE)[1]] == ["measured"] * 2
        assert [one.state for one in resident.standings(SHAPE)[1]] == ["proven"] * 2
        assert "measured" not in [one.prediction.how for one in resident.standings(SHAPE)[1]]
        calls = resident.adaptive.knowledge.calls[SHAPE]
        assert (calls.work.inputs_bytes, calls.work.outputs_bytes) == (0.0, 0.0)
        assert not resident.due(SHAPE)
        # Calls of some microseconds are told after as much time as others, of which few are timed.
        calls, spent_ns = resident.patience(SHAPE, default)
        assert 1 <= calls <= 100 and spent_ns > 10**15
        assert calls * APART_NS >= host.patience(SHAPE, default)[1] > (calls - 1) * APART_NS


def test_what_was_served_before_pays_for_looking(kernel: lw.LoopKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    @lw.kernel
    def product(c, a, b):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    arguments = tuple(np.ones((40, 40)) for _ in range(3))
    one, shape, chooser = product.specialise(*arguments), Shape((40,) * 6), product._dispatch._experience.chooser
    monkeypatch.setattr(choosing, "SEARCH_NS", 60 * 10**9)  # however busy this machine is
    monkeypatch.setattr(background_search, "ENOUGH", 4)
    least_ns = 20 * choosing.SEARCH_NS
    poor, rich = (chooser(one, current(), served_ns, False) for served_ns in (least_ns - 20, least_ns))
    assert isinstance(poor, KernelChooser) and isinstance(rich, KernelChooser)
    for each in (poor, rich):
        each.choose(shape)
    assert not poor.due(shape) and rich.due(shape)
    before = len(rich.standings(shape)[1])
    rich.experiment(shape, arguments)
    account = rich.adaptive.account
    assert 0 < account.spent_ns <= 0.05 * account.total_ns and account.reserved_ns == 0
    assert len(rich.standings(shape)[1]) > before


def test_a_space_that_cannot_be_made_is_no_failure_of_the_call(
    kernel: lw.LoopKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no space")

    monkeypatch.setattr("loopwright.tuning.background_search.Members", broken)
    found = kernel._dispatch._experience.chooser(kernel.specialise(np.ones(N)), current(), 10**12, False)
    assert isinstance(found, KernelChooser)
    found.choose(SHAPE)
    assert found.due(SHAPE)
    with pytest.warns(lw.LoopwrightWarning, match="no space"):
        found.experiment(SHAPE, (np.ones(N),))
    found.due(SHAPE)
    assert found._search is not None and found._search.over
    assert found.adaptive.account.reserved_ns == 0


def test_a_number_of_threads_that_was_never_measured_is_predicted_from_others(kernel: lw.LoopKernel) -> None:
    """Those with more threads than calls have tell of it too, and are no candidates."""
    machine = machine_of("cpu", current())
    assert machine is not None
    fingerprint, work = kernel.specialise(np.ones(N)).fingerprint, Work(1e6, 12, 1e6 / 12)
    for threads in (2, 4):
        shape, variant = Shape((N,)), Variant("cpu", threads=threads)
        row = Measurement(fingerprint, machine.fingerprint, variant, shape, work, "ok", 12e6 / threads, 0.01, 5)
        journal_of(current()).add(row)
    assert journal_of(current()).flush()
    with lw.options(threads=3):
        kernel(np.ones(N))
        (chooser,) = choosers(kernel).values()
        decision, standings = chooser.standings(Shape((N,)))
    assert decision.variant == Variant("cpu", threads=3)
    predicted = {one.variant.threads: one.prediction for one in standings}
    assert 4 not in predicted and predicted[3].how == "interpolated"
    assert predicted[3].time_ns == pytest.approx(4e6, rel=0.05) and predicted[2].time_ns == 6e6
