"""The door for Numba's users: its names make kernels whose results are Python's own, each option means what fits, and
what means nothing is said once, or raises with a sentence."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import loopwright as lw
import loopwright.numba as nb
from loopwright import errors
from loopwright.config import CURRENT, PROCESS, current
from loopwright.kernel import KernelWithOptions
from loopwright.numba import float32, float64, guvectorize, int64, jit, njit, prange, types, vectorize
from loopwright.numba.absent import ABSENT
from loopwright.numba.cpython.unsafe.tuple import tuple_setitem
from loopwright.numba.operands import MOST_PLANS
from loopwright.numba.options import ALWAYS, MEANT, SAID, own_options
from loopwright.numba.types import CallSignature, signatures_of

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True, scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with lw.options(cache=tmp_path_factory.mktemp("cache"), compiler_flags=("-O0",), threads=1):
        yield


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "_WARNED", set())


# ---- njit ---------------------------------------------------------------------------------------------------------


def total(a, k):
    s = 0.0
    for i in prange(len(a)):
        s += a[i] * float64(k)
    return s + int64(2)


@pytest.mark.parametrize(
    "decorate",
    [
        njit, jit, njit(), njit(parallel=True, cache=True, fastmath=True, nogil=True), jit(nopython=True),
        njit("float64(float64[:], int64)"), njit(float64(float64[:], int64)), njit((float64[::1], int64)),
        njit([float64(float64[:], int64), "f8(f4[:], i8)"], inline="always"), nb.jit("types.double(f8[::1], i8)"),
    ],
)  # fmt: skip
def test_njit_makes_a_kernel_with_any_options_and_signatures(decorate) -> None:
    kernel = decorate(total)
    assert isinstance(kernel, lw.LoopKernel) and kernel.py_func is total
    assert kernel(np.arange(4.0), 3) == total(np.arange(4.0), 3) == 20.0


def test_options_that_mean_something_are_options_of_the_kernel() -> None:
    kernel = njit(parallel=False, fastmath=False)(total)
    assert isinstance(kernel, KernelWithOptions) and kernel.options == {"threads": 1, "strict": True}
    assert own_options({"target": "cuda"}) == {"device": "cuda"}
    assert own_options({"parallel": True, "fastmath": {"nnan"}, "target": "parallel"}) == {}


def test_an_option_without_a_meaning_is_said_once() -> None:
    with pytest.warns(lw.LoopwrightWarning, match="boundscheck=False has no effect: an index outside") as said:
        njit(boundscheck=False)(total)
        njit(boundscheck=False)(total)
    assert len(said) == 1 and said[0].filename == __file__
    with pytest.warns(lw.LoopwrightWarning, match="error_model='python' has no effect"):
        njit(error_model="python")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        njit(boundscheck=True, error_model="numpy", inline="always", locals={}, nogil=True, cache=False)


def test_wrong_options_and_signatures_are_said_at_once() -> None:
    with pytest.raises(TypeError, match="no option 'paralel'"):
        njit(paralel=True)
    with pytest.raises(TypeError, match="does not fit total"):
        njit("float64(float64[:])")(total)
    with pytest.raises(TypeError, match="a signature says 'float63', which is no type"):
        njit("float63(float64[:])")
    with pytest.raises(TypeError, match="3 is no signature"):
        njit(3)


def generator(a):
    yield a[0]


def calls_it(a):
    return generator_kernel(a)


generator_kernel = njit(generator)


def test_what_is_refused_is_raised_by_the_call_and_not_by_the_decorator() -> None:
    assert generator_kernel.py_func is generator
    for _ in range(2):
        with pytest.raises(lw.KernelError, match="'generator' is a generator"):
            generator_kernel(np.ones(1))
    with pytest.raises(nb.errors.TypingError, match="'generator_kernel' is a generator"):
        njit(calls_it)(np.ones(1))


def test_a_function_stays_python_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.warns(lw.LoopwrightWarning, match="forceobj=True has no effect: the function stays"):
        assert jit(forceobj=True)(total) is total
    monkeypatch.setitem(vars(nb.config), "DISABLE_JIT", True)
    assert njit(total) is total
    kernel = lw.kernel(total)
    assert njit(kernel) is kernel


# ---- types --------------------------------------------------------------------------------------------------------


def test_types_are_values_and_numbers_of_them_are_numpys() -> None:
    assert (type(float32(0.1)), nb.boolean(1), nb.u1(255)) == (np.float32, np.True_, np.uint8(255))
    assert np.zeros(2, dtype=nb.float32).dtype == np.float32
    assert repr(types.List(int64)) == "List(int64)" and repr(types.Set(int64, reflected=True)) == "Set(int64)"
    signature = types.void(types.float64[:, ::1], types.UniTuple(int64, 2), types.optional(int64))
    assert repr(signature.arguments) == "(float64[:, :], UniTuple(int64, 2), optional(int64))"
    with pytest.raises(TypeError, match="one ':' for each axis"):
        float64[3]


def test_signatures_as_texts_and_as_objects_are_the_same() -> None:
    for text in ("void(f8[:,:], i8)", "(f8[:,:], i8)", "types.void(types.Array(f8, 2, 'C'), numba.int64)"):
        (one,) = signatures_of(text)
        assert isinstance(one, CallSignature) and repr(one.arguments) == "(float64[:, :], int64)"


def of_types(n, x):
    a = np.zeros(n, dtype=nb.float32)
    for i in range(n):
        a[i] = float32(x) + nb.int64(i) * types.float64(0.5)
    return a


def test_types_convert_numbers_in_kernels() -> None:
    result, judge = njit(of_types)(3, 0.1), of_types(3, 0.1)
    assert result.dtype == judge.dtype and np.array_equal(result, judge)


# ---- vectorize and guvectorize ------------------------------------------------------------------------------------


@vectorize
def apart(x, y):
    if x > y:
        return x - y
    return y - x


@vectorize(["float32(float32, float32)", float64(float64, float64)], target="parallel")
def product(x, y):
    return x * y


@pytest.mark.parametrize(
    "operands",
    [
        (np.arange(6.0).reshape(2, 3), 2.0), (np.arange(6).reshape(2, 3)[:, ::-1], np.arange(3)), (3, 5),
        (np.arange(2.0)[:, None], np.arange(3, dtype=np.float32)), (np.array(2.0), 1.0), (7.5, np.arange(4)),
    ],
)  # fmt: skip
def test_a_vectorized_function_broadcasts_and_gives_what_its_python_does(operands) -> None:
    result, judge = apart(*operands), np.vectorize(apart.py_func)(*operands)
    assert np.shape(result) == np.shape(judge) and np.array_equal(result, judge)
    assert np.result_type(result) == np.result_type(*operands if np.ndim(judge) else map(np.asarray, operands))
    assert isinstance(result, np.ndarray) == bool(np.ndim(judge))


def test_signatures_say_the_types_of_operands_and_results() -> None:
    single = np.ones(3, np.float32)
    assert product(single, single).dtype == np.float32 and product(single, 2.0).dtype == np.float32
    assert product(single, np.float64(2.0)).dtype == np.float64
    assert product(2, 3) == 6.0 and isinstance(product(2, 3), np.float64)
    with pytest.raises(TypeError, match="product has no signature for complex128"):
        product(1j, 2.0)


def test_a_vectorized_function_as_a_universal_function() -> None:
    out = np.empty((2, 3))
    assert product(np.ones(3), 2.0, out=out) is out and (out == 2).all()
    assert np.array_equal(
        product.outer(np.arange(2.0), np.arange(3.0)), np.multiply.outer(np.arange(2.0), np.arange(3.0))
    )
    assert (product.nin, product.nout, product.__name__) == (2, 1, "product")
    with pytest.raises(TypeError, match="product takes 2 operands, and is given 1"):
        product(1.0)
    with pytest.raises(ValueError, match="broadcast"):
        product(np.ones(2), np.ones(3))
    assert apart(np.ones((0, 3)), 1.0).shape == (0, 3)


def uses_vectorized(a):
    return apart(a[0], 2.0) + apart(a, 1.0)


def test_a_kernel_calls_a_vectorized_function_with_numbers_and_arrays() -> None:
    assert np.array_equal(njit(uses_vectorized)(np.arange(3.0)), uses_vectorized(np.arange(3.0)))


@guvectorize([(int64[:], int64, int64[:])], "(n),()->(n)")
def shifted(x, y, out):
    for i in range(x.shape[0]):
        out[i] = x[i] + y


@guvectorize(["void(float64[:, :], float64[:], float64[:])"], "(m,n),(n)->(m)", nopython=True)
def matvec(a, x, y):
    for i in range(a.shape[0]):
        y[i] = 0.0
        for j in range(a.shape[1]):
            y[i] += a[i, j] * x[j]


@guvectorize("(n)->()")
def mean(x, out):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
    out[0] = s / len(x)


def test_guvectorize_loops_over_the_axes_before() -> None:
    a = np.arange(6).reshape(2, 3)
    assert np.array_equal(shifted(a, 10), a + 10) and np.array_equal(shifted(a[0], 1), a[0] + 1)
    assert np.array_equal(shifted(a, np.array([10, 20])), a + np.array([[10], [20]]))
    matrices = np.arange(24.0).reshape(4, 2, 3)
    assert np.array_equal(matvec(matrices, np.arange(3.0)), matrices @ np.arange(3.0))
    out = np.zeros((2, 8))[:, ::2]
    assert matvec(np.ones((2, 4, 3)), np.ones(3), out) is out and (out == 3).all()


def test_guvectorize_without_signatures_is_given_what_it_writes() -> None:
    out = np.zeros(2)
    assert mean(np.arange(6.0).reshape(2, 3), out=out) is out and list(out) == [1.0, 4.0]
    with pytest.raises(TypeError, match="mean has no signature that tells what it makes"):
        mean(np.ones(3))
    with pytest.raises(ValueError, match=r"axis 'n' of .* has 3 and 2 elements"):
        matvec(np.ones((4, 3)), np.ones(2))
    with pytest.raises(TypeError, match="takes 2 or 3 operands, and is given 1"):
        matvec(np.ones((4, 3)))
    with pytest.raises(TypeError, match="has 3 operands"):
        guvectorize("(n),(n)->(n)")(mean.py_func)


def test_how_operands_are_passed_is_remembered_by_type_and_shape_alone() -> None:
    for size in range(1, MOST_PLANS + 3):
        a = np.arange(2.0 * size).reshape(2, size)
        assert np.array_equal(product(a, 2.0), a * 2.0)
    a = np.arange(12).reshape(3, 4)
    for one in (a, a.T.copy().T, np.repeat(a, 2, axis=1)[:, ::2], a[::-1]):
        assert np.array_equal(shifted(one, 10), one + 10)
        assert np.array_equal(apart(one, one[0]), abs(one - one[0]))


def test_guvectorize_checks_the_arrays_that_it_writes() -> None:
    for shape in ((), (3,), (1,), (2, 2)):
        with pytest.raises(ValueError, match=r"mean writes an array of shape \(2,\), and is given"):
            mean(np.ones((2, 3)), np.zeros(shape))
    out = np.zeros((2, 5))
    with pytest.raises(ValueError, match="shifted writes an array of shape"):
        shifted(np.ones((2, 4), np.int64), 1, out)


# ---- settings, and names that are not there -----------------------------------------------------------------------


def in_chunks(a: np.ndarray) -> tuple[np.ndarray, int]:
    threads = nb.get_num_threads()
    parts = np.zeros((threads, len(a)))
    for t in nb.prange(threads):
        for i in range(t * len(a) // threads, (t + 1) * len(a) // threads):
            parts[t, i] = 2 * a[i]
    return parts.sum(axis=0), threads


def test_kernels_ask_for_the_number_of_threads_at_each_call() -> None:
    kernel, a = nb.njit(in_chunks), np.arange(5.0)
    for threads in (1, 2, 1):
        with lw.options(threads=threads):
            (doubled, count), (pythons, _) = kernel(a), in_chunks(a)
        assert count == threads
        np.testing.assert_array_equal(doubled, pythons)


def test_the_number_of_threads() -> None:
    before, token = PROCESS[0], CURRENT.set(PROCESS)
    try:
        nb.set_num_threads(1)
        assert nb.get_num_threads() == current().threads == 1
        with pytest.raises(ValueError, match="0 threads: there are 1 to"):
            nb.set_num_threads(0)
    finally:
        PROCESS[0] = before
        CURRENT.reset(token)
    assert nb.config.NUMBA_NUM_THREADS >= 1 and nb.threading_layer() == "omp"
    with pytest.warns(lw.LoopwrightWarning, match=r"numba.config.CACHE_DIR = 'x' has no effect"):
        nb.config.CACHE_DIR = "x"
    with pytest.raises(AttributeError, match=r"config\.NOTHING"):
        _ = nb.config.NOTHING


@pytest.mark.parametrize("name", sorted(ABSENT))
def test_a_name_without_a_meaning_says_what_to_do(name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no '{name}': "):
        getattr(nb, name)


def test_imports_of_such_names_say_it_too() -> None:
    with pytest.raises(ImportError, match="has no 'cuda': a kernel of plain loops runs on a GPU"):
        from loopwright.numba import cuda  # noqa: F401
    with pytest.raises(ImportError, match="has no 'cuda': "):
        importlib.import_module("loopwright.numba.cuda")


@nb.njit
def typed_containers(a: np.ndarray) -> tuple[object, ...]:
    pairs = nb.typed.List()
    for k in range(len(a)):
        if a[k] > 2:
            pairs.append((k, a[k]))
    ones = nb.typed.List.empty_list(nb.types.float64)
    ones.append(1.5)
    begun = nb.typed.List([1, 2])
    begun.append(4)
    last = nb.typed.Dict.empty(key_type=nb.int64, value_type=nb.float64)
    for x in a:
        last[int(x) % 3] = x
    return [pair[0] for pair in pairs], ones[0], sum(begun), last[1], len(nb.typed.Dict())


def test_typed_containers_are_lists_and_dicts() -> None:
    array = np.arange(8.0)
    assert typed_containers(array) == typed_containers.py_func(array)
    made = nb.typed.List.empty_list(nb.types.ListType(nb.int64))
    made.append(3)
    assert made == [3] and nb.typed.Dict.empty(nb.int64, nb.types.DictType(nb.int64, nb.float64)) == {}


def in_layers(first: np.ndarray, rounds: int) -> list[int]:
    layer = nb.typed.List(first)
    for _ in range(rounds):
        now = layer
        layer = nb.typed.List.empty_list(nb.types.int64)
        for k in now:
            if k % 3 != 0:
                layer.append(k // 2)
    return layer


def test_an_empty_typed_list_is_a_list_of_its_own() -> None:
    assert nb.njit(in_layers)(np.arange(20), 2) == in_layers(np.arange(20), 2)


@nb.njit
def in_parts(a: np.ndarray, threads: int = -1) -> tuple[float, int]:
    if threads < 0:
        threads = nb.config.NUMBA_NUM_THREADS
    nb.set_num_threads(threads)
    return a.sum(), threads


def by_thread(x: np.ndarray, work: np.ndarray, out: np.ndarray) -> np.ndarray:
    counts = np.zeros((2, 8), np.int64)
    for i in nb.prange(len(x)):
        t = nb.get_thread_id()
        counts[t, x[i]] += 1
        for k in range(work.shape[1]):
            work[t, (k * 7) % work.shape[1]] = x[i] * k
        for k in range(work.shape[1]):
            out[i] += work[t, (k * 3) % work.shape[1]] * k
    return counts.sum(axis=0)


def test_work_arrays_of_threads_are_one_and_loops_stay_in_order_where_they_must() -> None:
    x = np.arange(4000) % 8
    found, wanted = np.zeros(4000), np.zeros(4000)
    counts = nb.njit(parallel=True)(by_thread)(x, np.zeros((2, 50)), found)
    np.testing.assert_array_equal(counts, by_thread(x, np.zeros((2, 50)), wanted))
    np.testing.assert_array_equal(found, wanted)


def test_names_that_give_back_what_they_are_given() -> None:
    @nb.njit
    def mixed(items: tuple[np.ndarray, ...], flag: object, place: int) -> tuple[float, tuple[int, ...]]:
        total = 0.0
        for item in nb.literal_unroll(items):
            total += item[0]
        return total if nb.literally(flag) is None else -total, tuple_setitem(items[0].shape, place, 7)

    assert mixed((np.ones((2, 3)).T[0], np.ones(3, np.int32)), None, 0) == (2.0, (7,))


@nb.njit(parallel=True)
def over_two_axes(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    for x, y in nb.pndindex(a.shape):
        b[x, y] = a[x, y] * x + y
    return b


def test_pndindex_is_ndindex() -> None:
    a = np.ones((2, 3))
    assert np.array_equal(over_two_axes(a, np.zeros((2, 3))), over_two_axes.py_func(a, np.zeros((2, 3))))


def test_settings_inside_a_kernel() -> None:
    assert in_parts(np.ones(4)) == (4.0, nb.config.NUMBA_NUM_THREADS) and in_parts(np.ones(4), 1) == (4.0, 1)


def test_helpers_of_extending_are_inlined() -> None:
    assert (
        nb.extending.register_jitable(total) is total and nb.extending.register_jitable(inline="always")(total) is total
    )
    with pytest.raises(AttributeError, match="has no 'overload'"):
        _ = nb.extending.overload


def test_the_page_has_every_option_and_every_absent_name() -> None:
    page = (ROOT / "docs" / "numba.md").read_text(encoding="utf-8")
    assert [name for name in (*ALWAYS, *SAID, *MEANT, *ABSENT) if f"`{name}`" not in page] == []


def test_neither_numba_nor_the_door_is_loaded_with_loopwright() -> None:
    code = "import sys, loopwright; assert not {'numba', 'loopwright.numba'} & set(sys.modules)"
    code += "; import loopwright.numba; assert 'numba' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_types_and_errors_are_found_in_core_too() -> None:
    from loopwright.numba.core import errors, types
    from loopwright.numba.core.errors import TypingError
    from loopwright.numba.core.types import float64

    assert (
        types.int64 is nb.int64 and float64 is nb.float64 and errors.TypingError is TypingError is nb.errors.TypingError
    )


@guvectorize(["f8, u2, f4[:], f4[:]"], "(),(),(n)->(n)", nopython=True)
def scaled(by: object, place: object, a: object, out: object) -> None:
    for i in range(len(a)):
        out[i] = by * a[i] + a[place]


@vectorize(["f4(f4, u2)", "f8(f8, f8)"])
def sum_of(a: object, b: object) -> object:
    return a + b


def test_python_numbers_adapt_to_a_signature() -> None:
    a = np.arange(3.0, dtype=np.float32)
    for by, place in ((2.0, 1), (2, np.uint16(1)), (np.float32(2.0), 1)):
        assert scaled(by, place, a).tolist() == [1.0, 3.0, 5.0]
    with pytest.raises(OverflowError, match="70000"):
        scaled(2.0, 70000, a)
    for wrong in (np.int64(1), np.array([1]), 1.0):
        with pytest.raises(TypeError, match="no signature"):
            scaled(2.0, wrong, a)
    assert sum_of(a, 2).dtype == np.float32 and sum_of(a, 2).tolist() == [2.0, 3.0, 4.0]
    assert sum_of(a, 0.5).dtype == np.float64 and sum_of(1, 2) == 3.0


@vectorize(["f8(f8, f8, f8, f8, f8, f8, f8, f8, f8, f8)"])
def of_ten(a, b, c, d, e, f, g, h, i, j):  # type: ignore[no-untyped-def]
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j


@guvectorize(["f8[:], f8, f8, f8, f8, f8, f8, f8, f8, f8[:]"], "(n),(),(),(),(),(),(),(),()->(n)")
def ten_items(x, a, b, c, d, e, f, g, h, out):  # type: ignore[no-untyped-def]
    for k in range(len(x)):
        out[k] = x[k] * a - b + c * d - e + f * g - h


def test_more_operands_than_loops_are_written_for() -> None:
    rows = [np.arange(3.0) * k for k in range(10)]
    assert np.array_equal(of_ten(*rows), of_ten.py_func(*rows))
    x, given, expected = np.arange(4.0), [float(k) for k in range(8)], np.zeros(4)
    ten_items.py_func(x, *given, expected)
    assert np.array_equal(ten_items(x, *given), expected)
    assert ten_items(np.ones((2, 4)), *given).shape == (2, 4)
