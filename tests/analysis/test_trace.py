"""The notes of one walk: what holds at a place, and whether it is surely reached."""

from __future__ import annotations

from dataclasses import replace

from analysis.small import kernel
from loopwright.analysis.effort import together
from loopwright.analysis.trace import Access, Trace, escapes, glance, keep, trace, traced
from loopwright.analysis.values import size_of, value_of
from loopwright.ir.nodes import Break, Kernel, Return
from loopwright.ir.walk import expressions

HEAD = 'def f(a: "float64[1]", b: "float64[1]", n: "int64", flag: "bool"):\n'


def notes(*lines: str) -> Trace:
    return trace(kernel(HEAD + "".join(f"    {line}\n" for line in lines)))


def last(*lines: str) -> Access:
    return notes(*lines).accesses[-1]


def conditions(access: Access) -> list[str]:
    return [formula.text for formula in access.where]


def test_a_loop_bounds_its_variable() -> None:
    assert conditions(last("for i in range(1, n, 2):", "    a[i] = 1.0")) == [
        "(ii_1) >= (1)", "(ii_1) < (v2)", "(ii_1 + -1) mod 2 = 0",
    ]  # fmt: skip
    assert conditions(last("for i in range(n, 0, -1):", "    a[i] = 1.0")) == ["(ii_1) <= (v2)", "(ii_1) > (0)"]


def test_a_minimum_as_a_bound_is_two_bounds() -> None:
    where = conditions(last("for i in range(0, min(n, len(a))):", "    a[i] = 1.0"))
    assert len(where) == 3 and not any(" or " in text for text in where)


def test_a_stretch_of_a_loop_whose_end_comes_from_data_ends_before_the_next_one() -> None:
    """i + 4 may leave int64 there; what it wraps to is less."""
    head = 'def f(a: "int64[1]", b: "float64[1]"):\n    m = a[0]\n'

    def of(outer: str, inner: str) -> list[str]:
        body = f"    for i in range({outer}):\n        for j in range({inner}):\n            b[j] = 1.0\n"
        return conditions(trace(kernel(head + body)).accesses[-1])

    assert "(ij_1) < (ii_1 + 4)" in of("0, m, 4", "i, min(i + 4, m)")
    assert "(ij_1) > (ii_1 + -4)" in of("m, 0, -4", "i, max(i - 4, 0), -1")
    for inner in ("i, max(i + 4, m), -1", "max(i + 4, 1), m"):
        assert not any("ii_1 + 4" in text for text in of("1, m", inner))


def test_branches_stand_under_their_conditions() -> None:
    then, otherwise = notes("if n > 3:", "    a[0] = 1.0", "else:", "    a[1] = 1.0").accesses
    assert conditions(then) == ["(v2) > (3)"]
    assert conditions(otherwise) == ["(v2) <= (3)"]
    assert then.exact and otherwise.exact


def test_what_follows_a_branch_that_leaves_is_narrowed() -> None:
    after = last("for i in range(n):", "    if i == 0:", "        continue", "    a[i] = 1.0")
    assert conditions(after)[-1] == "(ii_1) != (0)"
    assert after.exact and after.sure


def test_a_deeper_jump_only_makes_things_unsure() -> None:
    after = last(
        "for i in range(n):", "    if i > 0:", "        if b[i] > 0.0:", "            continue", "    a[i] = 1.0"
    )
    assert len(after.where) == 2
    assert not after.exact


def test_unknown_conditions_are_left_out() -> None:
    access = last("for i in range(n):", "    if a[i] > 0.0 and i > 2:", "        b[i] = 1.0")
    assert conditions(access)[-1] == "(ii_1) > (2)"
    assert not access.exact


def test_lazy_operands_stand_under_conditions() -> None:
    load = notes("for i in range(n):", "    b[i] = a[i - 1] if i > 0 else 0.0").accesses[0]
    assert conditions(load)[-1] == "(ii_1) > (0)"
    load = notes("for i in range(n):", "    if i > 0 and a[i - 1] > 0.0:", "        b[i] = 1.0").accesses[0]
    assert conditions(load)[-1] == "(ii_1) > (0)"
    load = notes("for i in range(n):", "    if i == 0 or a[i - 1] > 0.0:", "        b[i] = 1.0").accesses[0]
    assert conditions(load)[-1] == "(ii_1) != (0)"


