"""A scalar that is updated several times in a row keeps its name in between. The front end gives each value of a
variable a name of its own, `s += a[i]; s += b[i]` two of them; with one, both are updates of one sum, whose order is
free.

    for i in 0 .. n:                       for i in 0 .. n:
        s.2 = s + a[i]                         s = s + a[i]
        b[i] = 0.0                    ->       b[i] = 0.0
        s = s.2 + b[i]                         s = s + b[i]

That is so where the name in between is assigned once and read only until the last of the updates, and nothing asks for
the old value, or leaves, meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from loopwright.ir.nodes import Assign, Binary, Body, Break, Continue, Expr, For, Kernel, Leave, Return, Stmt, Var
from loopwright.ir.queries import contains, names_assigned, names_read
from loopwright.ir.walk import expressions, rewrite_body, statements, unless_same


def one_name_for_updates(kernel: Kernel) -> Kernel:
    """The same kernel, in loops each such scalar under one name."""
    reads = Counter(one.name for one in expressions(kernel.body, Var))
    writes = Counter(one.name for one in statements(kernel.body, Assign))

    def renamed(stmt: Stmt) -> Body:
        if not isinstance(stmt, For):
            return (stmt,)
        body = stmt.body
        for last in range(1, len(body)):
            body = _one_name(body, last, reads, writes)
        return (stmt if body is stmt.body else replace(stmt, body=body),)

    body = rewrite_body(kernel.body, renamed)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _one_name(body: Body, last: int, reads: Mapping[str, int], writes: Mapping[str, int]) -> Body:
    """The body with the updates that end at a place under the name of the last one."""
    stmt = body[last]
    if not isinstance(stmt, Assign):
        return body
    between: set[str] = set()
    place, name = last, _updated(stmt)
    while name is not None and name != stmt.name:
        found = next((k for k in range(place) if _assigns(body[k], name)), None)
        if found is None or writes[name] != 1:
            return body
        inside = Counter(one.name for one in expressions(body[found + 1 : last + 1], Var))
        if inside[name] != reads[name]:
            return body
        between.add(name)
        place, first = found, body[found]
        assert isinstance(first, Assign)
        name = _updated(first)
    part = body[place + 1 : last]
    asked = names_read((*part, stmt)) | names_assigned(part)
    if name is None or not between or stmt.name in asked or contains(part, Break, Continue, Leave, Return):
        return body
    return unless_same(body, [*body[:place], *_renamed(body[place : last + 1], between, stmt.name), *body[last + 1 :]])


def _updated(stmt: Assign) -> str | None:
    """The scalar to which something is added, or the like."""
    match stmt.value:
        case Binary(op="add" | "mul" | "min" | "max" | "and" | "or" | "xor" | "sub", left=Var(name=name)):
            return name
        case _:
            return None


def _assigns(stmt: Stmt, name: str) -> bool:
    return isinstance(stmt, Assign) and stmt.name == name


def _renamed(body: Body, names: set[str], name: str) -> Body:
    def changed(stmt: Stmt) -> Body:
        return (replace(stmt, name=name) if isinstance(stmt, Assign) and stmt.name in names else stmt,)

    def told(expr: Expr) -> Expr:
        return replace(expr, name=name) if isinstance(expr, Var) and expr.name in names else expr

    return rewrite_body(body, changed, told)
