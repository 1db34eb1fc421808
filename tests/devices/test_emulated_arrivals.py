"""Copies into shared memory that arrive later: who touches an element before that is reported."""

from __future__ import annotations

import numpy as np
import pytest

from devices.emulation import SCAFFOLD, Session, run_body

EARLY = {
    "a read before it has arrived": "y[t] = s[t];",
    "a read behind a barrier, before it has arrived": "__syncthreads(); y[t] = s[63 - t];",
    "a write meanwhile": "s[t] = 1;",
    "another copy to the same place": "lw_arrive<1>(s, t, y, 0);",
    "a read by others as soon as it has arrived": "lw_arrived(); y[t] = s[63 - t];",
    "an atomic update meanwhile": "atomicAdd(LW_ADDRESS(s, 63 - t), 1.0f);",
}


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("body", EARLY.values(), ids=EARLY)
def test_a_copy_that_is_on_its_way_is_not_touched(body: str, seed: int) -> None:
    assert "race on shared 's'" in run_body("lw_arrive<1>(s, t, y, t + 64);" + body, seed=seed)


@pytest.mark.parametrize("seed", [0, 3])
def test_a_copy_to_where_others_have_been_since_the_last_barrier(seed: int) -> None:
    assert "race on shared 's'" in run_body("s[t] = 1; lw_arrive<1>(s, 63 - t, y, 64); lw_arrived();", seed=seed)


def test_a_copy_names_who_made_it() -> None:
    words = run_body("if (t == 3) lw_arrive<4>(s, 4, y, 8); if (t == 5) y[0] = s[7];")
    assert words == (
        "kernel 'body', block (0, 0, 0), thread (5, 0, 0): race on shared 's'[7]: "
        "this thread reads it, a copy of thread (3, 0, 0) is on its way there"
    )


def test_copies_arrive() -> None:
    body = """
    if (t < 16) lw_arrive<4>(s, 4 * t, y, 64 + 4 * t);
    lw_arrived();
    __syncthreads();
    y[t] = s[63 - t];
    """
    y = np.arange(2048, dtype=np.float32)
    Session(SCAFFOLD % body, "body").run("body", 1, 64, y)
    np.testing.assert_array_equal(y[:64], np.arange(127, 63, -1))


def test_what_a_block_has_not_waited_for_is_forgotten_with_it() -> None:
    assert run_body("lw_arrive<1>(s, t, y, t + 64);") == ""
    assert run_body("if (blockIdx.x == 0) { lw_arrive<1>(s, t, y, t + 64); } else { s[t] = 1; y[t] = s[t]; }") == ""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("lw_arrive<4>(s, 1, y, 0);", "element 1 of 's' is not aligned for an access of 16 bytes"),
        ("lw_arrive<4>(s, 0, y, 2);", "element 2 of 'y' is not aligned for an access of 16 bytes"),
        ("lw_arrive<2>(s, 0, y, 1);", "element 1 of 'y' is not aligned for an access of 8 bytes"),
        ("lw_arrive<4>(s, 128, y, 0);", "element 128 of shared 's' is touched, which has 128"),
        ("lw_arrive<4>(s, 0, y, 2048);", "element 2048 of 'y'"),
    ],
)
def test_both_sides_of_a_copy_are_checked(body: str, words: str) -> None:
    assert words in run_body(f"if (t == 0) {{ {body} }}")
