/* What device text may use, and the meaning of the operators that CUDA does not have or leaves undefined. Generated
   device text starts with this file. It has two readers: NVRTC, which has no headers and no statement expressions,
   and, where LW_EMULATED is defined, a C++ compiler behind devices/emulated.h, which then gives the first part its
   checked meaning. The operators mean exactly what codegen/loopwright.h says: a test compares them. */
#ifndef LW_EMULATED

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#ifndef INT64_MIN
#define INT64_MIN (-9223372036854775807LL - 1)
#endif
#ifndef INT64_MAX
#define INT64_MAX 9223372036854775807LL
#endif
#ifndef UINT64_C
#define UINT64_C(value) value##ULL
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif

#define LW_GLOBAL(type) type *__restrict__
#define LW_ALIASED(type) type *
#define LW_AT(type, array, byte_offset) (*(type *)((array) + (byte_offset)))
#define LW_SHARED(type, name, count) __shared__ __align__(16) type name[count]
/* The same in what is asked for when the kernel is started. */
extern __shared__ __align__(16) unsigned char lw_asked_shared[];
#define LW_SHARED_AT(type, name, count, begin) type *const name = reinterpret_cast<type *>(lw_asked_shared + (begin))
#define LW_ADDRESS(array, index) (&(array)[index])
#define LW_OPAQUE(value)
/* An element that nobody reads again soon: it leaves caches first. */
#define LW_PASSING(element) __ldcs(&(element))
#define LW_ALIGNED(array, bytes) ((uint64_t)(array) % (bytes) == 0)
#define LW_ONES(word) __popc(word)
#define LW_ONES_64(word) __popcll(word)

/* The thread ends here; barriers no longer wait for it. The clobber keeps accesses that follow in the text behind it. */
static __device__ __forceinline__ void lw_stop() {
  asm volatile("exit;" ::: "memory");
  __builtin_unreachable();
}

/* CUDA has these for unsigned numbers only; with two's complement the bits are the same. */
#define LW_OF_BITS(name)                                                                                 \
  [[maybe_unused]] static __device__ __forceinline__ int64_t name(int64_t *address, int64_t value) {     \
    return (int64_t)name((uint64_t *)address, (uint64_t)value);                                          \
  }
LW_OF_BITS(atomicAdd)
LW_OF_BITS(atomicAnd)
LW_OF_BITS(atomicOr)
LW_OF_BITS(atomicXor)
#undef LW_OF_BITS

/* Nor these for floats. Most values change nothing, and cost a look; a NaN on either side changes nothing either. */
#define LW_EXTREME(name, type, word, to_word, from_word, better)                                         \
  [[maybe_unused]] static __device__ __forceinline__ type name(type *address, type value) {              \
    type old = *(volatile type *)address;                                                                \
    while (value better old) {                                                                           \
      const word before = (word)to_word(old);                                                            \
      const word found = atomicCAS((word *)address, before, (word)to_word(value));                       \
      if (found == before) break;                                                                        \
      old = from_word(found);                                                                            \
    }                                                                                                    \
    return old;                                                                                          \
  }
LW_EXTREME(atomicMin, float, unsigned int, __float_as_uint, __uint_as_float, <)
LW_EXTREME(atomicMax, float, unsigned int, __float_as_uint, __uint_as_float, >)
LW_EXTREME(atomicMin, double, unsigned long long, __double_as_longlong, __longlong_as_double, <)
LW_EXTREME(atomicMax, double, unsigned long long, __double_as_longlong, __longlong_as_double, >)
#undef LW_EXTREME

template <class T, int N>
struct __align__(sizeof(T) * N) lw_vector {
  T v[N];
};

/* Of what a warp keeps, 16 x 8 sums of which this lane has four, row by row: the products of 16 x 8 by 8 x 8 numbers are
   added, of which this lane gives four and two, depth by depth (codegen/tensor_cores.py). All lanes come here. */
