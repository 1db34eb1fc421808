/* Whole numbers: what C leaves open, or has otherwise than Python. It stands behind loopwright.h. */

/* floor division and modulo: Python's sign, 0 for a zero divisor, and the least integer by -1 wraps. Nothing here jumps,
   so that gcc divides once, before a loop, what stays the same in it, and vectorises the loop. By a constant: of -1 - a
   where `a` is negative, which is not, and of which the quotient is -1 - q. */
#define LW_DIVISION(type, utype, suffix)                                                                     \
  LW_PURE type lw_floordiv_##suffix(type a, type b) {                                                        \
    if (__builtin_constant_p(b) && b > 0) {                                                                  \
      const type sign = (type)(a >> (8 * sizeof(type) - 1));                                                 \
      return (type)((type)((utype)(a ^ sign) / (utype)b) ^ sign);                                            \
    }                                                                                                        \
    const type by = (type)(b + (b == 0) + 2 * (b == (type)-1)), all = (type)-(type)(b == (type)-1);          \
    const type q = (type)(a / by - ((a % by != 0) & ((a < 0) != (by < 0)))), keep = (type)-(type)(b != 0);   \
    return (type)((type)((uint64_t)(q ^ all) - (uint64_t)all) & keep);                                       \
  }                                                                                                          \
  LW_PURE type lw_mod_##suffix(type a, type b) {                                                             \
    if (__builtin_constant_p(b) && b > 0) return (type)(a - (type)(lw_floordiv_##suffix(a, b) * b));         \
    const type by = (type)(b + (b == 0) + 2 * (b == (type)-1)), r = (type)(a % by);                          \
    return (type)(r + (by & (type)-(type)((r != 0) & ((r < 0) != (by < 0)))));                               \
  }
LW_DIVISION(int8_t, uint8_t, int8)
LW_DIVISION(int16_t, uint16_t, int16)
LW_DIVISION(int32_t, uint32_t, int32)
LW_DIVISION(int64_t, uint64_t, int64)
#define LW_UDIVISION(type, suffix)                                                                           \
  LW_PURE type lw_floordiv_##suffix(type a, type b) { return (type)(a / (type)(b + (b == 0)) & -(type)(b != 0)); } \
  LW_PURE type lw_mod_##suffix(type a, type b) { return (type)(a % (type)(b + (b == 0))); }
LW_UDIVISION(uint8_t, uint8)
LW_UDIVISION(uint16_t, uint16)
LW_UDIVISION(uint32_t, uint32)
LW_UDIVISION(uint64_t, uint64)

/* The same of 64 bits where the numbers change all the time, so that to divide is all there is to do: mostly 32 bits hold
   both, and x86 divides those in less than half the time. What 0 and -1 take would be waited for before each division,
   and the sign of a remainder behind it, so that they, and negative numbers, go another way. */
LW_PURE int64_t lw_usual_floordiv_int64(int64_t a, int64_t b) {
  const int64_t q = a / b, r = a % b;
  return q - ((r != 0) & ((r ^ b) < 0));
}
LW_PURE int64_t lw_usual_mod_int64(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return r + (b & -(int64_t)((r != 0) & ((r ^ b) < 0)));
}
#define lw_usual_floordiv_uint64(a, b) ((a) / (b))
#define lw_usual_mod_uint64(a, b) ((a) % (b))
#define LW_SHORT_DIVISION(type, suffix, op, name)                                                         \
  LW_PURE type lw_short_##name##_##suffix(type a, type b) {                                               \
    const uint32_t few = (uint32_t)a, by = (uint32_t)b;                                                   \
    if (((uint64_t)a | (uint64_t)b) >> 32 == 0 && b != 0) return (type)(few op by);                       \
    if (LW_RARE((uint64_t)b + 1 < 2)) return lw_##name##_##suffix(a, b);                                  \
    if ((int64_t)((uint64_t)a | (uint64_t)b) >= 0) return (type)((uint64_t)a op (uint64_t)b);             \
    return lw_usual_##name##_##suffix(a, b);                                                              \
  }
LW_SHORT_DIVISION(int64_t, int64, /, floordiv)
LW_SHORT_DIVISION(int64_t, int64, %, mod)
LW_SHORT_DIVISION(uint64_t, uint64, /, floordiv)
LW_SHORT_DIVISION(uint64_t, uint64, %, mod)

/* A remainder by what stays the same: mostly that of a neighbour's place, which is inside already. */
#define LW_NEAR_MOD(type, suffix)                                                              \
  LW_PURE type lw_near_mod_##suffix(type a, type b) {                                          \
    return b > 0 && (uint64_t)a < (uint64_t)b ? a : lw_short_mod_##suffix(a, b);               \
  }
LW_NEAR_MOD(int64_t, int64)
LW_NEAR_MOD(uint64_t, uint64)

/* By what no statement changes, with its reciprocal, which is 2 ** 64 - 1 by b where b is from 1 to 2 ** 32 - 1 and 0
   elsewhere. With t = q * b + s and reciprocal * b = 2 ** 64 - 1 - e, where e < b, reciprocal * (t + 1) by 2 ** 64 is
   q + (s + 1) / b less (t + 1) * (e + 1) / 2 ** 64 / b: more than nothing and, for t < 2 ** 32, no more than 1 / b (the
   round-down method of Robison, "N-bit unsigned division via N-bit multiply-add", ARITH 2005). */
