"""Arrays that a call is given and gives back under the same name: `stack, size = pushed(stack, x, size)`.

Inside the helper the parameter is then the caller's variable itself. What it is assigned there becomes the caller's
array, as it would at the end of the call, and until then nobody else sees the variable.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from loopwright.frontend.arguments import Arguments
from loopwright.frontend.context import Context, Frame, web_key
from loopwright.frontend.infer import Key
from loopwright.frontend.values import Array, Literal, Number, Value, View
from loopwright.frontend.views import as_view


def handed_over(cx: Context, value: Value, call: Arguments) -> Key | None:
    """The key of the caller's variable that an argument is, where the call's result is assigned to it, and no other
    argument is part of it."""
    if not isinstance(value, Array | View) or len(call.values) != len(call.node.args):
        return None
    places = [place for place, given in enumerate(call.values) if given is value]
    if len(places) != 1 or not isinstance(name := call.node.args[places[0]], ast.Name):
        return None
    others = [
        node for k, node in enumerate(call.node.args)
        if k != places[0] and not isinstance(call.values[k], Literal | Number)
    ]  # fmt: skip
    if call.named or any(isinstance(n, ast.Name) and n.id == name.id for one in others for n in ast.walk(one)):
        return None
    web = cx.frame.webs.loads.get(id(name))
    targets = [one for one in _targets(cx.frame.tree, call.node) if isinstance(one, ast.Name) and one.id == name.id]
    if web is None or len(targets) != 1 or cx.frame.webs.stores.get(id(targets[0])) is not web:
        return None
    key = web_key(cx.frame, web)
    return key if key in cx.array_variables else None


def _targets(tree: ast.FunctionDef, call: ast.Call) -> Sequence[ast.expr]:
    """The names that are assigned the result of a call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and node.value is call and len(node.targets) == 1:
            target = node.targets[0]
            return target.elts if isinstance(target, ast.Tuple) else [target]
    return []


def variable_given_back(cx: Context, frame: Frame, value: Value) -> Key | None:
    """The key of the caller's variable whose array is returned as it is now."""
    for key in frame.handed_over.values():
        room = cx.array_variables[key]
        if value == room or (isinstance(value, View) and value.array == room and is_whole(value)):
            return key
    return None


def is_whole(view: View) -> bool:
    """Whether element k of a view along each axis is element k of its array."""
    return view.places == as_view(view.array).places