static __device__ __forceinline__ void lw_multiply(double &s00, double &s01, double &s10, double &s11, double a00,
                                                   double a10, double a01, double a11, double b0, double b1) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+d"(s00), "+d"(s01), "+d"(s10), "+d"(s11)
               : "d"(a00), "d"(a10), "d"(a01), "d"(a11), "d"(b0), "d"(b1));
#elif __CUDA_ARCH__ >= 800
#define LW_MULTIPLY(first, second, left, right)                                                          \
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"         \
               : "+d"(first), "+d"(second)                                                               \
               : "d"(left), "d"(right))
  LW_MULTIPLY(s00, s01, a00, b0);
  LW_MULTIPLY(s10, s11, a10, b0);
  LW_MULTIPLY(s00, s01, a01, b1);
  LW_MULTIPLY(s10, s11, a11, b1);
#undef LW_MULTIPLY
#endif
}

/* The same of 16 x 32 by 32 x 8 bytes, of which this lane gives four in a row in place of each number. */
template <class Left, class Right, class Sum>
static __device__ __forceinline__ void lw_multiply_bytes(Sum &s00, Sum &s01, Sum &s10, Sum &s11, uint32_t a00, uint32_t a10,
                                                         uint32_t a01, uint32_t a11, uint32_t b0, uint32_t b1) {
  int32_t d00 = 0, d01 = 0, d10 = 0, d11 = 0;
#if __CUDA_ARCH__ >= 800
#define LW_MULTIPLY(types)                                                                               \
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32." types ".s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, " \
               "{%8, %9}, {%0, %1, %2, %3};"                                                             \
               : "+r"(d00), "+r"(d01), "+r"(d10), "+r"(d11)                                              \
               : "r"(a00), "r"(a10), "r"(a01), "r"(a11), "r"(b0), "r"(b1))
  if ((Left)-1 < 0) {
    if ((Right)-1 < 0) LW_MULTIPLY("s8.s8");
    else LW_MULTIPLY("s8.u8");
  } else {
    if ((Right)-1 < 0) LW_MULTIPLY("u8.s8");
    else LW_MULTIPLY("u8.u8");
  }
#undef LW_MULTIPLY
#endif
#define LW_ADD(sum, more) sum = (Sum)((uint64_t)sum + (uint64_t)(int64_t)more)
  LW_ADD(s00, d00), LW_ADD(s01, d01), LW_ADD(s10, d10), LW_ADD(s11, d11);
#undef LW_ADD
}
#define LW_MULTIPLY_BYTES(left, right, ...) lw_multiply_bytes<left, right>(__VA_ARGS__)

template <int N, class T>
static __device__ __forceinline__ lw_vector<T, N> lw_read(const T *array, int64_t index) {
  static_assert(sizeof(T) * N <= 16, "one access moves 16 bytes at most");
  return *(const lw_vector<T, N> *)(array + index);
}

/* The same value, of which the compiler knows nothing: what follows from it is computed where it is used. */
static __device__ __forceinline__ int64_t lw_hidden(int64_t value) {
  asm volatile("" : "+l"(value));
  return value;
}

static __device__ __forceinline__ int32_t lw_hidden(int32_t value) {
  asm volatile("" : "+r"(value));
  return value;
}

/* Copy elements of global memory into shared memory, where they are for this thread after lw_arrived(), and for others
   after the barrier behind that. Since sm_80 they take no register on the way, and nobody waits for them. */
template <int N, class T>
static __device__ __forceinline__ void lw_arrive(T *to, int64_t place, const T *from, int64_t index) {
  static_assert(sizeof(T) * N == 4 || sizeof(T) * N == 8 || sizeof(T) * N == 16, "a copy is of 4, 8 or 16 bytes");
#if __CUDA_ARCH__ >= 800
  const unsigned address = (unsigned)__cvta_generic_to_shared(to + place);
  if (sizeof(T) * N == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from + index) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(from + index), "n"(sizeof(T) * N)
                 : "memory");
  }
#else
  *(lw_vector<T, N> *)(to + place) = *(const lw_vector<T, N> *)(from + index);
#endif
}

