"""Random programs: the text of a Python function over NumPy arrays, and several calls of it.

`program(seed)` makes one. A program covers the whole language; its first call is meant to succeed, the
others have other sizes, layouts and shared memory, and may end in an exception, which is then compared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .arguments import LAYOUTS, Cells, Numbers, Recipe, Setting
from .choices import Choices
from .context import Context
from .expressions import HELPER_LIMIT, Expressions
from .kinds import ELEMENTS, INTEGERS, STRONG, WEAK_BOOL, WEAK_FLOAT, WEAK_INT, Kind, Term
from .scope import Array, Axis, Helper, Names, Scalar, Scope
from .statements import block, statements

HEADER = """import math

import numpy as np

from loopwright.frontend.markers import prange

SCALE = 3
OFFSET = 0.5


def put(cells, where, value):
    cells[where] = value


def exchange(cells, one, other):
    kept = cells[one]
    cells[one] = cells[other]
    cells[other] = kept
"""
SYMBOLS = ("n", "m", "k")
MOST_RETURNED = 10


@dataclass(frozen=True, repr=False)
class Program:
    """`source` defines the function `kernel`. `calls` are the arguments of each call. `features`: what it uses, for
    the tally. `exact`: written so that no float is rounded, as far as the writer could see (the judge looks again)."""

    source: str
    calls: tuple[tuple[Recipe, ...], ...]
    features: frozenset[str]
    exact: bool

    def __repr__(self) -> str:
        calls = "\n".join(f"# call {number}: {call}" for number, call in enumerate(self.calls))
        return f"Program:\n{self.source}\n{calls}\n"


def program(seed: int) -> Program:
    """A program of the language; the same one for the same seed."""
    choices = Choices(seed)
    names = Names(exact=not choices.chance(45))
    sizes = {symbol: choices.pick((3, 5, 7, 8, 2)) for symbol in SYMBOLS}
    arrays = _arrays(choices, names)
    scalars = _scalars(choices, names)
    known = (*scalars, *(_GLOBALS if choices.chance(30) else ()))
    options = _options(choices, names)
    order = _order(choices, names, [*arrays, *scalars, *options])
    chosen = tuple(Scalar(f"chosen{at}", WEAK_INT, 0, 4) for at, option in enumerate(options) if option.read)
    scope = Scope(sizes, arrays, (*known, *chosen), any_size=choices.chance(55))
    source = _text(choices, names, scope, order, options)
    calls = _calls(choices, names, order, arrays, scalars, options, sizes)
    return Program(source, calls, frozenset(names.features), names.exact)


_GLOBALS = (Scalar("SCALE", WEAK_INT, 1, 4, fixed=True), Scalar("OFFSET", WEAK_FLOAT, fixed=True))

# ---- what the function is given ----


def _arrays(choices: Choices, names: Names) -> tuple[Array, ...]:
    palette = [choices.pick(ELEMENTS), choices.pick(ELEMENTS), choices.pick(ELEMENTS)]
    arrays: list[Array] = []

    def another(position: int) -> None:
        axes = tuple(_axis(choices) for _ in range(choices.weighted(((9, 1), (6, 2), (2, 3)))))
        arrays.append(Array("abcd"[position], choices.pick(palette), axes))

    choices.repeatedly(another, most=4, percent=65)
    if len(arrays) > 1 and choices.chance(35):  # a pair that may share memory
        arrays[1] = replace(arrays[0], name="b")
    for position in range(choices.weighted(((5, 0), (4, 1), (2, 2)))):
        target = choices.pick(choices.pick(arrays[:4]).axes)
        element = choices.pick(INTEGERS)
        arrays.append(Array(f"at{position}", element, (Axis(choices.pick(SYMBOLS)),), "index", target, writable=False))
        names.note("index array")
    if choices.chance(20):
        arrays += _sparse(choices, names)
    if choices.chance(18):
        arrays += _records(choices, names)
    return tuple(arrays)


def _axis(choices: Choices) -> Axis:
    match choices.weighted(((12, "plain"), (2, "more"), (1, "less"), (2, "constant"))):
        case "more":
            return Axis(choices.pick(SYMBOLS[:2]), choices.number(1, 2))
        case "less":
            return Axis(choices.pick(SYMBOLS[:2]), -1)
        case "constant":
            return Axis("", choices.number(1, 4))
    return Axis(choices.pick(SYMBOLS[:2]))


def _sparse(choices: Choices, names: Names) -> list[Array]:
    """A matrix in CSR form: row pointers, columns, values."""
    names.note("sparse matrix")
    element = choices.pick(("int64", "int32", "uint32", "int16"))
    row, entries = Axis("n"), Axis("k")
    return [
        Array("start", element, (replace(row, offset=1),), "pointer", entries, writable=False),
        Array("column", element, (entries,), "index", Axis(choices.pick(("n", "m"))), writable=False),
        Array("entry", choices.pick(ELEMENTS), (entries,), writable=False),
    ]


def _records(choices: Choices, names: Names) -> list[Array]:
    """The fields of an array of records, each an Array of its own."""
    names.note("records")
    axis = Axis(choices.pick(SYMBOLS[:2]))
    record = choices.chance(30)
    fields = []
    for name in ("x", "count", "v")[: choices.number(1, 3)]:
        axes = (axis, Axis("", 2)) if name == "v" else (axis,)
        fields.append(Array("p", choices.pick(ELEMENTS), axes, field=name, record=record))
        if name == "v":
            names.note("sub-array field")
    return fields


def _scalars(choices: Choices, names: Names) -> tuple[Scalar, ...]:
    scalars = []
    for symbol in SYMBOLS[:2]:
        if choices.chance(35):
            scalars.append(Scalar(symbol, WEAK_INT, 0, 64, fixed=True))
    if choices.chance(12):
        scalars.append(Scalar("step", WEAK_INT, -3, 3, fixed=True))
    if choices.chance(30):
        kind = choices.pick((WEAK_FLOAT, WEAK_INT, WEAK_BOOL, *STRONG))
        names.note(f"scalar argument {'weak ' if kind.weak else ''}{kind.name}")
        scalars.append(Scalar("alpha", kind, -100, 100))
    return tuple(scalars)


@dataclass(frozen=True)
class Option:
    """A parameter that is no number and no array: what it is given in a call, and how a number is made of it (which
    the variable `chosen0` or `chosen1` is then), "" for a parameter that nobody reads."""

    name: str
    values: tuple[str, ...]
    read: str


_OPTIONS = {
    "option": (("None", "None", "2"), ("3 if option is None else 1", "0 if option is None else option")),
    "mode": (
        ("'fast'", "'slow'", "''"),
        ("2 if mode == 'fast' else 1", "1 if mode in ('fast', 'slow') else 4", "0 if mode != 'slow' else 3"),
    ),
    "pair": (("(1, 3)", "(2, 0)", "(4, 1)"), ("pair[0]", "pair[-1]", "len(pair)", "min(pair[1], 2)")),
}


def _options(choices: Choices, names: Names) -> tuple[Option, ...]:
    options = []
    for name, (values, reads) in _OPTIONS.items():
        if choices.chance(10):
            read = choices.pick(("", *reads))
            names.note(f"parameter {name}" if read else "parameter that nobody reads")
            options.append(Option(name, values, read))
    return tuple(options)


def _order(choices: Choices, names: Names, parameters: list[Array | Scalar | Option]) -> tuple[str, ...]:
    """The parameters' names as the function has them: arrays, then scalars, then others, or in any order."""
    order = list(dict.fromkeys(parameter.name for parameter in parameters))
    if choices.chance(35):
        names.note("parameters in any order")
        order.sort(key=lambda name: (choices.number(0, 9), name))
    return tuple(order)


