/* The emulated device, fourth part: what is the same for all texts. How the threads of
   a block take turns and wait for one another, and how a launch goes from block to block. */
#if !(defined(__x86_64__) || defined(__aarch64__))
#include <ucontext.h>
#endif
namespace LW_NAMESPACE {
namespace lw_emulated {

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
[[noreturn]] __noinline__ void fail(fault what, int other) {
  put(what.block, block_index);
  put(what.thread, thread_index);
  if (other >= 0) put(what.other, indices[other]);
  now_launched->found = what;
  change(&nowhere, &main_context);
  __builtin_unreachable();
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

void sync_warp(place where, uint64_t mask) { meet_team(where, mask, 0, NOTHING); }

/* `lw_multiply` of loopwright.cuh. The last lane to come does what all have asked for. */
void multiply(place where, double &s00, double &s01, double &s10, double &s11, double a00, double a10, double a01,
              double a11, double b0, double b1) {
  const fragment own = {{{&s00, &s01}, {&s10, &s11}}, {{a00, a10}, {a01, a11}}, {b0, b1}};
  for (int t = now / 32 * 32; t < now / 32 * 32 + 32; t++)
    if (warp_size != 32 || t >= threads || waits[t] == ended) fail(of_kind(partial_mask));
  meet_team(where, ~UINT64_C(0) >> (64 - warp_size), (uint64_t)&own, PRODUCT);
}

uint64_t ballot(place where, uint64_t mask, int predicate) { return meet_team(where, mask, predicate != 0, WHO); }

/* ---- shared memory ---------------------------------------------------------------------------------------------- */

[[noreturn]] __noinline__ void fail_race(const char *array, int64_t index, access mine, access its, int other) {
  fault what = of_kind(race);
  what.array = array, what.index = index, what.how = mine * 4 + its;
  fail(what, other);
}

copy *copies;
int64_t copies_made, copies_room, waited_until[most_threads];
uint64_t first_copy = 1; /* the serial number of copies[0] */

[[noreturn]] __noinline__ void fail_early(const char *array, int64_t index, access mine, uint64_t serial) {
  fault what = of_kind(on_its_way);
  what.array = array, what.index = index, what.how = mine;
  fail(what, copies[serial - first_copy].thread);
}

/* Copies of the block before have no meaning. */
void forget_copies() {
  first_copy += (uint64_t)copies_made;
  copies_made = 0;
  for (int t = 0; t < most_threads; t++) waited_until[t] = 0;
}

/* What the current thread has sent is there, for itself. */
void receive() {
  for (int64_t k = waited_until[now]; k < copies_made; k++) {
    copy &one = copies[k];
    if (one.thread != now || one.arrived) continue;
    one.arrived = true;
    __builtin_memcpy(one.to, one.from, (decltype(sizeof 0))one.bytes);
    for (int64_t j = 0; j < one.count; j++) {
      one.seen[j].on_its_way = 0;
      touch<writes>(one.seen[j], one.array, one.index + j);
    }
  }
  waited_until[now] = copies_made;
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

const allocation *around(int64_t place) {
  int64_t low = 0, high = now_launched->allocation_count;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (now_launched->allocations[middle].first <= place) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0 || place > now_launched->allocations[low - 1].high) return nullptr;
  return now_launched->allocations + low - 1;
}

/* Step through 0 .. count - 1 in an order of the seed's; 0: forward. */
struct shuffled {
  uint64_t count, step, offset;

  shuffled(uint64_t all, uint64_t seed) : count(all), step(1), offset(0) {
    if (!seed || count >> 32) return; /* or the product below would not fit */
    const uint64_t mixed = (seed ^ seed >> 31) * UINT64_C(0x9E3779B97F4A7C15);
    offset = mixed % count;
    step = (mixed >> 20) % count | 1;
    while (divisor(step, count) != 1) step += 2;
  }
  static uint64_t divisor(uint64_t a, uint64_t b) { return b ? divisor(b, a % b) : a; }
  uint64_t operator[](uint64_t k) const { return step == 1 && !offset ? k : (k * step + offset) % count; }
};

void run_block(uint64_t number) {
  block_index.x = (unsigned)(number % grid_size.x);
  block_index.y = (unsigned)(number / grid_size.x % grid_size.y);
  block_index.z = (unsigned)(number / grid_size.x / grid_size.y);
  block_serial++;
  block_time = ++clock_now;
  shared_bytes = 0;
  if (copies_made) forget_copies();
  started = returned = ready_first = ready_count = free_count = 0;
  fiber = 0;
  fresh_fibers = 1;
  barrier_meeting.living = threads;
  barrier_meeting.waiting = counting = 0;
  for (int t = 0; t < threads; t++) waits[t] = running;
  for (int lanes = 2; lanes <= warp_size; lanes *= 2)
    for (int k = 0; k * lanes < threads; k++) teams[lanes][k].meet.waiting = 0;
  for (int w = 0; w * warp_size < threads; w++) {
    warp_time[w] = clock_now;
  }
  enter(&main_context, top_of(0), carry);
}

void number_threads(uint64_t seed) {
  const shuffled threads_in_order((uint64_t)threads, seed);
  for (int t = 0; t < threads; t++) {
    order[t] = (int)threads_in_order[(uint64_t)t];
    indices[t] = {t % block_size.x, t / block_size.x % block_size.y, t / block_size.x / block_size.y};
  }
}

void run(launch &all, const kernel &what) {
  now_launched = &all;
  grid_size = {(unsigned)all.grid[0], (unsigned)all.grid[1], (unsigned)all.grid[2]};
  block_size = {(unsigned)all.block[0], (unsigned)all.block[1], (unsigned)all.block[2]};
  threads = (int)(block_size.x * block_size.y * block_size.z);
  kernel_call = what.call;
  clock_now = 0;
  launch_serial++;
  number_threads(all.seed);
  asked_shared_bytes = all.asked_shared_bytes;
  if (!what.fill(all.arguments, what.names)) {
    all.found.kind = no_pointer;
    return;
  }
  const uint64_t blocks = (uint64_t)all.grid[0] * (uint64_t)all.grid[1] * (uint64_t)all.grid[2];
  const shuffled blocks_in_order(blocks, all.seed);
  for (uint64_t k = 0; k < blocks && !all.found.kind; k++) run_block(blocks_in_order[k]);
}

} // namespace lw_emulated
} // namespace LW_NAMESPACE
