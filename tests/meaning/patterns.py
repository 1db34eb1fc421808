"""Statements of generated programs that take several lines: reductions, scatters, local arrays."""

from __future__ import annotations

from .context import Context, size_text, small, written
from .kinds import ELEMENTS, STRONG, WEAK_FLOAT, WEAK_INT, Kind, Term, coerced, storable
from .loops import DEEPEST, ranged
from .positions import reachable, subscripts
from .scope import Array, Axis, Scalar, Scope


def index_scatter(context: Context, scope: Scope) -> Scope | None:
    """A[index[i]] += e: a reduction into elements that only the data tell"""
    targets = {array.axes[0]: array for array in scope.arrays if array.writable and len(array.axes) == 1}
    indices = [array for array in reachable(scope) if array.role == "index" and array.target in targets]
    if not indices or not scope.loops:
        return None
    index = context.choices.pick(indices)
    array = targets[index.target]
    where = index.access(subscripts(scope, index, context.choices, context.names, 0), context.choices)
    target = array.access([where], context.choices)
    term = small(context.expressions.of_kind(scope, array.kind, 2), 1000)
    context.names.note("scatter")
    operators = ("|=", "&=", "^=") if array.kind.is_bool else ("+=", "-=", "*=", "=", "max", "min")
    operator = context.choices.pick(operators)
    if operator in ("max", "min"):
        context.line(f"{target} = {operator}({target}, {term.text})")
    else:
        context.line(f"{target} {operator} {term.text}")
    return scope


def reduction(context: Context, scope: Scope) -> Scope | None:
    """A scalar that collects values over one or two loops, and is stored or kept"""
    if scope.depth >= DEEPEST or not scope.arrays:
        return None
    choices = context.choices
    kind = choices.pick((Kind("float64"), Kind("int64"), WEAK_INT, WEAK_FLOAT, Kind("bool"), *STRONG))
    operator = choices.pick(_operators(kind))
    name = context.names.fresh("acc")
    loose = not kind.weak and choices.chance(60)
    context.line(f"{name} = {_start(context, kind, operator, loose)}")
    context.names.note(f"reduction {operator}")
    loops = choices.number(1, 2 if scope.depth < DEEPEST - 1 else 1)
    inner, level = scope, context.level
    for _ in range(loops):
        text, loop = ranged(context, inner, context.names.fresh("i"))
        context.line(f"for {loop.name} in {text}:")
        context.names.inner.setdefault(loop.name, set()).add(WEAK_INT)
        context.level += 1
        inner = inner.within_loop(loop)
    if choices.chance(15):
        context.line(f"if {context.expressions.condition(inner, 1)}:")
        context.line("    continue")
    term = small(context.expressions.of_kind(inner, kind, choices.number(1, 2)), 1000)
    _collect(context, name, operator, term)
    if choices.chance(15):
        context.names.note("reduction read in its loop")
        _keep(context, inner, Term(name, kind))
    context.level = level
    _keep(context, scope, Term(name, kind))
    return scope.with_scalar(Scalar(name, kind, fixed=True, loose=loose))


def _operators(kind: Kind) -> tuple[str, ...]:
    if kind.is_bool:
        return ("|", "&", "^", "or", "and")
    if kind == WEAK_INT:
        return ("+", "-", "max", "min")
    if kind.is_float:
        return ("+", "*", "max", "min", "-", "np.maximum", "np.minimum") if not kind.weak else ("+", "max", "min", "-")
    return ("+", "*", "max", "min", "&", "|", "^", "-", "np.maximum")


def _start(context: Context, kind: Kind, operator: str, loose: bool) -> str:
    """The first value: of the kind itself, or a Python number that the first round turns into it."""
    value = {"*": 1, "&": 1, "and": 1, "min": 9, "max": 0}.get(operator, 0)
    if operator in ("np.maximum", "np.minimum") or (loose and kind.is_bool and operator in ("or", "and")):
        loose = False
    text = str(bool(value)) if kind.is_bool else str(value)
    if kind.weak or loose:
        context.names.note("accumulator starts as a Python number" if loose else "weak accumulator")
        return f"{value}.0" if (kind.is_float and context.choices.chance(80)) or kind == WEAK_FLOAT else text
    return f"{kind.cast}({text})"


