/* The calling convention between generated code and its callers, and the meaning of the operators that C does not
   have or leaves undefined. Generated text starts with this file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <stdbool.h>
#include <time.h>
#ifdef __linux__
#include <sys/mman.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#else
#define omp_get_thread_num() 0
#define omp_get_num_threads() 1
#endif

typedef union { int64_t i; uint64_t u; double d; float f; } lw_slot;

typedef struct { int64_t site, index, size; } lw_failure; /* site < 0: none */

/* Whom a call asks whether to stop: 1 where it has to. One question takes some 30 ns. */
typedef struct lw_watch lw_watch;
struct lw_watch {
  int32_t (*ask)(lw_watch *watch);
};

/* What host code can ask of a GPU. Each function returns 0, or an error code of the device (not 0). */
typedef struct lw_gpu lw_gpu;
struct lw_gpu {
  /* Start kernel number `kernel` of the program; does not wait. arguments: a pointer to the value of each parameter.
     work: units that it takes at most before it asks whether to stop (codegen/most_work.py). */
  int32_t (*launch)(lw_gpu *gpu, int64_t kernel, const int64_t grid[3], const int64_t block[3], int64_t shared_bytes,
                    void **arguments, int64_t work);
  /* Copy bytes of device memory to the host after all launches so far, and wait for that. Of `visible` memory, and of
     the device's lw_failure, only to wait is left. */
  int32_t (*fetch)(lw_gpu *gpu, void *to, const void *from, int64_t bytes);
  /* Device memory; NULL where there is none. */
  void *(*allocate)(lw_gpu *gpu, int64_t bytes);
  void (*release)(lw_gpu *gpu, void *memory);
  /* Set bytes of device memory to zero, in order with launches. */
  int32_t (*clear)(lw_gpu *gpu, void *memory, int64_t bytes);
  /* Memory that kernels may write to and nobody reads before `fetch`. To be given back by `release`; NULL: none. */
  void *(*visible)(lw_gpu *gpu, int64_t bytes);
  /* The number of a new call. Its kernels end early once `*stopped`, in device memory, is not below it. */
  int64_t (*ticket)(lw_gpu *gpu);
  const volatile int64_t *stopped;
  int64_t patience; /* units that a thread of a launch may take that does not ask; LW_ABREAST as many do so at once */
};

/* The order in which a loop runs its iterations (codegen/counting_sort.py): device memory that outlasts calls, how many
   bytes and iterations it is for, whether it is still that of the arguments that decide about it, and how often it was
   found. */
typedef struct {
  void *memory;
  int64_t room, length, known, found;
} lw_kept;

typedef struct {
  char *const *data;              /* per argument position, then per result array; NULL for scalars */
  const int64_t *const *shape;    /* likewise, in elements */
  const int64_t *const *strides;  /* likewise, in bytes */
  const lw_slot *scalars;         /* per argument position */
  lw_slot *returned;              /* per returned scalar */
  int64_t threads;                /* how many threads may be used, at least 1 */
  lw_failure *failure;
  lw_watch *watch;                /* NULL: nobody will want to stop it */
  lw_gpu *gpu;                    /* the last three only in programs for a GPU: `data` is device memory then */
  lw_failure *device_failure;     /* in device memory */
  lw_kept *kept;                  /* per loop that is sorted, as far as its order is kept */
} lw_call;

#define LW_HUGE (INT64_C(2) << 20)  /* a large page */
#define LW_LARGE (INT64_C(4) << 20) /* an array that large ones are asked for */
/* What ends a run, and what is only less likely than not. A long function has hundreds of the first kind: with the
   compiler's own guess for each, one in ten, it would take what follows them for never run, and not make it fast. */
#define LW_RARE(x) __builtin_expect_with_probability(!!(x), 0, 0.9999)
#define LW_SELDOM(x) __builtin_expect(!!(x), 0)
#define LW_ALIGNED(array, bytes) ((uintptr_t)(array) % (bytes) == 0)
#define LW_PART static __attribute__((noinline, unused))
#define LW_PURE static inline __attribute__((always_inline, unused))

