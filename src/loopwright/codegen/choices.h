/* One of two whole numbers, without a jump: gcc makes one of `?` and of masks where both are at hand. */
LW_PURE int64_t lw_chosen(bool holds, int64_t then, int64_t otherwise) {
#if defined(__x86_64__)
  __asm__("testb %1, %1\n\tcmovneq %2, %0" : "+r"(otherwise) : "q"(holds), "rm"(then) : "cc");
  return otherwise;
#else
  return otherwise ^ ((then ^ otherwise) & -(int64_t)holds);
#endif
}

/* The least and the greatest of two floats as LW_MIN and LW_MAX have them, in one instruction: gcc follows a constant among
   them to the comparisons that come after, and leaves jumps. */
#if defined(__x86_64__)
#ifdef __AVX__
#define LW_LATE_EXTREME(op, type, suffix, letter)                                                              \
  LW_PURE type lw_late_##op##_##suffix(type a, type b) {                                                       \
    type extreme;                                                                                              \
    __asm__("v" #op "s" letter " %1, %2, %0" : "=x"(extreme) : "xm"(a), "x"(b));                                \
    return extreme;                                                                                            \
  }
#else
#define LW_LATE_EXTREME(op, type, suffix, letter)                                                              \
  LW_PURE type lw_late_##op##_##suffix(type a, type b) {                                                       \
    __asm__(#op "s" letter " %1, %0" : "+x"(b) : "xm"(a));                                                      \
    return b;                                                                                                  \
  }
#endif
LW_LATE_EXTREME(min, double, float64, "d")
LW_LATE_EXTREME(max, double, float64, "d")
LW_LATE_EXTREME(min, float, float32, "s")
LW_LATE_EXTREME(max, float, float32, "s")
#else
#define lw_late_min_float64(a, b) LW_MIN(double, a, b)
#define lw_late_max_float64(a, b) LW_MAX(double, a, b)
#define lw_late_min_float32(a, b) LW_MIN(float, a, b)
#define lw_late_max_float32(a, b) LW_MAX(float, a, b)
#endif

/* The same by a comparison, which says so to the conditional move itself: two cycles less for who waits for the choice.
   None holds of a NaN. `no_bits`, `any_bits`: whether two numbers have no bits in common, or some. */
#if defined(__x86_64__)
#ifdef __AVX__
#define LW_COMPARES(type) "vcomis" type " "
#else
#define LW_COMPARES(type) "comis" type " "
#endif
#define LW_CHOSEN_BY(op, type, suffix, fits, other_fits, compares, moves)                           \
  LW_PURE int64_t lw_chosen_##op##_##suffix(type a, type b, int64_t then, int64_t otherwise) {      \
    __asm__(compares "\n\tcmov" moves "q %3, %0" : "+r"(otherwise) : fits(a), other_fits(b), "rm"(then) : "cc"); \
    return otherwise;                                                                               \
  }
#define LW_CHOSEN_BY_INT64(op, moves) LW_CHOSEN_BY(op, int64_t, int64, "r", "re", "cmpq %2, %1", moves)
#define LW_CHOSEN_BY_FLOATS(op, compared, moves)                                                       \
  LW_CHOSEN_BY(op, double, float64, "x", "x", LW_COMPARES("d") compared, moves)                       \
  LW_CHOSEN_BY(op, float, float32, "x", "x", LW_COMPARES("s") compared, moves)
LW_CHOSEN_BY_INT64(eq, "e")
LW_CHOSEN_BY_INT64(ne, "ne")
LW_CHOSEN_BY_INT64(lt, "l")
LW_CHOSEN_BY_INT64(le, "le")
LW_CHOSEN_BY_INT64(gt, "g")
LW_CHOSEN_BY_INT64(ge, "ge")
LW_CHOSEN_BY(no, int64_t, bits, "r", "re", "testq %2, %1", "e")
LW_CHOSEN_BY(any, int64_t, bits, "r", "re", "testq %2, %1", "ne")
LW_CHOSEN_BY_FLOATS(lt, "%1, %2", "a")
LW_CHOSEN_BY_FLOATS(le, "%1, %2", "ae")
LW_CHOSEN_BY_FLOATS(gt, "%2, %1", "a")
LW_CHOSEN_BY_FLOATS(ge, "%2, %1", "ae")
#else
#define LW_CHOSEN_BY(op, type, suffix, sign)                                                   \
  LW_PURE int64_t lw_chosen_##op##_##suffix(type a, type b, int64_t then, int64_t otherwise) { \
    return lw_chosen(a sign b, then, otherwise);                                               \
  }
#define LW_CHOSEN_BY_ALL(type, suffix)                                                 \
  LW_CHOSEN_BY(lt, type, suffix, <) LW_CHOSEN_BY(le, type, suffix, <=)                 \
  LW_CHOSEN_BY(gt, type, suffix, >) LW_CHOSEN_BY(ge, type, suffix, >=)
LW_CHOSEN_BY_ALL(int64_t, int64)
LW_PURE int64_t lw_chosen_no_bits(int64_t a, int64_t b, int64_t then, int64_t otherwise) {
  return lw_chosen(!(a & b), then, otherwise);
}
LW_PURE int64_t lw_chosen_any_bits(int64_t a, int64_t b, int64_t then, int64_t otherwise) {
  return lw_chosen((a & b) != 0, then, otherwise);
}
LW_CHOSEN_BY(eq, int64_t, int64, ==)
LW_CHOSEN_BY(ne, int64_t, int64, !=)
LW_CHOSEN_BY_ALL(double, float64)
LW_CHOSEN_BY_ALL(float, float32)
#endif