/* The same, or zeros, where `inside` is false: then nothing is read. */
template <int N, class T>
static __device__ __forceinline__ void lw_arrive_or_zero(T *to, int64_t place, const T *from, int64_t index,
                                                         bool inside) {
  static_assert(sizeof(T) * N == 4 || sizeof(T) * N == 8 || sizeof(T) * N == 16, "a copy is of 4, 8 or 16 bytes");
#if __CUDA_ARCH__ >= 800
  const unsigned address = (unsigned)__cvta_generic_to_shared(to + place), bytes = inside ? sizeof(T) * N : 0;
  if (sizeof(T) * N == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from + index), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from + index),
                 "n"(sizeof(T) * N), "r"(bytes)
                 : "memory");
  }
#else
  for (int k = 0; k < N; ++k) to[place + k] = inside ? from[index + k] : (T)0;
#endif
}

static __device__ __forceinline__ void lw_arrived() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

template <int N, class T>
static __device__ __forceinline__ void lw_write(T *array, int64_t index, const lw_vector<T, N> &vector) {
  static_assert(sizeof(T) * N <= 16, "one access moves 16 bytes at most");
  *(lw_vector<T, N> *)(array + index) = vector;
}

#else

#define LW_OPAQUE(value) __asm__("" : "+r"(value))
#define LW_PASSING(element) (element)
#define LW_ONES(word) __builtin_popcount(word)
#define LW_ONES_64(word) __builtin_popcountll(word)

#endif /* LW_EMULATED */

/* Four bytes, the first of them lowest. */
static __device__ __forceinline__ uint32_t lw_word(int first, int second, int third, int fourth) {
  return (uint32_t)first & 255 | ((uint32_t)second & 255) << 8 | ((uint32_t)third & 255) << 16 | (uint32_t)fourth << 24;
}

#define LW_RARE(x) __builtin_expect(!!(x), 0)
#define LW_SELDOM(x) LW_RARE(x)
#define LW_PART [[maybe_unused]] static __device__ __noinline__
#define LW_PURE [[maybe_unused]] static __device__ __forceinline__

/* Whether a kernel asks whether its call has to end; those of which there are two know better. */
[[maybe_unused]] static constexpr bool lw_asks = true;

/* Whether a call has to end: the host has written its ticket, or a later one, where `stopped` points to. */
#define LW_STOPS(stopped, ticket) (lw_asks && LW_RARE(*(stopped) >= (ticket)))

/* How many operations a thread does between two questions, in loops around others and in innermost ones. */
#ifndef LW_PATIENCE
#define LW_PATIENCE (1 << 14)
#endif
#define LW_STRIP(operations) (4 * LW_PATIENCE / (operations) + 1)
/* Whether a loop of few iterations goes on without a question; that counts them, and what is owed for the loop around. */
#define LW_PLAIN(due, trip, operations, owed)         \
  ((uint64_t)(trip) <= LW_STRIP(operations) &&        \
   (due -= (int32_t)(trip) * (operations) + (owed)) >= 0)
#define LW_SPEND(due, operations, stops)               \
  if (lw_asks && LW_RARE((due -= (operations)) < 0)) { \
    due = LW_PATIENCE;                                 \
    if (stops) lw_stop();                              \
  }

/* Barriers of a block, and of a team, where a thread may have ended: then all of them do. */
#define LW_MEET(threads)                                         \
  do {                                                           \
    if (!lw_asks) __syncthreads();                               \
    else if (__syncthreads_count(1) != (threads)) lw_stop();     \
  } while (0)
#define LW_MEET_TEAM(lanes)                                         \
  do {                                                              \
    if (lw_asks && __ballot_sync((lanes), 1) != (lanes)) lw_stop(); \
    __syncwarp(lanes); /* a vote orders no accesses of memory */    \
  } while (0)

struct lw_failure {
  int64_t site, index, size; /* site < 0: none */
  lw_failure *told;          /* the first three where the host sees them; NULL: nowhere */
};

