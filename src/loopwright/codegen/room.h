/* The memory of local arrays. A program keeps blocks of a middle size for its next calls: malloc gives such memory back
   to the system, and to touch it anew takes longer than most sweeps over it. */
#define LW_KEEP_LEAST (INT64_C(1) << 16) /* bytes: smaller ones malloc keeps */
#define LW_KEEP_MOST (INT64_C(2) << 20)
#define LW_ROOMS 4
#define LW_SPARE 64 /* bytes behind the elements: what a compaction stores where it ends, and does not keep (compaction.py) */

/* What stands before the elements. whole: what malloc gave, in which a large block begins at a page. */
typedef struct { int64_t bytes; void *whole; int64_t unused[6]; } lw_room_head;

static lw_room_head *lw_rooms[LW_ROOMS];

/* A block that was kept, and is large enough but not much too large; NULL where there is none. */
LW_PART lw_room_head *lw_kept_room(int64_t bytes) {
  for (int k = 0; k < LW_ROOMS; ++k) {
    lw_room_head *none = NULL, *found = __atomic_exchange_n(&lw_rooms[k], NULL, __ATOMIC_ACQUIRE);
    if (found && found->bytes >= bytes && found->bytes / 4 <= bytes) return found;
    if (found && !__atomic_compare_exchange_n(&lw_rooms[k], &none, found, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) free(found->whole);
  }
  return NULL;
}

/* Keeps the block in a free place, or in that of the one that was kept for longest. */
LW_PART void lw_give_back(void *elements) {
  if (!elements) return;
  lw_room_head *block = (lw_room_head *)elements - 1, *before = block;
  for (int k = 0; before && k < LW_ROOMS && block->bytes >= LW_KEEP_LEAST && block->bytes <= LW_KEEP_MOST; ++k)
    before = __atomic_exchange_n(&lw_rooms[k], before, __ATOMIC_ACQ_REL);
  if (before) free(before->whole);
}

/* Room for the elements of a local array: keeps the block that is there where it is large enough. A large one is asked
   for in pages of 2 MiB, as NumPy's are: with small ones the first touch costs more than the arithmetic of a sweep.
   malloc is asked for more than that and not for an address: what it gave by itself it takes again, up to a size, the
   next time, as it learns from what is freed; of a block at a given address it learns less than it needs for that. */
__attribute__((malloc)) LW_PART void *lw_room(void *old, int64_t *capacity, int64_t bytes) {
  __asm__ volatile("" : : : "memory");
  if (old && *capacity >= bytes) return old;
  lw_give_back(old);
  *capacity = bytes = bytes > 0 ? bytes : 1;
  lw_room_head *block = bytes >= LW_KEEP_LEAST && bytes <= LW_KEEP_MOST ? lw_kept_room(bytes) : NULL;
  if (block) return block + 1;
  if (bytes > INT64_MAX - 2 * LW_HUGE) return NULL;
  size_t size = (size_t)bytes + sizeof(lw_room_head) + LW_SPARE;
  void *whole = malloc(bytes >= LW_LARGE ? size + LW_HUGE : size);
  if (!whole) return NULL;
  block = whole;
#ifdef MADV_HUGEPAGE
  if (bytes >= LW_LARGE) {
    block = (lw_room_head *)(((uintptr_t)whole + LW_HUGE - 1) & ~(uintptr_t)(LW_HUGE - 1));
    madvise(block, size / LW_HUGE * LW_HUGE, MADV_HUGEPAGE);
  }
#endif
  block->bytes = bytes;
  block->whole = whole;
  return block + 1;
}

__attribute__((destructor)) static void lw_forget_rooms(void) {
  for (int k = 0; k < LW_ROOMS; ++k) {
    lw_room_head *block = __atomic_exchange_n(&lw_rooms[k], NULL, __ATOMIC_ACQUIRE);
    if (block) free(block->whole);
  }
}
