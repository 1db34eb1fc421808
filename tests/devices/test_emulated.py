"""The emulated device runs CUDA text as CUDA would, and finds each kind of fault that it promises to find."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from devices.emulation import HOST, SAXPY, SCAFFOLD, Session, Size, run_body, written
from loopwright.config import Tools, current
from loopwright.devices import emulated
from loopwright.devices.emulated import EmulatedGpu
from loopwright.devices.gpu import Gpu
from loopwright.errors import CompilerError, DeviceError
from loopwright.ir.program import DeviceText
from loopwright.toolchain.cc import build

RANDOM = np.random.default_rng(7)

MATMUL = """
extern "C" __global__ void matmul(int64_t n, LW_GLOBAL(const double) a, LW_GLOBAL(const double) b,
                                  LW_GLOBAL(double) c) {
  LW_SHARED(double, left, 8 * 8);
  LW_SHARED(double, right, 8 * 8);
  const int64_t row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 8 + threadIdx.x;
  const int y = threadIdx.y, x = threadIdx.x;
  double sum = 0;
  for (int64_t k = 0; k < n; k += 8) {
    left[y * 8 + x] = row < n && k + x < n ? a[row * n + k + x] : 0.0;
    right[y * 8 + x] = k + y < n && column < n ? b[(k + y) * n + column] : 0.0;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 8; j++) sum += left[y * 8 + j] * right[j * 8 + x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}
"""

TOTAL = """
template <class T>
static __device__ __forceinline__ T warp_total(T value) {
#pragma unroll
  for (int k = 16; k; k /= 2) value += __shfl_down_sync(0xffffffff, value, k);
  return value;
}
extern "C" __global__ void total(int64_t n, LW_GLOBAL(const double) x, LW_GLOBAL(double) result) {
  LW_SHARED(double, part, 32);
  double sum = 0;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (int64_t)blockDim.x)
    sum += x[i];
  sum = warp_total(sum);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = warp_total(threadIdx.x < blockDim.x / 32 ? (double)part[threadIdx.x] : 0.0);
    if (threadIdx.x == 0) atomicAdd(LW_ADDRESS(result, 0), sum);
  }
}
"""

HISTOGRAM = """
extern "C" __global__ void histogram(int64_t n, LW_GLOBAL(const int64_t) x, LW_GLOBAL(int32_t) counts,
                                     LW_GLOBAL(uint64_t) most) {
  LW_SHARED(int, mine, 10);
  if (threadIdx.x < 10) mine[threadIdx.x] = 0;
  __syncthreads();
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(LW_ADDRESS(mine, x[i]), 1);
    atomicMax(LW_ADDRESS(most, 0), (uint64_t)x[i]);
  }
  __syncthreads();
  if (threadIdx.x < 10) atomicAdd(LW_ADDRESS(counts, threadIdx.x), (int)mine[threadIdx.x]);
}
"""

VECTORS = """
extern "C" __global__ void vectors(LW_GLOBAL(const float) x, LW_GLOBAL(float) y, int64_t shift) {
  LW_SHARED(float, tile, 128);
  const int t = threadIdx.x;
  lw_vector<float, 4> four = lw_read<4>(x, 4 * t + shift);
  for (int k = 0; k < 4; k++) four.v[k] *= 2;
  lw_write<4>(tile, 4 * (31 - t), four);
  __syncwarp();
  lw_vector<float, 2> two = lw_read<2>(tile, 4 * t), more = lw_read<2>(tile, 4 * t + 2);
  lw_write<2>(y, 4 * t, two);
  lw_write<2>(y, 4 * t + 2, more);
}
"""

LANES = """
extern "C" __global__ void lanes(LW_GLOBAL(int64_t) up, LW_GLOBAL(int32_t) across, LW_GLOBAL(float) one) {
  const int t = threadIdx.x;
  up[t] = __shfl_up_sync(0xffffffff, (long long)t * 1000000000000, 3);
  across[t] = __shfl_xor_sync(0xffffffff, t, 5);
  one[t] = __shfl_sync(0xffffffff, t + 0.5f, 9);
}
"""

RECORDS = """
extern "C" __global__ void records(LW_GLOBAL(char) a, int64_t stride, int64_t offset) {
  LW_AT(double, a, threadIdx.x * stride + offset) += LW_AT(int32_t, a, threadIdx.x * stride);
}
"""


# ---- right results ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 5])
def test_saxpy(seed: int) -> None:
    x, y = RANDOM.standard_normal((2, 1000), dtype=np.float32)
    expected = np.float32(1.5) * x + y
    Session(SAXPY, "saxpy", gpu=EmulatedGpu(seed=seed), strict=True).run("saxpy", 4, 256, 1000, np.float32(1.5), x, y)
    assert np.array_equal(y, expected)


@pytest.mark.parametrize("seed", [0, 11])
def test_matmul_with_shared_tiles(seed: int) -> None:
    a, b = RANDOM.integers(-9, 9, (2, 21, 21)).astype(float)
    c = np.full((21, 21), np.nan)
    Session(MATMUL, "matmul", gpu=EmulatedGpu(seed=seed)).run("matmul", (3, 3), (8, 8), 21, a, b, c)
    assert np.array_equal(c, a @ b)


def test_block_reduction_with_shuffles() -> None:
    x, result = RANDOM.integers(-99, 99, 5000).astype(float), np.zeros(1)
    Session(TOTAL, "total").run("total", 3, 1024, 5000, x, result)
    assert result[0] == x.sum()


def test_histogram_with_atomics() -> None:
    x, counts, most = RANDOM.integers(0, 10, 3000), np.zeros(10, np.int32), np.zeros(1, np.uint64)
    Session(HISTOGRAM, "histogram").run("histogram", 6, 512, 3000, x, counts, most)
    assert np.array_equal(counts, np.bincount(x, minlength=10))
    assert most[0] == x.max()


def test_vectors() -> None:
    x, y = RANDOM.standard_normal(128, dtype=np.float32), np.empty(128, np.float32)
    Session(VECTORS, "vectors").run("vectors", 1, 32, x, y, 0)
    assert np.array_equal(y.reshape(32, 4), 2 * x.reshape(32, 4)[::-1])


def test_shuffles_of_every_kind() -> None:
    up, across, one = np.empty(64, np.int64), np.empty(64, np.int32), np.empty(64, np.float32)
    Session(LANES, "lanes").run("lanes", 1, 64, up, across, one)
    t = np.arange(64)
    assert np.array_equal(up, np.where(t % 32 < 3, t, t - 3) * 10**12)
    assert np.array_equal(across, t ^ 5)
    assert np.array_equal(one, t // 32 * 32 + 9.5)


def test_a_shuffle_from_a_lane_that_is_not_there_gives_poison() -> None:
    up, across, one = np.empty(8, np.int64), np.empty(8, np.int32), np.empty(8, np.float32)
    Session(LANES, "lanes").run("lanes", 1, 8, up, across, one)
    assert np.isnan(one).all()


def test_elements_at_byte_offsets() -> None:
    records = np.zeros(5, [("count", np.int32), ("pad", np.int32), ("total", np.float64)])
    records["count"], records["total"] = np.arange(5), 0.25
    Session(RECORDS, "records").run("records", 1, 5, records, 16, 8)
    assert np.array_equal(records["total"], np.arange(5) + 0.25)


def test_indices_and_sizes_in_three_dimensions() -> None:
    text = """
