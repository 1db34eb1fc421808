/* The emulated device, second part, behind emulated.h: global and shared memory, where every access is checked, and
   what device text does with them. A fault names the array, the element and the threads. */
extern "C" void *realloc(void *, decltype(sizeof 0));

namespace LW_NAMESPACE {
namespace lw_emulated {

/* ---- global memory ---------------------------------------------------------------------------------------------- */

/* Where a pointer came from, for the words of a fault. */
struct origin {
  const char *name;
  int64_t address; /* as the host gave it */
  bool known;      /* whether it points into memory */
  bool crooked;    /* not at a multiple of its elements' size, so that no access works */
};

/* An array of LW_GLOBAL or LW_ALIASED: its elements are first .. first + count - 1, as seen from this pointer. */
template <class T>
struct pointer {
  T *at;
  int64_t first;
  uint64_t count;
  const origin *from;

  operator pointer<const T>() const { return {at, first, count, from}; }
  explicit operator bool() const { return from->address != 0; }
  pointer operator+(int64_t n) const { return {at + n, first - n, count, from}; }
  pointer operator-(int64_t n) const { return *this + -n; }
  pointer &operator+=(int64_t n) { return *this = *this + n; }

  __noinline__ void outside(int64_t index, int64_t bytes) const {
    fault what = of_kind(from->crooked ? misaligned : from->known ? outside_global : not_memory);
    what.array = from->name;
    what.index = index, what.first = first, what.count = (int64_t)count, what.bytes = bytes;
    if (!from->known) what.first = from->address;
    fail(what);
  }
  __noinline__ void crooked(int64_t index, int64_t bytes) const {
    fault what = of_kind(misaligned);
    what.array = from->name, what.index = index, what.bytes = bytes;
    fail(what);
  }
  void check(int64_t index) const {
    if (!LW_LIKELY((uint64_t)index - (uint64_t)first < count)) outside(index, sizeof(T));
  }
  T &operator[](int64_t index) const {
    check(index);
    return at[index];
  }

  /* Of an array of bytes: what stands at this offset. */
  template <class V>
  V &as(int64_t offset) const {
    static_assert(sizeof(T) == 1, "LW_AT takes an array of char");
    const uint64_t skipped = (uint64_t)offset - (uint64_t)first;
    if (!LW_LIKELY(skipped < count && count - skipped >= sizeof(V))) outside(offset, sizeof(V));
    if ((uintptr_t)(at + offset) % sizeof(V)) crooked(offset, sizeof(V));
    return *(V *)(at + offset);
  }
};

#define LW_GLOBAL(type) lw_emulated::pointer<type>
#define LW_ALIASED(type) lw_emulated::pointer<type>
#define LW_AT(type, array, byte_offset) ((array).template as<type>(byte_offset))
#define LW_ALIGNED(array, bytes) ((uintptr_t)(array).at % (bytes) == 0)

/* ---- shared memory ---------------------------------------------------------------------------------------------- */

/* Who did one kind of access last. second: another thread since threads last met, or the same. */
struct stamp {
  uint32_t when;
  uint16_t thread, second;
};

struct stamps {
  stamp read, write, atomic;
  uint64_t on_its_way; /* the serial number of a copy that has not arrived; 0: of none */
};

/* The other thread, where one did this access and nothing since then orders it before the current thread's; or -1. */
inline int rival(const stamp &seen) {
  if (LW_LIKELY(seen.when < block_time)) return -1;
  const bool passed = seen.when < warp_time[now_warp]; /* its lanes have met since */
  if (seen.thread != now && !(passed && seen.thread / warp_size == now_warp)) return seen.thread;
  if (seen.second != now && !(passed && seen.second / warp_size == now_warp)) return seen.second;
  return -1;
}

/* Two threads are remembered; where more come, two of different warps: all that a meeting of lanes cannot order. */
inline void note(stamp &seen) {
  const int warp_a = seen.thread / warp_size, warp_b = seen.second / warp_size;
  const bool mine = warp_a == now_warp && warp_b == now_warp;
  const bool passed = mine && (seen.when < warp_time[now_warp] || (seen.thread == now && seen.second == now));
  if (seen.when < block_time || passed) {
    seen = {warp_time[now_warp], (uint16_t)now, (uint16_t)now};
  } else if (warp_a == warp_b && (seen.thread == seen.second || !mine)) {
    seen.second = (uint16_t)now;
  }
}

enum access { reads = 1, writes = 2, updates = 3 };

[[noreturn]] __noinline__ void fail_race(const char *array, int64_t index, access mine, access its, int other);

/* A copy into shared memory that its thread has not waited for. Copies of earlier blocks do not count any more. */
struct copy {
  char *to;
  const char *from;
  int64_t bytes;
  stamps *seen;
  int64_t count;
  const char *array;
  int64_t index;
  int thread;
  bool arrived;
};

extern copy *copies;
extern int64_t copies_made, copies_room;
extern uint64_t first_copy; /* the serial number of copies[0] */

[[noreturn]] __noinline__ void fail_early(const char *array, int64_t index, access mine, uint64_t serial);

/* The current thread touches an element: a fault where another one does too, unordered, and not both read or both
   update it atomically. */
template <access mine>
void touch(stamps &seen, const char *array, int64_t index) {
  int other;
  if (seen.on_its_way >= first_copy) fail_early(array, index, mine, seen.on_its_way);
  if (mine != reads && (other = rival(seen.read)) >= 0) fail_race(array, index, mine, reads, other);
  if ((other = rival(seen.write)) >= 0) fail_race(array, index, mine, writes, other);
  if (mine != updates && (other = rival(seen.atomic)) >= 0) fail_race(array, index, mine, updates, other);
  note(mine == reads ? seen.read : mine == writes ? seen.write : seen.atomic);
}

/* What name[i] of a shared array gives: reads and writes go through it. */
template <class T>
struct element {
  T *at;
  stamps *seen;
  const char *array;
  int64_t index;