def test_a_break_makes_the_whole_loop_unsure() -> None:
    first, second = notes(
        "for i in range(n):", "    b[i] = 1.0", "    if flag:", "        break", "a[0] = 1.0"
    ).accesses  # fmt: skip
    assert not first.exact and not first.sure
    assert second.exact


def test_a_return_makes_the_rest_unsure() -> None:
    access = last("for i in range(n):", "    if flag:", "        return", "a[0] = 1.0")
    assert not access.exact and not access.sure


def test_a_check_before_makes_a_place_unsure() -> None:
    assert last("a[0] = 1.0").sure
    assert not last("k = checked(n // 2, n > 0)", "a[0] = 1.0").sure
    looped = notes("for i in range(n):", "    a[i] = 1.0", "    k = checked(n // 2, n > i)").accesses[0]
    assert not looped.sure


def test_a_while_loop_is_walked_once_and_never_sure() -> None:
    found = notes("k = 0", "while a[k] > 0.0:", "    b[k] = 1.0", "    k = k + 1")
    assert [access.stack for access in found.accesses] == [("while1",), ("while1",)]
    assert not any(access.exact for access in found.accesses[1:])


def test_blocks_end_narrowing() -> None:
    inside, after = notes(
        "with done:", "    if n > 3:", "        leave(done)", "    a[0] = 1.0", "b[0] = 1.0"
    ).accesses  # fmt: skip
    assert conditions(inside) == ["(v2) <= (3)"]
    assert conditions(after) == [] and after.exact


def test_escapes() -> None:
    body = kernel(HEAD + "    for i in range(n):\n        if flag:\n            break\n        return\n").body
    assert [type(jump) for jump in escapes(body[0])] == [Return]
    assert [type(jump) for jump in escapes(body[0].body[0])] == [Break]  # type: ignore[union-attr]


def test_local_sizes_are_forms() -> None:
    access = last("t = zeros(n + 1)", "t[0] = 1.0")
    assert access.sizes[0].text() == "(v2 + 1)"


def test_a_nest_is_told_in_the_same_words_after_another_one() -> None:
    nest = ["for i in range(n):", "    for j in range(min(i, n - 2)):", "        b[j // 3] = a[i]"]
    other = ["for k in range(3, n):", "    a[k] = b[min(k, 5)]"]
    alone, after = notes(*nest).accesses, notes(*other, *nest).accesses[-2:]
    assert [conditions(access) for access in alone] == [conditions(access) for access in after]
    assert [access.index[0].text() for access in alone] == [access.index[0].text() for access in after]


def test_each_scalar_is_forgotten_once_where_a_loop_begins() -> None:
    found = notes("m = n", "for i in range(n):", "    b[m] = 0.0", "    m = i", "    m = m + 1", "    m = 2")
    assert found.accesses[0].index[0].symbols[0].birth == ("i",)
    assert sum(symbol.role == "opaque" for symbol in found.state.table.symbols) <= 3


def test_notes_of_a_fact_serve_the_questions_after_it() -> None:
    one = kernel(HEAD + "    for i in range(n):\n        a[i] = 1.0\n")
    found = trace(one)
    keep(one, found)
    assert traced(one) is found


BEGINNINGS = [
    ("for i in range(n):", "    a[i * n] = b[i] + 1.0"),
    ("while n > 4:", "    n = n // 2"),
    ("for i in range(min(n, len(a))):", "    if i > 2 and a[i] > 0.0:", "        continue", "    n = n + i % 3"),
    ("if n < 0:", "    return"),
    ("m = n * n", "t = a[0]"),
    ("if a[1] > 1.0 and n > 2:", "    return"),
    ("for k in range(0, n, 2):", "    for l in range(k):", "        a[k // 4] = b[l * m] * t"),
    ("if flag:", "    n = 3", "else:", "    n = 5"),
]