extern "C" __global__ void place(LW_GLOBAL(uint32_t) out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * (blockDim.x * blockDim.y * blockDim.z) + thread] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z +
      1000 * threadIdx.x + 10000 * threadIdx.y + 100000 * threadIdx.z;
}
"""
    out = np.zeros((4, 3, 2, 2, 4, 3), np.uint32)
    Session(text, "place").run("place", (2, 3, 4), (3, 4, 2), out)
    k = np.indices(out.shape)
    digits = k[2] + 10 * k[1] + 100 * k[0] + 1000 * k[5] + 10000 * k[4] + 100000 * k[3]
    assert np.array_equal(out, digits)


def test_a_seed_changes_the_order_of_blocks_and_threads_and_is_deterministic() -> None:
    text = """
extern "C" __global__ void order(LW_GLOBAL(uint32_t) next, LW_GLOBAL(uint32_t) out) {
  out[atomicAdd(LW_ADDRESS(next, 0), 1u)] = blockIdx.x * blockDim.x + threadIdx.x;
}
"""
    orders = []
    for seed in (0, 1, 1, 2):
        out = np.zeros(60, np.uint32)
        Session(text, "order", gpu=EmulatedGpu(seed=seed)).run("order", 10, 6, np.zeros(1, np.uint32), out)
        assert np.array_equal(np.sort(out), np.arange(60))
        orders.append(out.tolist())
    assert orders[0] == list(range(60)) and orders[1] == orders[2]
    assert orders[0] != orders[1] != orders[3] != orders[0]


def test_strict_text_has_no_fused_multiply_add() -> None:
    text = """