def _collect(context: Context, name: str, operator: str, term: Term) -> None:
    if operator in ("max", "min"):
        if context.choices.chance(35):
            context.line(f"if {term.text} {'>' if operator == 'max' else '<'} {name}:")
            context.line(f"    {name} = {term.text}")
            return
        context.line(f"{name} = {operator}({name}, {term.text})")
    elif operator.startswith("np."):
        context.line(f"{name} = {operator}({name}, {term.text})")
    elif operator in ("or", "and") or context.choices.chance(25):
        context.line(f"{name} = {name} {operator} {term.text}")
    elif operator in ("+", "*") and context.choices.chance(15):
        context.line(f"{name} = {term.text} {operator} {name}")
    else:
        context.line(f"{name} {operator}= {term.text}")


def _keep(context: Context, scope: Scope, term: Term) -> None:
    """Store the collected value, if there is an array."""
    targets = written(scope)
    if not targets:
        return
    array = context.choices.pick(targets)
    target = array.access(subscripts(scope, array, context.choices, context.names), context.choices)
    context.line(f"{target} = {storable(term, array.element).text}")


def local_array(context: Context, scope: Scope) -> Scope | None:
    """An array of the kernel's own: np.zeros, np.ones, np.full, zeros_like, or np.empty and a loop that fills it"""
    choices = context.choices
    name = context.names.fresh("t")
    element = choices.pick(ELEMENTS)
    context.names.note("local array")
    likes = [array for array in scope.arrays if not array.field and not array.local and array.role == "data"]
    if likes and choices.chance(15):
        like = choices.pick(likes)
        context.names.note("zeros_like")
        context.line(f"{name} = np.{choices.pick(('zeros', 'ones'))}_like({like.name})")
        return scope.with_array(Array(name, like.element, like.axes, local=True))
    axes, texts = [], []
    for _ in range(choices.weighted(((5, 1), (3, 2), (1, 3)))):
        axis, text = _local_axis(context, scope)
        axes.append(axis)
        texts.append(text)
    shape = texts[0] if len(texts) == 1 and choices.chance(60) else f"({', '.join(texts)},)"
    array = Array(name, element, tuple(axes), local=True)
    match choices.weighted(((6, "zeros"), (4, "empty"), (1, "ones"), (2, "full"), (2, "plain"))):
        case "plain":
            context.line(f"{name} = np.zeros({shape})")
            return scope.with_array(Array(name, "float64", tuple(axes), local=True))
        case "full":
            value = "True" if element == "bool" else str(choices.number(0, 9))
            context.line(f"{name} = np.full({shape}, {value}, dtype={_dtype(element)})")
        case "empty":
            context.line(f"{name} = np.empty({shape}, dtype={_dtype(element)})")
            _fill(context, scope, array, texts)
        case form:
            context.line(f"{name} = np.{form}({shape}, dtype={_dtype(element)})")
    return scope.with_array(array)


def _dtype(element: str) -> str:
    return "np.bool_" if element == "bool" else f"np.{element}"


def _local_axis(context: Context, scope: Scope) -> tuple[Axis, str]:
    choices = context.choices
    if scope.arrays and choices.chance(50):
        array = choices.pick(scope.arrays)
        axis = choices.number(0, len(array.axes) - 1)
        return array.axes[axis], size_text(context, scope, array, axis)
    size = choices.number(1, 4)
    return Axis("", size), str(size)


def _fill(context: Context, scope: Scope, array: Array, sizes: list[str]) -> None:
    """Give every element of an np.empty array a value."""
    context.names.note("np.empty filled")
    level = context.level
    names = []
    for size in sizes:
        names.append(context.names.fresh("i"))
        context.line(f"for {names[-1]} in range({size}):")
        context.level += 1
    total = Term(f"({' + '.join(names)})", WEAK_INT, 0, 64)
    element = array.kind
    term = total if context.choices.chance(50) else context.expressions.of_kind(scope, element, 1)
    context.line(f"{array.name}[{', '.join(names)}] = {coerced(term, element).text}")
    context.level = level
