"""C text of expressions in vector lanes: a value for each of several iterations. What registers have no operation for
is computed lane by lane; no lane can do harm by it, whatever its numbers are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from loopwright.codegen.c_text import LIBRARY, VALUE_TYPE, VECTOR_FUNCTIONS, is_root
from loopwright.codegen.function import Writer
from loopwright.ir.nodes import (
    Binary,
    Call,
    Cast,
    Checked,
    Compare,
    Const,
    Expr,
    Load,
    Logical,
    Select,
    Store,
    Unary,
    Var,
)
from loopwright.ir.queries import has, names_in
from loopwright.ir.types import BOOL, FLOAT32, FLOAT64, INT64, Scalar
from loopwright.ir.walk import children, with_children

_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_PLAIN = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "and": "&", "or": "|", "xor": "^"}
_ROUNDED = {"floor", "ceil", "trunc", "rint"}


@dataclass
class LaneText:
    """The text of one vector's values. wide: bytes of the widest numbers, which are as many as there are lanes. vector:
    its number. names: the C names of scalars that lanes have for themselves, without that number; loads: likewise, of
    elements that are there already. again: the label where iterations begin again, one by one, as one of them fails.
    exact: functions are those of the C library. mask: C text of which lanes count."""

    w: Writer
    wide: int
    names: Mapping[str, str]
    loads: Mapping[Load, str]
    again: str
    vector: int = 0
    exact: bool = False
    mask: str = ""

    @property
    def mask_type(self) -> str:
        """The C type of a mask."""
        return f"lw{self.wide}_int{8 * self.wide}"

    def type_of(self, scalar: Scalar) -> str:
        """The C type of a vector of such numbers."""
        return self.mask_type if scalar == BOOL else f"lw{self.wide}_{scalar.name}"

    def named(self, name: str) -> str:
        """A name of this vector."""
        return f"{name}_{self.vector}"

    def chosen(self, mask: str, then: str, otherwise: str, scalar: Scalar) -> str:
        """The one or the other, by a mask."""
        if scalar == BOOL:
            return f"(({mask} & {then}) | (~{mask} & {otherwise}))"
        return f"lw{self.wide}_chosen_{scalar.name}({mask}, {then}, {otherwise})"

    def text(self, expr: Expr) -> str:
        """The value in each lane."""
        if not self._varies(expr):
            return self._everywhere(expr)
        match expr:
            case Var(name=name):
                return self.named(self.names[name])
            case Load() if expr in self.loads:
                return self.named(self.loads[expr])
            case Load():
                element = self.w.arrays[expr.array].element_at(self.places(expr))
                return self._lane_by_lane(f"({element} != 0)" if expr.type == BOOL else element, expr.type)
            case Checked():
                if self.w.may_fail(expr):
                    self._check(f"{self.mask} & ~{self.text(expr.condition)}")
                return self.text(expr.value)
            case Unary():
                return self._unary(expr)
            case Binary():
                return self._binary(expr)
            case Compare(left=left, right=right) if left.type != BOOL:
                return self._mask(f"({self.text(left)} {_COMPARE[expr.op]} {self.text(right)})", left.type)
            case Compare(op="eq" | "ne" as op, left=left, right=right):
                differ = f"({self.text(left)} ^ {self.text(right)})"
                return differ if op == "ne" else f"(~{differ})"
            case Logical(op=op, left=left, right=right):
                first = self._named(left)
                second = self._under(right, first if op == "and" else f"~{first}")
                return f"({first} {'&' if op == 'and' else '|'} {second})"
            case Select(condition=condition, then=then, otherwise=otherwise):
                first = self._named(condition)
                sides = self._under(then, first), self._under(otherwise, f"~{first}")
                return self.chosen(first, *sides, expr.type)
            case Cast():
                return self._cast(expr)
            case Call():
                return self._call(expr)
        return self._each(expr)

    def places(self, node: Load | Store) -> tuple[str, ...]:
        """C texts of the index of an element in lane `lw_l`: of one that is there, in lanes that do not count. An index
        that is outside of its array has iterations begin again."""
        w, found = self.w, []
        for axis, (index, bounds) in enumerate(zip(node.index, w.given.bounds_of(node, w.inside), strict=True)):
            size = w.size(node.array, axis)
            place = self._named(index)
            if bounds.kind == "checked" or bounds.may_be_negative:
                wrapped = self._new("int64", f"{place} + (lw8_all_int64({size}) & (lw8_int64)({place} < 0))")
                if bounds.kind == "checked":
                    outside = f"(lw8_int64)(({wrapped} < 0) | ({wrapped} >= lw8_all_int64({size})))"
                    self._check(f"{self.mask} & {outside}")
                place = wrapped
            found.append(f"{self._new('int64', f'{place} & {self.mask}')}[lw_l]")
        for symbol in w.arrays[node.array].address_symbols:
            w.use(symbol)
        return tuple(found)

    def _check(self, failed: str) -> None:
        """Where a lane that counts fails, it does so as in the loop that runs one by one."""
        self.w.only(f"LW_RARE(lw{self.wide}_bits({failed}))", f"goto {self.again};")

    def _under(self, expr: Expr, condition: str) -> str:
        """The value in lanes of which a condition holds, where they count."""
        if not has(expr, Load, Checked):
            return self.text(expr)
        outer, self.mask = self.mask, f"({self.mask} & {condition})"
        text = self._named(expr)
        self.mask = outer
        return text

    def _varies(self, expr: Expr) -> bool:
        return bool(names_in(expr) & self.names.keys()) or has(expr, Load, Checked)

    def _everywhere(self, expr: Expr) -> str:
        text = self.w.text(expr)
        if expr.type == BOOL:
            return f"(({self.mask_type}){{0}} - ({text}))"
        return f"lw{self.wide}_all_{expr.type.name}({text})"

    def _mask(self, compared: str, scalar: Scalar) -> str:
        """A mask of full width from what a comparison of such numbers gives."""
        if scalar.size_bytes == self.wide:
            return f"(({self.mask_type}){compared})"
        return f"__builtin_convertvector({compared}, {self.mask_type})"

    def _unary(self, expr: Unary) -> str:
        operand = self.text(expr.operand)
        match expr.op:
            case "not" | "invert":
                return f"(~{operand})"
            case "neg":
                return f"(-{operand})"
            case "abs":
                return operand if expr.type.kind == "uint" else f"lw{self.wide}_abs_{expr.type.name}({operand})"

    def _binary(self, expr: Binary) -> str:
        scalar, by = expr.type, expr.right.value if isinstance(expr.right, Const) else None
        match expr.op:
            case "sub" if scalar.is_float and isinstance(expr.left, Const) and expr.left.value == 0:
                return self._each(expr)  # no negative, whose zero has another sign
            case "add" | "sub" | "mul" | "truediv" | "and" | "or" | "xor":
                return f"({self.text(expr.left)} {_PLAIN[expr.op]} {self.text(expr.right)})"
            case "min" | "max":
                sign = "<" if expr.op == "min" else ">"
                a, b = self._named(expr.left), self._named(expr.right)
                return self.chosen(self._mask(f"({b} {sign} {a})", scalar), b, a, scalar)
            case "shl" | "shr" if by is not None and 0 <= by < scalar.bits:
                return self._shifted(expr.op == "shr", self.text(expr.left), int(by), scalar)
            case "floordiv" if scalar.is_integer and by is not None and by > 0 and int(by) & (int(by) - 1) == 0:
                return self._shifted(True, self.text(expr.left), int(by).bit_length() - 1, scalar)
            case "mod" if scalar.is_integer and by is not None and by > 0 and int(by) & (int(by) - 1) == 0:
                return f"({self.text(expr.left)} & {self._everywhere(Const(int(by) - 1, scalar))})"
            case "pow" if by in (2, 3) and (scalar.is_integer or not self.w.strict):
                base = self._named(expr.left)
                return f"({' * '.join([base] * int(by))})"
            case "pow" if is_root(expr) and not self.w.strict:
                return self._root(expr, scalar)
            case "pow" if self._is_full(scalar) and not self.exact:
                return f"lw{self.wide}_pow_{scalar.name}({self.text(expr.left)}, {self.text(expr.right)})"
        return self._each(expr)

    def _root(self, expr: Binary, scalar: Scalar) -> str:
        base = self._new(scalar.name, f"({self.text(expr.left)} + 0)")
        below, above = (self._everywhere(Const(value, scalar)) for value in (-math.inf, math.inf))
        root = f"lw{self.wide}_sqrt_{scalar.name}({base})"
        root = self.chosen(self._mask(f"({base} == {below})", scalar), above, root, scalar)
        return root if expr.right == Const(0.5, scalar) else f"(1 / {root})"

    def _shifted(self, right: bool, text: str, by: int, scalar: Scalar) -> str:
        if not right:
            return f"({text} << {by})"
        if scalar == INT64:  # x86 shifts such numbers without their signs, before AVX-512
            return f"lw{self.wide}_shr_int64({text}, {by})"
        return f"({text} >> {by})"

    def _cast(self, expr: Cast) -> str:
        source, target = expr.operand.type, expr.type
        if source == target:
            return self.text(expr.operand)
        if source == BOOL:
            one = self._everywhere(Const(1.0 if target.is_float else 1, target))
            return self.chosen(self.text(expr.operand), one, f"({self.type_of(target)}){{0}}", target)
        if target == BOOL:
            return self._mask(f"({self.text(expr.operand)} != ({self.type_of(source)}){{0}})", source)
        if source.is_float and target.is_integer:
            return self._each(expr)
        if source.is_integer and source.size_bytes == 8 and target.is_float:
            if target == FLOAT64:
                return f"lw8_double_{source.name}({self.text(expr.operand)})"
            return self._each(expr)
        if source.kind == "uint" and target.is_float:
            return self._each(expr)
        return f"__builtin_convertvector({self.text(expr.operand)}, {self.type_of(target)})"

    def _call(self, expr: Call) -> str:
        kind = expr.arguments[0].type
        function, sign = expr.function, {"maximum": ">", "minimum": "<", "fmax": ">=", "fmin": "<="}
        match function:
            case "maximum" | "minimum" | "fmax" | "fmin":
                a, b = (self._named(one) for one in expr.arguments)
                odd = a if function in ("maximum", "minimum") else b
                mask = self._mask(f"(({odd} != {odd}) | ({a} {sign[function]} {b}))", kind)
                return self.chosen(mask, a, b, kind)
            case "isnan":
                a = self._named(expr.arguments[0])
                return self._mask(f"({a} != {a})", kind)
            case "sqrt":
                return f"lw{self.wide}_sqrt_{kind.name}({self.text(expr.arguments[0])})"
        if function in VECTOR_FUNCTIONS and self._is_full(kind) and not self.exact:
            library = LIBRARY.get(function, function)
            return f"lw{self.wide}_{library}_{kind.name}({', '.join(map(self.text, expr.arguments))})"
        return self._each(expr)

    def _is_full(self, kind: Scalar) -> bool:
        """Whether such numbers fill a register."""
        return (self.wide, kind) in ((8, FLOAT64), (4, FLOAT32))

    def _named(self, expr: Expr) -> str:
        """The value under a name."""
        return self._new(expr.type.name, self.text(expr))

    def _new(self, kind: str, text: str) -> str:
        name = self.w.names.fresh("lw_v")
        self.w.line(f"const {self.mask_type if kind == 'bool' else f'lw{self.wide}_{kind}'} {name} = {text};")
        return name

    def _lane_by_lane(self, text: str, kind: Scalar) -> str:
        """From C text of the value in lane `lw_l`."""
        if kind == BOOL:
            text = f"-(int64_t)({text})"
        return f"LW_EACH({self.type_of(kind)}, LW_LANES({self.wide}), {text})"

    def _each(self, expr: Expr) -> str:
        """Lane by lane: its operands are scalars there."""
        renamed = self.w.function.renamed
        operands: list[Expr] = []
        for one in children(expr):
            if not self._varies(one):
                operands.append(one)
                continue
            name = self._named(one)
            renamed[name] = f"({name}[lw_l] != 0)" if one.type == BOOL else f"{name}[lw_l]"
            operands.append(Var(name, one.type))
        return self._lane_by_lane(self.w.text(with_children(expr, tuple(operands))), expr.type)


def memory_type(scalar: Scalar, wide: int) -> str:
    """The C type in which the value of a lane waits in memory."""
    return f"int{8 * wide}_t" if scalar == BOOL else VALUE_TYPE[scalar.name]