/* Memory for an order of so many iterations: what is known of another number of them is of no use. NULL: none. */
LW_PURE void *lw_keep(lw_gpu *gpu, lw_kept *kept, int64_t length) {
  const int64_t bytes = length > INT64_MAX / 16 ? INT64_MAX : 8 * length + 8;
  if (kept->length != length) kept->known = 0;
  if (kept->room < bytes) {
    if (kept->memory) gpu->release(gpu, kept->memory);
    kept->memory = gpu->allocate(gpu, bytes);
    kept->room = kept->memory ? bytes : 0;
    kept->known = 0;
  }
  kept->length = length;
  return kept->memory;
}

/* Functions of libmvec, which gcc takes where it vectorises a loop: within 4 units in the last place. The names of their
   own keep gcc from making one call of sin and cos, for which libmvec has nothing. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 22)
#define LW_HAS_LANES
#endif
#endif
#ifdef LW_HAS_LANES
#define LW_VECTOR(name) lw_vector_##name
#define LW_LANES __attribute__((const, nothrow, simd("notinbranch")))
#define LW_FUNCTION(name, how) \
  extern double lw_vector_##name(double) __asm__(#name) how; \
  extern float lw_vector_##name##f(float) __asm__(#name "f") how;
#define LW_FUNCTION_2(name, how) \
  extern double lw_vector_##name(double, double) __asm__(#name) how; \
  extern float lw_vector_##name##f(float, float) __asm__(#name "f") how;
#if __GLIBC_PREREQ(2, 35)
#define LW_NEW_LANES LW_LANES
#else
#define LW_NEW_LANES __attribute__((const, nothrow))
#endif
LW_FUNCTION(exp, LW_LANES)
LW_FUNCTION(log, LW_LANES)
LW_FUNCTION(sin, LW_LANES)
LW_FUNCTION(cos, LW_LANES)
LW_FUNCTION_2(pow, LW_LANES)
LW_FUNCTION(tan, LW_NEW_LANES)
LW_FUNCTION(asin, LW_NEW_LANES)
LW_FUNCTION(acos, LW_NEW_LANES)
LW_FUNCTION(atan, LW_NEW_LANES)
LW_FUNCTION_2(atan2, LW_NEW_LANES)
LW_FUNCTION(sinh, LW_NEW_LANES)
LW_FUNCTION(cosh, LW_NEW_LANES)
LW_FUNCTION(tanh, LW_NEW_LANES)
LW_FUNCTION(asinh, LW_NEW_LANES)
LW_FUNCTION(acosh, LW_NEW_LANES)
LW_FUNCTION(atanh, LW_NEW_LANES)
LW_FUNCTION(exp2, LW_NEW_LANES)
LW_FUNCTION(expm1, LW_NEW_LANES)
LW_FUNCTION(log2, LW_NEW_LANES)
LW_FUNCTION(log1p, LW_NEW_LANES)
LW_FUNCTION(erf, LW_NEW_LANES)
LW_FUNCTION(erfc, LW_NEW_LANES)
/* Within 2 units in the last place, in a fraction of the time: powers of two keep squares away from both ends. */
LW_PURE double lw_vector_hypot(double x, double y) {
  x = fabs(x), y = fabs(y);
  const double most = x > y ? x : y;
  const double down = most > 0x1p500 ? 0x1p-600 : most < 0x1p-400 ? 0x1p600 : 1.0;
  const double up = most > 0x1p500 ? 0x1p600 : most < 0x1p-400 ? 0x1p-600 : 1.0;
  const double a = x * down, b = y * down, found = sqrt(a * a + b * b) * up;
  return (x == INFINITY) | (y == INFINITY) ? INFINITY : found;
}
LW_PURE float lw_vector_hypotf(float x, float y) {
  const double a = x, b = y, found = sqrt(a * a + b * b);
  return (fabsf(x) == INFINITY) | (fabsf(y) == INFINITY) ? INFINITY : (float)found;
}
#else
#define LW_VECTOR(name) name
#endif

/* Code for whole vector registers: the widest that a row of so many bytes, a multiple of 16, fills. */
#if defined(__AVX512F__)
#define LW_REGISTER 64
#elif defined(__AVX__)
#define LW_REGISTER 32
#else
#define LW_REGISTER 16
#endif
#define LW_FILLED(bytes) ((bytes) % LW_REGISTER == 0 ? LW_REGISTER : (bytes) % 32 == 0 && LW_REGISTER > 32 ? 32 : 16)
#define LW_ROW(type, bytes) \
  typedef type lw_row __attribute__((vector_size(LW_FILLED(bytes)), aligned(sizeof(type)), may_alias))

