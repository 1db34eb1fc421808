"""The arguments of one call of a function that the language knows, and the errors for a wrong call."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_number
from loopwright.frontend.values import Fixed, Literal, Number, Value


@dataclass(frozen=True, slots=True)
class Arguments:
    """`name` is the function's name as written, `values` the positional arguments, `named` the keyword ones."""

    node: ast.Call
    name: str
    values: tuple[Value, ...]
    named: dict[str, Value]

    def expect(self, cx: Context, low: int, high: int | None = None, keywords: Sequence[str] = ()) -> None:
        """Raise KernelError unless there are `low` to `high` positional arguments and only these keywords."""
        high = low if high is None else high
        for name in self.named:
            if name not in keywords:
                raise cx.error(self.node, f"{self.name}() has no keyword '{name}' here")
        if not low <= len(self.values) <= high:
            wanted = str(low) if low == high else f"{low} to {high}"
            noun = "argument" if high == 1 else "arguments"
            raise cx.error(self.node, f"{self.name}() takes {wanted} {noun} here, and is given {len(self.values)}")

    def place(self, number: int) -> ast.expr:
        """Where an argument stands."""
        return self.node.args[number] if number < len(self.node.args) else self.node

    def number(self, cx: Context, number: int) -> Literal | Number:
        """A positional argument as a scalar."""
        return as_number(cx, self.values[number], self.place(number), f"{self.name}() takes numbers here")

    def numbers(self, cx: Context) -> list[Literal | Number]:
        """All positional arguments as scalars."""
        return [self.number(cx, k) for k in range(len(self.values))]

    def get(self, position: int, name: str) -> Value | None:
        """An argument by position or by keyword."""
        return self.values[position] if position < len(self.values) else self.named.get(name)

    def in_c_order(self, cx: Context, position: int, also: Sequence[str] = ()) -> None:
        """Raise KernelError where the argument `order` asks for another order than C's, or than those in `also`."""
        order = self.get(position, "order")
        if order is not None and not (isinstance(order, Fixed) and order.value in ("C", *also)):
            raise cx.error(self.node, "local arrays have C order", remedy="leave 'order' out")
