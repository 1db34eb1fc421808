/* The emulated device, third part, behind emulated_memory.h: how a launch gets from numbers and pointers to a call of
   the kernel by every thread of every block. */
namespace LW_NAMESPACE {
namespace lw_emulated {

/* What a launch gives as the value of a parameter. False where it is a plain pointer to no memory. */
template <class P>
bool take(void *given, P &value, origin &) {
  __builtin_memcpy(&value, given, sizeof(P));
  return true;
}

const allocation *around(int64_t place); /* nullptr: of none */

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
inline bool take(void *given, const volatile int64_t *&value, origin &) {
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

void run(launch &all, const kernel &what);

} // namespace lw_emulated
} // namespace LW_NAMESPACE