/* Registers of floats of which a mask leaves out the last ones (tail_masking.py): loads of the first `count` elements,
   with 0 in place of others; a register with nothing to be added in place of others; and the sum of all lanes. They
   have 32 bytes also where there are wider ones, whose masks and whose sum of all lanes take longer. */
#if defined(__x86_64__) && defined(__AVX2__) && !defined(__clang__)
#define LW_MASKS 1
#define LW_MASKED(load, from, mask) load((const void *)(from), mask)
#else
#define LW_MASKS 0
#define LW_MASKED(load, from, mask) {0}
#endif
#define LW_ROWS(type, suffix, number, load, ...)                                                                    \
  typedef type lw_row_##suffix __attribute__((vector_size(32), aligned(sizeof(type)), may_alias));                  \
  typedef number lw_mask_##suffix __attribute__((vector_size(32)));                                                 \
  static const lw_mask_##suffix lw_places_##suffix = {__VA_ARGS__};                                                 \
  LW_PURE lw_row_##suffix lw_masked_##suffix(const type *from, int64_t count) {                                     \
    const lw_row_##suffix row = LW_MASKED(load, from, lw_places_##suffix < (number)count);                          \
    return row;                                                                                                     \
  }                                                                                                                 \
  LW_PURE lw_row_##suffix lw_first_##suffix(lw_row_##suffix row, int64_t count) {                                   \
    const lw_mask_##suffix mask = lw_places_##suffix < (number)count;                                               \
    return (lw_row_##suffix)(((lw_mask_##suffix)row & mask) | ((lw_mask_##suffix)(-(lw_row_##suffix){0}) & ~mask)); \
  }                                                                                                                 \
  LW_PURE type lw_total_##suffix(lw_row_##suffix row) {                                                             \
    enum { lw_half = sizeof row / sizeof(type) / 2 };                                                               \
    type part[lw_half];                                                                                             \
    for (int k = 0; k < lw_half; ++k) part[k] = row[k] + row[k + lw_half];                                          \
    for (int n = lw_half / 2; n; n /= 2)                                                                            \
      for (int k = 0; k < n; ++k) part[k] = part[k] + part[k + n];                                                  \
    return part[0];                                                                                                 \
  }
LW_ROWS(double, float64, long long, (lw_row_float64)__builtin_ia32_maskloadpd256, 0, 1, 2, 3)
LW_ROWS(float, float32, int, (lw_row_float32)__builtin_ia32_maskloadps256, 0, 1, 2, 3, 4, 5, 6, 7)

/* Whether the compiler makes code for whole registers of loops that read, under a condition, where data say. */
#if defined(__x86_64__) && !defined(__AVX512VL__)
#define LW_MASKED_GATHERS 0
#else
#define LW_MASKED_GATHERS 1
#endif

/* How many elementary operations a thread does before it asks whether to stop: microseconds where they are vectorised,
   some milliseconds where each of them waits for memory. */
#ifndef LW_PATIENCE
#define LW_PATIENCE (INT64_C(1) << 20)
#endif

/* Out of line, and cold: loops keep their registers. What always comes to a cold function counts as cold itself, and is
   made small instead of fast, so loops that ask between strips have a function that is not. */
static __attribute__((noinline, cold, unused)) int lw_asked(lw_watch *watch) { return watch && watch->ask(watch); }
LW_PART int lw_asked_between(lw_watch *watch) { return watch && watch->ask(watch); }

/* So many operations are about to be done. `due`: how many are left before the next question. */
#define LW_SPEND(due, watch, operations)      \
  if (LW_RARE((due -= (operations)) < 0)) {   \
    due = LW_PATIENCE;                        \
    if (lw_asked(watch)) goto lw_leave;       \
  }

/* How many iterations of so many operations come between two questions; where a strip of them ends. */
#define LW_STRIP(operations) (LW_PATIENCE / (operations) + 1)
LW_PURE int64_t lw_ahead(int64_t first, int64_t bound, int64_t most) {
  return (uint64_t)bound - (uint64_t)first > (uint64_t)most ? first + most : bound;
}
LW_PURE int64_t lw_below(int64_t first, int64_t bound, int64_t most) {
  return (uint64_t)first - (uint64_t)bound > (uint64_t)most ? first - most : bound;
}

