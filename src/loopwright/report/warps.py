"""What the threads of a warp touch with each access, in words."""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.analysis.coalescing import FAR, WarpAccess
from loopwright.ir.nodes import Expr, Load, Store, Var
from loopwright.ir.user_text import user_element
from loopwright.ir.walk import rewrite_expr
from loopwright.report.explanation import WarpReport

Lines = tuple[Load | Store, ...]
"""Accesses that the user wrote, with their places."""


def warp_reports(found: Iterable[WarpAccess], lines: Lines) -> tuple[WarpReport, ...]:
    """Each access of the user's once: of the texts for whole blocks and for those at an edge the first, which is for
    whole blocks."""
    places = {(_text(node), isinstance(node, Store)): node.at.line for node in reversed(lines) if node.at is not None}
    texts = {text: line for (text, _), line in places.items()}
    reports: dict[tuple[str, bool, str], WarpReport] = {}
    for access in found:
        text, write = _text(access.node), isinstance(access.node, Store)
        own = access.at.line if access.at is not None else 0
        line = own or places.get((text, write)) or texts.get(text, 0)
        words = _global(access) if access.memory == "global" else _shared(access)
        report = WarpReport(
            text, line, write, access.memory, words, access.bytes, access.threads, access.sectors, access.least,
            access.conflicts,
        )  # fmt: skip
        reports.setdefault((text, write, access.memory), report)
    return tuple(reports.values())


def _text(node: Load | Store) -> str:
    """The element as the user wrote it: loops that were made of another one have its name."""
    index = tuple(rewrite_expr(expr, _plain) for expr in node.index)
    return user_element(node.array, index)


def _plain(expr: Expr) -> Expr:
    return Var(expr.name.split(".")[0], expr.type) if isinstance(expr, Var) else expr


def _global(access: WarpAccess) -> str:
    if access.threads == 1:
        return "one thread"
    match access.apart:
        case "data":
            return "data decides"
        case "unknown":
            return "not the same distance between all threads"
        case 0 if access.sectors <= 1:
            return "the same element for all threads"
        case 0:
            return f"neighbouring threads share it: {_sectors(access.sectors)}"
        case int() as apart:
            where = "a row or more apart" if abs(apart) >= FAR // 2 else f"{abs(apart)} bytes apart"
            if access.sectors <= access.least:
                return f"{where}: coalesced, {_sectors(access.sectors)}"
            used = f"{access.least / access.sectors:.0%}"
            return f"{where}: {_sectors(access.sectors)}, where {access.least} would do ({used} used)"


def _sectors(count: int) -> str:
    return f"{count} sector{'' if count == 1 else 's'} a warp"


def _shared(access: WarpAccess) -> str:
    if not access.conflicts:
        return "data decides" if access.apart == "data" else "not the same distance between all threads"
    return "no bank conflicts" if access.conflicts == 1 else f"{access.conflicts}-way bank conflicts"
