/* The emulated device: it gives device text (codegen/loopwright.cuh) a checked meaning on the CPU. devices/emulated.py
   puts this file in front of loopwright.cuh and of the text, which stays as NVRTC would get it.

   Blocks run one after the other. The threads of a block are fibers of one system thread: a stack runs one thread
   after another for as long as none has to wait, so that a kernel without barriers costs a function call a thread.
   A thread that waits keeps its stack, and another stack goes on. The first fault ends the launch: the fiber is left
   where it is, and run() returns. State is the library's own, so one launch runs at a time; emulated.py sees to that.
   Nothing of the C++ library is used, for the sake of compile time: even <math.h> would triple it.

   emulated_machinery.h has what is the same for all texts. A text may also be linked with it: LW_NAMESPACE is the name,
   in both, of the namespace that is without one otherwise. */
#define LW_EMULATED 1
#ifndef LW_NAMESPACE
#define LW_NAMESPACE
#endif
#include <stdint.h>

/* ---- mathematics ------------------------------------------------------------------------------------------------ */

#undef INFINITY
#undef NAN
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define LW_LIKELY(x) __builtin_expect(!!(x), 1)

#define LW_MATH1(name)                  \
  extern "C" double name(double);       \
  extern "C" float name##f(float);      \
  static inline float name(float x) { return name##f(x); }
#define LW_MATH2(name)                     \
  extern "C" double name(double, double);  \
  extern "C" float name##f(float, float);  \
  static inline float name(float x, float y) { return name##f(x, y); }
LW_MATH1(sqrt) LW_MATH1(cbrt) LW_MATH1(exp) LW_MATH1(exp2) LW_MATH1(expm1) LW_MATH1(log) LW_MATH1(log2)
LW_MATH1(log10) LW_MATH1(log1p) LW_MATH1(sin) LW_MATH1(cos) LW_MATH1(tan) LW_MATH1(asin) LW_MATH1(acos)
LW_MATH1(atan) LW_MATH1(sinh) LW_MATH1(cosh) LW_MATH1(tanh) LW_MATH1(asinh) LW_MATH1(acosh) LW_MATH1(atanh)
LW_MATH1(erf) LW_MATH1(erfc) LW_MATH1(tgamma) LW_MATH1(lgamma) LW_MATH1(fabs) LW_MATH1(floor) LW_MATH1(ceil)
LW_MATH1(trunc) LW_MATH1(round) LW_MATH1(rint) LW_MATH1(nearbyint) LW_MATH2(pow) LW_MATH2(fmod) LW_MATH2(atan2)
LW_MATH2(hypot) LW_MATH2(copysign) LW_MATH2(fmin) LW_MATH2(fmax) LW_MATH2(fdim) LW_MATH2(remainder)
LW_MATH2(nextafter)
extern "C" double fma(double, double, double);
extern "C" float fmaf(float, float, float);
#define LW_TEST(name)                                                      \
  static inline bool name(double x) { return __builtin_##name(x) != 0; } \
  static inline bool name(float x) { return __builtin_##name(x) != 0; }
LW_TEST(isnan) LW_TEST(isinf) LW_TEST(isfinite) LW_TEST(signbit)

/* ---- the words of CUDA ------------------------------------------------------------------------------------------ */

#undef __noinline__
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#define __device__
#define __global__ __attribute__((visibility("hidden"), unused))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

namespace LW_NAMESPACE {

template <class T, int N>
struct __align__(sizeof(T) * N) lw_vector {
  T v[N];
};

namespace lw_emulated {

/* ---- what emulated.py hands over and gets back: the same layout stands there ------------------------------------- */

struct allocation {
  int64_t first, low, high, real; /* device addresses [low, high), where the bytes are in truth; pointers from `first`
                                     on are pointers to it */
};

enum fault_kind : int32_t {
  fine, outside_global, outside_shared, not_memory, misaligned, race, divergent, returned_before, stuck,
  too_much_shared, no_pointer, partial_mask, on_its_way
};

struct fault {
  int32_t kind, how, line, other_line;
  int64_t block[3], thread[3], other[3];
  const char *array;
  int64_t index, first, count, bytes;
};

struct launch {
  int64_t kernel, grid[3], block[3];
  void **arguments;
  const allocation *allocations;
  int64_t allocation_count;
  char *stacks;
  int64_t stack_bytes;
  uint64_t seed;
  int64_t asked_shared_bytes;
  fault found;
};

/* ---- threads ---------------------------------------------------------------------------------------------------- */

#ifndef LW_WARP
#define LW_WARP 32
#endif
const int most_threads = 1024, warp_size = LW_WARP, most_warps = most_threads / warp_size;
const int64_t most_static_shared = 48 * 1024;

struct triple {
  unsigned x, y, z;
};

struct place {
  int line, number; /* number differs between two places on one line */
};

enum wait : uint8_t { running, at_barrier, at_team, ended };

/* Where threads wait for one another: a block's barrier, or what the lanes of a team do together. */
struct meeting {
  place where;
  int living, waiting, first;
};

/* Lanes that meet: neighbours of one warp, as many as a power of two. */
struct team {
  meeting meet; /* living: as many as had not ended when the last one came */
  int first, lanes;
  bool orders;  /* whether what they do in memory is in order then: after __syncwarp, not after a shuffle */
};

/* What a lane gives to its team, whose value it wants, and what it gets. */
struct exchanged {
  uint64_t given, got;
  int from; /* NOTHING: nothing is wanted, and nothing given; WHO: for which lanes it is not 0; PRODUCT: see `multiply` */
};
enum { NOTHING = -1, WHO = -2, PRODUCT = -3 };

/* What a lane gives to a product of matrices, and the sums that it keeps, two in each of two rows. */
struct fragment {
  double *sums[2][2], left[2][2], right[2]; /* left: by depth and row; right: by depth */
};

/* ---- the state of a launch, and what its threads do together: emulated_machinery.h has it -------------------------- */

extern launch *now_launched;
extern triple thread_index, block_index, block_size, grid_size;
extern int threads, now, now_warp;

/* Time, for races on shared memory: it passes at a block's start and wherever threads meet. */
extern uint32_t clock_now, block_time, warp_time[most_warps];
extern uint64_t block_serial, launch_serial;
extern int64_t shared_bytes, asked_shared_bytes; /* declared so far; asked for at the launch */

/* The launch ends with this fault of the current thread; `other`: a second thread that has a part in it, or -1. */
[[noreturn]] __noinline__ void fail(fault what, int other = -1);

/* Every thread of the block waits for the others; for how many of them the predicate holds. */
void barrier(place where);
int barrier_count(place where, int predicate);

/* The current thread and the lanes of the mask wait for one another; what it gets of lane `from`. */
uint64_t meet_team(place where, uint64_t mask, uint64_t given, int from);
void sync_warp(place where, uint64_t mask = ~UINT64_C(0) >> (64 - warp_size));
uint64_t ballot(place where, uint64_t mask, int predicate);

/* `lw_multiply` of loopwright.cuh. */
void multiply(place where, double &s00, double &s01, double &s10, double &s11, double a00, double a10, double a01,
              double a11, double b0, double b1);

/* `lw_multiply_bytes`: products of bytes, and 32 of them added up, are exact in float64. */
template <class Left, class Right, class Sum>
void multiply_bytes(place where, Sum &s00, Sum &s01, Sum &s10, Sum &s11, uint32_t a00, uint32_t a10, uint32_t a01,
                    uint32_t a11, uint32_t b0, uint32_t b1) {
  double d00 = 0, d01 = 0, d10 = 0, d11 = 0;
  for (int bits = 0; bits < 32; bits += 8)
    multiply(where, d00, d01, d10, d11, (Left)(a00 >> bits), (Left)(a10 >> bits), (Left)(a01 >> bits),
             (Left)(a11 >> bits), (Right)(b0 >> bits), (Right)(b1 >> bits));
  Sum *const sums[] = {&s00, &s01, &s10, &s11};
  const double more[] = {d00, d01, d10, d11};
  for (int k = 0; k < 4; k++) *sums[k] = (Sum)((uint64_t)*sums[k] + (uint64_t)(int64_t)more[k]);
}

/* The current thread ends. */
[[noreturn]] void stop();

inline fault of_kind(fault_kind kind) {
  fault what = {};
  what.kind = kind;
  return what;
}

/* ---- shuffles --------------------------------------------------------------------------------------------------- */

/* Every lane gives a value and takes that of lane `from`; what a lane that has ended would give is all ones. */
template <class T>
T exchange(place where, uint64_t mask, T value, int from) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle takes 4 or 8 bytes");
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  bits = meet_team(where, mask, bits, from);
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

inline int lane() { return now % warp_size; }

#define LW_PLACE (lw_emulated::place{__LINE__, __COUNTER__})
#define __syncthreads() lw_emulated::barrier(LW_PLACE)
#define __syncthreads_count(predicate) lw_emulated::barrier_count(LW_PLACE, predicate)
#define __ballot_sync(mask, predicate) lw_emulated::ballot(LW_PLACE, mask, predicate)
#define __syncwarp(...) lw_emulated::sync_warp(LW_PLACE, ##__VA_ARGS__)
#define lw_multiply(...) lw_emulated::multiply(LW_PLACE, __VA_ARGS__)
#define LW_MULTIPLY_BYTES(left, right, ...) lw_emulated::multiply_bytes<left, right>(LW_PLACE, __VA_ARGS__)
#define __shfl_sync(...) lw_emulated::shuffle(LW_PLACE, __VA_ARGS__)
#define __shfl_down_sync(...) lw_emulated::shuffle_down(LW_PLACE, __VA_ARGS__)
#define __shfl_up_sync(...) lw_emulated::shuffle_up(LW_PLACE, __VA_ARGS__)
#define __shfl_xor_sync(...) lw_emulated::shuffle_xor(LW_PLACE, __VA_ARGS__)
#define LW_SHUFFLE(name, source)                           \
  template <class T>                                       \
  auto name(place where, uint64_t mask, T value, int n) {  \
    const int from = source;                               \
    return exchange(where, mask, +value, from);            \
  }
LW_SHUFFLE(shuffle, n & (warp_size - 1))
LW_SHUFFLE(shuffle_down, lane() + n < warp_size ? lane() + n : lane())
LW_SHUFFLE(shuffle_up, lane() - n >= 0 ? lane() - n : lane())
LW_SHUFFLE(shuffle_xor, (lane() ^ n) & (warp_size - 1))

} // namespace lw_emulated
} // namespace LW_NAMESPACE