#define LW_FEW (LW_PATIENCE / 16) /* operations of a loop that may end early; more of them it counts itself */
LW_PURE int64_t lw_if_few(int64_t operations) { return operations > LW_FEW ? 0 : operations; }
/* The operations of a loop, as far as they matter to LW_SPEND. */
LW_PURE int64_t lw_spent(double work) { return work < 0x1p40 ? (int64_t)work + 1 : INT64_C(1) << 40; }

/* Launches that do not ask. How many units one of them takes, by what one thread does, and how many threads there are;
   how many blocks fit into one along an axis, of all that fit. */
#define LW_ABREAST 131072
LW_PURE double lw_together(double each, double threads) { return each * (threads > LW_ABREAST ? threads : LW_ABREAST); }
LW_PURE int64_t lw_along(double *room, int64_t trip, int64_t most) {
  most = trip < most ? trip : most;
  most = *room < (double)most ? (int64_t)*room : most;
  most = most < 1 ? 1 : most;
  *room /= (double)most;
  return most;
}
/* As many blocks as run in whole rounds of so many at once, where they are not all of a trip. */
LW_PURE int64_t lw_in_rounds(int64_t most, int64_t trip, int64_t at_once) {
  return most < trip && most > at_once ? most - most % at_once : most;
}

/* An element that was stored: it is no part of a wide store. */
#define LW_SEPARATE(element) __asm__("" : "+m"(element))

/* Elements that may stand at any address (fields of packed records, unaligned buffers). */
#define LW_UNALIGNED(type, name) typedef type name __attribute__((aligned(1), may_alias))
LW_UNALIGNED(int16_t, lw_u_int16_t);
LW_UNALIGNED(int32_t, lw_u_int32_t);
LW_UNALIGNED(int64_t, lw_u_int64_t);
LW_UNALIGNED(uint16_t, lw_u_uint16_t);
LW_UNALIGNED(uint32_t, lw_u_uint32_t);
LW_UNALIGNED(uint64_t, lw_u_uint64_t);
LW_UNALIGNED(float, lw_u_float);
LW_UNALIGNED(double, lw_u_double);