/* The first failure of all threads of all launches is kept; later ones are dropped. */
LW_PART void lw_fail(lw_failure *failure, int64_t site, int64_t index, int64_t size) {
  const unsigned long long none = ~0ULL;
  if (atomicCAS((unsigned long long *)&failure->site, none, (unsigned long long)site) == none) {
    failure->index = index;
    failure->size = size;
    if (failure->told) {
      failure->told->index = index;
      failure->told->size = size;
      failure->told->site = site;
    }
  }
}

LW_PURE int64_t lw_wrap(int64_t index, int64_t size) { return index < 0 ? index + size : index; }

/* A negative index counts from the end. Without a branch: threads that wait for loads meet nowhere. */
LW_PURE int64_t lw_from_start(int64_t index, int64_t count) { return index + (index >> 63 & count); }

/* Whether an index counted from the start is outside. */
LW_PURE bool lw_outside(int64_t from_start, int64_t count) { return (uint64_t)from_start >= (uint64_t)count; }

/* The same two of an index of 32 bits at most, in 32 bits where lw_int has no more. Of a size that takes more, only the
   lowest bits count: then lw_outside may say so of an index that is inside, but never the other way round. */
template <class I>
LW_PURE I lw_near_from_start(int32_t index, int64_t count) {
  return (I)((uint64_t)(I)index + (uint64_t)((I)(index >> 31) & (I)count));
}
LW_PURE bool lw_outside(int32_t from_start, int64_t count) { return (uint32_t)from_start >= (uint32_t)count; }

/* An index checked as Python does: -size <= index < size, or the failure is recorded and the thread ends. */
LW_PURE int64_t lw_index(lw_failure *failure, int64_t index, int64_t count, int64_t site) {
  const int64_t from_start = lw_from_start(index, count);
  if (LW_RARE(lw_outside(from_start, count))) {
    lw_fail(failure, site, index, count);
    lw_stop();
  }
  return from_start;
}
#define LW_INDEX(expression, count, site) lw_index(failure, (expression), (count), (site))

LW_PURE void lw_failed(lw_failure *failure, int64_t site, int64_t index, int64_t size) {
  lw_fail(failure, site, index, size);
  lw_stop();
}
#define LW_CHECKED(condition, value, site) \
  ((LW_RARE(!(condition)) ? lw_failed(failure, (site), 0, 0) : (void)0), (value))

/* The same for a conversion: the number that does not fit is recorded, by its bits and what they are (1: int64,
   2: uint64, 3: double). */
#define LW_CHECKED_NUMBER(condition, value, site, bits, kind) \
  ((LW_RARE(!(condition)) ? lw_failed(failure, (site), (bits), (kind)) : (void)0), (value))
LW_PURE int64_t lw_bits(double number) {
  union { double number; int64_t bits; } same = {number};
  return same.bits;
}
LW_PURE int64_t lw_bits_float64(double number) { return lw_bits(number); }
LW_PURE int32_t lw_bits_float32(float number) {
  union { float number; int32_t bits; } same = {number};
  return same.bits;
}
LW_PURE double lw_bits_int64(int64_t bits) {
  union { int64_t bits; double number; } same = {bits};
  return same.number;
}
LW_PURE float lw_bits_int32(int32_t bits) {
  union { int32_t bits; float number; } same = {bits};
  return same.number;
}

/* Whether an index that climbs one by one from `first` to `last` stays inside: 0 <= first <= last < size. */
LW_PURE int lw_climbs(int64_t first, int64_t last, int64_t size) {
  return (first >= 0) & (first <= last) & (last < size);
}

/* Where the value of a place is in shared memory. Threads that go along a stretch of 4, 8 or 16 places each would meet
   in few of its banks. */
LW_PURE int lw_slot(int place) { return place + (place >> 3); }

/* The number of iterations of range(lower, upper, step); step is not 0. */
LW_PURE int64_t lw_trip(int64_t lower, int64_t upper, int64_t step) {
  if (step > 0) return lower < upper ? (int64_t)(((uint64_t)upper - (uint64_t)lower - 1) / (uint64_t)step + 1) : 0;
  return lower > upper ? (int64_t)(((uint64_t)lower - (uint64_t)upper - 1) / (0 - (uint64_t)step) + 1) : 0;
}