# ---- the text ----


def _text(choices: Choices, names: Names, scope: Scope, order: tuple[str, ...], options: tuple[Option, ...]) -> str:
    returns: tuple[Kind, ...] | None = None
    if choices.chance(35):
        kinds = (WEAK_INT, WEAK_FLOAT, WEAK_BOOL, *STRONG)
        returns = tuple(choices.pick(kinds) for _ in range(choices.weighted(((4, 1), (2, 2), (2, 0)))))
    context = Context(choices, names, Expressions(choices, names), returns, block)
    outside, inside, scope = _helpers(choices, names, scope)
    scope = statements(context, scope, most=6, percent=70)
    before = _end(context, scope)
    chosen = [f"    chosen{at} = {option.read}" for at, option in enumerate(options) if option.read]
    body = [*chosen, *before, *inside, *context.lines]
    return "\n".join([HEADER, *outside, "", f"def kernel({', '.join(order)}):", *body, ""])


def _end(context: Context, scope: Scope) -> list[str]:
    """The last statement: what the function returns, which is the value of every variable that there is, as a rule.
    Gives the lines that begin the function: values of variables that only loops assign."""
    if context.returns is not None:
        context.line(context.return_text(scope, 2))
        context.names.note(f"returns {len(context.returns)} scalars")
        return []
    texts: list[str] = []
    before: list[str] = []
    for local in [array for array in scope.arrays if array.local and array.name.startswith("t")]:
        if context.choices.chance(40):
            texts.append(local.name)
            context.names.note("local array returned")
    globals_ = {scalar.name for scalar in _GLOBALS}
    alive = [scalar.name for scalar in scope.scalars if scalar.name not in globals_]
    if context.choices.chance(75):
        texts += alive
        context.names.note("every variable returned")
        for name, kinds in context.names.inner.items():
            if name in alive or len(kinds) > 1 or len(texts) >= MOST_RETURNED:
                continue
            if context.choices.chance(70):
                before.append(f"    {name} = {_first_value(next(iter(kinds)))}")
                texts.append(name)
                context.names.note("variable of a loop with a value before it")
            elif context.choices.chance(10):
                texts.append(name)
                context.names.note("variable of a loop after it")
    own = [array for array in scope.arrays if array.writable and not array.field]
    if context.choices.chance(4) and own:
        texts.append(own[0].name)
        context.names.note("argument returned")
    if texts:
        context.line(f"return {', '.join(texts)}" + ("," if context.choices.chance(5) else ""))
    return before