/* The first failure is kept; later ones, of this or of other threads, are dropped. */
LW_PART void lw_fail(lw_failure *failure, int64_t site, int64_t index, int64_t size) {
  int64_t none = -1;
  if (__atomic_compare_exchange_n(&failure->site, &none, site, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    failure->index = index;
    failure->size = size;
  }
}

LW_PURE int64_t lw_wrap(int64_t index, int64_t size) { return index < 0 ? index + size : index; }

/* An index checked as Python does: -size <= index < size, or the failure is recorded and the function is left. */
#define LW_INDEX(expression, count, site)                                                   \
  ({                                                                                        \
    int64_t lw_x = (expression);                                                            \
    const int64_t lw_n = (count);                                                           \
    if (LW_RARE((uint64_t)lw_x >= (uint64_t)lw_n)) {                                        \
      if (lw_x >= 0 || lw_x < -lw_n) { lw_fail(failure, site, lw_x, lw_n); goto lw_leave; } \
      lw_x += lw_n;                                                                         \
    }                                                                                       \
    lw_x;                                                                                   \
  })

/* Whether an index that climbs one by one from `first` to `last` stays inside: 0 <= first <= last < size. */
LW_PURE int lw_climbs(int64_t first, int64_t last, int64_t size) {
  return (first >= 0) & (first <= last) & (last < size);
}

#define LW_CHECKED(condition, value, site)                                       \
  ({                                                                             \
    if (LW_RARE(!(condition))) { lw_fail(failure, site, 0, 0); goto lw_leave; } \
    value;                                                                       \
  })

/* The same for a conversion: the number that does not fit is recorded, by its bits and what they are (1: int64,
   2: uint64, 3: double). */
#define LW_CHECKED_NUMBER(condition, value, site, bits, kind)                              \
  ({                                                                                       \
    if (LW_RARE(!(condition))) { lw_fail(failure, site, (bits), (kind)); goto lw_leave; } \
    value;                                                                                 \
  })
LW_PURE int64_t lw_bits(double number) {
  int64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}
LW_PURE int64_t lw_bits_float64(double number) { return lw_bits(number); }
LW_PURE int32_t lw_bits_float32(float number) {
  int32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}
LW_PURE double lw_bits_int64(int64_t bits) { return ((union { int64_t bits; double number; }){bits}).number; }
LW_PURE float lw_bits_int32(int32_t bits) { return ((union { int32_t bits; float number; }){bits}).number; }

/* Conversions in lanes, between numbers of 64 bits: before AVX-512 x86 has none for whole registers, and a loop with one
   would stay out of them. A whole number has its bits at the end of a double's that is large enough, which arithmetic puts
   there and takes away. lw_double: the nearest double, as a cast. LW_CONVERTED: of what LW_CONVERTS. */
#if defined(__SSE4_1__) && !(defined(__AVX512DQ__) && defined(__AVX512VL__))
LW_PURE double lw_double_halves(uint64_t low, uint64_t high, double both) {
  double a, b;
  memcpy(&a, &low, sizeof a);
  memcpy(&b, &high, sizeof b);
  return (b - both) + a;
}
LW_PURE double lw_double_int64(int64_t whole) {
  const uint64_t bits = (uint64_t)whole;
  return lw_double_halves((bits & UINT32_MAX) | UINT64_C(0x4330000000000000), (bits >> 32) ^ UINT64_C(0x4530000080000000),
                          0x1.00000801p84);
}
LW_PURE double lw_double_uint64(uint64_t bits) {
  return lw_double_halves((bits & UINT32_MAX) | UINT64_C(0x4330000000000000), (bits >> 32) | UINT64_C(0x4530000000000000),
                          0x1.00000001p84);
}
LW_PURE int64_t lw_converted(double number) { return lw_bits(__builtin_trunc(number) + 0x1.8p52) - INT64_C(0x4338000000000000); }
#define LW_CONVERTS(number) (__builtin_fabs(number) <= 0x1p51)
#define LW_CONVERTED(number, zero) lw_converted(number)
#else
#define lw_double_int64(whole) ((double)(whole))
#define lw_double_uint64(whole) ((double)(whole))
#define LW_CONVERTS(number) (((number) >= -0x1p63) & ((number) < 0x1p63))
#define LW_CONVERTED(number, zero) ((int64_t)(number) + (zero))
#endif

/* A whole number to be compared with those of 8 or 16 bits. */
#define LW_WITHIN(type, suffix, most) \
  LW_PURE type lw_within_##suffix(int64_t x) { return (type)(x > (most) ? (most) : x < -(most) ? -(most) : x); }
LW_WITHIN(int16_t, int16, 512)
LW_WITHIN(int32_t, int32, 131072)

/* A float that is converted; the least integer where it does not fit, as x86 has it. Whether it does is then all that
   there is to be asked. Else gcc is kept from making trunc() of a later conversion back: -0.0 for 0. */
#if defined(__x86_64__)
#ifdef __AVX__
#define LW_TRUNCATE(type) "vcvtt" type "2si {%1, %0|%0, %1}"
#else
#define LW_TRUNCATE(type) "cvtt" type "2si {%1, %0|%0, %1}"
#endif
LW_PURE int64_t lw_toint_float64(double a) {
  int64_t whole;
  __asm__(LW_TRUNCATE("sd") : "=r"(whole) : "x"(a));
  return whole;
}
LW_PURE int64_t lw_toint_float32(float a) {
  int64_t whole;
  __asm__(LW_TRUNCATE("ss") : "=r"(whole) : "x"(a));
  return whole;
}
#else
#define LW_TOINT(type, suffix)                                                         \
  LW_PURE int64_t lw_toint_##suffix(type a) {                                          \
    int64_t whole = a >= (type)-0x1p63 && a < (type)0x1p63 ? (int64_t)a : INT64_MIN;   \
    __asm__("" : "+r"(whole));                                                         \
    return whole;                                                                      \
  }
LW_TOINT(double, float64)
LW_TOINT(float, float32)
#endif
#define LW_LEAST INT64_C(-0x3C20000000000000) /* the bits of -0x1p63: gcc asks that of every number, in few instructions */
#define LW_TRUNCATED(type, suffix, expression, site)                                              \
  ({                                                                                              \
    const type lw_number = (expression);                                                          \
    int64_t lw_whole_part = lw_toint_##suffix(lw_number);                                         \
    if (LW_RARE(lw_whole_part == INT64_MIN) && LW_RARE(lw_bits((double)lw_number) != LW_LEAST)) { \
      lw_fail(failure, site, lw_bits((double)lw_number), 3);                                      \
      goto lw_leave;                                                                              \
    }                                                                                             \
    lw_whole_part;                                                                                \
  })

