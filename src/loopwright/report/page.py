"""The report of a store: one HTML page with everything in it, from the store alone. The same store and the same time
give the same page, byte for byte.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from xml.etree.ElementTree import Element

from loopwright.profile.records import KernelName
from loopwright.profile.store import ProfileStore
from loopwright.report.element import append, element, html, table
from loopwright.report.overview import machine_text, name_of, overview
from loopwright.report.section_view import view_of
from loopwright.report.sections import beside, section
from loopwright.report.shapes import types_in
from loopwright.report.sortable import SCRIPT, keyed, policy
from loopwright.report.stored_timelines import StoredCall
from loopwright.report.subjects import MOST_SUBJECTS, Contents, key_of, pairs, subjects
from loopwright.report.timelines import called, shared_overview, timelines
from loopwright.report.words import age, count

STYLE = Path(__file__).with_name("page.css")
MOST_LISTED = 400
"""Kernels on machines in the table at the top."""


def page(store: ProfileStore, found: Contents, now: float) -> str:
    """now: seconds since 1970. Raises StoreError."""
    anchors = _anchors(found)
    views = {kernel: [view_of(one) for one in told] for kernel, told in subjects(store, found.told)}
    body = element("main", element("h1", "Loopwright: what was gained, and what to do next"), _about(store, found, now))
    if views:
        append(body, overview([one for told in views.values() for one in told], anchors))
    shared = _by_kernel(found.shared)
    if shared:
        append(body, element("h2", "Calls that several devices shared"))
        append(body, shared_overview(found.shared, _shared_anchors(shared), now))
    for kernel, told in views.items():
        append(body, element("h2", name_of(kernel)))
        append(body, element("p", *_signature(kernel), class_="quiet"))
        for view in told:
            anchor = anchors[kernel.fingerprint, view.subject.machine.fingerprint]
            append(body, element("h3", machine_text(view.subject.machine), id=anchor))
            append(body, section(view, now))
        for cpu, gpu in pairs([view.subject for view in told]):
            append(body, element("h3", f"CPU against GPU: {machine_text(cpu.machine)}, {machine_text(gpu.machine)}"))
            append(body, beside(cpu, gpu))
        if kernel.fingerprint in shared:
            append(body, element("h3", "Several devices", id=_shared_anchors(shared)[kernel.fingerprint]))
            append(body, timelines(shared[kernel.fingerprint], now))
    for fingerprint, calls in shared.items():
        if fingerprint not in {kernel.fingerprint for kernel in views}:
            append(body, element("h2", called(calls[0]), id=_shared_anchors(shared)[fingerprint]))
            append(body, element("p", f"{calls[0].file}: ", element("code", calls[0].types), class_="quiet"))
            append(body, timelines(calls, now))
    append(body, element("h2", "All that was measured"))
    append(body, _everything(found, now))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="generator", content="loopwright report"),
        element("meta", http_equiv="Content-Security-Policy", content=policy()),
        element("title", "Loopwright report"),
        element("style", STYLE.read_text(encoding="utf-8")),
    )
    return html(element("html", head, element("body", body, element("script", SCRIPT)), lang="en"))


def _about(store: ProfileStore, found: Contents, now: float) -> Element:
    measured = sum(tally.measurements for tally in found.tallies)
    told = f"{count(measured, 'measurement')} in {store.path}, as of {_moment(now)}."
    if len(found.told) < len(found.tallies):
        told += (
            f" The {MOST_SUBJECTS} kernels that were measured last are told of below; for another one, give its name:"
            " loopwright report --kernel NAME."
        )
    return element("p", told, class_="quiet")


def _everything(found: Contents, now: float) -> Element:
    anchors = _anchors(found)
    rows: list[tuple[Element | str, ...]] = []
    for tally in found.tallies[:MOST_LISTED]:
        name: Element | str = name_of(tally.kernel)
        if key_of(tally) in anchors:
            name = element("a", name_of(tally.kernel), href=f"#{anchors[key_of(tally)]}")
        numbers = (str(tally.measurements), str(tally.failed), str(tally.runs))
        since_s = now - tally.newest
        rows.append((name, machine_text(tally.machine), *numbers, keyed(age(since_s), since_s)))
    heads = ("kernel", "machine", "measurements", "failed", "runs", "last")
    made = table(heads, rows, (2, 3, 4), "all that was measured")
    beyond = len(found.tallies) - len(rows)
    return element("div", made, element("p", f"and {beyond} more", class_="quiet")) if beyond else made


def _by_kernel(calls: Sequence[StoredCall]) -> dict[str, list[StoredCall]]:
    """By fingerprint: some kernels, those that were shared last."""
    found: dict[str, list[StoredCall]] = {}
    for one in calls:
        if one.kernel in found or len(found) < MOST_SUBJECTS:
            found.setdefault(one.kernel, []).append(one)
    return found


def _shared_anchors(shared: Iterable[str]) -> dict[str, str]:
    return {kernel: f"shared{number}" for number, kernel in enumerate(shared, 1)}


def _signature(kernel: KernelName) -> Sequence[Element | str]:
    file = f"{PurePath(kernel.file).name}: " if kernel.file else ""
    return (file, element("code", types_in(kernel.signature))) if kernel.signature else (file or "types are not known",)


def _anchors(found: Contents) -> dict[tuple[str, str], str]:
    """Names of the sections."""
    return {key_of(one): f"section{number}" for number, one in enumerate(found.told, 1)}


def _moment(now: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(now))
