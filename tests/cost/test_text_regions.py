"""Loops and branches of CUDA text by lines."""

from __future__ import annotations

from loopwright.cost.text_regions import Region, regions

TEXT = """template <typename lw_int>
static __device__ __forceinline__ void lw_grid_i_(int64_t lw_base_x) {
  LW_SHARED(float, t_, 64);
  { const int64_t lw_upper = n_;
  #pragma unroll 4
  for (int64_t k_ = 0L; k_ < lw_upper; ++k_) {
    s_ = s_ + a_[k_];
  }}
  if (LW_ALIGNED(a_, 16) && n_ % 4 == 0) {
    { const int64_t lw_lower = i_;
    #pragma unroll
    for (int64_t lw_k_j_ = 0; lw_k_j_ < 4; ++lw_k_j_) {
      const int64_t j_ = lw_lower + lw_k_j_;
      b_[j_] = 0;
    }}
  } else {
    for (int lw_i = 1; lw_i < 32; ++lw_i)
      b_[lw_i] = 1;
  }
  { const int64_t lw_count = lw_trip(0, n_, 3);
  for (int64_t lw_k = 0; lw_k < lw_count; ++lw_k) {
    const int64_t m_ = lw_lower + lw_k * lw_step;
    if (m_ < 7) { b_[m_] = 2; } else { b_[m_] = 3; }
  }}
  for (int lw_i = threadIdx.x + 32 * (threadIdx.y + 1 * threadIdx.z); lw_i < 100; lw_i += 32)
    t_[lw_i] = 0;
}
extern "C" __global__ void __launch_bounds__(32) lw_grid_i__32(int64_t lw_base_x) { lw_grid_i_<int32_t>(lw_base_x); }
template <typename lw_int>
static __device__ __forceinline__ void lw_single() {
}
"""


def test_regions() -> None:
    found = regions(TEXT)
    assert list(found) == ["lw_grid_i_", "lw_single"]
    kernel = found["lw_grid_i_"]
    assert (kernel.kind, kernel.first, kernel.last) == ("kernel", 2, 27)

    def told(region: Region) -> tuple[object, ...]:
        return region.kind, region.name, region.first, region.last, region.trips, region.unroll

    assert [told(one) for one in kernel.within()] == [
        ("loop", "k_", 6, 8, None, 4),
        ("then", "", 9, 16, None, 1),
        ("loop", "j_", 12, 15, 4, 0),
        ("else", "", 16, 19, None, 1),
        ("loop", "lw_i", 17, 18, 31, 1),
        ("loop", "m_", 21, 24, None, 1),
        ("then", "", 23, 23, None, 1),
        ("else", "", 23, 23, None, 1),
        ("loop", "lw_i", 25, 26, 4, 1),
    ]
    assert kernel.inner[1].condition == kernel.inner[2].condition == "LW_ALIGNED(a_, 16) && n_ % 4 == 0"


AHEAD = """static __device__ __forceinline__ void lw_grid_i_(int64_t n_) {
  if (k_o_ < lw_upper) {
    lw_arrive<1>(a_p_, 0, a_, 0);
  }
  if (sizeof(lw_int) == 4 && n_ % 4 == 0) {
    for (int lw_left = lw_rounds(LW_MIN(int64_t, lw_upper - 1, n_ - k_o_), 16); lw_left > 0; --lw_left, k_o_ += 16) {
      lw_arrived();
    }
  }
  for (; k_o_ < lw_upper; k_o_ += 16) {
    if (lw_next < lw_upper) {
      lw_arrived();
    }
  }
  if (threadIdx.x == 0 && threadIdx.y == 0) out_[0] = s_;
  if ((threadIdx.x) % 32 == 0) lw_parts[(threadIdx.x) / 32] = s_;
}
"""


def test_parts_of_a_loop_whose_tiles_arrive_ahead() -> None:
    kernel = regions(AHEAD)["lw_grid_i_"]
    assert [(one.kind, one.name, one.part, one.first, one.last) for one in kernel.within()] == [
        ("then", "k_o_", "first", 2, 4),
        ("then", "", "all", 5, 9),
        ("loop", "k_o_", "steady", 6, 8),
        ("loop", "k_o_", "rest", 10, 14),
        ("then", "", "all", 11, 13),
        ("then", "", "all", 15, 15),
    ]
    assert kernel.at(15).condition == "threadIdx.x == 0 && threadIdx.y == 0"


SEVERAL = """static __device__ __forceinline__ void lw_grid_i_(int64_t n_) {
  for (; lw_at < lw_upper && (uint64_t)lw_upper - (uint64_t)lw_at > 3584; lw_at += 4096) {
    const int64_t lw_at_0 = lw_at + 0;
  }
  #pragma unroll 1
  for (; lw_at < lw_upper; lw_at += 512) {
    const int64_t i_ = lw_at;
  }
}
"""


def test_loops_that_look_ahead_are_one_loop_of_the_kernel() -> None:
    found = list(regions(SEVERAL)["lw_grid_i_"].within())
    assert [(one.name, one.part, one.at_once, one.first) for one in found] == [
        ("i_", "several", 8, 2),
        ("i_", "left", 8, 6),
    ]


def test_the_region_of_a_line() -> None:
    kernel = regions(TEXT)["lw_grid_i_"]
    assert kernel.at(7).name == "k_"
    assert kernel.at(3) is kernel
    assert kernel.at(14).loop.name == "j_"
    assert kernel.at(10).kind == "then"
    assert kernel.at(10).loop is kernel
    assert kernel.at(18).name == "lw_i"
    assert kernel.at(999) is kernel


def test_text_that_ends_too_early_and_none() -> None:
    assert regions("") == {}
    kernel = regions(TEXT[: TEXT.index("} else")])["lw_grid_i_"]
    assert kernel.last == len(TEXT[: TEXT.index("} else")].split("\n"))
