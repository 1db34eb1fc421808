"""`of_reals`: a kernel with complex numbers as one without. A variable becomes two, an array gets one more axis of two
elements, an argument is seen that way where it lies."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeVar

from loopwright.errors import KernelError
from loopwright.frontend.complex_pairs import part_of
from loopwright.ir.nodes import (
    Allocate,
    ArrayParam,
    Assign,
    Body,
    Call,
    Const,
    Expr,
    Kernel,
    Load,
    ResultArray,
    Stmt,
    Store,
    Var,
)
from loopwright.ir.types import INT64
from loopwright.ir.walk import (
    own_expressions,
    rewrite_body,
    rewrite_expr,
    statements,
    subexpressions,
    with_own_expressions,
)

REAL, IMAGINARY, BOTH = Const(0, INT64), Const(1, INT64), Const(2, INT64)


def of_reals(kernel: Kernel) -> Kernel:
    """The same kernel without complex numbers. Raises KernelError where one is used in a way that has no meaning for
    it."""
    split = _Split(_names(kernel), kernel.overlap)
    params = tuple(_parameter(one) if isinstance(one, ArrayParam) else one for one in kernel.params)
    results = tuple(_array(one) for one in kernel.results)
    body = rewrite_body(kernel.body, split.statement)
    _refuse_rest(body)
    return replace(kernel, params=params, results=results, body=body)


def _names(kernel: Kernel) -> set[str]:
    names = {one.name for one in (*kernel.params, *kernel.results)}
    for stmt in statements(kernel.body):
        names |= {str(getattr(stmt, kind)) for kind in ("name", "array") if hasattr(stmt, kind)}
    return names


Made = TypeVar("Made", ResultArray, Allocate)


@dataclass
class _Split:
    """names: all of the kernel. variables: the two that stand for one of a complex type."""

    names: set[str]
    overlap: bool
    variables: dict[str, tuple[str, str]] = field(default_factory=dict)

    def new(self, hint: str) -> str:
        name, count = hint, 1
        while name in self.names:
            count += 1
            name = f"{hint}.{count}"
        self.names.add(name)
        return name

    def variable(self, name: str) -> tuple[str, str]:
        if name not in self.variables:
            self.variables[name] = self.new(f"{name}.real"), self.new(f"{name}.imag")
        return self.variables[name]

    def reals(self, part: Expr) -> Expr:
        """The part of a variable or an element, as a variable or an element of its own."""
        match part:
            case Call(function="real" | "imag" as which, arguments=(Var(name=name),)):
                return Var(self.variable(name)[which == "imag"], part.type)
            case Call(function="real" | "imag" as which, arguments=(Load() as load,)):
                place = IMAGINARY if which == "imag" else REAL
                return Load(load.array, (*load.index, place), part.type, at=load.at)
            case _:
                return part

    def parts(self, value: Expr) -> tuple[Expr, Expr]:
        return (
            rewrite_expr(part_of(value, imaginary=False), self.reals),
            rewrite_expr(part_of(value, imaginary=True), self.reals),
        )

    def statement(self, stmt: Stmt) -> Body:
        match stmt:
            case Assign(value=value) if value.type.is_complex:
                return self.assign(stmt)
            case Store(value=value) if value.type.is_complex:
                return self.store(stmt)
            case Allocate(element=element) if element.is_complex:
                stmt = _array(stmt)
            case _:
                pass
        return (with_own_expressions(stmt, tuple(rewrite_expr(one, self.reals) for one in own_expressions(stmt))),)

    def assign(self, stmt: Assign) -> Body:
        """Both parts are computed of the old values."""
        real, imaginary = self.variable(stmt.name)
        first, second = self.parts(stmt.value)
        one, two = Assign(real, first, at=stmt.at), Assign(imaginary, second, at=stmt.at)
        if not any(var.name == real for var in subexpressions(second, Var)):
            return one, two
        if not any(var.name == imaginary for var in subexpressions(first, Var)):
            return two, one
        new = self.new(f"{real}.new")
        return replace(one, name=new), two, Assign(real, Var(new, first.type), at=stmt.at)

    def store(self, stmt: Store) -> Body:
        index = tuple(rewrite_expr(one, self.reals) for one in stmt.index)
        first, second = self.parts(stmt.value)
        one = replace(stmt, index=(*index, REAL), value=first)
        two = replace(stmt, index=(*index, IMAGINARY), value=second, key=object())
        if not any(self.changes(one, load) for load in subexpressions(second, Load)):
            return one, two
        new = self.new(f"{stmt.array}.imag")
        return Assign(new, second, at=stmt.at), one, replace(two, value=Var(new, second.type))

    def changes(self, store: Store, load: Load) -> bool:
        """Whether writing the real part may change what is read for the imaginary one."""
        if load.array != store.array:
            return self.overlap
        return load.index[-1] != IMAGINARY


def _parameter(param: ArrayParam) -> ArrayParam:
    if not param.element.is_complex:
        return param
    part = param.element.part
    return replace(
        param,
        element=part,
        rank=param.rank + 1,
        layout=param.layout if param.layout in ("C", "last") else "strided",
        tail=(*param.tail, (2, part.size_bytes)),
    )


def _array(array: Made) -> Made:
    if not array.element.is_complex:
        return array
    fill = None if array.fill is None else part_of(array.fill, imaginary=False)
    assert fill is None or isinstance(fill, Const)
    return replace(array, element=array.element.part, shape=(*array.shape, BOTH), fill=fill)


def _refuse_rest(body: Body) -> None:
    for stmt in statements(body):
        for expr in own_expressions(stmt):
            for part in subexpressions(expr):
                if part.type.is_complex:
                    raise KernelError("this has no meaning for complex numbers here", getattr(stmt, "at", None),
                                      remedy="use the real and the imaginary part: z.real, z.imag")  # fmt: skip