/* The number of iterations of range(lower, upper, step); step is not 0. */
LW_PURE int64_t lw_trip(int64_t lower, int64_t upper, int64_t step) {
  if (step > 0) return lower < upper ? (int64_t)(((uint64_t)upper - (uint64_t)lower - 1) / (uint64_t)step + 1) : 0;
  return lower > upper ? (int64_t)(((uint64_t)lower - (uint64_t)upper - 1) / (0 - (uint64_t)step) + 1) : 0;
}

/* Whether elements of an array lie within a distance of 2**30 units of bytes from its first one. */
LW_PURE int lw_is_small(int64_t rank, const int64_t *shape, const int64_t *strides, int64_t unit) {
  int64_t reach = 0;
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t one;
    if (shape[axis] == 0) return 1;
    if (shape[axis] > (INT64_C(1) << 30)) return 0; /* where the stride is 0, numbers of elements still grow */
    if (__builtin_mul_overflow(shape[axis], strides[axis], &one)) return 0;
    one = (one < 0 ? -one : one) / unit;
    if (one > (INT64_C(1) << 30) || (reach += one) > (INT64_C(1) << 30)) return 0;
  }
  return 1;
}

/* How many threads a loop of `trip` iterations and `work` elementary operations deserves. */
LW_PURE int64_t lw_team(int64_t threads, int64_t trip, double work, double grain) {
  double most = work / grain;
  if (most < (double)threads) threads = (int64_t)most;
  if (trip < threads) threads = trip;
  return threads < 1 ? 1 : threads;
}

/* Whether a team is worth while: it costs something to start and to wait for, and other programs may keep threads from
   their cores for milliseconds. Each loop keeps an account of what its teams gain: the time that all threads took for
   their shares, less the time from start to end. When that is overdrawn, one thread does the loop for as long, and twice
   as long at each further time, but where there is much more work than there was then. The work is shared out in the same
   way for any crew, so sums have the same bits. */
#ifndef LW_ALONE
#define LW_ALONE 0 /* 1, -1: always one thread, always the team (tests) */
#endif
enum { LW_DOUBLINGS = 6, LW_TRUSTED = 1000000, LW_MOST_CREDIT = 5000000 }; /* nanoseconds, but for the first */
typedef struct { int64_t credit, until, losses, work; } lw_pace; /* until: one thread does twice that work at most */
typedef struct { lw_pace *pace; int64_t crew, called, spent, work; } lw_run;
LW_PURE int64_t lw_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}
/* How many threads do what `threads` threads are to do: all of them, or one. */
static __attribute__((noinline, unused)) int64_t lw_crew_for(lw_run *run, lw_pace *pace, int64_t threads, double work) {
  const int64_t now = lw_now(), units = lw_spent(work);
  const bool held = now < __atomic_load_n(&pace->until, __ATOMIC_RELAXED);
  const bool alone = LW_ALONE ? LW_ALONE > 0 : held && units <= 2 * __atomic_load_n(&pace->work, __ATOMIC_RELAXED);
  *run = (lw_run){pace, alone ? 1 : threads, now, 0, units};
  return run->crew;
}
static __attribute__((noinline, unused)) void lw_learn(const lw_run *run) {
  if (run->crew == 1) return;
  const int64_t now = lw_now();
  int64_t credit = __atomic_load_n(&run->pace->credit, __ATOMIC_RELAXED) + run->spent - (now - run->called);
  if (credit < 0) {
    const int64_t losses = __atomic_load_n(&run->pace->losses, __ATOMIC_RELAXED);
    __atomic_store_n(&run->pace->until, now + (-credit << losses), __ATOMIC_RELAXED);
    __atomic_store_n(&run->pace->work, run->work, __ATOMIC_RELAXED);
    __atomic_store_n(&run->pace->losses, losses < LW_DOUBLINGS ? losses + 1 : losses, __ATOMIC_RELAXED);
    credit = 0;
  } else if (credit > LW_TRUSTED) {
    __atomic_store_n(&run->pace->losses, 0, __ATOMIC_RELAXED);
    credit = credit < LW_MOST_CREDIT ? credit : LW_MOST_CREDIT;
  }
  __atomic_store_n(&run->pace->credit, credit, __ATOMIC_RELAXED);
}
#define LW_SELF omp_get_thread_num()
#define LW_CREW omp_get_num_threads()
#define LW_BEGUN const int64_t lw_begun = lw_now()
#define LW_DONE(run) __atomic_fetch_add(&(run).spent, lw_now() - lw_begun, __ATOMIC_RELAXED)