/* Where a strip of a loop ends that has so many iterations at most. */
LW_PURE int64_t lw_ahead(int64_t first, int64_t bound, int64_t most) {
  return (int64_t)((uint64_t)bound - (uint64_t)first) > most ? first + most : bound;
}
LW_PURE int64_t lw_below(int64_t first, int64_t bound, int64_t most) {
  return (int64_t)((uint64_t)first - (uint64_t)bound) > most ? first - most : bound;
}

/* How many iterations there are before something grows beyond its room, of which each takes a step; as many as an int
   holds are more than enough: what is left is done otherwise. */
LW_PURE int lw_rounds(int64_t room, int64_t step) {
  const int64_t count = room < 0 ? 0 : room / step + 1;
  return count < 1 << 30 ? (int)count : 1 << 30;
}

/* floor division and modulo: Python's sign, 0 for a zero divisor, and the least integer by -1 wraps. */
#define LW_DIVISION(type, suffix)                                   \
  LW_PURE type lw_floordiv_##suffix(type a, type b) {               \
    if (LW_RARE(b == 0)) return 0;                                  \
    if (LW_RARE(b == (type)-1)) return (type)(0 - (uint64_t)a);     \
    type q = (type)(a / b);                                         \
    return (type)(q - ((a % b != 0) & ((a < 0) != (b < 0))));       \
  }                                                                 \
  LW_PURE type lw_mod_##suffix(type a, type b) {                    \
    if (LW_RARE(b == 0 || b == (type)-1)) return 0;                 \
    type r = (type)(a % b);                                         \
    return (type)(r + (((r != 0) & ((r < 0) != (b < 0))) ? b : 0)); \
  }
LW_DIVISION(int8_t, int8)
LW_DIVISION(int16_t, int16)
LW_DIVISION(int32_t, int32)
LW_DIVISION(int64_t, int64)
#define LW_UDIVISION(type, suffix)                                                                  \
  LW_PURE type lw_floordiv_##suffix(type a, type b) { return LW_RARE(b == 0) ? 0 : (type)(a / b); } \
  LW_PURE type lw_mod_##suffix(type a, type b) { return LW_RARE(b == 0) ? 0 : (type)(a % b); }
LW_UDIVISION(uint8_t, uint8)
LW_UDIVISION(uint16_t, uint16)
LW_UDIVISION(uint32_t, uint32)
LW_UDIVISION(uint64_t, uint64)

/* The same, where 32 bits mostly hold both numbers: a GPU has no division of 64 bits, and makes it of some 60 others. */
#define LW_SHORT_DIVISION(type, suffix, op, name)                                                        \
  LW_PURE type lw_short_##name##_##suffix(type a, type b) {                                              \
    if (((uint64_t)a | (uint64_t)b) >> 32 == 0 && b != 0) return (type)((uint32_t)a op (uint32_t)b);     \
    return lw_##name##_##suffix(a, b);                                                                   \
  }
LW_SHORT_DIVISION(int64_t, int64, /, floordiv)
LW_SHORT_DIVISION(int64_t, int64, %, mod)
LW_SHORT_DIVISION(uint64_t, uint64, /, floordiv)
LW_SHORT_DIVISION(uint64_t, uint64, %, mod)
LW_PURE float lw_either_float32(bool holds, float then, float otherwise) { return holds ? then : otherwise; }
LW_PURE double lw_either_float64(bool holds, double then, double otherwise) { return holds ? then : otherwise; }
LW_PURE int64_t lw_near_mod_int64(int64_t a, int64_t b) { return lw_short_mod_int64(a, b); }
LW_PURE uint64_t lw_near_mod_uint64(uint64_t a, uint64_t b) { return lw_short_mod_uint64(a, b); }

/* Shifts: by the width or more, or by a negative amount, every bit is shifted out. */
#define LW_SHIFT(type, utype, suffix, bits)                                                                     \
  LW_PURE type lw_shl_##suffix(type a, type b) { return (uint64_t)b < bits ? (type)((utype)a << b) : (type)0; } \
  LW_PURE type lw_shr_##suffix(type a, type b) { return (uint64_t)b < bits ? (type)(a >> b) : (type)(a < 0 ? -1 : 0); }