  operator T() const {
    touch<reads>(*seen, array, index);
    return *at;
  }
  T operator=(T value) const {
    touch<writes>(*seen, array, index);
    return *at = value;
  }
  T operator=(const element &other) const { return *this = (T)other; }
#define LW_COMPOUND(op) \
  T operator op##=(T value) const { return *this = (T)((T)*this op value); }
  LW_COMPOUND(+) LW_COMPOUND(-) LW_COMPOUND(*) LW_COMPOUND(/) LW_COMPOUND(%) LW_COMPOUND(&) LW_COMPOUND(|)
  LW_COMPOUND(^) LW_COMPOUND(<<) LW_COMPOUND(>>)
  T operator++() const { return *this += (T)1; }
  T operator--() const { return *this -= (T)1; }
  T operator++(int) const { return (T)(*this += (T)1) - (T)1; }
  T operator--(int) const { return (T)(*this -= (T)1) + (T)1; }
};

/* A shared array as the text sees it. */
template <class T>
struct shared {
  T *data;
  stamps *seen;
  int64_t count;
  const char *name;

  __noinline__ void outside(int64_t index) const {
    fault what = of_kind(outside_shared);
    what.array = name, what.index = index, what.count = count;
    fail(what);
  }
  element<T> operator[](int64_t index) const {
    if (!LW_LIKELY((uint64_t)index < (uint64_t)count)) outside(index);
    return {data + index, seen + index, name, index};
  }
};

/* Where it lies: one for all blocks, as they run one after the other; each finds all ones in it. */
template <class T, int64_t n>
struct shared_store {
  T __align__(16) data[n];
  stamps seen[n];
  uint64_t block, launch;

