"""`Dispatcher` of the C extension: keys decide as signatures do, and the table finds only what holds."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from devices.dispatchers import CONTEXT, dispatcher, entry
from devices.handmade import ADD, config_in
from loopwright.devices.base import ARGUMENT, FRESH, MOST_PARAMETERS
from loopwright.devices.launcher import load_launcher
from loopwright.errors import LoopwrightError
from loopwright.ir.signature import BY_ELEMENT
from loopwright.memory.arrays import refuses
from loopwright.memory.records import alignment_of
from loopwright.runtime.specialise import signature_of


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return config_in(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def launcher(config):
    loaded = load_launcher(config)
    assert loaded.kind == "extension", loaded.reason
    return loaded.launcher


# ---- keys ---------------------------------------------------------------------------------------------------------

PLAIN = np.dtype([("x", "f8"), ("k", "i4")])
RECORDS = [
    PLAIN,
    np.dtype([("x", "f8"), ("k", "i4")]),
    np.dtype([("x", "f8"), ("k", "i4")], align=True),
    np.dtype([("x", "f8"), ("m", "f4", (2,))]),
]
POOL = np.zeros(2048, np.uint8)


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    dtype = np.dtype(draw(st.sampled_from(["f8", "f8", "i4", "q", "l", "u1", "?", *RECORDS])))
    start = 512 + 8 * draw(st.integers(0, 3)) + draw(st.sampled_from([0, 0, 0, 4]))
    rank = draw(st.integers(0, 2))
    shape = tuple(draw(st.integers(0, 3)) for _ in range(rank))
    steps = [dtype.itemsize * k for k in (-2, -1, 0, 1, 1, 2, 3)]
    strides = tuple(draw(st.sampled_from(steps)) for _ in range(rank))
    base = POOL[start : start + dtype.itemsize].view(dtype)
    if draw(st.booleans()):
        return np.ndarray(shape, dtype, POOL, start)
    return as_strided(base, shape, strides)


scalars = st.sampled_from(
    [
        1, 2, -5, True, False, 1.0, 2.5, np.float64(1), np.float32(1), np.int64(1), np.longlong(1), np.uint8(1),
        np.bool_(True), None, "a", "b", "", (), (1,), (True,), (1.0,), (0.0,), (-0.0,), (1, 2), 2**62,
    ]
)  # fmt: skip
calls = st.tuples(st.one_of(arrays(), scalars), st.one_of(arrays(), scalars), st.one_of(arrays(), scalars))


@settings(max_examples=400)
@given(calls, calls, st.booleans(), st.booleans(), st.booleans(), st.tuples(*[st.sampled_from([0, 1, 2, 127])] * 3))
def test_one_key_means_one_signature(launcher, first, second, w0, w1, w2, indices):
    written = (w0, w1, w2)
    made = dispatcher(launcher, written=written, indices=indices)
    keys, signatures = [], []
    for call in (first, second, (first[0], second[1], first[2])):
        keys.append(made.key(call))
        signatures.append(signature_of(call, [k for k in range(3) if written[k]], "abc", indices))
        assert keys[-1] is not None
        assert keys[-1][0] == signatures[-1].overlap
    for one, other in ((0, 1), (0, 2), (1, 2)):
        if keys[one] == keys[other]:
            assert signatures[one] == signatures[other]
        elif b"R" not in keys[one]:  # records that differ in padding alone have one Signature
            assert signatures[one] != signatures[other]


@pytest.mark.parametrize("written", [True, False])
def test_every_layout_type_and_alignment_has_a_key_of_its_own(launcher, written):
    whole = np.zeros((8, 8))
    kinds = [
        whole, whole.T[:], whole[:, 1:], whole.T[1:], whole[::2, ::2], whole[::-1], whole[0], whole[:, 0],
        whole[0, 0:1], whole.astype("f4"), whole.astype("i8"), whole.astype("u8"), whole.astype("i4"),
        whole.astype("?"), np.zeros((8, 8, 8)), np.ndarray((7, 8), "f8", whole, 4),
        np.ndarray((7, 8), "f8", whole.T.copy("F"), 4).T,
    ]  # fmt: skip
    made = dispatcher(launcher, "a", (written,))
    keys = {}
    for kind in kinds:
        keys.setdefault(made.key((kind,)), set()).add(signature_of((kind,), [0] if written else []))
    assert all(len(signatures) == 1 for signatures in keys.values()), keys
    assert len(keys) == len(set().union(*keys.values())) >= 12


@pytest.mark.parametrize("other", ["i8", "u8", "i4", "?"])
def test_two_types_over_the_same_memory_are_not_the_same_array(launcher, other):
    first = np.zeros(8, np.float64)
    size = np.dtype(other).itemsize
    second = np.ndarray(8, other, first.data) if size == 8 else np.ndarray(8, other, first.data, strides=(8,))
    key = dispatcher(launcher, "ab", (True, False)).key((first, second))
    assert key[0] == 1 and key[-1] == 0, "they overlap, and `same` says nothing"


@pytest.mark.parametrize(
    "call",
    [
        (2**63,),
        (-(2**63) - 1,),
        ((2**63,),),
        (np.zeros(2, ">f8"),),
        (np.zeros(2, np.float16),),
        (np.zeros(2, np.clongdouble),),
        (np.zeros(2, object),),
        (np.zeros(2, "S3"),),
        (np.zeros(2, "V3"),),
        (np.float16(1),),
        (np.str_("a"),),
        ([1.0],),
        ({},),
        (1j,),
        ((1, "a"),),
        ("\ud800",),
        ("x" * 5000,),
        (tuple(range(1000)),),
        (np.ma.masked_array([1.0]),),
        (np.zeros((2, 2)).view(np.matrix),),
        (b"bytes",),
        (memoryview(b"x"),),
    ],
    ids=lambda call: type(call[0]).__name__,
)
def test_what_needs_a_closer_look_has_no_key(launcher, call):
    assert dispatcher(launcher, "a", (False,)).key(call) is None


def test_subclasses_have_the_key_of_their_base(launcher, tmp_path):
    made = dispatcher(launcher, "a", (True,))
    mapped = np.memmap(tmp_path / "file", np.float64, "w+", shape=(3,))
    assert made.key((mapped,)) == made.key((np.zeros(3),)) is not None


def test_each_subclass_is_asked_about_once(launcher):
    class Refused(np.ndarray):
        pass

    asked: list[type] = []

    def noting(kind):
        asked.append(kind)
        return kind is Refused

    made = launcher.Dispatcher(
        slow=print,
        context=CONTEXT,
        names=("a",),
        defaults=(),
        written=(True,),
        refuses=noting,
        describe=alignment_of,
        indices=(BY_ELEMENT,),
        failed=None,
        own=None,
    )
    plain = np.zeros(3)
    keys = [made.key((one,)) for one in (plain, plain.view(Refused), plain.view(np.recarray), plain.view(Refused))]
    assert (keys, asked) == ([keys[0], None, keys[0], None], [Refused, np.recarray])
    assert keys[0] is not None


def test_an_error_of_refuses_comes_out_each_time(launcher):
    def refusing(kind):
        raise LoopwrightError("no")

    made = launcher.Dispatcher(
        slow=print,
        context=CONTEXT,
        names=("a",),
        defaults=(),
        written=(True,),
        refuses=refusing,
        describe=alignment_of,
        indices=(BY_ELEMENT,),
        failed=None,
        own=None,
    )
    for _ in range(2):
        with pytest.raises(LoopwrightError):
            made(np.zeros(2).view(np.recarray))
    assert made.key((np.zeros(2),)) is not None


def test_a_read_only_array_that_is_written_has_no_key(launcher):
    array = np.zeros(3)
    array.flags.writeable = False
    assert dispatcher(launcher, "a", (False,)).key((array,)) is not None
    assert dispatcher(launcher, "a", (True,)).key((array,)) is None


def test_axes_of_one_element_are_in_the_key_where_they_may_be_stretched(launcher):
    one, two = np.zeros((3, 1)), np.zeros((3, 2))
    assert len({dispatcher(launcher, "a", (False,), indices=(0,)).key((array,)) for array in (one, two)}) == 2
    by_element = dispatcher(launcher, "a", (False,), indices=(2,))
    assert len({by_element.key((array,)) for array in (np.zeros((3, 4))[:, :1], two[:, :1])}) == 1


def test_sizes_and_values_are_no_part_of_the_key(launcher):
    made = dispatcher(launcher)
    assert made.key((np.zeros(3), 1, 2.0)) == made.key((np.ones(99), -7, np.nan))


def test_an_error_of_describe_comes_out(launcher):
    def describe(dtype):
        raise LoopwrightError("no")

    made = launcher.Dispatcher(
        slow=print,
        context=CONTEXT,
        names=("a",),
        defaults=(),
        written=(True,),
        refuses=refuses,
        describe=describe,
        indices=(BY_ELEMENT,),
        failed=None,
        own=None,
    )
    with pytest.raises(LoopwrightError):
        made(np.zeros(2, PLAIN))


# ---- calls --------------------------------------------------------------------------------------------------------


def seen(launcher, **changes):
    """A dispatcher whose slow way notes what it is given, and the notes."""
    notes: list[object] = []

    def slow(args, kwargs):
        notes.append((args, kwargs))
        return "slow"

    return dispatcher(launcher, slow=slow, **changes), notes


def known(launcher, config, made, *call, **changes):
    """Add an Entry for calls of this kind that returns the last of its arguments."""
    last = len(call) - 1
    one = entry(launcher, config, **({"returns": 1, "values": ((ARGUMENT, last),)} | changes))
    made.add(made.key(call), CONTEXT.get(), one)
    return one


def test_unknown_calls_go_the_slow_way_and_known_ones_do_not(launcher, config):
    made, notes = seen(launcher)
    a = np.zeros(3)
    assert made(a, 1, "x") == "slow"
    one = known(launcher, config, made, a, 1, "x")
    assert made(a, 1, "x") == "x"
    assert made(np.zeros(7), 2, "x") == "x"
    assert len(notes) == 1
    assert notes[0] == ((a, 1, "x"), None)
    assert one.calls == 2
    for other in ((a, 1.0, "x"), (a, 1, "y"), (a[::2], 1, "x"), (a.astype("f4"), 1, "x"), (a, a, "x")):
        assert made(*other) == "slow"


def test_keyword_arguments_and_defaults_find_their_places(launcher, config):
    made, notes = seen(launcher, defaults=(5, "c"))
    a = np.zeros(3)
    known(launcher, config, made, a, 1, "c")
    assert made(a) == "c"
    assert made(a=a, b=3) == "c"
    assert made(a, c="c", b=3) == "c"
    assert notes == []
    for args, kwargs in (((), {}), ((a, 1), {"b": 2}), ((a,), {"z": 1}), ((a, 1, "c", 4), {})):
        assert made(*args, **kwargs) == "slow"
        assert notes.pop() == (args, kwargs or None)


def test_the_config_is_part_of_it(launcher, config):
    made, _ = seen(launcher)
    call = (np.zeros(3), 1, "x")
    known(launcher, config, made, *call)
    token = CONTEXT.set(("other",))
    try:
        assert made(*call) == "slow"
        CONTEXT.set((CONTEXT.name.replace("test", "default"),))  # an equal one, not the same object
        assert made(*call) == "x"
    finally:
        CONTEXT.reset(token)


def cell_of(value):
    return (lambda: value).__closure__[0]


def test_constants_that_changed_are_noticed(launcher, config):
    made, _ = seen(launcher)
    call, space, cell = (np.zeros(3), 1, "x"), {"N": 1000.5}, cell_of("y")
    facts = (("item", space, "N", space["N"]), ("cell", cell, "", cell.cell_contents))
    first = known(launcher, config, made, *call, constants=facts)
    assert made(*call) == "x"
    space["N"] = 3
    assert made(*call) == "slow"
    second = known(launcher, config, made, *call, constants=(("item", space, "N", 3),))
    assert made(*call) == "x"
    assert (first.calls, second.calls) == (1, 1)
    del space["N"]
    assert made(*call) == "slow"
    space["N"] = 3
    cell.cell_contents = "z"
    assert made(*call) == "x"
    assert second.calls == 2


@pytest.mark.parametrize("changed", [0, 1, 2])
def test_every_one_of_several_constants_counts(launcher, config, changed):
    made, _ = seen(launcher)
    call, space, cell = (np.zeros(3), 1, "x"), {"N": 1000.5, "M": 7}, cell_of("y")
    constants = (("item", space, "N", space["N"]), ("item", space, "M", space["M"]), ("cell", cell, "", "y"))
    known(launcher, config, made, *call, constants=constants)
    assert made(*call) == "x"
    if changed == 2:
        cell.cell_contents = "z"
    else:
        space["NM"[changed]] = 8
    assert made(*call) == "slow"


def test_many_kinds_of_calls(launcher, config):
    """More than the table holds: the oldest are forgotten, the others found."""
    made, notes = seen(launcher, names="a", written=(False,))
    one = entry(launcher, config, returns=1, values=((ARGUMENT, 0),))
    for k in range(400):
        made.add(made.key((f"{k}",)), CONTEXT.get(), one)
    assert made("399") == "399"
    assert made("144") == "144"
    assert notes == []
    assert made("143") == "slow"
    assert made("144") == "144"
    made.clear()
    assert made("399") == "slow"


def test_one_key_keeps_few_entries(launcher, config):
    made, _ = seen(launcher, names="a", written=(False,))
    space = {"N": 0}
    for k in range(20):
        space["N"] = k
        known(launcher, config, made, 1, constants=(("item", space, "N", k),))
    found = []
    for k in range(20):
        space["N"] = k
        found.append(made(1) != "slow")
    assert found == [False] * 12 + [True] * 8


def test_errors_of_the_slow_way_come_out(launcher):
    def slow(args, kwargs):
        raise LookupError("slow")

    with pytest.raises(LookupError, match="slow"):
        dispatcher(launcher, slow=slow)(1, 2, 3)


def test_a_kernel_may_call_itself_from_its_slow_way(launcher, config):
    def slow(args, kwargs):
        known(launcher, config, made, *args)
        return made(*args)

    made = dispatcher(launcher, slow=slow)
    assert made(np.zeros(2), 1, "deep") == "deep"


def test_too_many_parameters_are_refused(launcher):
    many = [f"p{k}" for k in range(MOST_PARAMETERS + 1)]
    with pytest.raises(ValueError, match="at most 48"):
        dispatcher(launcher, many, (True,) * len(many))


def test_a_dispatcher_goes_away_with_its_owner(launcher, config):
    class Owner:
        def slow(self, args, kwargs):
            return "slow"

    owner = Owner()
    owner.dispatcher = dispatcher(launcher, slow=owner.slow)
    known(launcher, config, owner.dispatcher, np.zeros(2), 1, "x", text=ADD, guard_failed=owner.slow)
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


class Payload:
    """What an Entry hangs on to, with something that is done when it goes."""

    at_end = staticmethod(lambda: None)

    def __del__(self):
        self.at_end()


def test_an_entry_outlives_the_call_that_makes_its_arrays(launcher, config):
    """To make them may run Python, and other threads meanwhile: these may put another Entry in its place."""
    made, payload, alive = dispatcher(launcher, names="a", written=(False,)), Payload(), []
    gone = weakref.ref(payload)

    def fresh(arguments):
        made.clear()
        alive.append(gone() is not None)
        return (np.ones(3),)

    known(launcher, config, made, 1, returns=1, values=((FRESH, 0),), fresh=fresh, payload=payload)
    del payload
    assert made(1).tolist() == [1.0] * 3
    assert alive == [True] and gone() is None


def test_the_table_stays_whole_where_what_is_dropped_adds_an_entry(launcher, config):
    made, payload = dispatcher(launcher, names="a", written=(False,)), Payload()
    one = entry(launcher, config, returns=1, values=((ARGUMENT, 0),))
    payload.at_end = lambda: made.add(made.key(("last",)), CONTEXT.get(), one)
    made.add(made.key(("first",)), CONTEXT.get(), entry(launcher, config, payload=payload))
    del payload
    for k in range(256):  # the last one takes the place of the first
        made.add(made.key((f"{k}",)), CONTEXT.get(), one)
    assert made("last") == "last" and made("255") == "255" and made("0") == "slow"


# ---- numbers ------------------------------------------------------------------------------------------------------


def for_numbers(launcher, config, made, *call):
    """Add an Entry for calls with these very numbers."""
    one = entry(launcher, config, returns=1, values=((ARGUMENT, len(call) - 1),))
    made.add(made.key(call), CONTEXT.get(), one, call)
    return one


def test_an_entry_may_be_for_certain_numbers_only(launcher, config):
    made, _ = seen(launcher)
    a, b = np.zeros((3, 4)), np.zeros((4, 3))
    first = for_numbers(launcher, config, made, a, 7, "x")
    assert made(a, 7, "x") == made(a + 1, np.int64(7).item(), "x") == "x"
    for other in ((b, 7, "x"), (a, 8, "x")):
        assert made(*other) == "slow"
    second = for_numbers(launcher, config, made, b, 7, "x")
    assert made(b, 7, "x") == made(a, 7, "x") == "x"
    assert (first.calls, second.calls) == (3, 1)
    assert made.find(made.key((b, 7, "x")), CONTEXT.get(), (b, 7, "x")) is second
    assert made.find(made.key((b, 9, "x")), CONTEXT.get(), (b, 9, "x")) is None


def test_numbers_of_numpy_count_and_floats_and_bools_do_not(launcher, config):
    made, _ = seen(launcher)
    for_numbers(launcher, config, made, np.int32(5), True, 2.5)
    assert made(np.int32(5), False, 3.5) == 3.5
    assert made(np.int32(6), True, 2.5) == "slow"


def test_many_numbers_are_kept_and_more_forget_the_oldest(launcher, config):
    made, _ = seen(launcher, names="a", written=(False,))
    for k in range(200):
        for_numbers(launcher, config, made, k)
    assert [made(k) != "slow" for k in range(200)] == [False] * 72 + [True] * 128


def test_a_retired_entry_is_not_found(launcher, config):
    made, _ = seen(launcher, names="a", written=(False,))
    for_numbers(launcher, config, made, 1).retire()
    assert made(1) == "slow"
    known(launcher, config, made, 1).retire()
    assert made(1) == "slow"
    for _ in range(500):  # their places are used again
        known(launcher, config, made, 1).retire()
    two = for_numbers(launcher, config, made, 2)
    assert made(2) == 2 and two.calls == 1


def test_more_numbers_than_the_table_takes_go_the_slow_way(launcher, config):
    names = [f"a{k}" for k in range(5)]
    made, _ = seen(launcher, names=names, written=(False,) * 5)
    call = tuple(np.zeros((1,) * 32) for _ in names)
    for_numbers(launcher, config, made, *call)
    assert made(*call) == "slow"
