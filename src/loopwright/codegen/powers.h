/* Powers, and a root of a sum of two. With constant exponents, of any type but for roots: */
#define LW_SQUARE(type, a) ({ const type lw_a = (a); (type)(lw_a * lw_a); })
#define LW_CUBE(type, a) ({ const type lw_a = (a); (type)(lw_a * lw_a * lw_a); })
#define LW_FIFTH(type, a) ({ const type lw_a = (a), lw_b = (type)(lw_a * lw_a); (type)(lw_b * lw_b * lw_a); })
#define LW_SEVENTH(type, a) ({ const type lw_a = (a), lw_b = (type)(lw_a * lw_a * lw_a); (type)(lw_b * lw_b * lw_a); })
/* gcc's vectorizer takes pow(x, 0.5) for sqrt(x), which differs in -0.0 and minus infinity. */
#define LW_EXPONENT(type, a) ({ type lw_a = (a); __asm__("" : "+m"(lw_a)); lw_a; })
/* x ** 0.5: of -0.0 it is 0.0, and of minus infinity infinity. */
#define LW_ROOT(type, a)                                                                                  \
  ({ const type lw_a = (a) + (type)0;                                                                     \
     lw_a == -(type)INFINITY ? (type)INFINITY                                                             \
                             : sizeof(type) == 4 ? (type)__builtin_sqrtf((float)lw_a) : (type)__builtin_sqrt(lw_a); })
/* By a whole number that changes: of small ones a product, or 1 by it, as the last bits do not count. The factors stand in
   memory, so that no jump is left to the bits of the number. */
LW_PURE double lw_whole_power_float64(double a, int64_t n) {
  if ((uint64_t)n + 63 > 126) return pow(a, (double)n);
  const uint64_t count = n < 0 ? -(uint64_t)n : (uint64_t)n;
  double factors[6][2], square = a;
  for (int bit = 0; bit < 3; ++bit, square *= square) factors[bit][0] = 1.0, factors[bit][1] = square;
  double result = factors[0][count & 1];
  for (int bit = 1; bit < 3; ++bit) result *= factors[bit][count >> bit & 1];
  if (count > 7) {
    for (int bit = 3; bit < 6; ++bit, square *= square) factors[bit][0] = 1.0, factors[bit][1] = square;
    for (int bit = 3; bit < 6; ++bit) result *= factors[bit][count >> bit & 1];
  }
  if (n >= 0) return result;
  const double size = __builtin_fabs(result);
  return size > 0x1p-1000 && size < 0x1p1000 ? 1 / result : pow(a, (double)n);
}
/* One unit in the last place off, in a third of the time, where squares stay away from both ends. */
LW_PURE double lw_hypot_float64(double a, double b) {
  const double squares = a * a + b * b;
  return squares > 0x1p-960 && squares < 0x1p960 ? __builtin_sqrt(squares) : hypot(a, b);
}