  __noinline__ void begin(int64_t begins) {
    fault what = of_kind(too_much_shared);
    what.count = begins < 0 ? shared_bytes += sizeof(data) : begins + (int64_t)sizeof(data);
    what.bytes = begins < 0 ? most_static_shared : asked_shared_bytes;
    if (what.count > what.bytes) fail(what);
    if (launch != launch_serial) __builtin_memset(seen, 0, sizeof(seen)); /* time starts anew with every launch */
    __builtin_memset(data, 0xff, sizeof(data));
    block = block_serial;
    launch = launch_serial;
  }
  shared<T> open(const char *name, int64_t begins) {
    if (block != block_serial) begin(begins);
    return {data, seen, n, name};
  }
};

#define LW_SHARED_AT(type, name, count, begins)                       \
  static lw_emulated::shared_store<type, (count)> lw_store_of_##name; \
  const lw_emulated::shared<type> name = lw_store_of_##name.open(#name, begins)
#define LW_SHARED(type, name, count) LW_SHARED_AT(type, name, count, -1)

/* ---- vectors ---------------------------------------------------------------------------------------------------- */

template <int N, class T>
void check_vector(const pointer<T> &array, int64_t index) {
  array.check(index);
  array.check(index + N - 1);
  if ((uintptr_t)(array.at + index) % (sizeof(T) * N)) array.crooked(index, sizeof(T) * N);
}

template <int N, class T>
void check_vector(const shared<T> &array, int64_t index) {
  fault what = of_kind(misaligned);
  what.array = array.name, what.index = index, what.bytes = sizeof(T) * N;
  if (index % N) fail(what);
}

template <class T>
struct plain {
  typedef T type;
};
template <class T>
struct plain<const T> {
  typedef T type;
};

template <int N, class T, template <class> class A>
lw_vector<typename plain<T>::type, N> read_vector(const A<T> &array, int64_t index) {
  static_assert(sizeof(T) * N <= 16, "one access moves 16 bytes at most");
  check_vector<N>(array, index);
  lw_vector<typename plain<T>::type, N> vector;
  for (int k = 0; k < N; k++) vector.v[k] = array[index + k];
  return vector;
}

template <int N, class T, template <class> class A>
void write_vector(const A<T> &array, int64_t index, const lw_vector<T, N> &vector) {
  static_assert(sizeof(T) * N <= 16, "one access moves 16 bytes at most");
  check_vector<N>(array, index);
  for (int k = 0; k < N; k++) array[index + k] = vector.v[k];
}

/* ---- copies that arrive later ----------------------------------------------------------------------------------- */

/* Until it has arrived, nobody may touch an element, and what stands there is poison. Zeros come where a copy is not
   from inside of its array. */
template <int N, class T, class S>
void send(const shared<T> &to, int64_t place, const pointer<S> &from, int64_t index, bool inside = true) {
  static_assert(sizeof(T) == sizeof(S) && (sizeof(T) * N == 4 || sizeof(T) * N == 8 || sizeof(T) * N == 16),
                "a copy is of 4, 8 or 16 bytes");
  static const char zeros[16] = {};
  check_vector<N>(to, place);
  if (inside) check_vector<N>(from, index);
  /* as a write, now: who else has touched it? */
  for (int k = 0; k < N; k++) to[place + k] = inside ? (T)from[index + k] : (T)0;
  if (copies_made == copies_room) {
    copies_room = copies_room ? 2 * copies_room : 1024;
    copies = (copy *)realloc(copies, (decltype(sizeof 0))copies_room * sizeof(copy));
  }
  copies[copies_made] = {(char *)(to.data + place), inside ? (const char *)(from.at + index) : zeros,
                         (int64_t)sizeof(T) * N,
                         to.seen + place, N, to.name, place, now, false};
  __builtin_memset(to.data + place, 0xff, sizeof(T) * N);
  for (int k = 0; k < N; k++) to.seen[place + k].on_its_way = first_copy + (uint64_t)copies_made;
  copies_made++;
}

/* What the current thread has sent is there, for itself. */
void receive();

/* ---- atomics ---------------------------------------------------------------------------------------------------- */

template <class T>
struct address {
  T *at;
  stamps *seen; /* of shared memory, else null */
  const char *array;
  int64_t index;

