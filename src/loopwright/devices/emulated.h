/* The emulated device: it gives device text (codegen/loopwright.cuh) a checked meaning on the CPU. devices/emulated.py
   puts this file in front of loopwright.cuh and of the text, which stays as NVRTC would get it.

   Blocks run one after the other. The threads of a block are fibers of one system thread: a stack runs one thread
   after another for as long as none has to wait, so that a kernel without barriers costs a function call a thread.
   A thread that waits keeps its stack, and another stack goes on. The first fault ends the launch: the fiber is left
   where it is, and run() returns. State is the library's own, so one launch runs at a time; emulated.py sees to that.
   Nothing of the C++ library is used, for the sake of compile time: even <math.h> would triple it. */
#define LW_EMULATED 1
#include <stdint.h>
#if !(defined(__x86_64__) || defined(__aarch64__))
#include <ucontext.h>
#endif

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

namespace {

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

/* ---- contexts --------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
typedef void *context;
__asm__(
    ".text\n"
    "lw_emulated_enter:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n  xorl %ebp, %ebp\n  callq *%rdx\n  ud2\n"
    "lw_emulated_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n  movq (%rsi), %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n  ret\n");
#elif defined(__aarch64__)
typedef void *context;
#define LW_SAVE                                                                                       \
  "  sub sp, sp, #160\n  stp x19, x20, [sp]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"  \
  "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"                 \
  "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n"                 \
  "  stp d14, d15, [sp, #144]\n  mov x9, sp\n  str x9, [x0]\n"
__asm__(
    ".text\n"
    ".balign 4\n"
    "lw_emulated_enter:\n" LW_SAVE "  mov sp, x1\n  mov x29, xzr\n  blr x2\n  brk #1\n"
    "lw_emulated_switch:\n" LW_SAVE
    "  ldr x9, [x1]\n  mov sp, x9\n  ldp x19, x20, [sp]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n"
    "  ldp d14, d15, [sp, #144]\n  add sp, sp, #160\n  ret\n");
#else
typedef ucontext_t context;
#endif

#if defined(__x86_64__) || defined(__aarch64__)
/* Save where we are and call entry(), which never returns, on the stack that ends at `top`. */
extern "C" void enter(context *save, char *top, void (*entry)()) __asm__("lw_emulated_enter");
/* Save where we are and go on where `to` was saved. */
extern "C" void change(context *save, const context *to) __asm__("lw_emulated_switch");
#else
void enter(context *save, char *top, void (*entry)()) {
  static const int64_t room = 128 * 1024; /* less than emulated.py gives each stack */
  ucontext_t fresh;
  getcontext(&fresh);
  fresh.uc_stack.ss_sp = top - room;
  fresh.uc_stack.ss_size = room;
  fresh.uc_link = nullptr;
  makecontext(&fresh, entry, 0);
  swapcontext(save, &fresh);
}
void change(context *save, const context *to) { swapcontext(save, to); }
#endif

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

launch *now_launched;
void (*kernel_call)();
triple thread_index, block_index, block_size, grid_size;
triple indices[most_threads];
int order[most_threads]; /* in which the threads of a block start and go on */
int counting, counted; /* of the threads at a barrier, those whose predicate holds: by now; at the last one */
int threads, started, now, now_warp, fiber, returned, first_returned;
uint8_t waits[most_threads];
uint16_t fiber_of[most_threads];
context contexts[most_threads], main_context, nowhere;
uint16_t free_fibers[most_threads], ready[most_threads];
int free_count, fresh_fibers, ready_first, ready_count;
meeting barrier_meeting;
team teams[warp_size + 1][most_threads / 2], *team_of[most_threads]; /* by size and number; by each that waits */
exchanged exchanges[most_threads];

/* Time, for races on shared memory: it passes at a block's start and wherever threads meet. */
uint32_t clock_now, block_time, warp_time[most_warps];
uint64_t block_serial, launch_serial;
int64_t shared_bytes, asked_shared_bytes; /* declared so far; asked for at the launch */

void put(int64_t *to, const triple &from) { to[0] = from.x, to[1] = from.y, to[2] = from.z; }

/* The launch ends with this fault of the current thread; `other`: a second thread that has a part in it, or -1. */
[[noreturn]] __noinline__ void fail(fault what, int other = -1) {
  put(what.block, block_index);
  put(what.thread, thread_index);
  if (other >= 0) put(what.other, indices[other]);
  now_launched->found = what;
  change(&nowhere, &main_context);
  __builtin_unreachable();
}

fault of_kind(fault_kind kind) {
  fault what = {};
  what.kind = kind;
  return what;
}

void set_current(int thread) {
  now = thread;
  now_warp = thread / warp_size;
  thread_index = indices[thread];
}

/* The top of a stack. Not all at the same distance from a page: they would share a few lines of the caches. */
char *top_of(int number) {
  return now_launched->stacks + (number + 1) * now_launched->stack_bytes - 256 - number % 16 * 192;
}

void make_ready(int thread) {
  waits[thread] = running;
  ready[(ready_first + ready_count++) % most_threads] = (uint16_t)thread;
}

int next_ready() {
  const int thread = ready[ready_first];
  ready_first = (ready_first + 1) % most_threads;
  ready_count--;
  fiber = fiber_of[thread];
  set_current(thread);
  return thread;
}

/* Everybody who lives has come to the barrier: all but the current thread become ready. */
void open_barrier() {
  barrier_meeting.waiting = 0;
  counted = counting;
  counting = 0;
  block_time = ++clock_now;
  for (int w = 0; w < most_warps; w++) warp_time[w] = clock_now;
  for (int k = 0; k < threads; k++)
    if (waits[order[k]] == at_barrier) make_ready(order[k]);
}

/* All who live have come: each gets what it wanted, and becomes ready. */
/* A warp's 16 x 8 sums: lane l has them in two rows, the `l / 4`th of each half, and in the columns from 2 * (l % 4) on.
   It has given numbers of these rows, and of column l / 4, at the depths l % 4 and four further on. */
void add_products(int first) {
  for (int lane = 0; lane < 32; lane++)
    for (int k = 0; k < 8; k++)
      for (int row = 0; row < 2; row++)
        for (int column = 0; column < 2; column++) {
          const auto by = [&](int other) { return (const fragment *)exchanges[first + other].given; };
          const double left = by(lane / 4 * 4 + k % 4)->left[k / 4][row];
          const double right = by((lane % 4 * 2 + column) * 4 + k % 4)->right[k / 4];
          double &sum = *by(lane)->sums[row][column];
          sum = __builtin_fma(left, right, sum);
        }
}

void open_team(team &its) {
  const int first = its.first, last = first + its.lanes;
  if (exchanges[first].from == PRODUCT) add_products(first);
  for (int t = first; t < last && t < threads; t++) {
    const int from = exchanges[t].from;
    const bool there = from >= first && from < last && from < threads && waits[from] != ended;
    exchanges[t].got = there ? exchanges[from].given : ~UINT64_C(0);
    if (exchanges[t].from == WHO) {
      exchanges[t].got = 0;
      for (int k = first; k < last && k < threads; k++)
        if (waits[k] != ended && exchanges[k].given) exchanges[t].got |= UINT64_C(1) << k % warp_size;
    }
  }
  /* What few lanes have ordered is not remembered: a race may be seen where there is none, never the reverse. */
  if (its.orders && its.lanes == warp_size) warp_time[first / warp_size] = ++clock_now;
  its.meet.waiting = 0;
  for (int t = first; t < last && t < threads; t++)
    if (waits[t] == at_team) make_ready(t);
}

/* How many lanes of a team have not ended. */
int living(const team &its) {
  int count = 0;
  for (int t = its.first; t < its.first + its.lanes && t < threads; t++) count += waits[t] != ended;
  return count;
}

/* Nobody can go on: some wait for a barrier and some for their warp. */
[[noreturn]] void fail_stuck() {
  int other = -1;
  for (int t = 0; t < threads; t++)
    if (t != now && (waits[t] == at_barrier || waits[t] == at_team) && (other < 0 || waits[t] != waits[now])) other = t;
  fault what = of_kind(stuck);
  what.line = waits[now] == at_team ? team_of[now]->meet.where.line : barrier_meeting.where.line;
  if (other >= 0)
    what.other_line = waits[other] == at_team ? team_of[other]->meet.where.line : barrier_meeting.where.line;
  fail(what, other);
}

void carry();

/* Run others until this thread is made ready. */
void wait_as(wait how) {
  const int me = now;
  waits[me] = how;
  if (ready_count) {
    const int next = next_ready();
    change(&contexts[me], &contexts[next]);
  } else if (started < threads) {
    fiber = free_count ? free_fibers[--free_count] : fresh_fibers++;
    enter(&contexts[me], top_of(fiber), carry);
  } else {
    fail_stuck();
  }
}

/* The current thread has ended: its stack is free, and somebody else goes on. */
[[noreturn]] void leave() {
  if (!ready_count && started < threads) enter(&nowhere, top_of(fiber), carry); /* on this stack, from its top */
  free_fibers[free_count++] = (uint16_t)fiber;
  if (ready_count) change(&nowhere, &contexts[next_ready()]);
  if (barrier_meeting.living == 0) change(&nowhere, &main_context);
  now = -1;
  for (int t = 0; t < threads; t++)
    if (waits[t] == at_barrier || waits[t] == at_team) set_current(t);
  fail_stuck();
}

/* Nobody waits for the current thread any more. */
void end_thread() {
  waits[now] = ended;
  for (int lanes = warp_size; lanes > 1; lanes /= 2) {
    team &its = teams[lanes][now / lanes];
    if (its.meet.waiting && living(its) == its.meet.waiting) open_team(its);
  }
  if (--barrier_meeting.living == barrier_meeting.waiting && barrier_meeting.waiting) open_barrier();
}

/* What runs on every stack: threads that have not begun yet, one after the other. */
void carry() {
  for (;;) {
    const int thread = order[started++];
    fiber_of[thread] = (uint16_t)fiber;
    set_current(thread);
    kernel_call();
    if (barrier_meeting.waiting) {
      fault what = of_kind(returned_before);
      what.line = barrier_meeting.where.line;
      fail(what, barrier_meeting.first);
    }
    if (!returned++) first_returned = now;
    end_thread();
    if (ready_count || started == threads) leave();
  }
}

[[noreturn]] void stop() {
  end_thread();
  leave();
}

/* The current thread comes to a meeting. True where it is the last one. */
bool arrive(meeting &at, place where) {
  if (!at.waiting++) {
    at.where = where;
    at.first = now;
  } else if (at.where.number != where.number) {
    fault what = of_kind(divergent);
    what.line = where.line;
    what.other_line = at.where.line;
    fail(what, at.first);
  }
  return at.waiting == at.living;
}

void barrier(place where) {
  if (returned) {
    const int here = now;
    fault what = of_kind(returned_before);
    what.line = where.line;
    set_current(first_returned);
    fail(what, here);
  }
  if (arrive(barrier_meeting, where)) {
    open_barrier();
  } else {
    wait_as(at_barrier);
  }
}

int barrier_count(place where, int predicate) {
  counting += predicate != 0;
  barrier(where);
  return counted;
}

/* How many lanes a mask names: neighbours, as many as a power of two, the first at a multiple of it. */
int lanes_of(uint64_t mask) {
  const int first = mask ? __builtin_ctzll(mask) : 0, lanes = __builtin_popcountll(mask);
  const bool together = lanes && lanes <= warp_size && mask >> first == ~UINT64_C(0) >> (64 - lanes);
  const bool mine = mask >> (now % warp_size) & 1;
  if (!together || !mine || lanes & (lanes - 1) || first % lanes) fail(of_kind(partial_mask));
  return lanes;
}

/* The current thread and the lanes of the mask wait for one another; what it gets of lane `from`. */
uint64_t meet_team(place where, uint64_t mask, uint64_t given, int from) {
  const int lanes = lanes_of(mask);
  if (lanes == 1) return given;
  team &its = teams[lanes][now / lanes];
  const int me = now;
  its.first = now / lanes * lanes;
  its.lanes = lanes;
  its.orders = from == NOTHING;
  its.meet.living = living(its);
  exchanges[me] = {given, 0, from < 0 ? from : now / warp_size * warp_size + from};
  team_of[me] = &its;
  if (arrive(its.meet, where)) {
    open_team(its);
  } else {
    wait_as(at_team);
  }
  return exchanges[me].got;
}

void sync_warp(place where, uint64_t mask = ~UINT64_C(0) >> (64 - warp_size)) { meet_team(where, mask, 0, NOTHING); }

/* `lw_multiply` of loopwright.cuh. The last lane to come does what all have asked for. */
void multiply(place where, double &s00, double &s01, double &s10, double &s11, double a00, double a10, double a01,
              double a11, double b0, double b1) {
  const fragment own = {{{&s00, &s01}, {&s10, &s11}}, {{a00, a10}, {a01, a11}}, {b0, b1}};
  for (int t = now / 32 * 32; t < now / 32 * 32 + 32; t++)
    if (warp_size != 32 || t >= threads || waits[t] == ended) fail(of_kind(partial_mask));
  meet_team(where, ~UINT64_C(0) >> (64 - warp_size), (uint64_t)&own, PRODUCT);
}

uint64_t ballot(place where, uint64_t mask, int predicate) { return meet_team(where, mask, predicate != 0, WHO); }

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

int lane() { return now % warp_size; }

#define LW_PLACE (lw_emulated::place{__LINE__, __COUNTER__})
#define __syncthreads() lw_emulated::barrier(LW_PLACE)
#define __syncthreads_count(predicate) lw_emulated::barrier_count(LW_PLACE, predicate)
#define __ballot_sync(mask, predicate) lw_emulated::ballot(LW_PLACE, mask, predicate)
#define __syncwarp(...) lw_emulated::sync_warp(LW_PLACE, ##__VA_ARGS__)
#define lw_multiply(...) lw_emulated::multiply(LW_PLACE, __VA_ARGS__)
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
} // namespace