/* Where piece `at` of `pieces` equal ones begins. */
LW_PURE int64_t lw_cut(int64_t count, int64_t at, int64_t pieces) {
  const int64_t each = count / pieces, more = count % pieces;
  return at * each + (at < more ? at : more);
}

/* How many pieces are worth their handing out: `fewest` to `most` a thread, a whole number for each. */
LW_PURE int64_t lw_handed(int64_t threads, double work, int64_t fewest, int64_t most) {
  const double each = work / 5000.0 / (double)threads;
  return threads * (each < (double)fewest ? fewest : each > (double)most ? most : (int64_t)each);
}

/* Which of `threads` owns a block of a target: well mixed, so that busy parts of it have several owners. */
LW_PURE int64_t lw_owner(int64_t block, int64_t threads) {
  return (int64_t)((uint64_t)((uint32_t)block * UINT32_C(0x9E3779B1)) * (uint64_t)threads >> 32);
}

/* One of two floats, and a number where a condition holds, else 0.0, by their bits: written with `?`, gcc makes a jump. */
#define LW_EITHER(type, bits, suffix)                                      \
  LW_PURE type lw_either_##suffix(bool holds, type then, type otherwise) { \
    bits a, b;                                                             \
    memcpy(&a, &then, sizeof a);                                           \
    memcpy(&b, &otherwise, sizeof b);                                      \
    b ^= (a ^ b) & -(bits)holds;                                           \
    memcpy(&otherwise, &b, sizeof b);                                      \
    return otherwise;                                                      \
  }                                                                        \
  LW_PURE type lw_selected_##suffix(int condition, type x) { return lw_either_##suffix(condition != 0, x, 0); }
LW_EITHER(double, uint64_t, float64)
LW_EITHER(float, uint32_t, float32)

