"""What the variants of a kernel on a machine are called on its part of the page, so that a table and a picture name the
same one alike: a few words for the default ones, and V1, V2 ... for the others, the fastest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from loopwright.ir.variant import PLAIN, RECIPE, Variant


def default_of(variants: Iterable[Variant]) -> Variant | None:
    """The one that serves where nothing is known: of all threads."""
    return max((one for one in variants if one.schedule == RECIPE), key=lambda one: one.threads, default=None)


def variant_names(ranked: Sequence[Variant], others: Iterable[Variant] = ()) -> Mapping[Variant, str]:
    """ranked: the fastest first. others: those that did not run, in any order."""
    found: dict[Variant, str] = {}
    default, number = default_of(ranked), 0
    for one in dict.fromkeys((*ranked, *sorted(others, key=str))):
        threads = f", {one.threads} thread{'' if one.threads == 1 else 's'}" if one.threads else ""
        if one == default:
            found[one] = "default"
        elif one.schedule == RECIPE:
            found[one] = f"default{threads}" if threads else f"default on {one.device}"
        elif one.schedule == PLAIN:
            found[one] = f"as written{threads}"
        else:
            number += 1
            found[one] = f"V{number}"
    return found