def _first_value(kind: Kind) -> str:
    """A value that no loop gives a variable of this kind."""
    if kind.is_bool:
        return "True" if kind.weak else "np.bool_(True)"
    value = "77.0" if kind.is_float else "77"
    return value if kind.weak else f"{kind.cast}({value})"


def _helpers(choices: Choices, names: Names, scope: Scope) -> tuple[list[str], list[str], Scope]:
    """Scalar functions: text at the module's level, text inside the kernel, and the scope that knows them."""
    outside: list[str] = []
    inside: list[str] = []
    for number in range(choices.weighted(((6, 0), (4, 1), (2, 2)))):
        nested = choices.chance(40)
        names.note("nested function" if nested else "module function")
        given = tuple(choices.pick((WEAK_INT, WEAK_FLOAT, *STRONG)) for _ in range(choices.number(1, 2)))
        lines, helper = _helper(choices, names, scope, f"helper{number}", given, nested)
        if nested:
            inside += ["    " + line if line else line for line in lines]
        else:
            outside += ["", *lines, ""]
        scope = replace(scope, helpers=(*scope.helpers, helper))
    return outside, inside, scope


def _helper(
    choices: Choices, names: Names, scope: Scope, name: str, given: tuple[Kind, ...], nested: bool
) -> tuple[list[str], Helper]:
    parameters = tuple(Scalar(f"x{at}", kind, -HELPER_LIMIT, HELPER_LIMIT) for at, kind in enumerate(given))
    seen = tuple(scalar for scalar in scope.scalars if scalar.name != "alpha") if nested else _GLOBALS
    arrays = tuple(array for array in scope.arrays if array.role == "data") if nested else ()
    known = tuple(h for h in scope.helpers if not nested)
    own = Scope(scope.sizes, arrays, (*seen, *parameters), helpers=known, any_size=scope.any_size)
    if nested:
        names.note("closure")
    else:
        own = replace(own, helpers=tuple(helper for helper in scope.helpers if helper.name.startswith("module")))
    context = Context(choices, names, Expressions(choices, names), None, block)
    result_kind = choices.pick((given[0], WEAK_INT, WEAK_FLOAT, *STRONG))
    terms: list[Term] = []

    def give(scope_now: Scope) -> str:
        terms.append(context.expressions.of_kind(scope_now, result_kind, 2))
        return f"return {terms[-1].text}"

    if choices.chance(40):
        context.line(f"local = {context.expressions.of_kind(own, given[0], 1).text}")
        own = own.with_scalar(Scalar("local", given[0]))
    if choices.chance(50):
        names.note("helper with several returns")
        context.line(f"if {context.expressions.condition(own, 1)}:")
        context.line("    " + give(own))
    context.line(give(own))
    low, high = min(term.low for term in terms), max(term.high for term in terms)
    header = f"def {name}({', '.join(parameter.name for parameter in parameters)}):"
    return [header, *context.lines], Helper(name, given, Term(name, result_kind, low, high))


# ---- the calls ----


def _calls(
    choices: Choices, names: Names, order: tuple[str, ...], arrays: tuple[Array, ...], scalars: tuple[Scalar, ...],
    options: tuple[Option, ...], sizes: dict[str, int],
) -> tuple[tuple[Recipe, ...], ...]:  # fmt: skip
    profile = "small" if names.exact else choices.pick(("special", "small", "extreme"))
    if names.exact and choices.chance(20):
        profile = "extreme"
    names.note(f"data {profile}")
    layouts = {array.name: _layout(choices, names, array) for array in arrays}

    def arguments(sizes: dict[str, int]) -> tuple[Recipe, ...]:
        given = _recipes(choices, arrays, scalars, sizes, profile, layouts)
        given += tuple(Numbers(option.name, choices.pick(option.values)) for option in options)
        return tuple(sorted(given, key=lambda recipe: order.index(recipe.name)))

    first = arguments(sizes)
    calls = [first]
    for _ in range(choices.weighted(((3, 1), (3, 2), (1, 0)))):
        others = {symbol: size + choices.pick((1, 0, 3)) for symbol, size in sizes.items()}
        if choices.chance(62):  # of all runs a third
            others = {symbol: choices.pick((0, 1, 2)) for symbol in SYMBOLS}
            names.note("sizes 0, 1 and 2")
        elif choices.chance(20):
            others = {symbol: choices.pick((4, 1, 0, 2, 3, 5, 6, 8)) for symbol in SYMBOLS}
        calls.append(arguments(others))
    if "prange" not in names.features and choices.chance(50):
        calls += _shared_memory(choices, names, first)
    return tuple((*call, *_settings(choices, names)) for call in calls)


