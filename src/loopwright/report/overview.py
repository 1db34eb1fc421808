"""The table at the top of the page: what each kernel gains over the default on each machine, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from xml.etree.ElementTree import Element

from loopwright.profile.records import KernelName, MachineName
from loopwright.report.element import Child, element, table
from loopwright.report.rates import rate_cell
from loopwright.report.section_view import TIE, Gain, SectionView, gain_of
from loopwright.report.sortable import keyed
from loopwright.report.words import duration, percent

FEW_VARIANTS = 5
"""With fewer that ran, nothing was searched."""

NOISY = 0.15
"""The spread of the times from which on the machine was busy."""


def overview(views: Sequence[SectionView], anchors: Mapping[tuple[str, str], str]) -> Element:
    """The largest gains first."""
    found = [(view, gain_of(view)) for view in views]
    found.sort(key=lambda one: (-(one[1].ratio if one[1] is not None else 0.0), one[0].subject.kernel.name))
    rows = [_row(view, gain, anchors) for view, gain in found]
    heads = ("kernel", "gain", "what to do next", "default", "now", "rate now", "for the sizes", "machine")
    return table(heads, rows, (1, 3, 4, 5), "gains, and what to do next")


def _row(view: SectionView, gain: Gain | None, anchors: Mapping[tuple[str, str], str]) -> tuple[Child, ...]:
    kernel, machine = view.subject.kernel, view.subject.machine
    name = element("a", name_of(kernel), href=f"#{anchors[kernel.fingerprint, machine.fingerprint]}")
    last = view.at, short_machine(machine)
    if gain is None:
        return name, "", next_step(view, gain), "", "", "", *last
    row = view.here(gain.variant)
    rate = "" if row is None else rate_cell(row.work, row.time_ns, view.subject)
    times = keyed(duration(gain.default_ns), gain.default_ns), keyed(duration(gain.time_ns), gain.time_ns)
    return name, keyed(gain_text(gain), gain.ratio), next_step(view, gain), *times, rate, *last


def gain_text(gain: Gain) -> str:
    """`1.53 times, +-4 %`; `none`."""
    if gain.variant == gain.default or abs(gain.ratio - 1) < TIE:
        return "none"
    return (
        f"{gain.ratio:.2f} times, \N{PLUS-MINUS SIGN}{percent(gain.error)}" if gain.error else f"{gain.ratio:.2f} times"
    )


def next_step(view: SectionView, gain: Gain | None) -> str:
    """What helps most now."""
    file = view.subject.kernel.file or "SCRIPT"
    script = file.replace("\\", "/").rsplit("/", 1)[-1]
    ran = [row for (_, shape), row in view.found.items() if shape == view.reference and row.outcome == "ok"]
    if gain is None:
        return f"the default and what serves were not measured at one size: loopwright tune {script}"
    if len(view.curves) < FEW_VARIANTS:
        return f"hardly anything but the default was measured: loopwright tune {script}, with a larger --budget"
    if ran and median(row.spread for row in ran) > NOISY:
        return f"times vary much: loopwright tune {script} again while the machine is quiet"
    if gain.variant != gain.default and gain.ratio - 1 <= max(gain.error, TIE):
        return "the gain is within the errors: tune again while the machine is quiet, or leave it"
    if gain.variant != gain.default:
        return f"nothing, calls use it; to share it: loopwright db export --for {script}"
    return "nothing: the default is as fast as anything that was measured"


def name_of(kernel: KernelName) -> str:
    """For people; the fingerprint's beginning where nobody has said."""
    return kernel.name or f"kernel {kernel.fingerprint[:12]}"


def machine_text(machine: MachineName) -> str:
    """Of what the machine is, what tells it from others most often."""
    identity = machine.identity
    if identity is None:
        return short_machine(machine)
    more = [word for word in (identity.compiler, identity.driver and f"driver {identity.driver}") if word]
    return short_machine(machine) + (f" ({', '.join(more)})" if more else "")


def short_machine(machine: MachineName) -> str:
    """The processor's or GPU's name."""
    identity = machine.identity
    if identity is None:
        return f"machine {machine.fingerprint[:12]}"
    kind = {"cpu": "CPU", "cuda": "GPU"}.get(identity.kind, identity.kind)
    return f"{identity.name} GPU" if identity.name.startswith(kind) else f"{kind} {identity.name}"
