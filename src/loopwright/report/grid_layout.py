"""How the kernels of a GPU's program look in a report: what a kernel needs, then what it does to memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # `explanation` imports its layout to print itself
    from loopwright.report.explanation import GridReport, WarpReport

MOST_TEXT = 40


def grid_lines(reports: Sequence[GridReport]) -> Iterator[str]:
    """The lines of all kernels. What the compiler said against them comes once."""
    yield from dict.fromkeys(report.fault for report in reports if report.fault)
    for report in reports:
        yield f"kernel {report.name}: {_needs(report)}"
        yield from (f"  {line}" for line in (*report.lowered, *_memory(report)))


def _needs(report: GridReport) -> str:
    threads = "1 thread" if report.threads == 1 else f"{report.threads} threads"
    if report.blocks is not None:
        text = f"{report.blocks} block{'' if report.blocks == 1 else 's'} of {threads}"
    else:
        text = f"{report.blocks_words} blocks of {threads}" if report.blocks_words else f"{threads} a block"
    if report.block is not None and report.block[1:] != (1, 1):
        text += f" ({' x '.join(str(size) for size in report.block if size > 1)})"
    if report.registers is None:
        return text
    text += f", {report.registers} registers each"
    text += f", {report.shared_bytes / 1024:.1f} KiB shared" if report.shared_bytes else ""
    text += f", {report.spilled_bytes} bytes spilled" if report.spilled_bytes else ""
    return (
        f"{text}; {report.at_once} blocks a multiprocessor, {report.occupancy:.0%} of its threads "
        f"({report.limiter} limit it)"
    )


def _memory(report: GridReport) -> Iterator[str]:
    if moved := _moved(report):
        yield f"moves {moved}"
    groups: dict[tuple[int, bool, str], list[str]] = {}
    for access in report.accesses:
        if access.memory == "global":
            groups.setdefault((access.line, access.write, access.said), []).append(access.text)
    shown = [(*about, _listed(texts)) for about, texts in groups.items()]
    width = max((len(text) for *_, text in shown), default=0)
    for line, write, said, text in shown:
        where = f"line {line:>4}" if line else " " * 9
        yield f"{where}  {'writes' if write else 'reads '}  {text:<{width}}  {said}"
    yield from _shared([access for access in report.accesses if access.memory == "shared"])


def _moved(report: GridReport) -> str:
    """How much, in what time; '' where nothing is known."""
    known = f"{report.bytes_words} bytes" if report.bytes_words else ""
    if report.bytes_least is not None:
        known = size(report.bytes_least)
    parts = [f"at least {known}"] if known else []
    if report.unknown:
        *first, last = report.unknown
        parts.append(f"what data decides of {', '.join(first)}{' and ' if first else ''}{last}")
    text = ", and ".join(parts)
    if text and report.repeated:
        text += f" in each iteration of {' and '.join(report.repeated)}"
    elif text and report.around:
        text += " in all launches together"
    return text


def _listed(texts: Sequence[str]) -> str:
    """Some accesses of one kind: all of them where they are short."""
    whole = ", ".join(texts)
    return whole if len(whole) <= MOST_TEXT or len(texts) == 1 else f"{texts[0]} and {len(texts) - 1} more like it"


def _shared(accesses: Sequence[WarpReport]) -> Iterator[str]:
    """Shared memory only where it is of interest: threads that wait for the same bank."""
    if not accesses:
        return
    slow = [access for access in accesses if access.conflicts != 1]
    if not slow:
        yield "shared memory: no bank conflicts"
    for access in slow:
        array = access.text.split("[")[0]
        yield f"shared memory: {access.said} where {array} is {'written' if access.write else 'read'}"


def size(count: int) -> str:
    """Bytes in the unit that reads best."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}" if count < 1000 * factor else f"{count / factor:.0f} {unit}"
    return f"{count} bytes"