LW_SHIFT(int8_t, uint8_t, int8, 8)
LW_SHIFT(int16_t, uint16_t, int16, 16)
LW_SHIFT(int32_t, uint32_t, int32, 32)
LW_SHIFT(int64_t, uint64_t, int64, 64)
#define LW_USHIFT(type, suffix, bits)                                                             \
  LW_PURE type lw_shl_##suffix(type a, type b) { return b < bits ? (type)(a << b) : (type)0; } \
  LW_PURE type lw_shr_##suffix(type a, type b) { return b < bits ? (type)(a >> b) : (type)0; }
LW_USHIFT(uint8_t, uint8, 8)
LW_USHIFT(uint16_t, uint16, 16)
LW_USHIFT(uint32_t, uint32, 32)
LW_USHIFT(uint64_t, uint64, 64)

/* (-1.0) ** n of an n that becomes a double: beyond 2 ** 53 all of these are even. */
LW_PURE double lw_alternating(int64_t n) {
  return (n & 1) && n > -9007199254740992LL && n < 9007199254740992LL ? -1.0 : 1.0;
}
LW_PURE double lw_whole_power_float64(double a, int64_t n) { return pow(a, (double)n); }
LW_PURE double lw_hypot_float64(double a, double b) { return hypot(a, b); }

LW_PURE uint64_t lw_ipow(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  while (exponent) {
    if (exponent & 1) result *= base;
    base *= base;
    exponent >>= 1;
  }
  return result;
}

/* Integers are multiplied and negated without a sign: NVRTC has no -fwrapv. */
template <class T>
struct lw_wraps {
  typedef uint64_t type;
};
template <>
struct lw_wraps<float> {
  typedef float type;
};
template <>
struct lw_wraps<double> {
  typedef double type;
};

/* Python's min and max, of any type: the first operand stays unless the second is truly less or greater. */
template <class T> LW_PURE T lw_min(T a, T b) { return b < a ? b : a; }
template <class T> LW_PURE T lw_max(T a, T b) { return b > a ? b : a; }
template <class T> LW_PURE T lw_abs(T a) { return a < 0 ? (T)-(typename lw_wraps<T>::type)a : a; }
template <class T> LW_PURE T lw_square(T a) {
  const typename lw_wraps<T>::type w = (typename lw_wraps<T>::type)a;
  return (T)(w * w);
}
template <class T> LW_PURE T lw_cube(T a) {
  const typename lw_wraps<T>::type w = (typename lw_wraps<T>::type)a;
  return (T)(w * w * w);
}
template <class T> LW_PURE T lw_fifth(T a) {
  const typename lw_wraps<T>::type w = (typename lw_wraps<T>::type)a, square = w * w;
  return (T)(square * square * w);
}
template <class T> LW_PURE T lw_seventh(T a) {
  const typename lw_wraps<T>::type w = (typename lw_wraps<T>::type)a, cube = w * w * w;
  return (T)(cube * cube * w);
}
/* x ** 0.5: of -0.0 it is 0.0, and of minus infinity infinity. */
template <class T> LW_PURE T lw_root(T a) {
  const T b = a + (T)0, infinite = (T)INFINITY;
  return b == -infinite ? infinite : sizeof(T) == 4 ? (T)sqrtf((float)b) : (T)sqrt((double)b);
}
#define LW_MIN(type, a, b) lw_min<type>((a), (b))
#define LW_MAX(type, a, b) lw_max<type>((a), (b))
#define LW_ABS(type, a) lw_abs<type>((a))
#define LW_SQUARE(type, a) lw_square<type>((a))
#define LW_CUBE(type, a) lw_cube<type>((a))
#define LW_FIFTH(type, a) lw_fifth<type>((a))
#define LW_SEVENTH(type, a) lw_seventh<type>((a))
#define LW_ROOT(type, a) lw_root<type>((a))
#define LW_EXPONENT(type, a) (a)

