"""Names that stand for one array now and for another one later: `x = x + dx` in a loop.

Such a name has memory of its own, of the size of its first value, which each assignment writes. That is what Python
means as long as no other name stands for the same array: another name for it gets a copy, and where one of the two is
written in place, so that a copy would show, the assignment is refused. Arrays of several sizes: sized_names.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from operator import is_ as is_same

from loopwright.frontend.array_names import CALLER, copy_shows, may_show
from loopwright.frontend.bounds import known_at_call
from loopwright.frontend.context import Context, Frame, NotYet, web_key
from loopwright.frontend.elementwise import assign_elements, check, materialised, new_array
from loopwright.frontend.exchanges import renamed_only
from loopwright.frontend.handed_over import is_whole
from loopwright.frontend.infer import ArrayKind, Key
from loopwright.frontend.scopes import own_nodes
from loopwright.frontend.sized_names import assign_sized, note_sizes
from loopwright.frontend.values import Array, ArrayLike, Elementwise, Items, Keyed, Value, View, Zipped
from loopwright.frontend.views import ZERO, as_size, as_view, clipped, size_of
from loopwright.frontend.webs import Web
from loopwright.ir.nodes import Assign, Binary, Compare, Const, Expr
from loopwright.ir.walk import subexpressions

_LARGE = "make an array that is large enough, and count how much of it is used"
_LIST = f"put the rows into a list, and write np.array(rows) after the loop; or {_LARGE}"


def store_array(cx: Context, key: Key, name: str, value: ArrayLike, node: ast.AST, value_node: ast.AST) -> None:
    """Assign an array to such a name. Raises KernelError for another number of axes."""
    kind = cx.session.types.assign(key, ArrayKind(value.element, len(value.shape)))
    if not isinstance(kind, ArrayKind):
        what = f"{len(value.shape)}-dimensional array of {value.element}"
        raise cx.error(node, f"'{name}' is a {what} here and something else elsewhere",
                       "a name has the same element type and number of axes wherever it is assigned",
                       "use another name, or convert the elements: .astype(...)")  # fmt: skip
    known = cx.array_variables.get(key)
    if known is None and key in cx.session.early:
        note_sizes(cx, key, [value.shape])
    is_itself = isinstance(value, Array) and value == known
    if isinstance(value, View) and value.array == known and is_whole(value) and key in cx.sizes:
        for variable, size in zip(cx.sizes[key], value.shape, strict=True):  # its own array, as long as it was then
            cx.emit(Assign(variable, size_of(clipped(cx, size)), at=cx.at(node)))
        return
    has_room = bool(cx.session.rooms.get(key)) and (key in cx.sizes or known is None)
    if (known is not None or has_room) and not is_itself and _has_name(cx, value):
        refuse_alias(cx, name, value, node)
    if has_room:
        assign_sized(cx, key, name, value, kind.element, node, value_node)
        return
    if known is None:
        cx.first_in[key] = cx.scopes
        cx.array_variables[key] = _first(cx, name, value, kind, node, value_node)
        return
    if is_itself:
        return
    if _has_several(cx, key, known, value) and note_sizes(cx, key, [known.shape, value.shape]):
        return  # in the next round
    refuse_out_of_scope(cx, key, known, name, node)
    for old, new in zip(known.shape, value.shape, strict=True):
        a, b = size_of(clipped(cx, old)), size_of(clipped(cx, new))
        if isinstance(a, Const) and isinstance(b, Const) and a != b:
            raise cx.error(node, f"'{name}' has {b.value} elements here and {a.value} elsewhere",
                           "a name that stands for several arrays uses the memory of the first",
                           _LIST if len(value.shape) > 1 else "use another name")  # fmt: skip
        if a != b and _is_part(a, b):
            raise cx.error(node, f"'{name}' is assigned an array of another size, which depends on its own size",
                           "a name that stands for several arrays uses the memory of the first",
                           _LIST if len(value.shape) > 1 else _LARGE)  # fmt: skip
        if a != b:
            check(cx, Compare("eq", a, b), "resized", node)
    assign_elements(cx, as_view(known), value, node, value_node)


def _has_several(cx: Context, key: Key, known: Array, value: ArrayLike) -> bool:
    """Whether an assignment gives a name an array that is meant to have another size: one that is computed, or that is
    made in another branch. Others are tested to have the same."""
    first = cx.first_in.get(key, ())
    shared = min(len(first), len(cx.scopes))
    in_other_branch = first[:shared] != cx.scopes[:shared] or "chosen" in key or "return" in key
    for old, new in zip(known.shape, value.shape, strict=True):
        a, b = size_of(clipped(cx, old)), size_of(clipped(cx, new))
        is_other = (isinstance(a, Const) and isinstance(b, Const)) or ZERO in (a, b)  # np.empty(0), until there is one
        if a != b and (is_other or in_other_branch or _is_part(a, b) or known_at_call(cx, b) is None):
            return True
    return False


def _is_part(size: Expr, other: Expr) -> bool:
    """Whether a size is computed from another one."""
    match size:
        case Binary(op="max", left=inner, right=Const(value=0)) if not isinstance(inner, Const):
            size = inner
        case _:
            pass
    return size in subexpressions(other)


def _first(cx: Context, name: str, value: ArrayLike, kind: ArrayKind, node: ast.AST, value_node: ast.AST) -> Array:
    shape = [known_at_call(cx, size_of(size)) for size in value.shape]
    if is_fresh(cx, value) and value.element == kind.element and (cx.depth == 0 or None in shape):
        assert isinstance(value, Array)
        return value
    if _has_name(cx, value):
        refuse_alias(cx, name, value, node)
    if None in shape:
        return materialised(cx, value, value_node, kind.element)
    outer, cx.body, depth, cx.depth = cx.body, cx.prologue, cx.depth, 0  # made at the start, for all branches
    try:
        sizes = tuple(clipped(cx, as_size(size)) for size in shape if size is not None)
        result = new_array(cx, sizes, kind.element, value_node, name)
        cx.made_in[result.name] = ()
    finally:
        cx.body, cx.depth = outer, depth
    assign_elements(cx, replace(as_view(result), shape=value.shape), value, node, value_node)
    return result


def refuse_out_of_scope(cx: Context, key: Key, array: Array, name: str, node: ast.AST) -> None:
    """Raise KernelError for an array whose memory is made in a branch or a loop that is over. Where it is known how
    large it may be, the next round makes it at the start."""
    scopes = cx.made_in.get(array.name, ())
    if cx.scopes[: len(scopes)] != scopes:
        if note_sizes(cx, key, [array.shape]):
            raise NotYet(f"the size of '{name}' is not known", cx.at(node))
        raise cx.error(
            node,
            f"'{name}' uses memory from a branch or a loop that ends before this line",
            "a name that stands for several arrays uses the memory of the first, and its size is computed there",
            f"assign '{name}' before the branch or the loop, with the size it has there, or use another name",
        )


def is_fresh(cx: Context, value: Value) -> bool:
    """Whether a value is a local array that no name stands for yet."""
    return isinstance(value, Array) and not value.index and not _has_name(cx, value)


def _has_name(cx: Context, value: ArrayLike) -> bool:
    """Whether an array, or the one that it is a view of, is one that a name stands for."""
    if isinstance(value, Elementwise):
        return False
    base = value.name if isinstance(value, Array) else value.array.name
    bound = [value for frame in cx.active for value in frame.bindings.values()]
    has_name = base in names_of(bound) or any(one.name == base for one in cx.array_variables.values())
    return has_name or base not in cx.allocations or base in cx.row_arrays


def names_of(values: list[Value]) -> set[str]:
    """The arrays that some values are, or are views of, by name."""
    found: set[str] = set()
    for value in values:
        match value:
            case Array():
                found.add(value.name)
            case View():
                found.add(value.array.name)
            case Items(items=items) | Keyed(items=items) | Zipped(parts=items):
                found |= names_of(list(items))
            case _:
                pass
    return found


def separate(cx: Context, name: str, value: Value, node: ast.AST, value_node: ast.AST) -> Value:
    """A value that gets a name of its own: where it is (part of) an array whose name is assigned again, a copy. So are
    the items of a tuple or a dict, where that name is assigned again behind it."""
    if isinstance(value, Items | Keyed):
        items = tuple(separate(cx, name, item, node, value_node) if is_replaced_later(cx, item, node) else item
                      for item in value.items)  # fmt: skip
        return value if all(map(is_same, items, value.items)) else replace(value, items=items)
    if not isinstance(value, Array | View) or not value.shape:
        return value
    base = value.name if isinstance(value, Array) else value.array.name
    if all(one.name != base for one in cx.array_variables.values()):
        return value
    refuse_alias(cx, name, value, node)
    return materialised(cx, value, value_node)


def is_replaced_later(cx: Context, value: Value, node: ast.AST) -> bool:
    """Whether the name of an array that a value is, or holds, may be assigned another one behind a node."""
    bases = names_of([value])
    keys = {key for key, one in cx.array_variables.items() if one.name in bases}
    return replaced_later(cx, [web for web in cx.frame.webs.stores.values() if web_key(cx.frame, web) in keys], node)


def replaced_later(cx: Context, webs: Iterable[Web], node: ast.AST) -> bool:
    """Whether one of these variables of arrays may be assigned another one behind a node. Not those that only change
    names: what they stand for stays what it is."""
    numbers = {web.number for web in webs if web_key(cx.frame, web) in cx.array_variables} - renamed_only(cx.frame)
    stores = {place for place, web in cx.frame.webs.stores.items() if web.number in numbers}
    if not stores:
        return False
    nodes = own_nodes(cx.frame.tree)
    loops = (part for part in nodes if isinstance(part, ast.For | ast.While))
    again = (part for loop in loops if any(one is node for one in ast.walk(loop)) for part in ast.walk(loop))
    behind = (part for part in nodes if getattr(part, "lineno", 0) > getattr(node, "lineno", 0))
    return any(id(part) in stores for part in chain(again, behind))


def refuse_alias(cx: Context, name: str, value: ArrayLike, node: ast.AST) -> None:
    """Raise KernelError where two names for one array would be told from copies."""
    assert isinstance(value, Array | View)
    other = _user_name(cx, value)
    base = value.name if isinstance(value, Array) else value.array.name
    if _is_left_behind(cx, base):
        return
    escapes = cx.frame.is_inlined and may_show(cx, cx.frame.path[-1], to_python=False)
    others = [other] if base in cx.allocations and not _is_of_caller(cx, base) else [other, CALLER]
    if copy_shows(cx.frame, name, others, node, escapes):
        raise cx.error(
            node,
            f"'{name}' is another name for '{other}' here",
            "one of the two is assigned again, and the array is written in place",
            f"copy it: {name} = {other}.copy()",
        )


def _is_left_behind(cx: Context, base: str) -> bool:
    """Whether the only name that is assigned an array again is one of a helper that has returned."""
    keys = [key for key, one in cx.array_variables.items() if one.name == base]
    active = {frame.number for frame in cx.active}
    return base in cx.allocations and bool(keys) and all(_frame_of(cx, key).number not in active for key in keys)


def _is_of_caller(cx: Context, base: str) -> bool:
    """Whether an array was made before the function at hand was called."""
    return base in list(cx.allocations)[: cx.frame.made_before]


def _frame_of(cx: Context, key: Key) -> Frame:
    """The function whose variable it is."""
    return max((one for one in cx.frames if key[: len(one.path)] == one.path), key=lambda one: len(one.path))


def _user_name(cx: Context, value: Array | View) -> str:
    base = value.name if isinstance(value, Array) else value.array.name
    for key, one in cx.array_variables.items():
        if one.name == base:
            web = next((number for number, other in cx.frame.handed_over.items() if other == key), None)
            here = next((one.name for one in cx.frame.webs.stores.values() if one.number == web), None)
            return here or cx.array_names.get(key, base)
    return base


def own_copy(cx: Context, key: Key, name: str, value: Array, node: ast.AST, is_renamed: bool) -> bool:
    """Make an array argument whose name is assigned again a name with memory of its own; False where it is written in
    place, which the caller must see."""
    if is_renamed:
        cx.array_variables[key] = value
    elif copy_shows(cx.frame, name, [CALLER]):
        return False
    cx.array_names[key] = name
    cx.session.types.assign(key, ArrayKind(value.element, len(value.shape)))
    if is_renamed:
        return True
    kind = cx.session.types.of(key)
    element = kind.element if isinstance(kind, ArrayKind) else value.element
    if cx.session.rooms.get(key):
        assign_sized(cx, key, name, value, element, node, node)
        return True
    cx.array_variables[key] = materialised(cx, value, node, element)
    return True


def independent(cx: Context, items: tuple[Value, ...], keys: list[Key | None], node: ast.AST) -> tuple[Value, ...]:
    """The values of `u, v = v, u`: those that an assignment before theirs overwrites are copied
    first, and expressions are computed."""
    result = list(items)
    overwritten: set[str] = set()
    writes = False
    for k, (item, key) in enumerate(zip(items, keys, strict=True)):
        if isinstance(item, Array | View) and item.shape:
            base = item.name if isinstance(item, Array) else item.array.name
            if base in overwritten:
                result[k] = materialised(cx, item, node)
        if isinstance(item, Elementwise) and (writes or item.reads & overwritten):
            result[k] = materialised(cx, item, node)
        writes = writes or key is None  # into an element or a part of an array
        if key is not None and key in cx.array_variables:
            overwritten.add(cx.array_variables[key].name)
    return tuple(result)