def told(notes: Trace) -> list[str]:
    """Everything that a trace says, down to the order of its symbols."""
    table, state = notes.state.table, notes.state
    said = [(a.array, id(a.stmt), a.stack, a.exact, a.sure, a.number) for a in notes.accesses]
    forms = [[form.text() for form in (*a.index, *a.sizes)] for a in notes.accesses]
    where = [[f.text for f in one.where] for one in (*notes.accesses, *notes.tests, *notes.loops.values())]
    loops = [
        (name, id(one.loop), one.symbol.number, [f.text for f in one.domain], one.regular)
        for name, one in notes.loops.items()
    ]
    values = [(id(stmt), [(name, form.text()) for name, form in known.items()]) for stmt, known in notes.values]
    conditions = [(key, one.true and one.true.text, one.exact) for key, one in notes.conditions.items()]
    symbols = [(s.number, s.name, s.birth, s.intervals, s.rule, s.data, len(s.roots)) for s in table.symbols]
    more = [(s.name, repr(form.text())) for s, (form, _) in (*table.ends.items(), *table.quotients.items())]
    demands = sorted((s.number, level) for s, level in table.demands.items())
    end = [(name, form.text()) for name, form in (*state.scalars.items(), *state.sizes.items())], state.versions
    counts = table.counts, len(table.by_key), state.counter, state.types, state.guard, state.overlap
    return [repr(one) for one in (said, forms, where, loops, values, conditions, symbols, more, demands, end, counts)]


def test_a_walk_that_goes_on_from_another_one_is_as_a_walk_of_its_own() -> None:
    lines = [f"    {line}\n" for part in BEGINNINGS for line in part]
    whole = kernel(HEAD + "".join(lines))
    body = whole.body
    kernels = [replace(whole, body=(*body[:at], *body[at:][::-1])) for at in range(len(body))]
    kernels += [replace(whole, body=body[:at]) for at in range(len(body))] + [whole, replace(whole, guard="none")]
    alone = [told(trace(one)) for one in kernels]
    with together():
        for one, expected in zip(kernels, alone, strict=True):
            found = trace(one)
            assert told(found) == expected
            ask_more(one, found)


def ask_more(asked: Kernel, notes: Trace) -> None:
    """What questions may do to the notes of a walk."""
    for expr in expressions(asked.body):
        if not expr.type.is_float:
            value_of(notes.state, expr)
    size_of(notes.state, "nowhere", 0)
    notes.state.table.demands.clear()


def test_walks_of_other_arguments_have_nothing_in_common() -> None:
    one = kernel(HEAD + "    for i in range(n):\n        a[i] = 1.0\n")
    narrow = replace(one, params=kernel(HEAD.replace("int64", "int32") + "    return\n").params)
    expected = told(trace(narrow))
    with together():
        trace(one)
        assert told(trace(narrow)) == expected != told(trace(one))


def test_a_glance_tells_of_loops_what_a_walk_does() -> None:
    """Whatever stands in the loops that are not entered, or behind them."""
    lines = (
        "k = n",
        "m = 7",
        "for i in range(n):",
        "    for j in range(i, k):",
        "        a[j] = 1.0",
        "        m = j",
        "    k = k - 1",
        "for p in range(m):",
        "    for q in range(p, n):",
        "        b[q] = a[p]",
        "    if n > 3:",
        "        for r in range(k, n):",
        "            b[r] = 2.0",
    )
    asked = kernel(HEAD + "".join(f"    {line}\n" for line in lines))
    known, found = trace(asked), glance(asked, {"p"})
    assert list(found.loops) == ["i", "p", "q", "r"] and not found.accesses
    for name, note in found.loops.items():
        whole = known.loops[name]
        assert (note.step, note.stack, note.regular) == (whole.step, whole.stack, whole.regular)
        for form, other in ((note.lower, whole.lower), (note.upper, whole.upper)):
            told = [(symbol.role, symbol.birth, symbol.data, symbol.intervals) for symbol in form.symbols]
            assert told == [(symbol.role, symbol.birth, symbol.data, symbol.intervals) for symbol in other.symbols]
    assert not glance(asked, ()).loops["p"].upper.is_constant  # `m` changes in a loop that was not entered
    assert [access.array for access in glance(asked, {"p", "q"}).accesses] == ["a", "b"]
    keep(asked, known)
    assert glance(asked, ()) is known