/* The same where two floats are compared: in registers for vectors, in which the comparison gives such bits. */
typedef double lw_floats_float64 __attribute__((vector_size(16)));
typedef int64_t lw_holds_float64 __attribute__((vector_size(16)));
typedef float lw_floats_float32 __attribute__((vector_size(16)));
typedef int32_t lw_holds_float32 __attribute__((vector_size(16)));
#define LW_COMPARED(suffix, left, op, right, then, otherwise)                                             \
  ({ const lw_floats_##suffix lw_l = {left}, lw_r = {right}, lw_t = {then}, lw_o = {otherwise};           \
     const lw_holds_##suffix lw_h = lw_l op lw_r, lw_no = (lw_holds_##suffix)lw_o;                        \
     ((lw_floats_##suffix)(lw_no ^ (((lw_holds_##suffix)lw_t ^ lw_no) & lw_h)))[0]; })

/* Python's min and max, of any type: the first operand stays unless the second is truly less or greater. */
#define LW_MIN(type, a, b) ({ const type lw_a = (a), lw_b = (b); lw_b < lw_a ? lw_b : lw_a; })
#define LW_MAX(type, a, b) ({ const type lw_a = (a), lw_b = (b); lw_b > lw_a ? lw_b : lw_a; })
#define LW_ABS(type, a) ({ const type lw_a = (a); lw_a < 0 ? (type)-lw_a : lw_a; })

/* In an iteration of a loop: the compiler does them one by one. It would load several elements at once only to add them
   up in order, and where an iteration of a loop outside has just stored one of them, such a load waits for the store to
   reach the cache. */
#define LW_ONE_BY_ONE __asm__("")

/* 0, which the compiler does not know to be that. */
LW_PURE int64_t lw_nothing(void) {
  int64_t zero = 0;
  __asm__("" : "+r"(zero));
  return zero;
}

/* fmod(), which takes glibc some ten nanoseconds. The quotient of two floats is never rounded to below a whole number
   that it has reached, so that cut to a whole number q it is right or one too large, and a - q * b, which a fused
   multiply-add computes exactly, is the remainder or that less b. Not for a q of more than its 53 or 24 bits, nor where
   b is not finite. */
#if defined(__FP_FAST_FMA) && defined(__FP_FAST_FMAF)
#define LW_FMOD(type, suffix, f, most)                                         \
  LW_PURE type lw_fmod_##suffix(type a, type b) {                              \
    const type of = fabs##f(a), by = fabs##f(b);                               \
    if (__builtin_constant_p(by) && by == 1)                                   \
      return copysign##f(of - trunc##f(of), a);                                \
    const type q = trunc##f(of / by);                                          \
    if (LW_SELDOM(!(q < (type)most && by < INFINITY))) return fmod##f(a, b);     \
    const type rest = fma##f(-q, by, of);                                      \
    return copysign##f(rest < 0 ? rest + by : rest, a);                        \
  }
#else
#define LW_FMOD(type, suffix, f, most) \
  LW_PURE type lw_fmod_##suffix(type a, type b) { return fmod##f(a, b); }
#endif
LW_FMOD(double, float64, , 0x1p53)
LW_FMOD(float, float32, f, 0x1p24)

/* What the compiler knows nothing of, so that it fuses it with nothing; in a register all the same. */
#if defined(__x86_64__)
#define LW_APART(a) __asm__("" : "+x"(a));
#elif defined(__aarch64__)
#define LW_APART(a) __asm__("" : "+w"(a));
#else
#define LW_APART(a)
#endif

/* Floats: NumPy's floor division, modulo, maximum, minimum (of equal zeros the second one, as on x86). */
#define LW_FLOAT(type, suffix, f)                                                                      \
  LW_PURE type lw_mod_##suffix(type a, type b) {                                                       \
    if (__builtin_constant_p(b) && b == 1) return a - floor##f(a); /* exact, or rounded once, as m + 1 */ \
    const type m = lw_fmod_##suffix(a, b);                                                             \
    const type r = m + lw_selected_##suffix((m != 0) & ((b < 0) != (m < 0)), b);                       \
    return m != 0 ? r : copysign##f(0, b);                                                             \
  }                                                                                                    \
  LW_PURE type lw_floordiv_##suffix(type a, type b) {                                                  \
    if (LW_SELDOM(b == 0)) return a / b;                                                                 \
    type m = lw_fmod_##suffix(a, b), q = (a - m) / b;                                                  \
    if (m != 0 && (b < 0) != (m < 0)) q -= 1;                                                          \
    if (q == 0) return copysign##f(0, a / b);                                                          \
    type w = floor##f(q);                                                                              \
    return q - w > (type)0.5 ? w + 1 : w;                                                              \
  }                                                                                                    \
  LW_PURE type lw_minus_##suffix(type a, type b) { return a - b; }                                     \
  LW_PURE type lw_apart_##suffix(type a) { LW_APART(a) return a; }                                     \
  LW_PURE type lw_maximum_##suffix(type a, type b) { return a != a || a > b ? a : b; }                 \
  LW_PURE type lw_minimum_##suffix(type a, type b) { return a != a || a < b ? a : b; }                 \
  LW_PURE type lw_fmax_##suffix(type a, type b) { return b != b || a >= b ? a : b; }                   \
  LW_PURE type lw_fmin_##suffix(type a, type b) { return b != b || a <= b ? a : b; }                   \
  LW_PURE uint64_t lw_touint_##suffix(type a) {                                                        \
    return a >= (type)0x1p63 && a < (type)0x1p64 ? (uint64_t)a : (uint64_t)lw_toint_##suffix(a);       \
  }
LW_FLOAT(double, float64, )
LW_FLOAT(float, float32, f)

/* The clause's own min and max lose a NaN that these functions carry. */
#pragma omp declare reduction(lw_maximum:double : omp_out = lw_maximum_float64(omp_out, omp_in)) \
    initializer(omp_priv = -__builtin_inf())
#pragma omp declare reduction(lw_minimum:double : omp_out = lw_minimum_float64(omp_out, omp_in)) \
    initializer(omp_priv = __builtin_inf())
#pragma omp declare reduction(lw_maximum:float : omp_out = lw_maximum_float32(omp_out, omp_in)) \
    initializer(omp_priv = -__builtin_inff())
#pragma omp declare reduction(lw_minimum:float : omp_out = lw_minimum_float32(omp_out, omp_in)) \
    initializer(omp_priv = __builtin_inff())
