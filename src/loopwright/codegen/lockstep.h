
/* Iterations that go on in lanes until data end them (lockstep.py): lw8 and lw4 are registers of as many lanes as
   numbers of 64 or 32 bits fill; narrower numbers fill a part of one. A mask has all bits of a lane set, or none. */
#if defined(__AVX2__) || defined(__AVX512F__)
#define LW_LOCKSTEP 1
#else
#define LW_LOCKSTEP 0 /* registers of two lanes, without a comparison of whole numbers: one by one is as fast */
#endif
#define LW_LANES(wide) (LW_REGISTER / (wide))
#define LW_LANES_OF(wide, name, type) \
  typedef type lw##wide##_##name __attribute__((vector_size(LW_REGISTER / wide * sizeof(type)), may_alias));
LW_LANES_OF(8, float64, double)
LW_LANES_OF(8, int64, int64_t)
LW_LANES_OF(8, uint64, uint64_t)
LW_LANES_OF(8, float32, float)
LW_LANES_OF(8, int32, int32_t)
LW_LANES_OF(8, uint32, uint32_t)
LW_LANES_OF(4, float32, float)
LW_LANES_OF(4, int32, int32_t)
LW_LANES_OF(4, uint32, uint32_t)

/* Where the values of lanes wait between rounds. */
#define LW_WAITING(type, name, count) type name[count] __attribute__((aligned(64))) = {0}

/* The value in each lane, computed by itself. */
#define LW_EACH(lanes_type, count, value)                            \
  ({                                                                 \
    lanes_type lw_r;                                                 \
    for (int lw_l = 0; lw_l < (count); ++lw_l) lw_r[lw_l] = (value); \
    lw_r;                                                            \
  })

/* Masks as bits, one for each lane. */
#if LW_REGISTER == 64
typedef int64_t lw_half __attribute__((vector_size(32)));
#define LW_BITS(wide, suffix, type)                                                                        \
  LW_PURE unsigned lw##wide##_bits(lw##wide##_int##suffix mask) {                                          \
    lw_half half[2];                                                                                       \
    memcpy(half, &mask, sizeof half);                                                                      \
    typedef type lw_h __attribute__((vector_size(32)));                                                    \
    return (unsigned)LW_MOVMSK_##suffix##_32((lw_h)half[0]) |                                              \
           (unsigned)LW_MOVMSK_##suffix##_32((lw_h)half[1]) << (32 / wide);                                \
  }
#elif defined(__SSE2__)
#define LW_BITS_OF(wide, suffix, type, bytes)                                       \
  LW_PURE unsigned lw##wide##_bits(lw##wide##_int##suffix mask) {                   \
    typedef type lw_h __attribute__((vector_size(bytes)));                          \
    return (unsigned)LW_MOVMSK_##suffix##_##bytes((lw_h)mask);                      \
  }
#if LW_REGISTER == 32
#define LW_BITS(wide, suffix, type) LW_BITS_OF(wide, suffix, type, 32)
#else
#define LW_BITS(wide, suffix, type) LW_BITS_OF(wide, suffix, type, 16)
#endif
#else
#define LW_BITS(wide, suffix, type)                                                            \
  LW_PURE unsigned lw##wide##_bits(lw##wide##_int##suffix mask) {                              \
    unsigned bits = 0;                                                                         \
    for (int k = 0; k < LW_LANES(wide); ++k) bits |= (unsigned)(mask[k] != 0) << k;            \
    return bits;                                                                               \
  }
#endif
#define LW_MOVMSK_64_32 __builtin_ia32_movmskpd256
#define LW_MOVMSK_32_32 __builtin_ia32_movmskps256
#define LW_MOVMSK_64_16 __builtin_ia32_movmskpd
#define LW_MOVMSK_32_16 __builtin_ia32_movmskps
LW_BITS(8, 64, double)
LW_BITS(4, 32, float)

/* How many bits are set, of at most 32. */
LW_PURE int lw_set(uint32_t bits) {
#ifdef __POPCNT__
  return __builtin_popcount(bits);
#else
  bits -= bits >> 1 & 0x55555555;
  bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333);
  return (int)(((bits + (bits >> 4)) & 0x0f0f0f0f) * 0x01010101u >> 24);
#endif
}