  T &update() const {
    if (seen) touch<updates>(*seen, array, index);
    return *at;
  }
};

template <class T>
address<T> address_of(const pointer<T> &array, int64_t index) {
  return {&array[index], nullptr, nullptr, 0};
}
template <class T>
address<T> address_of(const shared<T> &array, int64_t index) {
  const element<T> its = array[index];
  return {its.at, its.seen, its.array, its.index};
}

template <class T>
constexpr bool is_float = (T)0.5 != (T)0;
template <class T>
constexpr bool is_word = !is_float<T> && (sizeof(T) == 4 || sizeof(T) == 8);
template <class T>
constexpr bool is_unsigned = (T)-1 > (T)0;

/* An operation with its second operand, for the types that CUDA, or loopwright.cuh, has it for. */
#define LW_ATOMIC(name, allowed, result)                                                             \
  template <class T>                                                                                 \
  T name(const lw_emulated::address<T> &address, typename lw_emulated::plain<T>::type value) {       \
    static_assert(allowed, #name " does not exist for this type");                                   \
    T &now = address.update();                                                                       \
    const T old = now;                                                                               \
    now = (T)(result);                                                                               \
    return old;                                                                                      \
  }                                                                                                  \
  template <class T>                                                                                 \
  T name(T *address, typename lw_emulated::plain<T>::type value) {                                   \
    return name(lw_emulated::address<T>{address, nullptr, nullptr, 0}, value);                       \
  }

} // namespace lw_emulated

#define LW_ADDRESS(array, index) lw_emulated::address_of((array), (index))
LW_ATOMIC(atomicAdd, lw_emulated::is_float<T> || lw_emulated::is_word<T>, old + value)
LW_ATOMIC(atomicMin, lw_emulated::is_float<T> || lw_emulated::is_word<T>, value < old ? value : old)
LW_ATOMIC(atomicMax, lw_emulated::is_float<T> || lw_emulated::is_word<T>, value > old ? value : old)
LW_ATOMIC(atomicAnd, lw_emulated::is_word<T>, old & value)
LW_ATOMIC(atomicOr, lw_emulated::is_word<T>, old | value)
LW_ATOMIC(atomicXor, lw_emulated::is_word<T>, old ^ value)
LW_ATOMIC(atomicExch, sizeof(T) == 4 || (lw_emulated::is_word<T> && lw_emulated::is_unsigned<T>), value)

template <class T>
T atomicCAS(const lw_emulated::address<T> &address, typename lw_emulated::plain<T>::type expected,
            typename lw_emulated::plain<T>::type value) {
  static_assert(lw_emulated::is_word<T>, "atomicCAS does not exist for this type");
  T &now = address.update();
  const T old = now;
  if (old == expected) now = value;
  return old;
}
template <class T>
T atomicCAS(T *address, typename lw_emulated::plain<T>::type expected, typename lw_emulated::plain<T>::type value) {
  return atomicCAS(lw_emulated::address<T>{address, nullptr, nullptr, 0}, expected, value);
}

template <int N, class A>
auto lw_read(const A &array, int64_t index) {
  return lw_emulated::read_vector<N>(array, index);
}
template <class T>
T lw_hidden(T value) {
  return value;
}
template <int N, class A, class B>
void lw_arrive(const A &to, int64_t place, const B &from, int64_t index) {
  lw_emulated::send<N>(to, place, from, index);
}
template <int N, class A, class B>
void lw_arrive_or_zero(const A &to, int64_t place, const B &from, int64_t index, bool inside) {
  lw_emulated::send<N>(to, place, from, index, inside);
}
[[maybe_unused]] static void lw_arrived() { lw_emulated::receive(); }
template <int N, class A, class T>
void lw_write(const A &array, int64_t index, const lw_vector<T, N> &vector) {
  lw_emulated::write_vector<N>(array, index, vector);
}

[[noreturn, maybe_unused]] static void lw_stop() { lw_emulated::stop(); }
[[maybe_unused]] static void __threadfence() {}
[[maybe_unused]] static const lw_emulated::triple &threadIdx = lw_emulated::thread_index,
                                                  &blockIdx = lw_emulated::block_index,
                                                  &blockDim = lw_emulated::block_size, &gridDim = lw_emulated::grid_size;
} // namespace LW_NAMESPACE