/* Floats: NumPy's floor division, modulo, maximum, minimum (of equal zeros the second one, as on x86). */
#define LW_FLOAT(type, suffix, f)                                                                  \
  LW_PURE type lw_mod_##suffix(type a, type b) {                                                   \
    type m = fmod##f(a, b);                                                                        \
    if (LW_RARE(b == 0)) return m;                                                                 \
    if (m != 0) return (b < 0) != (m < 0) ? m + b : m;                                             \
    return copysign##f((type)0, b);                                                                      \
  }                                                                                                \
  LW_PURE type lw_floordiv_##suffix(type a, type b) {                                              \
    if (LW_RARE(b == 0)) return a / b;                                                             \
    type m = fmod##f(a, b), q = (a - m) / b;                                                       \
    if (m != 0 && (b < 0) != (m < 0)) q -= 1;                                                      \
    if (q == 0) return copysign##f((type)0, a / b);                                                      \
    type w = floor##f(q);                                                                          \
    return q - w > (type)0.5 ? w + 1 : w;                                                          \
  }                                                                                                \
  LW_PURE type lw_minus_##suffix(type a, type b) { return a - b; }                                 \
  LW_PURE type lw_maximum_##suffix(type a, type b) { return a != a || a > b ? a : b; }             \
  LW_PURE type lw_minimum_##suffix(type a, type b) { return a != a || a < b ? a : b; }             \
  LW_PURE type lw_fmax_##suffix(type a, type b) { return b != b || a >= b ? a : b; }               \
  LW_PURE type lw_fmin_##suffix(type a, type b) { return b != b || a <= b ? a : b; }               \
  LW_PURE int64_t lw_toint_##suffix(type a) {                                                      \
    int64_t whole = a >= (type)-0x1p63 && a < (type)0x1p63 ? (int64_t)a : INT64_MIN;               \
    LW_OPAQUE(whole); /* else gcc makes trunc() of a later conversion back: -0.0 for 0 */          \
    return whole;                                                                                  \
  }                                                                                                \
  LW_PURE uint64_t lw_touint_##suffix(type a) {                                                    \
    return a >= (type)0x1p63 && a < (type)0x1p64 ? (uint64_t)a : (uint64_t)lw_toint_##suffix(a);   \
  }
LW_FLOAT(double, float64, )
LW_FLOAT(float, float32, f)

/* ---- sorting by keys of 8 bits: codegen/counting_sort.py ----------------------------------------------------------

   Blocks of 256 threads, a thread for each key, and for ROUNDS items in steps of a warp: each warp has neighbouring
   items. */

#define LW_WHOLE_WARP 0xffffffffu

/* Which lanes have an item with the same key; none for a lane without an item. All lanes of the warp come here. */
LW_PURE uint32_t lw_peers(bool item, int32_t key) {
  uint32_t peers = (uint32_t)__ballot_sync(LW_WHOLE_WARP, item);
  for (int bit = 0; bit < 8; ++bit) {
    const uint32_t set = (uint32_t)__ballot_sync(LW_WHOLE_WARP, key >> bit & 1);
    peers &= key >> bit & 1 ? set : ~set;
  }
  return item ? peers : 0;
}

/* How many of them stand before a lane. */
LW_PURE int32_t lw_before(uint32_t peers, int32_t lane) { return LW_ONES(peers & ((1u << lane) - 1)); }

/* The sum of the values of this thread and all before it in the block, and in `total` that of all 256. */
template <class Sums>
LW_PURE int64_t lw_sum_in_block(int64_t value, int64_t &total, Sums &sums) {
  const int32_t lane = (int32_t)threadIdx.x % 32, warp = (int32_t)threadIdx.x / 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const int64_t other = __shfl_up_sync(LW_WHOLE_WARP, value, distance);
    value += lane >= distance ? other : 0;
  }
  if (lane == 31) sums[warp] = value;
  __syncthreads();
  total = 0;
  for (int k = 0; k < 8; ++k) {
    value += k < warp ? sums[k] : 0;
    total += sums[k];
  }
  __syncthreads();
  return value;
}