extern "C" __global__ void fused(LW_GLOBAL(const double) x, LW_GLOBAL(double) y) { y[0] = x[0] * x[1] + x[2]; }
"""
    x = np.array([1 + 2.0**-30, 1 - 2.0**-30, -1.0])
    y = np.empty(1)
    Session(text, "fused", strict=True).run("fused", 1, 1, x, y)
    assert y[0] == x[0] * x[1] + x[2] == 0.0


def test_shared_memory_and_new_memory_are_poison() -> None:
    text = """
extern "C" __global__ void first(LW_GLOBAL(float) out) {
  LW_SHARED(float, room, 4);
  out[blockIdx.x] = room[1];
  room[1] = 3;
}
"""
    out = np.zeros(2, np.float32)
    session = Session(text, "first")
    session.run("first", 2, 1, out)
    assert np.isnan(out).all()
    session.gpu.download(out, session.gpu.allocate(8))
    assert np.isnan(out).all()


# ---- faults -------------------------------------------------------------------------------------------------------

OUTSIDE = """
extern "C" __global__ void reads(LW_GLOBAL(const float) x, LW_GLOBAL(float) y, int64_t i) { y[0] = x[i]; }
extern "C" __global__ void writes(LW_GLOBAL(const float) x, LW_ALIASED(float) y, int64_t i) { y[i] = x[0]; }
extern "C" __global__ void bytes(LW_GLOBAL(const char) x, LW_GLOBAL(float) y, int64_t i) { y[0] = LW_AT(float, x, i); }
extern "C" __global__ void shared_write(LW_GLOBAL(const float) x, LW_GLOBAL(float) y, int64_t i) {
  LW_SHARED(float, part, 6);
  part[i] = x[0];
  y[0] = part[i];
}
extern "C" __global__ void shared_read(LW_GLOBAL(const float) x, LW_GLOBAL(float) y, int64_t i) {
  LW_SHARED(float, part, 6);
  y[0] = part[i];
}
extern "C" __global__ void four(LW_GLOBAL(const float) x, LW_GLOBAL(float) y, int64_t i) {
  y[0] = lw_read<4>(x, i).v[0];
}
extern "C" __global__ void shared_four(LW_GLOBAL(const float) x, LW_GLOBAL(float) y, int64_t i) {
  LW_SHARED(float, part, 64);
  y[0] = lw_read<4>(part, i).v[0];
}
extern "C" __global__ void atomic(LW_GLOBAL(const float) x, LW_GLOBAL(float) y, int64_t i) {
  atomicAdd(LW_ADDRESS(y, i), 1.0f);
}
"""
OUTSIDE_KERNELS = ("reads", "writes", "bytes", "shared_write", "shared_read", "four", "shared_four", "atomic")


@pytest.fixture(scope="module")
def outside() -> Session:
    return Session(OUTSIDE, *OUTSIDE_KERNELS)


@pytest.mark.parametrize(
    ("kernel", "index", "words"),
    [
        ("reads", 10, "element 10 of 'x' (4 bytes) is touched, whose memory has elements 0 to 9"),
        ("reads", -1, "element -1 of 'x'"),
        ("reads", 2**62, f"element {2**62} of 'x'"),
        ("writes", 1, "element 1 of 'y' (4 bytes) is touched, whose memory has elements 0 to 0"),
        ("bytes", 37, "element 37 of 'x' (4 bytes)"),
        ("bytes", -4, "element -4 of 'x' (4 bytes)"),
        ("bytes", 2, "element 2 of 'x' is not aligned for an access of 4 bytes"),
        ("shared_write", 6, "element 6 of shared 'part' is touched, which has 6"),
        ("shared_read", -1, "element -1 of shared 'part'"),
        ("four", 7, "element 10 of 'x' (4 bytes)"),
        ("four", 2, "element 2 of 'x' is not aligned for an access of 16 bytes at once"),
        ("shared_four", 6, "element 6 of 'part' is not aligned for an access of 16 bytes at once"),
        ("atomic", 1, "element 1 of 'y'"),
    ],
)
def test_an_access_outside_is_found(outside: Session, kernel: str, index: int, words: str) -> None:
    x, y = np.arange(10, dtype=np.float32), np.zeros(1, np.float32)
    outside.launch(kernel, 1, 1, x, y, index)
    text = outside.fault()
    assert f"kernel '{kernel}', block (0, 0, 0), thread (0, 0, 0): " in text and words in text
    assert y[0] == 0 and outside.fault() == ""


@pytest.mark.parametrize(("kernel", "index"), [("reads", 9), ("bytes", 36), ("four", 4), ("atomic", 0)])
def test_an_access_just_inside_is_not(outside: Session, kernel: str, index: int) -> None:
    outside.run(kernel, 1, 1, np.arange(10, dtype=np.float32), np.zeros(1, np.float32), index)


def test_elements_before_a_pointer_into_the_middle_are_inside(outside: Session) -> None:
    place, y = outside.put(np.arange(10, dtype=np.float32)), np.zeros(1, np.float32)
    outside.run("reads", 1, 1, ctypes.c_void_p(place + 20), y, -5)
    assert y[0] == 0
    outside.run("reads", 1, 1, ctypes.c_void_p(place + 20), y, 4)
    assert y[0] == 9
    outside.launch("reads", 1, 1, ctypes.c_void_p(place + 20), y, 5)
    assert "elements -5 to 4" in outside.fault()


def test_use_after_release_is_found(outside: Session) -> None:
    place = outside.put(np.ones(4, np.float32))
    outside.gpu.release(place)
    outside.gpu.allocate(16)
    outside.launch("reads", 1, 1, ctypes.c_void_p(place), np.ones(1, np.float32), 0)
    assert f"element 0 of 'x' is touched: address {place:#x}, which was released" in outside.fault()
    with pytest.raises(DeviceError, match=r"release of address .*, which was released"):
        outside.gpu.release(place)


def test_an_array_at_an_odd_address_is_found(outside: Session) -> None:
    place = outside.put(np.arange(10, dtype=np.float32))
    outside.launch("reads", 1, 1, ctypes.c_void_p(place + 2), np.ones(1, np.float32), 1)
    assert "element 1 of 'x' is not aligned for an access of 4 bytes at once" in outside.fault()


def test_a_pointer_to_host_memory_is_found(outside: Session) -> None:
    mine = np.ones(4, np.float32)
    outside.launch("reads", 1, 1, ctypes.c_void_p(mine.ctypes.data), np.ones(1, np.float32), 0)
    assert "which is not device memory" in outside.fault()


def test_a_null_pointer_that_nobody_uses_is_fine(outside: Session) -> None:
    outside.run("shared_write", 1, 1, np.ones(1, np.float32), np.ones(1, np.float32), 0)
    outside.run("atomic", 1, 1, ctypes.c_void_p(0), np.ones(1, np.float32), 0)


def test_the_rest_of_a_launch_with_a_fault_is_abandoned_and_the_next_one_works() -> None:
    text = """
