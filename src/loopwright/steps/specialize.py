"""The step `specialize`: a version of a loop nest or kernel for the calls, or the tiles, in which more is known.

The forms, where LOOP is what is copied in the last two (without it: the whole kernel):

specialize LOOP ... full              the stretches of all these loops are whole: full and partial tiles apart, of a
                                      triangle too. The condition stands around the outermost of them, and around
                                      every loop around that one which holds nothing else, as long as the condition
                                      knows its values
specialize SIZE NUMBER [in LOOP]      a whole-number argument, or `a.0`, the size of axis 0 of a, is this number
specialize SIZE % NUMBER [in LOOP]    it is divisible by it: loops cut into such stretches have whole ones only, and
                                      what has different remainders at one edge has at the other
specialize SIZE ... >= NUMBER [in LOOP]
                                      all of these are so large, or larger; `a.0*a.1` is a product of sizes; with a
                                      LOOP, `i` may be a loop in it, of which the iterations count, and `25*i` is 25
                                      times as many. Both copies are the same at first: what follows may restructure
                                      each in the way that fits its sizes

Strides are no part of it: the IR has no name for the stride of an argument, whose layout says all that is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.scalars import live_after, scalars_of
from loopwright.ir.linear import least, most, parted, plus
from loopwright.ir.nodes import (
    Binary,
    Body,
    Cast,
    Checked,
    Compare,
    Const,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Logical,
    Var,
)
from loopwright.ir.queries import arrays_loaded, arrays_made, arrays_stored, has, names_assigned, names_in, names_read
from loopwright.ir.types import FLOAT64, INT64
from loopwright.ir.walk import bodies, expressions, loops, rewrite_body, statements, subexpressions, with_bodies
from loopwright.steps.draft import finished, fresh, names_of, renamed, with_statement
from loopwright.steps.extent import (
    around,
    ends_needed,
    ends_of,
    loops_around,
    marked,
    sizes_read,
    starts_of,
    stretch_of,
    used_outside,
)
from loopwright.steps.grammar import whole_number
from loopwright.steps.nest import changes_inside, is_inside, missing, size_of, the_loop, too_large
from loopwright.steps.step import Rejection, Step

FULL, VALUE, DIVISIBLE, LARGE = "full", "", "%", ">="
TIMES = "*"


@dataclass(frozen=True, slots=True)
class Specialize(Step):
    """Put a copy of a loop under a condition, and use the condition in it. `specialize i full`:

    for i.o in 0 .. n step 8:
        for i in i.o .. min(i.o + 8, n):
            a[i] = 0.0
    ->
    for i.o in 0 .. n step 8:
        if i.o + 8 <= n:
            for i in i.o .. i.o + 8:
                a[i] = 0.0
        else:
            for i.1 in i.o .. min(i.o + 8, n):
                a[i.1] = 0.0
    """

    name: ClassVar[str] = "specialize"
    names: tuple[str, ...]
    form: str = FULL
    number: int = 0
    inside: str = ""

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if self.form == FULL:
            rejection = self._no_stretches(kernel)
        else:
            rejection = self._no_size(kernel)
        if rejection is not None:
            return rejection
        old = self._copied(kernel)
        local = frozenset(arrays_made(old))
        if (array := used_outside(kernel, old, local)) is not None:
            return Rejection(f"'{array}' is made inside the loops that would be copied, and used outside them")
        if self.form not in (FULL, LARGE) and self._version(kernel) is old and not self._is_asked(old):
            return Rejection(f"nothing becomes simpler where {self._words()}")
        return marked(old) or too_large(kernel, size_of(old) + 8)

    def apply(self, kernel: Kernel) -> Kernel:
        old = self._copied(kernel)
        both = If(self._condition(kernel), self._version(kernel), self._rest(kernel, old))
        if old is kernel.body:
            return finished(replace(kernel, body=(both,)), kernel)
        return finished(with_statement(kernel, old[0], (both,)), kernel)

    def _is_asked(self, body: Body) -> bool:
        """Whether remainders by the number are asked for, which what is proven of them may rest on."""
        remainders = (one for one in expressions(body, Binary) if one.op == "mod")
        return self.form == DIVISIBLE and any(one.right == Const(self.number, one.type) for one in remainders)

    # ---- what is copied, and under which condition

    def _copied(self, kernel: Kernel) -> Body:
        if self.form == FULL:
            return (_placed(kernel, _outermost(kernel, self.names), self._condition(kernel)),)
        return (the_loop(kernel, self.inside),) if self.inside else kernel.body

    def _condition(self, kernel: Kernel) -> Expr:
        if self.form == FULL:
            return _all([test for name in self.names for test in self._tests(kernel, the_loop(kernel, name))])
        if self.form == LARGE:
            return _all([self._is_large(kernel, name) for name in self.names])
        size = _size(kernel, self.names[0])
        assert size is not None
        wanted = Const(self.number, size.type)
        if self.form == DIVISIBLE:
            return Compare("eq", Binary("mod", size, wanted), Const(0, size.type))
        return Compare("eq", size, wanted)

    def _is_large(self, kernel: Kernel, name: str) -> Expr:
        """Whether a size, or a product of sizes, is. Two of them fit into 64 bits; of more, floats are near enough."""
        sizes = [_wide(size) for part in name.split(TIMES) if (size := self._length(kernel, part)) is not None]
        if len(sizes) > 2:
            sizes = [Cast(size, FLOAT64) for size in sizes]
        found = sizes[0]
        for size in sizes[1:]:
            found = Binary("mul", found, size)
        number = float(self.number) if found.type.is_float else self.number
        return Compare("ge", found, Const(number, found.type))

    def _length(self, kernel: Kernel, name: str) -> Expr | None:
        """A size, or how many iterations a loop has that is, or is in, the one which is copied."""
        if name.isdecimal():
            return Const(int(name), INT64)
        if (size := _size(kernel, name)) is not None or not self.inside:
            return size
        loop = loops(kernel).get(name)
        return length_of_loop(loop) if isinstance(loop, For) else None

    def _tests(self, kernel: Kernel, loop: For) -> list[Expr]:
        """What makes all iterations of a stretch run. Limits that move with another of the loops, by as much as it
        does, are taken where that one leaves the least room."""
        whole = stretch_of(loop)
        assert whole is not None and isinstance(loop.step, Const)
        start, end = whole
        op: Literal["le", "ge"] = "le" if int(loop.step.value) > 0 else "ge"
        tests = [(self._tightest(kernel, loop, other, last=True), start) for other in starts_of(loop) if other != start]
        tests += [(end, self._tightest(kernel, loop, other, last=False)) for other in ends_of(loop) if other != end]
        return [Compare(op, left, right) for left, right in tests]

    def _tightest(self, kernel: Kernel, loop: For, limit: Expr, last: bool) -> Expr:
        """The limit in the last, or the first, iteration of the one of the loops that it moves with; as it is, where
        it is not as simple as that."""
        base, more = parted(limit)
        if not isinstance(base, Var) or base.name not in self.names:
            return limit
        outer = the_loop(kernel, base.name)
        whole, up = stretch_of(outer), isinstance(loop.step, Const) and int(loop.step.value) == 1
        if whole is None or not up or outer.step != loop.step:
            return limit
        return plus(whole[1], more - 1) if last else plus(whole[0], more)

    def _version(self, kernel: Kernel) -> Body:
        """The copy for where the condition holds; the same object where the condition is of no use."""
        old = self._copied(kernel)
        if self.form == LARGE:
            return old
        if self.form == FULL:
            shorter = {name: stretch_of(the_loop(kernel, name)) for name in self.names}

            def change(stmt: For) -> For:
                whole = shorter.get(stmt.name)
                return stmt if whole is None else replace(stmt, lower=whole[0], upper=whole[1])

            return rewrite_body(old, stmt=lambda s: (change(s),) if isinstance(s, For) else (s,))
        size = _size(kernel, self.names[0])
        assert size is not None
        outer = loops_around(kernel, old[0]) if self.inside else {}
        if self.form == DIVISIBLE:
            return _whole_stretches(old, outer, size, self.number)
        known = Const(self.number, size.type)
        body = rewrite_body(old, expr=lambda e: known if e == size else e)
        return _whole_stretches(body, outer, known, 0)

    def _rest(self, kernel: Kernel, old: Body) -> Body:
        """The copy for where it does not hold. Where both are to be restructured, it has scalars of its own."""
        loop = the_loop(kernel, self.inside) if self.form == LARGE and self.inside else None
        if not isinstance(loop, For):
            return old
        kinds = scalars_of(loop, live_after(kernel)[loop.name])
        taken = names_of(kernel)
        own: dict[str, str] = {}
        for name in sorted(set(kinds.private) - set(kinds.last)):
            own[name] = fresh(f"{name}.1", taken)
            taken.add(own[name])
        return renamed(old, own)

    # ---- refusals

    def _no_stretches(self, kernel: Kernel) -> Rejection | None:
        if (rejection := missing(kernel, self.names)) is not None:
            return rejection
        outermost = _outermost(kernel, self.names)
        for name in self.names:
            loop = the_loop(kernel, name)
            if loop is not outermost and not is_inside(kernel, loop, outermost):
                return Rejection(f"'{name}' is not inside '{outermost.name}'")
            if stretch_of(loop) is None:
                return Rejection(f"'{name}' is not the inner loop of a `split`, such as i in i.o .. min(i.o + 8, n)")
            if (rejection := changes_inside(loop)) is not None:
                return rejection
        needed = names_in(self._condition(kernel))
        inner = {outermost.name} | {stmt.name for stmt in statements(outermost.body, For)}
        if needed & (inner | names_assigned(outermost.body)):
            name = min(needed & (inner | names_assigned(outermost.body)))
            return Rejection(f"the condition depends on '{name}', which is not known before '{outermost.name}'")
        return None

    def _no_size(self, kernel: Kernel) -> Rejection | None:
        if self.inside and (rejection := missing(kernel, (self.inside,))) is not None:
            return rejection
        body = self._copied(kernel)
        sizes_there, names_there = sizes_read(body), names_read(body)
        for name in (part for names in self.names for part in names.split(TIMES)):
            if self.form == LARGE and name.isdecimal():
                continue
            if self.form == LARGE and self.inside and name in loops(kernel):
                if (rejection := self._no_trips(kernel, name)) is not None:
                    return rejection
                continue
            size = _size(kernel, name)
            if size is None:
                return Rejection(f"'{name}' is no argument that is a whole number, and no size such as a.0")
            if not size.type.minimum <= self.number <= size.type.maximum or (isinstance(size, Dim) and self.number < 0):
                return Rejection(f"'{name}' can never be {self.number}")
            is_there = size in sizes_there if isinstance(size, Dim) else size.name in names_there
            if isinstance(size, Dim) and self.form == DIVISIBLE:  # from whose end indices may count
                is_there |= size.array in arrays_loaded(body) | arrays_stored(body)
            if not is_there:
                return Rejection(f"nothing in it depends on '{name}'")
        return None

    def _no_trips(self, kernel: Kernel, name: str) -> Rejection | None:
        outer, loop = the_loop(kernel, self.inside), the_loop(kernel, name)
        length = length_of_loop(loop)
        if length is None or not (loop is outer or is_inside(kernel, loop, outer)):
            return Rejection(f"'{name}' is no loop in '{self.inside}' that goes up by one")
        there = {stmt.name for stmt in statements((outer,), For)} | names_assigned((outer,))
        if (
            has(length, Load, Checked)
            or names_in(length) & there
            or {part.array for part in subexpressions(length, Dim)} & arrays_made((outer,))
        ):
            return Rejection(f"how many iterations '{name}' has is not known before '{self.inside}'")
        return None

    def _words(self) -> str:
        words = {DIVISIBLE: "is divisible by", LARGE: "is at least"}
        return f"'{' '.join(self.names)}' {words.get(self.form, 'is')} {self.number}"

    # ---- choices and text

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterator[Self]:
        stretches = [
            loop.name
            for loop in loops(kernel).values()
            if isinstance(loop, For) and isinstance(loop.step, Const) and loop.step.value and stretch_of(loop)
        ]
        yield from (cls((name,)) for name in stretches)
        for name in stretches:
            inner = [one for one in stretches if is_inside(kernel, the_loop(kernel, one), the_loop(kernel, name))]
            yield from [cls((name, *inner))] if inner else []
        sizes = {(size, int(loop.step.value)) for loop in loops(kernel).values()
                 if isinstance(loop, For) and isinstance(loop.step, Const) and int(loop.step.value) > 1
                 for size in (_text(end) for end in ends_of(loop)) if size}  # fmt: skip
        yield from (cls((size,), DIVISIBLE, number) for size, number in sorted(sizes))

    @classmethod
    def parse(cls, words: tuple[str, ...]) -> Self:
        if len(words) >= 2 and words[-1] == FULL:
            return cls(words[:-1])
        inside = words[-1] if len(words) >= 4 and words[-2] == "in" else ""
        rest = words[:-2] if inside else words
        if len(rest) == 3 and rest[1] == DIVISIBLE:
            return cls((rest[0],), DIVISIBLE, whole_number(rest[2], "NUMBER", least=2), inside)
        if len(rest) >= 3 and rest[-2] == LARGE:
            return cls(rest[:-2], LARGE, whole_number(rest[-1], "NUMBER", least=0), inside)
        if len(rest) == 2 and rest[1].removeprefix("-").isdecimal():
            return cls((rest[0],), VALUE, int(rest[1]), inside)
        raise ValueError(
            "specialize LOOP ... full, or specialize SIZE NUMBER, SIZE % NUMBER or SIZE ... >= NUMBER [in LOOP]"
        )

    def __str__(self) -> str:
        if self.form == FULL:
            return f"specialize {' '.join(self.names)} full"
        place = f" in {self.inside}" if self.inside else ""
        return f"specialize {' '.join(self.names)} {self.form}{' ' if self.form else ''}{self.number}{place}"


def _outermost(kernel: Kernel, names: tuple[str, ...]) -> For:
    """The first of the loops in the text: if they are nested, all others are inside it."""
    return next(loop for name, loop in loops(kernel).items() if name in names and isinstance(loop, For))


def _placed(kernel: Kernel, loop: For, condition: Expr) -> For:
    """The loop around which the condition is to stand."""
    for outer in reversed(around(kernel, loop)):
        known = not names_in(condition) & (names_assigned((outer,)) | {getattr(outer, "name", "")})
        if not isinstance(outer, For) or len(outer.body) != 1 or not known:
            break
        loop = outer
    return loop


def _size(kernel: Kernel, text: str) -> Var | Dim | None:
    for scalar in kernel.scalars:
        if scalar.name == text and scalar.type.is_integer:
            return Var(text, scalar.type)
    array, _, axis = text.rpartition(".")
    for param in kernel.arrays:
        if param.name == array and axis.isdecimal() and int(axis) < param.rank:
            return Dim(array, int(axis))
    return None


def length_of_loop(loop: For) -> Expr | None:
    """How many iterations a loop has, as far as there are any; None where it does not go up one by one."""
    if loop.step != Const(1, loop.step.type) or loop.upper.type != INT64:
        return None
    return loop.upper if loop.lower == Const(0, INT64) else Binary("sub", loop.upper, loop.lower)


def _wide(size: Expr) -> Expr:
    return size if size.type == INT64 else Cast(size, INT64)


def _all(tests: Sequence[Expr]) -> Expr:
    condition = tests[0]
    for test in tests[1:]:
        condition = Logical("and", condition, test)
    return condition


def _text(end: Expr) -> str:
    match end:
        case Var():
            return end.name
        case Dim():
            return f"{end.array}.{end.axis}"
    return ""


def _whole_stretches(body: Body, outer: Mapping[str, For], size: Expr, modulus: int) -> Body:
    """The body with the ends of loops that do not count taken off."""
    changed = []
    for stmt in body:
        new = stmt
        inner = outer
        if isinstance(new, For):
            if isinstance(new.step, Const) and int(new.step.value) > 0:
                new = _with_ends(new, ends_needed(new, outer, size, modulus))
            inner = {**outer, stmt.name: stmt} if isinstance(stmt, For) else outer
        changed.append(with_bodies(new, tuple(_whole_stretches(one, inner, size, modulus) for one in bodies(new))))
    return body if all(a is b for a, b in zip(body, changed, strict=True)) else tuple(changed)


def _with_ends(loop: For, ends: tuple[Expr, ...]) -> For:
    if not ends or len(ends) == len(ends_of(loop)):
        return loop
    upper = ends[0]
    for end in ends[1:]:
        upper = least(upper, end) if int(getattr(loop.step, "value", 1)) > 0 else most(upper, end)
    return replace(loop, upper=upper)