/* table[key * blocks + block]: how many items of the block have the key. */
template <int ROUNDS, class Keys, class Table, class Seen>
LW_PURE void lw_sort_counts(const Keys &keys, Table &table, int64_t items, int64_t blocks, Seen &seen) {
  const int32_t lane = (int32_t)threadIdx.x % 32, warp = (int32_t)threadIdx.x / 32;
  const int64_t first = ((int64_t)blockIdx.x * 8 + warp) * (32 * ROUNDS) + lane;
  seen[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < ROUNDS; ++k) {
    const int64_t item = first + 32 * k;
    const int32_t key = item < items ? (int32_t)keys[item] : 0;
    const uint32_t peers = lw_peers(item < items, key);
    if (peers && !lw_before(peers, lane)) atomicAdd(LW_ADDRESS(seen, key), (int32_t)LW_ONES(peers));
  }
  __syncthreads();
  table[(int64_t)threadIdx.x * blocks + blockIdx.x] = seen[threadIdx.x];
}

/* Of the row of a key: in each place what stands before it, and in `totals` the sum. A block has a row. */
template <int ROUNDS, class Table, class Totals, class Sums>
LW_PURE void lw_sort_sums(Table &table, Totals &totals, int64_t blocks, Sums &sums) {
  const int64_t row = (int64_t)blockIdx.x * blocks;
  int64_t before = 0;
  for (int64_t start = 0; start < blocks; start += 256) {
    const int64_t at = start + threadIdx.x, own = at < blocks ? (int64_t)table[row + at] : 0;
    int64_t total;
    const int64_t sum = lw_sum_in_block(own, total, sums);
    if (at < blocks) table[row + at] = before + sum - own;
    before += total;
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = before;
}

/* order[place] = item, for each item of the block. mine: for each warp and key, what the warps before it in the block
   have, and then also what it has put away itself; begins: for each key, where those of the block begin. */
template <int ROUNDS, class Keys, class Table, class Totals, class Order, class Mine, class Begins, class Sums>
LW_PURE void lw_sort_places(const Keys &keys, const Table &table, const Totals &totals, Order &order, int64_t items,
                            int64_t blocks, Mine &mine, Begins &begins, Sums &sums) {
  const int32_t lane = (int32_t)threadIdx.x % 32, warp = (int32_t)threadIdx.x / 32;
  const int64_t first = ((int64_t)blockIdx.x * 8 + warp) * (32 * ROUNDS) + lane;
  int32_t found[ROUNDS];
  const int64_t own = totals[threadIdx.x];
  int64_t all;
  const int64_t upto = lw_sum_in_block(own, all, sums);
  begins[threadIdx.x] = upto - own + table[(int64_t)threadIdx.x * blocks + blockIdx.x];
  for (int k = 0; k < 8; ++k) mine[256 * k + threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < ROUNDS; ++k) {
    const int64_t item = first + 32 * k;
    found[k] = item < items ? (int32_t)keys[item] : 0;
    const uint32_t peers = lw_peers(item < items, found[k]);
    if (peers && !lw_before(peers, lane)) mine[256 * warp + found[k]] += (int32_t)LW_ONES(peers);
    __syncwarp();
  }
  __syncthreads();
  int32_t sum = 0;
  for (int k = 0; k < 8; ++k) {
    const int32_t count = mine[256 * k + threadIdx.x];
    mine[256 * k + threadIdx.x] = sum;
    sum += count;
  }
  __syncthreads();
  for (int k = 0; k < ROUNDS; ++k) {
    const int64_t item = first + 32 * k;
    const uint32_t peers = lw_peers(item < items, found[k]);
    const int32_t before = lw_before(peers, lane), there = mine[256 * warp + found[k]];
    __syncwarp();
    if (peers && !before) mine[256 * warp + found[k]] = there + (int32_t)LW_ONES(peers);
    __syncwarp();
    if (item < items) order[begins[found[k]] + there + before] = item;
  }
}
