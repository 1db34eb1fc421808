/* The emulated device, third part, behind emulated_memory.h: how a launch gets from numbers and pointers to a call of
   the kernel by every thread of every block. */
namespace {
namespace lw_emulated {

/* What a launch gives as the value of a parameter. False where it is a plain pointer to no memory. */
template <class P>
bool take(void *given, P &value, origin &) {
  __builtin_memcpy(&value, given, sizeof(P));
  return true;
}

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

template <class T>
bool take(void *given, pointer<T> &value, origin &from) {
  __builtin_memcpy(&from.address, given, sizeof(T *));
  const allocation *where = around(from.address);
  from.known = where != nullptr;
  from.crooked = where && from.address % (int64_t)sizeof(T);
  value = {nullptr, 0, 0, &from};
  if (!where || from.crooked) return true;
  const int64_t before = (from.address - where->low) / (int64_t)sizeof(T);
  const int64_t after = (where->high - from.address) / (int64_t)sizeof(T);
  value.at = (T *)(from.address - where->low + where->real);
  value.first = -before;
  value.count = (uint64_t)(before + after);
  return true;
}

template <class T>
bool take(void *given, T *&value, origin &from) {
  __builtin_memcpy(&from.address, given, sizeof(T *));
  const allocation *where = from.address ? around(from.address) : nullptr;
  value = where ? (T *)(from.address - where->low + where->real) : nullptr;
  return where || !from.address;
}

/* The word that ends calls early is the host's. */
bool take(void *given, const volatile int64_t *&value, origin &) {
  __builtin_memcpy(&value, given, sizeof value);
  return true;
}

template <int k, class P>
struct argument {
  P value;
  origin from;
};
template <int... k>
struct numbers {};
template <int n, int... k>
struct up_to : up_to<n - 1, n - 1, k...> {};
template <int... k>
struct up_to<0, k...> {
  typedef numbers<k...> type;
};
template <class Numbers, class... P>
struct arguments;
template <int... k, class... P>
struct arguments<numbers<k...>, P...> : argument<k, P>... {
  bool fill(void **given, const char *const *names) {
    bool good = true;
    (void)((argument<k, P>::from.name = names[k],
            good = take(given[k], argument<k, P>::value, argument<k, P>::from) ||
                   (now_launched->found.array = names[k],
                    now_launched->found.first = argument<k, P>::from.address, false)) &&
           ...);
    return good;
  }
  void pass(void (*to)(P...)) { to(argument<k, P>::value...); }
};

/* A kernel's two entries: the arguments are taken once a launch, and passed to every thread. */
template <auto kernel>
struct entry;
template <class... P, void (*kernel)(P...)>
struct entry<kernel> {
  static arguments<typename up_to<sizeof...(P)>::type, P...> all;
  static bool fill(void **given, const char *const *names) { return all.fill(given, names); }
  static void call() { all.pass(kernel); }
};
template <class... P, void (*kernel)(P...)>
arguments<typename up_to<sizeof...(P)>::type, P...> entry<kernel>::all;

struct kernel {
  bool (*fill)(void **, const char *const *);
  void (*call)();
  const char *const *names;
};

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
} // namespace
