/* The memory of lists: addresses of which the system gives what is touched. A program keeps a few for its next calls,
   with what was touched at their beginning. Where addresses are limited none is kept. Each begins elsewhere in its first
   page: processors compare the last 12 bits of addresses, so that equal ones would have a load of an element of one list
   wait for the store to the same element of another. */
#include <sys/mman.h>
#include <sys/resource.h>
#ifndef LW_RESERVED /* bytes for each: more where a list has rows of several numbers */
#define LW_RESERVED ((size_t)1 << 30)
#endif
#define LW_KEPT ((size_t)1 << 20)
#define LW_SPARES 8
#define LW_PAGE ((size_t)4096)
#define LW_STAGGER ((size_t)1088) /* 17 lines of a cache: multiples of it in a page are far from one another */
#define LW_UNTOUCHED UINT64_C(0x9E3779B97F4A7C15)

static void *lw_spares[LW_SPARES];
static int lw_keeps;
static size_t lw_reservations;

/* The page in which a list begins. */
LW_PART char *lw_first_page(void *memory) { return (char *)((uintptr_t)memory & -(uintptr_t)LW_PAGE); }

/* The first number behind what is kept: a list that grows that far writes over it. */
LW_PART uint64_t *lw_end_of_kept(void *memory) { return (uint64_t *)(lw_first_page(memory) + LW_KEPT); }

__attribute__((malloc)) LW_PART void *lw_reserve(void *old) {
  __asm__ volatile("" : : : "memory"); /* as in lw_room */
  if (old) return old;
  for (int i = 0; i < LW_SPARES; ++i) {
    if (!__atomic_load_n(&lw_spares[i], __ATOMIC_RELAXED)) continue;
    void *found = __atomic_exchange_n(&lw_spares[i], NULL, __ATOMIC_ACQUIRE);
    if (found) return found;
  }
  struct rlimit limit;
  __atomic_store_n(&lw_keeps, !getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur == RLIM_INFINITY, __ATOMIC_RELAXED);
  const size_t first = __atomic_fetch_add(&lw_reservations, 1, __ATOMIC_RELAXED) * LW_STAGGER % LW_PAGE;
  char *made = mmap(NULL, LW_RESERVED + LW_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return NULL;
  *lw_end_of_kept(made) = LW_UNTOUCHED;
  return made + first;
}

LW_PART void lw_unreserve(void *memory) {
  if (!memory) return;
  if (*lw_end_of_kept(memory) != LW_UNTOUCHED) {
    madvise(lw_first_page(memory) + LW_KEPT, LW_RESERVED + LW_PAGE - LW_KEPT, MADV_DONTNEED);
    *lw_end_of_kept(memory) = LW_UNTOUCHED;
  }
  for (int i = 0; __atomic_load_n(&lw_keeps, __ATOMIC_RELAXED) && i < LW_SPARES; ++i) {
    void *none = NULL;
    if (!__atomic_load_n(&lw_spares[i], __ATOMIC_RELAXED) &&
        __atomic_compare_exchange_n(&lw_spares[i], &none, memory, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) return;
  }
  munmap(lw_first_page(memory), LW_RESERVED + LW_PAGE);
}
