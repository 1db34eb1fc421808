"""Which accesses are proven, under which condition, and which calls are refused before they run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from analysis.small import kernel
from loopwright.analysis import bounds as module
from loopwright.analysis import proof
from loopwright.analysis.affine import Formula
from loopwright.analysis.analyse import analyse
from loopwright.analysis.bounds import Violations, violation
from loopwright.analysis.effort import together
from loopwright.analysis.facts import Bounds
from loopwright.analysis.trace import Access, Trace, trace
from loopwright.ir.nodes import Checked, Kernel, Load, Store
from loopwright.ir.walk import expressions, statements

HEAD = (
    'def f(a: "float64[1]", b: "float64[2]", x: "int64[1]", u: "uint8[1]", n: "int64", m: "int64", w: "int64", '
    'flag: "bool"):\n'
)


def made(text: str) -> Kernel:
    return kernel(HEAD + "".join(f"    {line}\n" for line in text.strip().split("\n")))


def bounds(text: str, array: str = "a") -> Bounds:
    """Of the first axis of the last access to an array, stores being last of all."""
    found = made(text)
    nodes: list[Load | Store] = [e for e in expressions(found.body) if isinstance(e, Load) and e.array == array]
    nodes += [s for s in statements(found.body) if isinstance(s, Store) and s.array == array]
    return analyse(found).bounds_of(nodes[-1])[0]


PROVEN = {
    "for i in range(len(a)):\n    a[i] = 1.0": "",
    "for i in range(n):\n    a[i] = 1.0": "len(a) >= n",
    "for i in range(1, n - 1):\n    a[i + 1] = a[i - 1]": "len(a) >= n",
    "for i in range(n):\n    a[n - 1 - i] = 1.0": "len(a) >= n",
    "for i in range(n):\n    for j in range(i):\n        a[j] = 1.0": "len(a) + 1 >= n",
    "for i in range(n):\n    a[i % 4] = 1.0": "len(a) >= 4 or len(a) >= n",
    "for i in range(n):\n    a[i // 2] = 1.0": "2 * len(a) >= n",
    "for i in range(len(x)):\n    a[i % len(a)] = 1.0": "len(a) >= 1",
    "for i in range(n):\n    a[u[i]] = 1.0": "len(a) >= 256",
    "for i in range(n):\n    a[x[i] & 7] = 1.0": "len(a) >= 8",
    "for i in range(n):\n    k = x[i]\n    if 0 <= k and k < len(a):\n        a[k] = 1.0": "",
    "for i in range(n):\n    a[min(i, 3)] = 1.0": "len(a) >= 4 or len(a) >= n",
    "for i in range(n):\n    a[i] = 1.0 if i > 0 else a[i + 1]": "len(a) >= n",
    "a[3] = 1.0": "len(a) >= 4",
    "for i in range(min(n, len(a))):\n    a[i] = 1.0": "",
    "for i in range(n):\n    for j in range(m):\n        a[i * m + j] = 1.0": "n * m <= len(a)",
    "for i in range(n):\n    for j in range(m):\n        a[i * w + j] = 1.0": "(n - 1) * w + m <= len(a)",
}


@pytest.mark.parametrize("text", PROVEN)
def test_proven(text: str) -> None:
    found = bounds(text)
    assert (found.kind, found.condition, found.may_be_negative) == ("proven", PROVEN[text], False)


def test_isl_is_not_asked_what_ranges_and_conditions_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    real = proof.guardable

    def counted(formulas: Sequence[Formula]) -> object:
        asked.append(tuple(formula.text for formula in formulas))
        return real(formulas)

    monkeypatch.setattr(proof, "guardable", counted)
    with together():
        found = bounds("for i in range(1, len(a)):\n    a[i] = a[i - 1]")
        assert (found.kind, found.condition, asked[0][-1]) == ("proven", "", "(ii_1 + -1) >= (s0_0)")
        assert not any(texts[-1].startswith("(ii_1) ") or "< (0)" in texts[-1] for texts in asked)
        assert bounds("for i in range(n):\n    a[i - 1] = 1.0").may_be_negative


def test_a_negative_constant_counts_from_the_end() -> None:
    found = bounds("a[-1] = 1.0")
    assert (found.kind, found.condition, found.may_be_negative) == ("proven", "len(a) >= 1", True)
    assert bounds("a[-3] = 1.0").condition == "len(a) >= 3"


def test_what_can_only_fail_is_refused_before_the_run() -> None:
    found = bounds("for i in range(n):\n    a[len(a) + i] = 1.0")
    assert (found.kind, found.condition, found.certain) == ("proven", "n <= 0", True)


CHECKED = {
    "for i in range(n):\n    a[n * n - i * i] = 1.0": (
        "the index is a product of values that are known only at run time",
        True,
    ),
    "for i in range(n):\n    a[i - 1] = 1.0": ("the index can be negative", True),
    "for i in range(n):\n    a[x[i]] = 1.0": ("the index comes from an array", True),
    "for i in range(n):\n    if x[i] > 0:\n        a[len(a) + i] = 1.0": (
        "the index can be too large, whatever the sizes",
        False,
    ),
    "for i in range(n):\n    for j in range(m):\n        a[i - j] = 1.0": ("the index can be negative", True),
    "k = 0\nwhile flag:\n    a[k] = 1.0\n    k = k + 1": ("the index depends on data", False),
}


@pytest.mark.parametrize("text", CHECKED)
def test_checked(text: str) -> None:
    found = bounds(text)
    assert (found.kind, found.reason, found.may_be_negative) == ("checked", *CHECKED[text])


def test_one_impossible_demand_does_not_spoil_the_guard() -> None:
    text = "for i in range(n):\n    for j in range(n):\n        a[i - j] = a[i] + b[i, j]"
    facts = analyse(made(text))
    assert set(facts.guard.text.split(" and ")) == {"len(a) >= n", "b.shape[0] >= n", "b.shape[1] >= n"}


def test_conditions_that_exclude_each_other_are_not_both_adopted() -> None:
    facts = analyse(made("for i in range(n):\n    a[i + m] = 1.0\nfor i in range(n):\n    a[i - m - 1] = 1.0"))
    kinds = {bounds[0].kind for bounds in facts.bounds.values()}
    assert kinds == {"proven", "checked"}


def test_what_can_only_fail_does_not_crowd_out_the_rest() -> None:
    text = "if flag:\n    for i in range(n):\n        a[i + n + len(a)] = 1.0\nfor j in range(n):\n    x[j] = x[-1]"
    facts = analyse(made(text))
    assert {bounds[0].kind for bounds in facts.bounds.values()} == {"proven"}


def test_a_negative_constant_stays_negative_where_it_is_checked() -> None:
    text = "for j in range(n):\n    for i in range(n):\n        a[i] = x[i] + b[0, 0]\n    for i in range(x[0]):\n"
    text += "        if len(x) < 1:\n            x[-1] = 5"
    assert bounds(text, "x").may_be_negative


def test_checks_are_proven_too() -> None:
    found = made("for i in range(n):\n    a[i] = float64(checked(i // m, m != 0))")
    check = next(e for e in expressions(found.body) if isinstance(e, Checked))
    (answer,) = analyse(found).bounds_of(check)
    assert answer.kind == "proven"
    found = made("for i in range(1, n):\n    a[i] = float64(checked(m // i, i != 0))")
    check = next(e for e in expressions(found.body) if isinstance(e, Checked))
    assert analyse(found).bounds_of(check) == (Bounds("proven"),)
    found = made("for i in range(n):\n    a[i] = float64(checked(m // x[i], x[i] != 0))")
    check = next(e for e in expressions(found.body) if isinstance(e, Checked))
    assert analyse(found).bounds_of(check)[0].kind == "checked"


# ---- before the call ----------------------------------------------------------------------------------------------

STENCIL = made("for i in range(1, n - 1):\n    a[i] = a[i - 1] + a[i + 1]")


def test_a_call_that_must_fail_is_refused() -> None:
    error = violation(STENCIL, {"s0_0": 4, "v4": 9})
    assert error is not None and error.before_run
    assert (error.array, error.axis, error.size) == ("a", 0, 4)
    assert 4 <= error.index <= 8
    assert error.at is not None and error.at.line == 3


def test_a_good_call_is_not_refused() -> None:
    assert violation(STENCIL, {"s0_0": 9, "v4": 9}) is None
    assert violation(STENCIL, {"s0_0": 0, "v4": 2}) is None


def test_what_is_not_known_is_not_refused() -> None:
    assert violation(STENCIL, {"s0_0": 4}) is None


@pytest.mark.parametrize(
    "text",
    [
        "for i in range(n):\n    if flag:\n        a[i] = 1.0",
        "for i in range(n):\n    if x[i] > 0:\n        a[i] = 1.0",
        "for i in range(n):\n    if x[i] > 0:\n        break\n    a[i] = 1.0",
        "if x[0] > 0:\n    return\nfor i in range(n):\n    a[i] = 1.0",
        "k = checked(n // m, m != 0)\nfor i in range(n):\n    a[i] = 1.0",
        "for i in range(-2, n):\n    a[i] = 1.0",
        "for i in range(x[0]):\n    a[i] = 1.0",
    ],
)
def test_a_call_that_may_succeed_is_not_refused(text: str) -> None:
    given = {"s0_0": 2, "s1_0": 9, "s1_1": 9, "s2_0": 9, "s3_0": 9, "v4": 2 if "-2" in text else 4, "v5": 1}
    assert violation(made(text), {**given, "v6": 1}) is None


def test_a_condition_on_arguments_counts() -> None:
    text = "for i in range(n):\n    if flag:\n        a[i] = 1.0"
    assert violation(made(text), {"s0_0": 2, "v4": 4, "v7": 0}) is None
    assert violation(made(text), {"s0_0": 2, "v4": 4, "v7": 1}) is not None


def test_what_is_known_of_a_kernel_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls whose guard fails again and again ask each time: the kernel is walked once, and each call judged once."""
    walks: list[Kernel] = []
    judged: list[int] = []
    witness = module._witness

    def walked(kernel: Kernel) -> Trace:
        walks.append(kernel)
        return trace(kernel)

    def asked(access: Access, axis: int, values: Mapping[str, int]) -> tuple[int, int] | None:
        judged.append(access.number)
        return witness(access, axis, values)

    monkeypatch.setattr(module, "trace", walked)
    monkeypatch.setattr(module, "_witness", asked)
    violations = Violations(STENCIL)
    good, bad = {"s0_0": 9, "v4": 9}, {"s0_0": 4, "v4": 9}
    assert violations.of(good) is None
    count = len(judged)
    assert violations.of(good) is None
    assert len(judged) == count > 0
    for _ in range(2):
        error = violations.of(bad)
        assert error is not None and (error.array, error.size) == ("a", 4)
    assert violations.of({"s0_0": 10, "v4": 9}) is None
    assert len(walks) == 1


def test_calls_without_a_violation_are_forgotten_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_HARMLESS", 2)
    violations = Violations(STENCIL)
    for size in range(9, 14):
        assert violations.of({"s0_0": size, "v4": 9}) is None
    assert len(violations._harmless) == 2
    assert violations.of({"s0_0": 4, "v4": 9}) is not None
