"""What analysis proved about a kernel: frozen values, keyed by the names and locations of its nodes.

`Facts` is made by `analysis/analyse.py`, read by `steps`, `codegen` and `report`. It never changes a kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from loopwright.ir.gpu_target import CUDA, GpuTarget
from loopwright.ir.nodes import Checked, For, Load, Location, Store, While

if TYPE_CHECKING:
    from loopwright.analysis import isl

Verdict = Literal["parallel", "reduction", "sequential", "undecided"]
ReductionOp = Literal["add", "mul", "min", "max", "minimum", "maximum", "fmin", "fmax", "and", "or", "xor"]
ReductionKind = Literal["scalar", "element", "scatter"]


@dataclass(frozen=True, slots=True)
class Reduction:
    """`target op= value` as the only use of target in the loop. kind: `scalar` a local; `element` an array
    element whose index does not change in the loop; `scatter` any elements of an array. `array_rank` 0 for a
    scalar. `exact`: reordering cannot change the result (integers, bool, min and max), so strict allows it.
    `alone`: no other access touches the array in the loop. Else others do, but never the updated elements: then a
    partial result may stand for an element, but not a copy for the whole array.
    `by`: of an extreme with what goes along (analysis/extremes.py), for each of its scalars, the one that keeps the
    value; `op` is min or max then, and `tie` says which iteration is kept of those with equal values: the `first` or
    the `last`, or the one with the `least` or `greatest` value of `position`."""

    target: str
    op: ReductionOp
    kind: ReductionKind
    exact: bool
    alone: bool = True
    by: str = ""
    tie: Literal["", "first", "last", "least", "greatest"] = ""
    position: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two accesses that force an order, in the user's words. `kind` RAW, WAR or WAW; `distance` in iterations
    of the loop ('1', '-', 'any' where it is not constant); texts are such as `out[i, j % 4]`."""

    target: str
    kind: Literal["RAW", "WAR", "WAW"]
    first: str
    second: str
    first_at: Location | None
    second_at: Location | None
    distance: str


@dataclass(frozen=True, slots=True)
class LoopFacts:
    """The answer for one For or While.

    parallel: iterations may run in any order and at once, given `private`. reduction: the same once each
    Reduction has partial results of its own. sequential: `conflict` or `reason` says what forces the order.
    undecided: `reason` and perhaps `conflict` say what could not be proven; it must not run in parallel unless
    the user asserted it (prange). `private`: scalars and local arrays written before they are read in each
    iteration. `last`: those of the private scalars whose value from the last iteration is read after the loop.
    `trip_count`: text of the number of iterations in terms of sizes and enclosing loops, or None. `node`: the loop
    itself, of which all this is known. `alike`: arrays of which several iterations may set the same element, all of
    them to the same value, which they may ask for before (analysis/same_value.py).
    """

    name: str
    verdict: Verdict
    reason: str
    private: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    reductions: tuple[Reduction, ...] = ()
    conflict: Conflict | None = None
    trip_count: str | None = None
    at: Location | None = None
    node: For | While | None = field(default=None, compare=False, repr=False)
    alike: tuple[str, ...] = ()


BoundsKind = Literal["proven", "checked"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """How one access (or Checked) is kept safe. `proven`: no check is needed where `Facts.guard` holds.
    `checked`: tested in the code, each time (`reason` says why). `may_be_negative`: a negative index, counted
    from the end, is possible in a correct run, so the code must wrap it (where `proven`: the index is a negative
    constant, and always counts from the end).

    `certain`: the access happens in every call, for its whole domain, so that a call for which it leaves its array
    can be refused before anything runs. `condition`: text of a condition on the sizes that keeps it inside ('' where
    always true)."""

    kind: BoundsKind
    reason: str = ""
    condition: str = ""
    certain: bool = False
    may_be_negative: bool = False


@dataclass(frozen=True, slots=True)
class AccessFacts:
    """One Load or Store: array, text of the access (`x[col[k]]`), `pattern` per axis ('affine', 'indirect',
    'data-dependent'), and the stride along the innermost enclosing loop in elements: a number, or times `row` or
    `plane` for sizes known only at run time; '' where it is not constant or not known."""

    array: str
    text: str
    is_write: bool
    pattern: tuple[str, ...]
    stride: str
    at: Location | None


@dataclass(frozen=True, slots=True)
class Condition:
    """A C expression that is true or false. compared: the parameters in each of the comparisons that it joins."""

    c_text: str
    compared: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class SizeGuard:
    """The condition on sizes and scalar parameters under which every `proven` access is in bounds. The verdicts of
    the loops rest on it too: where it does not hold, every loop must run in order, and every access be checked.

    `conditions`: all of them have to hold, and none: always true. They are about `parameters`, each a __int128 named by
    the first of the pair; the second says where its value comes from: ('size', argument position, axis) or ('scalar',
    argument position, 0). Those that only `bounds.violation` needs are among them too. `text`: for people. `on_data`:
    some of them only because elements may have any value of their type: 256 places for an index of 8 bits. `fixed`:
    the sizes of which it lets only one pass, as (argument position, axis, size). `passing`: the calls that it lets
    pass, or more, as a set of isl."""

    conditions: tuple[Condition, ...]
    text: str
    parameters: tuple[tuple[str, tuple[Literal["size", "scalar"], int, int]], ...]
    on_data: bool = False
    fixed: tuple[tuple[int, int, int], ...] = ()
    passing: isl.Set | None = field(default=None, compare=False, repr=False)

    @property
    def c_text(self) -> str:
        """All of it as one C expression; '' where it is always true."""
        return " && ".join(condition.c_text for condition in self.conditions)


Known = Mapping[tuple[object, str], tuple[Bounds, ...]]
"""Bounds by an access's key and array (a check has no array)."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything proven about one kernel. `bounds` is keyed by the identity (`id`) of the Load, Store or Checked
    node in the kernel that was analysed: look up with `bounds_of`. `known`: the same by the key of the node and the
    name of its array ('' for a Checked), where all nodes of one key agree: it is right for copies of them too.
    `gpu`: what steps may ask of a GPU."""

    loops: Mapping[str, LoopFacts]
    accesses: tuple[AccessFacts, ...]
    guard: SizeGuard
    bounds: Mapping[int, tuple[Bounds, ...]]
    known: Known = field(default_factory=dict)
    gpu: GpuTarget = CUDA

    def bounds_of(self, node: Load | Store | Checked) -> tuple[Bounds, ...]:
        """One Bounds for each axis of a Load or Store; exactly one for a Checked. Also of a copy that a step made."""
        found = self.bounds.get(id(node))
        return self.known[node.key, "" if isinstance(node, Checked) else node.array] if found is None else found

    def cannot_fail(self, node: Load | Checked) -> bool:
        """Whether a read is proven, of an array that was there when the kernel was analysed."""
        found = self.bounds.get(id(node), self.known.get((node.key, getattr(node, "array", ""))))
        return found is not None and all(one.kind != "checked" for one in found)


NOTHING_PROVEN = Facts({}, (), SizeGuard((), "", ()), {})
"""What is known of a kernel that nobody analysed: enough for loops in order, with every access checked."""