/* all: the same number in each lane (of a zero, its sign stays). chosen: of two numbers, by a mask. */
#define LW_CHOSEN(wide, name, like, mask) ((lw##wide##_##name)(((mask) & (like)a) | (~(mask) & (like)b)))
#if LW_REGISTER == 32 && defined(__AVX2__)
typedef float lw_blended __attribute__((vector_size(32)));
#define LW_BLENDED(wide, name, like, mask) \
  ((lw##wide##_##name)__builtin_ia32_blendvps256((lw_blended)b, (lw_blended)a, (lw_blended)(mask)))
#else
#define LW_BLENDED LW_CHOSEN
#endif
#define LW_LANES_DO(wide, name, type, like, mask_type, how)                                                          \
  LW_PURE lw##wide##_##name lw##wide##_all_##name(type number) { return number - (lw##wide##_##name){0}; }      \
  LW_PURE lw##wide##_##name lw##wide##_chosen_##name(mask_type m, lw##wide##_##name a, lw##wide##_##name b) {   \
    const like mask = __builtin_convertvector(m, like);                                                         \
    return how(wide, name, like, mask);                                                                         \
  }
LW_LANES_DO(8, int64, int64_t, lw8_int64, lw8_int64, LW_BLENDED)
LW_LANES_DO(8, uint64, uint64_t, lw8_int64, lw8_int64, LW_BLENDED)
LW_LANES_DO(8, int32, int32_t, lw8_int32, lw8_int64, LW_CHOSEN)
LW_LANES_DO(8, uint32, uint32_t, lw8_int32, lw8_int64, LW_CHOSEN)
LW_LANES_DO(8, float64, double, lw8_int64, lw8_int64, LW_BLENDED)
LW_LANES_DO(8, float32, float, lw8_int32, lw8_int64, LW_CHOSEN)
LW_LANES_DO(4, int32, int32_t, lw4_int32, lw4_int32, LW_BLENDED)
LW_LANES_DO(4, uint32, uint32_t, lw4_int32, lw4_int32, LW_BLENDED)
LW_LANES_DO(4, float32, float, lw4_int32, lw4_int32, LW_BLENDED)
#define LW_LANES_ABS(wide, name, like, mask) \
  LW_PURE lw##wide##_##name lw##wide##_abs_##name(lw##wide##_##name a) { return (lw##wide##_##name)((like)a & mask); }
LW_LANES_ABS(8, float64, lw8_int64, INT64_MAX)
LW_LANES_ABS(8, float32, lw8_int32, INT32_MAX)
LW_LANES_ABS(4, float32, lw4_int32, INT32_MAX)
#define LW_LANES_MAGNITUDE(wide, name) \
  LW_PURE lw##wide##_##name lw##wide##_abs_##name(lw##wide##_##name a) { const lw##wide##_##name s = a < 0; return (a ^ s) - s; }
LW_LANES_MAGNITUDE(8, int64)
LW_LANES_MAGNITUDE(8, int32)
LW_LANES_MAGNITUDE(4, int32)
LW_PURE lw8_int64 lw8_shr_int64(lw8_int64 a, int by) {
#if defined(__AVX512F__)
  return a >> by;
#else
  const lw8_uint64 s = (lw8_uint64)(a < 0);
  return (lw8_int64)((((lw8_uint64)a ^ s) >> by) ^ s);
#endif
}
LW_PURE lw8_float64 lw8_double_int64(lw8_int64 a) {
#if defined(__AVX512DQ__) && defined(__AVX512VL__)
  return __builtin_convertvector(a, lw8_float64);
#else
  const lw8_uint64 bits = (lw8_uint64)a;
  const lw8_float64 low = (lw8_float64)((bits & UINT32_MAX) | UINT64_C(0x4330000000000000));
  const lw8_float64 high = (lw8_float64)((bits >> 32) ^ UINT64_C(0x4530000080000000));
  return (high - 0x1.00000801p84) + low;
#endif
}
LW_PURE lw8_float64 lw8_double_uint64(lw8_uint64 bits) {
  const lw8_float64 low = (lw8_float64)((bits & UINT32_MAX) | UINT64_C(0x4330000000000000));
  const lw8_float64 high = (lw8_float64)((bits >> 32) | UINT64_C(0x4530000000000000));
  return (high - 0x1.00000001p84) + low;
}
LW_PURE lw8_float64 lw8_sqrt_float64(lw8_float64 a) { return LW_EACH(lw8_float64, LW_LANES(8), sqrt(a[lw_l])); }
LW_PURE lw8_float32 lw8_sqrt_float32(lw8_float32 a) { return LW_EACH(lw8_float32, LW_LANES(8), sqrtf(a[lw_l])); }
LW_PURE lw4_float32 lw4_sqrt_float32(lw4_float32 a) { return LW_EACH(lw4_float32, LW_LANES(4), sqrtf(a[lw_l])); }
/* The mask of which these are the bits. */
#define LW_MASK(wide, suffix)                                                                         \
  LW_PURE lw##wide##_int##suffix lw##wide##_mask(uint32_t bits) {                                     \
    const lw##wide##_int##suffix place = LW_EACH(lw##wide##_int##suffix, LW_LANES(wide), 1 << lw_l);  \
    return (lw##wide##_all_int##suffix((int##suffix##_t)bits) & place) != 0;                          \
  }
LW_MASK(8, 64)
LW_MASK(4, 32)

/* Functions of libmvec for registers of full width, as LW_VECTOR has them for loops. */
#if defined(LW_HAS_LANES) && LW_REGISTER == 64
#define LW_MVEC_8(name) _ZGVeN8##name
#define LW_MVEC_4(name) _ZGVeN16##name
#elif defined(LW_HAS_LANES) && defined(__AVX2__)
#define LW_MVEC_8(name) _ZGVdN4##name
#define LW_MVEC_4(name) _ZGVdN8##name
#elif defined(LW_HAS_LANES)
#define LW_MVEC_8(name) _ZGVbN2##name
#define LW_MVEC_4(name) _ZGVbN4##name
#endif
#define LW_LANE_BY_LANE(name)                                                                                          \
  LW_PURE lw8_float64 lw8_##name##_float64(lw8_float64 a) { return LW_EACH(lw8_float64, LW_LANES(8), name(a[lw_l])); } \
  LW_PURE lw4_float32 lw4_##name##_float32(lw4_float32 a) { return LW_EACH(lw4_float32, LW_LANES(4), name##f(a[lw_l])); }
#define LW_LANE_BY_LANE_2(name)                                                                                      \
  LW_PURE lw8_float64 lw8_##name##_float64(lw8_float64 a, lw8_float64 b) {                                           \
    return LW_EACH(lw8_float64, LW_LANES(8), name(a[lw_l], b[lw_l]));                                                \
  }                                                                                                                  \
  LW_PURE lw4_float32 lw4_##name##_float32(lw4_float32 a, lw4_float32 b) {                                           \
    return LW_EACH(lw4_float32, LW_LANES(4), name##f(a[lw_l], b[lw_l]));                                             \
  }