def _settings(choices: Choices, names: Names) -> tuple[Recipe, ...]:
    """The values of the program's globals in one call: others than in the call before, as a rule."""
    names.note("globals that change")
    return Setting("SCALE", str(choices.number(1, 4))), Setting("OFFSET", choices.pick(("0.5", "2.0", "-1.5", "3.0")))


def _layout(choices: Choices, names: Names, array: Array) -> str:
    if not choices.chance(35):
        return "C"
    layout = choices.pick(LAYOUTS)
    if layout == "broadcast" and (array.writable or array.role != "data"):
        layout = "strided"
    if array.field and layout == "unaligned":
        layout = "strided"
    names.note(f"layout {layout}")
    return layout


def _recipes(
    choices: Choices, arrays: tuple[Array, ...], scalars: tuple[Scalar, ...], sizes: dict[str, int], profile: str,
    layouts: dict[str, str],
) -> tuple[Recipe, ...]:  # fmt: skip
    recipes: list[Recipe] = []
    for array in arrays:
        if array.field and any(recipe.name == array.name for recipe in recipes):
            continue
        shape = tuple(axis.size(sizes) for axis in array.axes if not (array.field == "v" and axis.symbol == ""))
        values = {"data": profile, "pointer": "pointer", "index": "index"}[array.role]
        if array.role == "index" and choices.chance(15):
            values = "loose index"
        recipes.append(Cells(
            array.name, array.element, shape, values, choices.number(0, 9), array.target.size(sizes),
            layouts[array.name], read_only=not array.writable and choices.chance(30),
            fields=_fields(arrays, array), recarray=array.record,
        ))  # fmt: skip
    return (*recipes, *(_number(choices, scalar, sizes) for scalar in scalars))


def _fields(arrays: tuple[Array, ...], array: Array) -> tuple[tuple[str, str, tuple[int, ...]], ...]:
    if not array.field:
        return ()
    same = [other for other in arrays if other.name == array.name]
    return tuple((other.field, other.element, (2,) if other.field == "v" else ()) for other in same)


def _number(choices: Choices, scalar: Scalar, sizes: dict[str, int]) -> Numbers:
    if scalar.name in SYMBOLS:
        return Numbers(scalar.name, str(sizes[scalar.name]))
    if scalar.name == "step":
        return Numbers("step", str(choices.pick((1, 2, 3, -1, -2, 0))))
    value = choices.pick((2, 1, 3, 0, 7))
    if scalar.kind.is_bool:
        value %= 2
    text = f"{value}.0" if scalar.kind == WEAK_FLOAT else str(bool(value) if scalar.kind == WEAK_BOOL else value)
    return Numbers(scalar.name, text if scalar.kind.weak else f"{scalar.kind.cast}({value})")


def _shared_memory(choices: Choices, names: Names, call: tuple[Recipe, ...]) -> list[tuple[Recipe, ...]]:
    """The first call once more, with two equal array arguments in the same memory, if there are two."""
    cells = [(at, recipe) for at, recipe in enumerate(call) if isinstance(recipe, Cells) and recipe.values != "index"]
    pairs = [
        (first, second)
        for first, one in cells
        for second, other in cells
        if first < second and (one.element, one.shape) == (other.element, other.shape) and not one.fields
        and not other.fields and not other.read_only and one.values == other.values and one.layout == "C"
    ]  # fmt: skip
    if not pairs:
        return []
    first, second = choices.pick(pairs)
    one, other = call[first], call[second]
    assert isinstance(one, Cells) and isinstance(other, Cells)
    ways = ["same", "reversed"] + (["shift"] if len(one.shape) <= 2 and not one.recarray else [])
    how = choices.pick(ways)
    names.note(f"shared memory {how}")
    call = (*call[:second], replace(other, same_as=first, how=how), *call[second + 1 :])
    return [(*call[:first], replace(one, read_only=False), *call[first + 1 :])]
