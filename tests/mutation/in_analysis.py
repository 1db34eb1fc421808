"""Faults of what is proven: dependences, bounds, reductions, privatisation, the order of iterations."""

from __future__ import annotations

from mutation.fault import Fault

ANALYSIS = (
    Fault(
        "an index that never counts from the end",
        "analysis/dependence.py",
        'elif bounds.kind == "proven" or not bounds.may_be_negative:',
        'elif bounds.kind in ("proven", "checked"):',
        "a[i - n] and a[i] are taken for two elements",
        (
            "tests/analysis/test_dependence.py",
            "tests/analysis/test_analyse.py",
        ),
    ),
    Fault(
        "one element too many inside",
        "analysis/bounds.py",
        'relate(index, ">=", size))\n    simple =',
        'relate(index, ">", size))\n    simple =',
        "a guard lets an index be equal to the size",
        (
            "tests/analysis/test_bounds.py",
            "tests/analysis/test_guard.py",
        ),
    ),
    Fault(
        "idle where one loop is",
        "analysis/guard.py",
        "            for loop in loops:\n                assert loop is not None",
        "            for loop in loops[:1]:\n                assert loop is not None",
        "a guard is passed over as one of several loops does not run",
        (
            "tests/analysis/test_guard.py",
            "tests/analysis/test_bounds.py",
        ),
    ),
    Fault(
        "a maximum through a narrower type",
        "analysis/reductions.py",
        "if narrowed and op not in MODULAR.values():",
        "if narrowed and not op:",
        "each thread cuts its own maximum to the type, and the greatest of these is another number",
        ("tests/analysis/test_reductions.py",),
    ),
    Fault(
        "a maximum that NaN resets",
        "analysis/reductions.py",
        'case "min" | "max" if left or not expr.type.is_float:',
        'case "min" | "max" if left or expr.type.bits:',
        "max(x, most) forgets what was before a NaN, but not between threads",
        ("tests/analysis/test_reductions.py",),
    ),
    Fault(
        "a sum that begins with 0.0",
        "analysis/reductions.py",
        "-0.0 if scalar.is_float else 0\n",
        "0.0 if scalar.is_float else 0\n",
        "the sum of -0.0 is 0.0",
        (
            "tests/analysis/test_reductions.py",
            "tests/codegen/test_parallel.py::test_scalar_sums_and_a_last_value",
        ),
    ),
    Fault(
        "a greatest value one above the least",
        "analysis/reductions.py",
        "-math.inf if scalar.is_float else scalar.minimum",
        '-math.inf if scalar.is_float else scalar.minimum + (scalar.kind == "int")',
        "the maximum of nothing but the least integers is one more than they are",
        (
            "tests/analysis/test_reductions.py",
            "tests/codegen/test_parallel.py::test_what_goes_along_with_an_extreme",
        ),
    ),
    Fault(
        "a loop that surely runs",
        "analysis/scalars.py",
        "if not _runs(loop):",
        "if not _runs(loop) and not inner.written:",
        "what an inner loop assigns counts as written though that loop may have no iterations: the value of the "
        "iteration before is lost",
        ("tests/analysis/test_scalars.py",),
    ),
    Fault(
        "nobody reads it in the next iteration",
        "analysis/scalars.py",
        "_live(stmt.body, head, inner, result)",
        "_live(stmt.body, after, inner, result)",
        "the last value of an inner loop is not brought out for the next iteration of the outer one",
        ("tests/analysis/test_scalars.py",),
    ),
    Fault(
        "every loop runs upwards",
        "analysis/instances.py",
        'times.append(f"x{depth}" if part.step > 0 else f"-x{depth}")',
        'times.append(f"x{depth}")',
        "the judge of steps has the iterations of a loop with a negative step in the wrong order",
        (
            "tests/analysis/test_instances.py",
            "tests/analysis/test_order.py",
        ),
    ),
    Fault(
        "strict sums in any order",
        "analysis/instances.py",
        "if not strict or is_exact_in_any_order(update.op, type_):",
        "if update.op or is_exact(update.op, type_):",
        "under strict=True a step may change the order of a sum into an array",
        ("tests/analysis/test_order.py::test_a_sum_needs_its_order_only_under_strict",),
    ),
    Fault(
        "a write under a condition covers a read",
        "analysis/local_arrays.py",
        "loop in common and _is_sure(write, len(common)):",
        "loop in common:",
        "each thread has its own copy of an array whose values pass from one iteration to the next",
        ("tests/analysis/test_local_arrays.py",),
    ),
    Fault(
        "always the first of equals",
        "analysis/extremes.py",
        '"first" if condition.op in ("gt", "lt") else "last", ""',
        '"first" if condition.op else "last", ""',
        "`>=` keeps the last of equal values, but between threads the first",
        ("tests/analysis/test_extremes.py",),
    ),
    Fault(
        "an element of two threads",
        "analysis/ownership.py",
        'beyond = relate(own, ">=", constant(size))',
        'beyond = relate(own, ">", constant(size))',
        "an array is kept in registers though a thread reads the first element of the next one",
        ("tests/analysis/test_ownership.py",),
    ),
    Fault(
        "a digit as large as its radix",
        "analysis/delinearisation.py",
        'sides = (relate(form, "<", constant(0)), relate(form, ">=", below))',
        'sides = (relate(form, "<", constant(0)), relate(form, ">", below))',
        "a[i * w + j] with j = w is taken for another element than a[(i + 1) * w]",
        ("tests/analysis/test_delinearisation.py",),
    ),
    Fault(
        "what may be written is not needed",
        "analysis/reach.py",
        "return access.exact and not any(s.loose or s.data for s in",
        "return bool(access.node) and not any(s.loose for s in",
        "rows that are written under a condition come back from a GPU with whatever was in its memory",
        ("tests/analysis/test_reach.py",),
    ),
    Fault(
        "elements that a loop changes stay the same",
        "analysis/trace.py",
        "case Store():\n                    self.state.stored(stmt.array)\n                case Allocate():",
        "case Store():\n                    pass\n                case Allocate():",
        "an index that was read before a write is taken for the same after it",
        (
            "tests/analysis/test_values.py::test_a_load_differs_between_iterations_that_store",
            "tests/analysis/test_trace.py",
        ),
    ),
    Fault(
        "narrow integers that never wrap",
        "analysis/values.py",
        "if form is not None and state.table.fits(form, expr.type.minimum, expr.type.maximum):",
        "if form is not None:",
        "an index computed in 8 bits is proven to be inside, and distinct, as if it had no end",
        ("tests/analysis/test_values.py::test_narrow_arithmetic_is_opaque",),
    ),
)