#ifdef LW_MVEC_8
#define LW_MVEC(name)                                                                              \
  extern lw8_float64 LW_MVEC_8(v_##name)(lw8_float64);                                             \
  extern lw4_float32 LW_MVEC_4(v_##name##f)(lw4_float32);                                          \
  LW_PURE lw8_float64 lw8_##name##_float64(lw8_float64 a) { return LW_MVEC_8(v_##name)(a); }       \
  LW_PURE lw4_float32 lw4_##name##_float32(lw4_float32 a) { return LW_MVEC_4(v_##name##f)(a); }
#define LW_MVEC_2(name)                                                                                             \
  extern lw8_float64 LW_MVEC_8(vv_##name)(lw8_float64, lw8_float64);                                                \
  extern lw4_float32 LW_MVEC_4(vv_##name##f)(lw4_float32, lw4_float32);                                             \
  LW_PURE lw8_float64 lw8_##name##_float64(lw8_float64 a, lw8_float64 b) { return LW_MVEC_8(vv_##name)(a, b); }     \
  LW_PURE lw4_float32 lw4_##name##_float32(lw4_float32 a, lw4_float32 b) { return LW_MVEC_4(vv_##name##f)(a, b); }
#else
#define LW_MVEC LW_LANE_BY_LANE
#define LW_MVEC_2 LW_LANE_BY_LANE_2
#endif
#if defined(LW_MVEC_8) && !__GLIBC_PREREQ(2, 35)
#define LW_NEW_MVEC LW_LANE_BY_LANE
#define LW_NEW_MVEC_2 LW_LANE_BY_LANE_2
#else
#define LW_NEW_MVEC LW_MVEC
#define LW_NEW_MVEC_2 LW_MVEC_2
#endif
LW_MVEC(exp)
LW_MVEC(log)
LW_MVEC(sin)
LW_MVEC(cos)
LW_MVEC_2(pow)
LW_NEW_MVEC_2(atan2)
LW_NEW_MVEC(tan)
LW_NEW_MVEC(asin)
LW_NEW_MVEC(acos)
LW_NEW_MVEC(atan)
LW_NEW_MVEC(sinh)
LW_NEW_MVEC(cosh)
LW_NEW_MVEC(tanh)
LW_NEW_MVEC(asinh)
LW_NEW_MVEC(acosh)
LW_NEW_MVEC(atanh)
LW_NEW_MVEC(exp2)
LW_NEW_MVEC(expm1)
LW_NEW_MVEC(log2)
LW_NEW_MVEC(log1p)
LW_NEW_MVEC(erf)
LW_NEW_MVEC(erfc)

/* As lw_vector_hypot. */
LW_PURE lw8_float64 lw8_hypot_float64(lw8_float64 x, lw8_float64 y) {
  x = lw8_abs_float64(x), y = lw8_abs_float64(y);
  const lw8_float64 one = lw8_all_float64(1.0), most = lw8_chosen_float64(x > y, x, y);
  const lw8_int64 large = most > 0x1p500, small = most < 0x1p-400;
  const lw8_float64 high = lw8_all_float64(0x1p600), low = lw8_all_float64(0x1p-600);
  const lw8_float64 down = lw8_chosen_float64(large, low, lw8_chosen_float64(small, high, one));
  const lw8_float64 up = lw8_chosen_float64(large, high, lw8_chosen_float64(small, low, one));
  const lw8_float64 a = x * down, b = y * down, found = lw8_sqrt_float64(a * a + b * b) * up;
  return lw8_chosen_float64((x == INFINITY) | (y == INFINITY), lw8_all_float64(INFINITY), found);
}
LW_PURE lw4_float32 lw4_hypot_float32(lw4_float32 x, lw4_float32 y) {
  return LW_EACH(lw4_float32, LW_LANES(4), lw_vector_hypotf(x[lw_l], y[lw_l]));
}