LW_PURE uint64_t lw_reciprocal_of(uint64_t b) { return b - 1 < 0xffffffffu ? UINT64_MAX / b : 0; }
LW_PURE uint64_t lw_scaled(uint64_t t, uint64_t reciprocal) {
  return (uint64_t)((unsigned __int128)reciprocal * (t + 1) >> 64);
}
#define LW_KNOWN_DIVISION(type, suffix, sign)                                                 \
  LW_PURE type lw_known_floordiv_##suffix(type a, type b, uint64_t reciprocal) {              \
    const uint64_t t = (uint64_t)a ^ (uint64_t)(sign);                                        \
    if (LW_SELDOM(t >> 32 != 0 || reciprocal == 0)) return lw_short_floordiv_##suffix(a, b);  \
    return (type)(lw_scaled(t, reciprocal) ^ (uint64_t)(sign));                               \
  }                                                                                           \
  LW_PURE type lw_known_mod_##suffix(type a, type b, uint64_t reciprocal) {                   \
    const uint64_t t = (uint64_t)a ^ (uint64_t)(sign);                                        \
    if (LW_SELDOM(t >> 32 != 0 || reciprocal == 0)) return lw_short_mod_##suffix(a, b);       \
    return (type)((uint64_t)a - (lw_scaled(t, reciprocal) ^ (uint64_t)(sign)) * (uint64_t)b); \
  }
LW_KNOWN_DIVISION(int64_t, int64, a >> 63)
LW_KNOWN_DIVISION(uint64_t, uint64, 0)

/* By a positive constant, as soon as possible. */
LW_PURE int64_t lw_late_mod_int64(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return r + (b & (r >> 63));
}

/* The remainder of a quotient that is known: by zero it is 0 as well. */
#define LW_REST(type, utype, suffix) \
  LW_PURE type lw_rest_##suffix(type a, type b, type q) { return (type)(((utype)a - (utype)q * (utype)b) & (utype)-(b != 0)); }
LW_REST(int8_t, uint8_t, int8)
LW_REST(int16_t, uint32_t, int16)
LW_REST(int32_t, uint32_t, int32)
LW_REST(int64_t, uint64_t, int64)
LW_REST(uint8_t, uint8_t, uint8)
LW_REST(uint16_t, uint32_t, uint16)
LW_REST(uint32_t, uint32_t, uint32)
LW_REST(uint64_t, uint64_t, uint64)

/* Shifts: by the width or more, or by a negative amount, every bit is shifted out, and to the right those come in that
   the sign is: as by one less than the width. */
#define LW_SHIFT(type, utype, suffix, bits)                                                                    \
  LW_PURE type lw_shl_##suffix(type a, type b) { return (uint64_t)b < bits ? (type)((utype)a << b) : (type)0; }
#define LW_SIGNED_SHIFT(type, utype, suffix, bits)                                                             \
  LW_SHIFT(type, utype, suffix, bits)                                                                          \
  LW_PURE type lw_shr_##suffix(type a, type b) { return (type)(a >> ((uint64_t)b < bits ? b : bits - 1)); }      \
  LW_PURE type lw_bit_##suffix(type a, type b) { return (type)((utype)a >> ((uint64_t)b < bits ? b : bits - 1) & 1); }
#define LW_UNSIGNED_SHIFT(type, suffix, bits)                                                                  \
  LW_SHIFT(type, type, suffix, bits)                                                                           \
  LW_PURE type lw_shr_##suffix(type a, type b) { return (uint64_t)b < bits ? (type)(a >> b) : (type)0; }
LW_SIGNED_SHIFT(int8_t, uint8_t, int8, 8)
LW_SIGNED_SHIFT(int16_t, uint16_t, int16, 16)
LW_SIGNED_SHIFT(int32_t, uint32_t, int32, 32)
LW_SIGNED_SHIFT(int64_t, uint64_t, int64, 64)
LW_UNSIGNED_SHIFT(uint8_t, uint8, 8)
LW_UNSIGNED_SHIFT(uint16_t, uint16, 16)
LW_UNSIGNED_SHIFT(uint32_t, uint32, 32)
LW_UNSIGNED_SHIFT(uint64_t, uint64, 64)

/* A float that is known to be within 32 bits, which x86 converts in lanes. What is added is 0, and the compiler does not
   know that: of a later conversion back it would make trunc(), -0.0 for 0. */
__attribute__((weak, visibility("hidden"))) const int32_t lw_zero_bits = 0;
#define LW_SHORT_INTEGER(number) ((int32_t)(number) + lw_zero_bits)

/* (-1.0) ** n of an n that becomes a double: beyond 2 ** 53 all of these are even. */
LW_PURE double lw_alternating(int64_t n) {
  return (n & 1) && n > -9007199254740992LL && n < 9007199254740992LL ? -1.0 : 1.0;
}

LW_PURE uint64_t lw_ipow(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  while (exponent) {
    if (exponent & 1) result *= base;
    base *= base;
    exponent >>= 1;
  }
  return result;
}

/* Two conditions as one number: of `a & b` gcc makes a jump for each. */
#define LW_AT_ONCE(both) ({ int lw_both = (both); __asm__("" : "+r"(lw_both)); lw_both; })
