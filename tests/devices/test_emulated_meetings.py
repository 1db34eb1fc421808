"""Threads of the emulated device that meet, or fail to: races on shared memory, barriers, who is left."""

from __future__ import annotations

import numpy as np
import pytest

from devices.emulation import SCAFFOLD, Session, run_body
from loopwright.devices.emulated import EmulatedGpu

# ---- races --------------------------------------------------------------------------------------------------------

RACES = {
    "a missing barrier": "s[t] = t; y[t] = s[63 - t];",
    "a missing second barrier": "for (int k = 0; k < 2; k++) { s[t] = k; __syncthreads(); y[t] = s[63 - t]; }",
    "two writes": "s[t / 2] = t;",
    "a read, then a write": "y[t] = s[t / 2]; if (t % 2) s[t / 2] = 1;",
    "two readers, the first of which writes": "y[t] = s[0]; if (t == 0) s[0] = 1;",
    "a warp of readers, the first of which writes later": (
        "if (t < 32) { y[t] = s[0]; __shfl_sync(0xffffffff, t, 0); if (t == 0) s[0] = 1; }"
    ),
    "three readers, the last of which writes": "if (t < 3) { y[t] = s[0]; if (t == 2) s[0] = 1; }",
    "an addition that is not atomic": "s[0] += 1;",
    "an atomic one and a read": "atomicAdd(LW_ADDRESS(s, 0), 1.0f); if (t == 5) y[t] = s[0];",
    "an atomic one and a write": "if (t == 0) n[0] = 0; atomicAdd(LW_ADDRESS(n, 0), 1);",
    "a meeting of lanes does not order warps": "s[t] = t; __syncwarp(); y[t] = s[63 - t];",
    "nor several readers": "if (t < 40) y[t] = s[0]; __syncwarp(); if (t == 63) s[0] = 1;",
    "a shuffle orders nothing": "s[t] = t; y[t] = __shfl_sync(0xffffffff, t, 0); y[t] = s[t ^ 1];",
    "vectors": "lw_write<4>(s, t / 2 * 4, lw_vector<float, 4>{});",
}


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("body", RACES.values(), ids=RACES)
def test_a_race_on_shared_memory_is_found(body: str, seed: int) -> None:
    assert "race on shared '" in run_body(body, seed=seed)


def test_a_race_names_both_threads_and_what_they_do() -> None:
    words = run_body("if (t == 3) s[7] = 1; if (t == 5) y[0] = s[7];")
    assert words == (
        "kernel 'body', block (0, 0, 0), thread (5, 0, 0): race on shared 's'[7]: "
        "this thread reads it, thread (3, 0, 0) writes it, nothing between"
    )


NO_RACES = {
    "a barrier": "s[t] = t; __syncthreads(); y[t] = s[63 - t];",
    "two barriers": "for (int k = 0; k < 2; k++) { s[t] = k; __syncthreads(); y[t] = s[63 - t]; __syncthreads(); }",
    "one's own elements": "s[t] = t; s[t] += 1; s[t] = s[t] * 2; y[t] = s[t];",
    "only reads": "y[t] = s[0] + s[t] + s[63 - t];",
    "only atomics": "atomicAdd(LW_ADDRESS(n, 0), 1); atomicMax(LW_ADDRESS(n, 0), t);",
    "a meeting of lanes": "s[t] = t; __syncwarp(); y[t] = s[t ^ 31]; __syncwarp(); s[t ^ 1] = 0;",
    "lanes of several teams": "y[t] = __shfl_xor_sync(3u << (t & 30), t, 1); __syncwarp(255u << (t & 24)); s[t] = t;",
    "lanes one after another": "for (int k = 0; k < 32; k++) { if (t % 32 == k) s[t / 32] += k; __syncwarp(); }",
    "a stop before a barrier": "if (t == 9) lw_stop(); s[t] = t; __syncthreads(); y[t] = s[t ^ 16];",
}


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("body", NO_RACES.values(), ids=NO_RACES)
def test_what_is_ordered_is_no_race(body: str, seed: int) -> None:
    assert run_body(body, seed=seed) == ""


@pytest.mark.parametrize("seed", [0, 3])
def test_who_is_left_is_counted(seed: int) -> None:
    body = (
        "if (t == 5 || t == 40) lw_stop(); y[t] = __syncthreads_count(t % 2); "
        "y[64 + t] = __ballot_sync(255u << (t & 24), t % 4 != 0);"
    )
    session = Session(SCAFFOLD % body, "body", gpu=EmulatedGpu(seed=seed))
    y = np.zeros(2048, np.float32)
    session.run("body", 1, 64, y)
    left = [t for t in range(64) if t not in (5, 40)]
    assert all(y[t] == 31 for t in left)  # of 32 odd ones, 5 has ended
    for t in left:
        first = t // 8 * 8
        bits = sum(1 << k % 32 for k in range(first, first + 8) if k % 4 and k in left)
        assert y[64 + t] == np.float32(bits)


# ---- barriers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("if (t < 40) __syncthreads();\n else\n __syncthreads();", "they never meet"),
        ("if (t < 40) { __syncthreads(); } else { __syncthreads(); }", "they never meet"),
        ("if (t == 9) return; __syncthreads();", "thread (9, 0, 0): this thread returned from the kernel"),
        ("if (t == 0) return; __syncthreads();", "thread (0, 0, 0): this thread returned from the kernel"),
        ("if (t != 9) __syncthreads();", "thread (9, 0, 0): this thread returned from the kernel"),
        ("if (t % 2) __syncwarp(); else __shfl_sync(0xffffffff, t, 0);", "they never meet"),
        ("if (t % 2) __syncthreads(); else __syncwarp(); if (t % 2 == 0) __syncthreads();", "none can go on"),
        ("__syncwarp(15u);", "must name 1, 2, 4, 8 or more neighbouring lanes, this one among them"),
        ("__syncwarp(t % 32 < 6 ? 63u : 15u << (t & 28));", "must name 1, 2, 4, 8 or more neighbouring lanes"),
        ("if (t & 4) __syncwarp(0xffu << (t & 24)); else __syncwarp(15u << (t & 28)); __syncthreads();", "line"),
        ("if (t != 3) __syncwarp(15u << (t & 28)); else __syncthreads(); __syncthreads();", "line"),
    ],
)
def test_threads_that_do_not_meet_are_found(body: str, words: str, seed: int) -> None:
    assert words in run_body(body, seed=seed)


def test_a_divergent_barrier_names_the_lines() -> None:
    body = "if (t < 40) __syncthreads();\n else\n __syncthreads();"
    assert "line 8 of the device text, thread (0, 0, 0) at line 6: they never meet" in run_body(body)


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize(
    "body",
    [
        "if (t < 40) lw_stop(); __syncthreads();",
        "if (t >= 20) lw_stop(); __syncthreads(); __syncwarp();",
        "__syncthreads(); if (t % 2) lw_stop(); __syncwarp(); __syncthreads();",
        "if (t % 2) __shfl_sync(0xffffffff, t, 0); else lw_stop();",
        "__syncthreads(); lw_stop();",
        "lw_stop();",
        "__syncthreads(); if (t > 3) return; y[t] = 1;",
        "for (int k = 0; k < 50; k++) __syncthreads();",
    ],
)
def test_who_has_stopped_is_not_waited_for(body: str, seed: int) -> None:
    assert run_body(body, 1024, seed) == run_body(body, (7, 3, 2), seed) == ""
