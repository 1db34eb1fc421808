"""Memory of local arrays: large ones in large pages, the same contents whatever their size."""

from __future__ import annotations

import ctypes
import platform
import resource
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw


@lw.kernel
def twice_copied(a):
    b = a.copy()
    c = b * 2.0
    return c + b[::-1]


@pytest.mark.parametrize("size", [0, 1, 1000, (4 << 20) // 8 - 1, (4 << 20) // 8, (4 << 20) // 8 + 1, 700_001])
def test_sizes_around_that_of_large_pages(size: int) -> None:
    a = np.random.default_rng(size).random(size)
    assert (twice_copied(a) == a * 2.0 + a[::-1]).all()


@lw.kernel
def growing(sizes):
    total = 0.0
    for k in range(sizes.shape[0]):
        work = np.ones(sizes[k])
        work[0] = k
        total += work.sum()
    return total


def test_one_array_that_is_made_again_and_again_in_several_sizes() -> None:
    sizes = np.array([10, 1 << 20, 5, 3 << 19, 1 << 10, 1 << 21])
    assert growing(sizes) == sizes.sum() - 6 + 15


@lw.kernel
def by_way_of(a: Any, n: Any, fails: Any) -> Any:
    b, c = np.empty(n), np.zeros(n + 1, np.int32)
    for i in range(n):
        b[n - 1 - i] = a[i % a.size] + i % 5
        c[i + 1] = i % 11
    if fails:
        raise ValueError("as asked")
    total = 0.0
    for i in range(n):
        total += b[i] * c[n - i]
    return total


def test_blocks_that_are_kept_serve_calls_of_other_sizes_and_threads() -> None:
    a = np.arange(7.0)
    sizes = [0, 1, 9000, 20_000, 8192, 100_000, 9000, 300_000, 262_144, 600_000, 5, 30_000, 90_000]
    wanted = {n: by_way_of.py_func(a, n, False) for n in sizes}

    def one(n: int) -> float:
        with pytest.raises(ValueError, match="as asked"):
            by_way_of(a, n, True)
        return float(by_way_of(a, n, False))

    with ThreadPoolExecutor(4) as pool:
        for found, n in zip(pool.map(one, sizes * 8), sizes * 8, strict=True):
            assert found == wanted[n]


def test_the_memory_of_local_arrays_is_not_touched_anew_in_each_call() -> None:
    def faults() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

    by_way_of(np.ones(3), 200_000, False)
    before = faults()
    for _ in range(20):
        by_way_of(np.ones(3), 200_000, False)
    assert faults() - before < 20 * 100  # of 600 pages in each call


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is about what glibc's malloc learns")
def test_nor_is_that_of_large_ones() -> None:
    size = 1_200_000  # 9 MB
    by_way_of(np.ones(3), size, False)
    by_way_of(np.ones(3), size, False)
    before = resource.getrusage(resource.RUSAGE_SELF)
    for _ in range(20):
        by_way_of(np.ones(3), size, False)
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_minflt - before.ru_minflt < 20 * 3  # of five pages of 2 MiB, or 2,300, in each call


@lw.kernel
def rows_of_a_list(limit: Any) -> Any:
    found = []
    for h in range(limit):
        for k in range(limit):
            if (h + k) % 3 == 1:
                found.append((h, k, h * k))
    return np.array(found) if len(found) > 0 else np.zeros((0, 3), dtype=np.int64)


def test_rows_for_items_of_a_list_are_no_array_of_all_that_there_may_be() -> None:
    for limit in (0, 1, 2, 300):
        mine, pythons = rows_of_a_list(limit), rows_of_a_list.py_func(limit)
        assert mine.shape == pythons.shape and (mine == pythons).all()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        rows_of_a_list(5)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 50


BEGINS = """
#include <stdint.h>
#include <string.h>
#define LW_PART static __attribute__((unused))
#include "reserved.h"
uintptr_t begin(void *old) { return (uintptr_t)lw_reserve(old); }
void end(uintptr_t list) { lw_unreserve((void *)list); }
"""


def test_lists_begin_at_places_of_a_page_that_are_far_from_one_another(tmp_path: Path) -> None:
    (tmp_path / "lists.c").write_text(BEGINS)
    headers = Path(lw.__file__).parent / "codegen"
    command = ["cc", "-shared", "-fPIC", "-Wno-unused-function", f"-I{headers}", "lists.c", "-o", "lists.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "lists.so"))
    library.begin.restype, library.begin.argtypes = ctypes.c_uint64, [ctypes.c_void_p]
    library.end.argtypes = [ctypes.c_uint64]
    lists = [library.begin(None) for _ in range(8)]
    places = sorted(one % 4096 for one in lists)
    assert all(later - earlier >= 256 for earlier, later in pairwise(places))
    assert all(one % 64 == 0 for one in lists)
    ctypes.memset(lists[0], 1, 3 << 20)
    for one in lists:
        library.end(one)
    assert {library.begin(None) for _ in range(8)} == set(lists)
    assert ctypes.string_at(lists[0] + (2 << 20), 8) == bytes(8)  # what is not kept was given back


APART = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define LW_PART static __attribute__((noinline, unused))
#define LW_HUGE (INT64_C(2) << 20)
#define LW_LARGE (INT64_C(4) << 20)
#include "room.h"
#include "reserved.h"
void loaded_again(void); /* is nowhere: what calls it cannot be linked */
int64_t stores(int64_t n) {
  int64_t *a = 0, *b = 0, *c = 0, sizes[2] = {0, 0};
  for (int64_t k = 0; k < n; ++k) {
    a = lw_room(a, &sizes[0], 8 * n);
    b = lw_room(b, &sizes[1], 8 * n);
    c = lw_reserve(c);
    a[k] = k;
    b[n - 1 - k] = 2;
    c[k] = 3;
    if (a[k] != k || b[n - 1 - k] != 2) loaded_again();
  }
  return a[n - 1] + b[0] + c[n - 1];
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="it is about gcc")
def test_a_store_to_one_array_does_not_have_another_one_loaded_again(tmp_path: Path) -> None:
    (tmp_path / "apart.c").write_text(APART)
    headers = Path(lw.__file__).parent / "codegen"
    command = ["gcc", "-O3", "-shared", "-fPIC", "-fno-strict-aliasing", "-Wl,-z,defs", f"-I{headers}", "apart.c"]
    subprocess.run([*command, "-o", "apart.so"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "apart.so"))
    library.stores.restype, library.stores.argtypes = ctypes.c_int64, [ctypes.c_int64]
    assert [library.stores(n) for n in (1, 7, 9000)] == [5, 11, 9004]