extern "C" __global__ void mark(LW_GLOBAL(float) y, int64_t bad) {
  LW_SHARED(float, s, 64);
  s[threadIdx.x] = 1;
  __syncthreads();
  y[blockIdx.x == bad ? -1 : (int64_t)blockIdx.x] = s[63 - threadIdx.x];
}
"""
    session, y = Session(text, "mark"), np.zeros(5, np.float32)
    assert session.launch("mark", 5, 64, y, 2) == 0  # a launch does not wait
    assert y.tolist() == [1, 1, 0, 0, 0]
    session.launch("mark", 5, 64, y, 3)
    text = session.fault()
    assert "block (2, 0, 0), thread (63, 0, 0)" in text and "and 1 more fault after it" in text
    session.run("mark", 5, 64, y, -1)
    assert y.tolist() == [1, 1, 1, 1, 1]


# ---- what a launch may ask for -------------------------------------------------------------------------------------


def test_too_many_shared_bytes_are_found() -> None:
    assert "bytes of shared arrays, and 49152 are allowed" in run_body("LW_SHARED(double, more, 6100); more[t] = 0;")
    assert run_body("LW_SHARED(double, more, 6000); more[t] = 0;") == ""


def test_shared_memory_that_a_launch_did_not_ask_for_is_found() -> None:
    session = Session(SCAFFOLD % "LW_SHARED_AT(double, some, 32, 56000); some[t % 32] = t; y[t] = 1;", "body")
    assert session.launch("body", 1, 32, np.zeros(64, np.float32), shared_bytes=56256) == 0
    assert session.fault() == ""
    session.launch("body", 1, 32, np.zeros(64, np.float32), shared_bytes=56248)
    assert "the kernel has 56256 bytes of shared arrays, and 56248 are allowed" in session.fault()


# ---- the failure record -------------------------------------------------------------------------------------------

GATHER = """
extern "C" __global__ void gather(LW_GLOBAL(const int64_t) at, LW_GLOBAL(const double) x, LW_GLOBAL(double) y,
                                  int64_t n, lw_failure *failure) {
  LW_SHARED(double, s, 64);
  const int64_t t = threadIdx.x;
  s[t] = LW_CHECKED(at[t] != 99, x[LW_INDEX(at[t], n, 3)], 4);
  __syncthreads();
  y[t] = s[t];
}
"""


NOTHING = np.array([-1, -1, -1, 0])
"""A record of no failure, that nobody else is told of."""


@pytest.mark.parametrize(("bad", "record"), [(10, [3, 10, 10]), (-11, [3, -11, 10]), (99, [4, 0, 0])])
def test_a_failed_check_ends_its_thread_and_is_recorded(bad: int, record: list[int]) -> None:
    at, x, y = np.arange(64) % 20 - 10, np.arange(10.0), np.zeros(64)
    expected, failure = x[at], NOTHING.copy()
    at[40] = bad
    Session(GATHER, "gather").run("gather", 1, 64, at, x, y, 10, failure)
    expected[40] = 0
    assert failure.tolist() == [*record, 0]
    assert np.array_equal(y, expected)


def test_the_first_failure_is_kept_and_told() -> None:
    told = np.full(3, -1)
    failure = np.array([-1, -1, -1, told.ctypes.data])
    session = Session(GATHER, "gather")
    for bad in (50, 60):
        session.run("gather", 1, 64, np.full(64, bad), np.zeros(10), np.zeros(64), 10, failure)
        assert failure[:3].tolist() == told.tolist() == [3, 50, 10]


def test_a_failure_record_outside_of_device_memory_is_found() -> None:
    session, mine = Session(GATHER, "gather"), NOTHING.copy()
    place = ctypes.c_void_p(mine.ctypes.data)
    session.launch("gather", 1, 64, np.zeros(64, int), np.zeros(10), np.zeros(64), 10, place)
    assert "the plain pointer 'failure' is address" in session.fault()


# ---- launches and the table of C ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grid", "block", "shared_bytes", "words"),
    [
        (1, 257, 0, "a block has 257 threads, allowed are 256"),
        (1, (1, 1, 65), 0, "block z is 65, allowed are 1 to 64"),
        (1, 1025, 0, "block x is 1025"),
        ((1, 65536), 1, 0, "grid y is 65536, allowed are 1 to 65535"),
        ((1, 1, 65536), 1, 0, "grid z is 65536"),
        (2**31, 1, 0, "grid x is 2147483648"),
        (0, 1, 0, "grid x is 0"),
        (1, (4, 0), 0, "block y is 0"),
        (1, 1, 10**6, "1000000 bytes of shared memory, allowed are 232448"),
    ],
)
def test_a_launch_that_cuda_would_refuse(grid: Size, block: Size, shared_bytes: int, words: str) -> None:
    session, y = Session(SAXPY, "saxpy"), np.zeros(1, np.float32)
    assert session.launch("saxpy", grid, block, 1, np.float32(1), y, y, shared_bytes=shared_bytes) != 0
    text = session.fault()
    assert text.startswith("launch of 'saxpy' with grid (") and words in text
    session.run("saxpy", 1, 1, 1, np.float32(1), y, y)


def test_blocks_without_bounds_of_their_own_have_1024_threads_at_most() -> None:
    session = Session(SCAFFOLD % "y[t] = 1;", "body")
    assert session.launch("body", 1, (32, 33), np.zeros(2048, np.float32)) != 0
    assert "a block has 1056 threads, allowed are 1024" in session.fault()


def test_a_kernel_number_that_is_not_there() -> None:
    session = Session(SAXPY, "saxpy")
    assert session.launch("no_such", 1, 1) != 0
    assert session.fault() == "launch of kernel number 1 of 1"


BOTH = """
extern "C" __global__ void near_(LW_GLOBAL(float) y) { y[threadIdx.x] = 1; }
extern "C" __global__ void far_(LW_GLOBAL(float) y) { y[threadIdx.x] = 2; }
"""


@pytest.fixture
def near_and_far(monkeypatch: pytest.MonkeyPatch) -> tuple[Session, list[tuple[str, ...]]]:
    """Two kernels, one of them for distances of 64 bits, and the kernels of each library, as they are built."""
    built: list[tuple[str, ...]] = []
    build = emulated.build_emulated

    def noting(text: DeviceText, config: Tools, warp: int) -> Path:
        built.append(text.kernels)
        return build(text, config, warp)

    monkeypatch.setattr(emulated, "build_emulated", noting)
    text = written(BOTH, ("near_", "far_"))
    near, far = text.functions
    far = replace(far, entries=(replace(far.entries[0], line=3, bits=64),))
    return Session.of(replace(text, functions=(near, far))), built


def test_what_few_calls_need_is_compiled_when_one_does(near_and_far: tuple[Session, list[tuple[str, ...]]]) -> None:
    session, built = near_and_far
    y = np.zeros(4, np.float32)
    session.run("near_", 1, 4, y)
    assert (y.tolist(), built) == ([1.0] * 4, [("near_",)])
    assert session.gpu.late_ns == session.module.late_ns == 0
    for _ in range(2):
        session.run("far_", 1, 4, y)
    assert (y.tolist(), built) == ([2.0] * 4, [("near_",), ("far_",)])
    assert session.gpu.late_ns == session.module.late_ns > 0


@pytest.mark.parametrize("error", [CompilerError("the disk is full"), OSError("the disk is full")])
def test_a_kernel_that_cannot_be_compiled_when_it_is_needed(
    near_and_far: tuple[Session, list[tuple[str, ...]]], error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, _ = near_and_far

    def fail(text: DeviceText, config: Tools, warp: int) -> Path:
        raise error

    monkeypatch.setattr(emulated, "build_emulated", fail)
    y = np.zeros(4, np.float32)
    assert session.launch("far_", 1, 4, y) != 0
    assert session.fault().startswith("a kernel of the emulated GPU is not there: ")
    session.run("near_", 1, 4, y)
    assert y.tolist() == [1.0] * 4


@pytest.mark.parametrize("raised", [KeyboardInterrupt, TimeoutError])
def test_a_signal_while_a_kernel_is_compiled_reaches_the_caller(
    near_and_far: tuple[Session, list[tuple[str, ...]]], raised: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    session, _ = near_and_far

    def interrupted(text: DeviceText, config: Tools, warp: int) -> Path:
        raise raised

    monkeypatch.setattr(emulated, "build_emulated", interrupted)
    assert session.launch("far_", 1, 4, np.zeros(4, np.float32)) != 0
    with pytest.raises(raised):
        session.fault()
    assert session.fault() == ""


def test_the_table_of_c() -> None:
    session = Session(SAXPY, "saxpy")
    table, me = session.table, session.module.table
    place = table.allocate(me, 40)
    session.gpu.upload(place, np.arange(10, dtype=np.float32))
    here = np.zeros(4, np.float32)
    assert table.fetch(me, here.ctypes.data, place + 8, 16) == 0
    assert here.tolist() == [2, 3, 4, 5]
    assert table.clear(me, place + 8, 4) == 0
    assert table.fetch(me, here.ctypes.data, place, 16) == 0
    assert here.tolist() == [0, 1, 0, 3]
    table.release(me, None)
    table.release(me, place)
    assert session.fault() == ""
    table.release(me, place)
    assert "release of address" in session.fault()


def test_host_text_in_c_uses_the_table() -> None:
    session, x = Session(TOTAL, "total"), np.arange(1000.0)
    host = ctypes.CDLL(str(build(HOST, (), current()).path)).host
    host.restype = ctypes.c_double
    place, table = ctypes.c_void_p(session.put(x)), ctypes.c_void_p(session.module.table)
    assert host(table, place, ctypes.c_int64(1000)) == 3 * x.sum()
    assert host(table, place, ctypes.c_int64(1001)) == -4
    assert "element 1000 of 'x'" in session.fault()


def test_a_fetch_after_a_fault_fails_and_synchronize_tells() -> None:
    session = Session(OUTSIDE, *OUTSIDE_KERNELS)
    place, host = session.gpu.allocate(4), np.zeros(1, np.float32)
    session.launch("reads", 1, 1, host, host, 8)
    assert session.table.fetch(session.module.table, host.ctypes.data, place, 4) != 0
    with pytest.raises(DeviceError, match="element 8 of 'x'"):
        session.gpu.synchronize()
    session.gpu.synchronize()
    assert session.table.fetch(session.module.table, host.ctypes.data, place, 4) == 0


def test_it_is_a_gpu() -> None:
    gpu: Gpu = EmulatedGpu()
    assert gpu.name == "emulated" and gpu.limits.warp == 32


def test_two_devices_with_one_text_do_not_see_each_other() -> None:
    sessions = [Session(SAXPY, "saxpy") for _ in range(2)]
    for number, session in enumerate(sessions):
        x, y = np.ones((2, 5), np.float32)
        session.run("saxpy", 1, 8, 5, np.float32(number), x, y)
        assert y.tolist() == [number + 1.0] * 5
