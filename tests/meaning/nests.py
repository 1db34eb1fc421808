"""Random loop nests as IR text, made to exercise steps: what they may do, and above all what they must not do.

Data are whole numbers. Most accesses are inside their arrays, some count from the end, a few fail. All that is drawn
comes from the seed alone (choices.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from loopwright.ir.nodes import ArrayParam, Kernel

from .choices import Choices

RANKS = {"a": (1, 2, 2), "b": (1, 1, 2), "c": (2, 3)}
MOST_LINES = 8
LOOPS = ("i", "j", "k", "l", "p", "q", "r", "u", "v", "w", "x", "y")


@dataclass
class _Writer:
    choices: Choices
    element: str = "float64"
    ranks: dict[str, int] = field(default_factory=dict)
    scalars: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    loops: int = 0
    fresh: int = 0
    tame: bool = True  # only stencils, transposed accesses and sums; else everything

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def number(self, value: int) -> str:
        return f"{value}.0" if self.element == "float64" else str(value)

    def local(self, kind: str, type_: str) -> str:
        self.fresh += 1
        name = f"{kind}{self.fresh}"
        self.scalars[name] = type_
        return name


def nest(seed: int) -> str:
    """The text of the kernel of a seed."""
    choices = Choices(seed)
    w = _Writer(choices, choices.pick(("float64", "int64")), tame=choices.chance(60))
    for name in list(RANKS)[: choices.number(1, 3)]:
        w.ranks[name] = choices.pick(RANKS[name])
    total = w.local("total", w.element) if choices.chance(30) else ""
    if total:
        w.line(1, f"{total} = {w.number(choices.number(0, 3))}")
    for _ in range(choices.weighted(((4, 1), (4, 2), (1, 3)))):
        if len(w.lines) < MOST_LINES:
            _loop(w, 1, {}, choices.weighted(((3, 1), (6, 2), (3, 3), (1, 4))), total)
    if total:
        w.line(1, f"return {total}")
    arrays = ", ".join(f"{name}: {w.element}[{rank}] C" for name, rank in w.ranks.items())
    header = [f"kernel nest({arrays}, at: int64[1] C, n: int64, m: int64)"
              + (f" -> python {w.element}:" if total else ":")]  # fmt: skip
    header += [f"    var {name}: {type_}" for name, type_ in w.scalars.items()]
    return "\n".join([*header, *w.lines]) + "\n"


# ---- loops -----------------------------------------------------------------------------------------------------


def _loop(w: _Writer, depth: int, scope: dict[str, int], deeper: int, total: str) -> None:
    """A loop with what is inside. `scope`: the loops around it, and the least value that each takes."""
    if w.loops == len(LOOPS):
        return
    name = LOOPS[w.loops]
    w.loops += 1
    bounds, least = _bounds(w, scope)
    w.line(depth, f"for {name} in {bounds}:")
    inner = {**scope, name: least}
    length = len(w.lines)
    if deeper <= 1 or w.choices.chance(20):
        _statements(w, depth + 1, inner, total)
    if deeper > 1:
        _loop(w, depth + 1, inner, deeper - 1, total)
        if w.choices.chance(10) and len(w.lines) < MOST_LINES:
            _loop(w, depth + 1, inner, 1, total)
        if w.choices.chance(10):
            _statements(w, depth + 1, inner, total)
    if len(w.lines) == length:
        _store(w, depth + 1, inner)


def _bounds(w: _Writer, scope: dict[str, int]) -> tuple[str, int]:
    size = w.choices.pick(("n", "n", "m"))
    if scope and w.choices.chance(20):
        outer = w.choices.pick(tuple(scope))
        form = w.choices.pick((f"0 .. {outer}", f"{outer} .. {size}", f"{outer} + 1 .. {size}", f"1 .. {outer} + 1"))
        least = 0 if form[0] == "0" else 1 if form[0] == "1" else scope[outer]
        return form, least
    forms = (
        (8, (f"0 .. {size}", 0)),
        (6, (f"1 .. {size}", 1)),
        (3, (f"1 .. {size} - 1", 1)),
        (1, (f"2 .. {size} + 1", 2)),
        (1, (f"0 .. {size} step 2", 0)),
        (1, (f"1 .. {size} step 3", 1)),
        (2, (f"{size} - 1 .. -1 step -1", 0)),
        (1, (f"{size} .. 1 step -1", 2)),
        (1, (f"{size} - 1 .. 0 step -2", 1)),
        (1, (f"0 .. min({size}, 4)", 0)),
        (1, ("0 .. 3", 0)),
        (1, (f"0 .. {size} // 2", 0)),
        (1, ("0 .. size(a, 0) - 3", 0)),
    )
    return w.choices.weighted(forms)


def _statements(w: _Writer, depth: int, scope: dict[str, int], total: str) -> None:
    def one(_: int) -> None:
        kinds = [(10, _store), (6, _update), (4, _temporary)]
        kinds += [] if w.tame else [(4, _local_array), (5, _branch), (2, _while), (2, _jump)]
        kind = w.choices.weighted(kinds)
        kind(w, depth, scope)
        if total and w.choices.chance(30):
            op = w.choices.pick((f"{total} + ", f"{total} + ", f"{total} - "))
            w.line(depth, f"{total} = {op}{_value(w, scope)}")
        elif total and w.choices.chance(8):
            w.line(depth, w.choices.pick((f"{total} = {_value(w, scope)}", f"{_target(w, scope)} = {total}")))

    w.choices.repeatedly(one, 2, 35)


# ---- statements ------------------------------------------------------------------------------------------------


def _store(w: _Writer, depth: int, scope: dict[str, int]) -> None:
    w.line(depth, f"{_target(w, scope)} = {_value(w, scope)}")


def _update(w: _Writer, depth: int, scope: dict[str, int]) -> None:
    target = _target(w, scope)
    value = _load(w, scope)
    w.line(
        depth,
        f"{target} = " + w.choices.pick((f"{target} + {value}", f"{target} - {value}", f"max({target}, {value})")),
    )


def _temporary(w: _Writer, depth: int, scope: dict[str, int]) -> None:
    """A scalar that belongs to one iteration, most of the time."""
    kept = [name for name in w.scalars if name.startswith("s")]
    name = w.choices.pick(kept) if kept and w.choices.chance(30) else w.local("s", w.element)
    w.line(depth, f"{name} = {_value(w, scope)}")
    if w.choices.chance(30):
        w.line(depth, f"{name} = {name} + {_load(w, scope)}")
    w.line(depth, f"{_target(w, scope)} = {name} + {_load(w, scope)}")


def _local_array(w: _Writer, depth: int, scope: dict[str, int]) -> None:
    w.fresh += 1
    name = f"t{w.fresh}"
    w.line(depth, f"allocate {name}: {w.element}[3] = {w.number(0)}")
    w.line(depth, f"{name}[1] = {_value(w, scope)}")
    w.line(depth, f"{_target(w, scope)} = {name}[{w.choices.pick((0, 1, 1))}] + {_load(w, scope)}")


def _branch(w: _Writer, depth: int, scope: dict[str, int]) -> None:
    variable = w.choices.pick(tuple(scope))
    condition = w.choices.pick((f"{variable} > 1", f"{variable} % 2 == 0", f"{_load(w, scope)} > {w.number(0)}"))
    w.line(depth, f"if {condition}:")
    (_update if w.choices.chance(30) else _store)(w, depth + 1, scope)
    if w.choices.chance(40):
        w.line(depth, "else:")
        _store(w, depth + 1, scope)


def _while(w: _Writer, depth: int, scope: dict[str, int]) -> None:
    count = w.local("count", "int64")
    w.line(depth, f"{count} = 0")
    w.line(depth, f"while {count} < 2 named w.{count}:")
    _store(w, depth + 1, scope)
    w.line(depth + 1, f"{count} = {count} + 1")


def _jump(w: _Writer, depth: int, scope: dict[str, int]) -> None:
    w.line(depth, f"if {_load(w, scope)} > {w.number(2)}:")
    w.line(depth + 1, f"{w.choices.pick(('break', 'continue', 'continue'))} {list(scope)[-1]}")


# ---- expressions -----------------------------------------------------------------------------------------------


def _target(w: _Writer, scope: dict[str, int]) -> str:
    return _access(w, scope)


def _load(w: _Writer, scope: dict[str, int]) -> str:
    return _access(w, scope)


def _value(w: _Writer, scope: dict[str, int]) -> str:
    parts = [_load(w, scope)]
    w.choices.repeatedly(lambda _: parts.append(_load(w, scope)), 2, 10)
    if w.choices.chance(15):
        variable = w.choices.pick(tuple(scope))
        parts.append(f"float64({variable})" if w.element == "float64" else variable)
    return w.choices.pick((" + ", " + ", " - ")).join(parts)


def _access(w: _Writer, scope: dict[str, int]) -> str:
    name = w.choices.pick(tuple(w.ranks))
    order = list(scope)[-3:]
    if w.choices.chance(35):
        order.reverse()
    index = []
    for axis in range(w.ranks[name]):
        variable = order[axis % len(order)] if w.choices.chance(80) else w.choices.pick(tuple(scope))
        index.append(_index(w, variable, scope[variable], scope))
    return f"{name}[{', '.join(index)}]"


def _index(w: _Writer, variable: str, least: int, scope: dict[str, int]) -> str:
    below = f"{variable} - 1" if least >= 1 or w.choices.chance(10) else f"{variable} + 1"
    if w.tame:
        return w.choices.weighted(((7, variable), (2, below), (2, f"{variable} + 1")))
    forms = (
        (12, variable),
        (4, below),
        (3, f"{variable} + 1"),
        (1, str(w.choices.number(0, 2))),
        (1, "-1"),
        (1, f"n - {variable}"),
        (1, f"{variable} + {w.choices.pick(tuple(scope))}"),
        (1, f"{variable} // 2"),
        (1, f"{variable} + m"),
        (1, f"at[{variable}]"),
    )
    return w.choices.weighted(forms)


# ---- calls -----------------------------------------------------------------------------------------------------

SIZES = ((5, 4), (4, 6), (1, 3), (0, 2), (7, 5), (2, 1), (3, 0), (6, 6))


def arguments(kernel: Kernel, seed: int, number: int) -> list[object]:
    """The arguments of one call: the first ones are of fair size, then come sizes of zero and one."""
    choices = Choices(seed * 64 + number)
    n, m = SIZES[(seed % 2 if number == 0 else number + 1) % len(SIZES)]
    room = n + m + 3 if choices.chance(85) else max(n, m) + 1
    found: list[object] = []
    for param in kernel.params:
        if isinstance(param, ArrayParam):
            shape = tuple(room + choices.number(0, 2) for _ in range(param.rank))
            low, high = (0, 4) if param.name == "at" else (-4, 4)
            flat = [choices.number(low, high) for _ in range(int(np.prod(shape)))]
            found.append(np.array(flat, dtype=param.element.dtype).reshape(shape))
        else:
            found.append({"n": n, "m": m}[param.name])
    return found


def witnesses(kernel: Kernel, seed: int, number: int) -> list[object]:
    """The arguments of a call on which a change of order is likely to show: no number occurs twice, floats are rounded
    in sums, and the sizes are larger than what steps cut loops into."""
    choices = Choices(seed * 64 + number)
    n, m = ((6, 7), (9, 5), (5, 9), (10, 10), (8, 12), (4, 3))[number % 6]
    room = n + m + 3 if number % 3 else max(n, m) + 1
    found: list[object] = []
    for param in kernel.params:
        if isinstance(param, ArrayParam):
            shape = tuple(room + choices.number(0, 2) for _ in range(param.rank))
            count = int(np.prod(shape))
            low, high = (0, 4) if param.name == "at" else (-1000, 1000)
            flat = [choices.number(low, high) for _ in range(count)]
            scale = 1 if param.element.is_integer else 1 / 7
            found.append((np.array(flat) * scale).astype(param.element.dtype).reshape(shape))
        else:
            found.append({"n": n, "m": m}[param.name])
    return found
