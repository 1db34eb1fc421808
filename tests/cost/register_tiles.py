"""The schedule of a product in register tiles, as the recipe has it for calls in which both sides are long: for tests
that are about these tiles and not about which calls get them."""

from __future__ import annotations


def register_tiles(
    rows: int, columns: int, depth: int, bands: tuple[int, int], each: int, staged: tuple[str, ...]
) -> str:
    """For `cost.variants.product`. A block makes rows x columns elements, in steps of so many products each. bands: how
    far apart the rows and the columns of one thread are, which makes so many in a row of both; staged: the steps for
    the operands."""
    steps = [f"tile i {rows} j {columns} k {depth}", "complete i j", *_banded("i", "j", 1, bands, each, "k.o", "k")]
    steps.append("promote c k.o whole")
    copies = [("i.r", "j.r"), ("i.r.1", "j.r.1"), ("i.w", "j.w"), ("i.w.1", "j.w.1")]
    for i, j in copies:
        steps += _banded(i, j, 0, bands, each)
    steps += [*staged, "overrun j", "specialize k full", "bind i.o block.y", "bind j.o block.x"]
    threads = [(f"{i}.o.1.s", f"{j}.o.1.s") for i, j in copies] + [("i.o.2.s", "j.o.2.s"), ("i.o.2.s.1", "j.o.2.s.1")]
    for y, x in threads:
        steps += [f"bind {y} thread.y", f"bind {x} thread.x"]
    return "; ".join([*steps, "vectorize j.r", "vectorize j.w"])


def _banded(
    i: str, j: str, taken: int, bands: tuple[int, int], each: int, outer: str = "", inner: str = ""
) -> list[str]:
    """Threads take `each` elements in a row of every band. taken: how many loops are called '.o' already."""
    steps, first, second = [], *([f".o.{n}" if n else ".o" for n in (taken, taken + 1)])
    for name, band in zip((i, j), bands, strict=True):
        steps += [f"split {name} {band}", f"split {name} {each}", f"skew {name}{first} {name}{second} -1"]
    order = [outer, f"{i}{second}.s", f"{j}{second}.s", inner, f"{i}{first}", i, f"{j}{first}", j]
    return [*steps, "reorder " + " ".join(filter(None, order))]


FLOAT32_TILES = register_tiles(
    128,
    128,
    16,
    (32, 64),
    4,
    ("stage a i.o.2.s over 16 8 pad 4 fill double", "stage b i.o.2.s over 16 8 pad 4 wide 4 fill double"),
)
FLOAT64_TILES = register_tiles(
    128,
    64,
    8,
    (32, 16),
    2,
    ("stage a i.o.2.s over 8 16 pad 1 fill double", "stage b i.o.2.s over 8 16 pad 2 wide 2 fill double"),
)
