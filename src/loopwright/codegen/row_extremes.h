/* Extremes of registers (LW_ROWS): in each lane, what a comparison says to keep of `a`, else `b`; of all lanes; and a
   register with another one's last lanes, behind the first `count`. */
#define LW_ROW_CHOICE(type, suffix, name, keeps, scalar)                                                        \
  LW_PURE lw_row_##suffix lw_row_##name##_##suffix(lw_row_##suffix a, lw_row_##suffix b) {                      \
    const lw_mask_##suffix kept = (lw_mask_##suffix)(keeps);                                                    \
    return (lw_row_##suffix)(((lw_mask_##suffix)a & kept) | ((lw_mask_##suffix)b & ~kept));                     \
  }                                                                                                             \
  LW_PURE type lw_all_##name##_##suffix(lw_row_##suffix row) {                                                  \
    enum { lw_lanes = sizeof row / sizeof(type) };                                                              \
    type part[lw_lanes];                                                                                        \
    for (int k = 0; k < lw_lanes; ++k) part[k] = row[k];                                                        \
    for (int n = lw_lanes / 2; n; n /= 2)                                                                       \
      for (int k = 0; k < n; ++k) { const type a = part[k], b = part[k + n]; part[k] = scalar; }                \
    return part[0];                                                                                             \
  }
#define LW_ROW_CHOICES(type, suffix)                                                                            \
  LW_ROW_CHOICE(type, suffix, maximum, (a != a) | (a > b), lw_maximum_##suffix(a, b))                           \
  LW_ROW_CHOICE(type, suffix, minimum, (a != a) | (a < b), lw_minimum_##suffix(a, b))                           \
  LW_ROW_CHOICE(type, suffix, max, ~(b > a), LW_MAX(type, a, b))                                                \
  LW_ROW_CHOICE(type, suffix, min, ~(b < a), LW_MIN(type, a, b))                                                \
  LW_PURE lw_row_##suffix lw_ended_##suffix(lw_row_##suffix row, lw_row_##suffix rest, int64_t count) {         \
    const lw_mask_##suffix mask = lw_places_##suffix < (int)count;                                                 \
    return (lw_row_##suffix)(((lw_mask_##suffix)row & mask) | ((lw_mask_##suffix)rest & ~mask));                \
  }
LW_ROW_CHOICES(double, float64)
LW_ROW_CHOICES(float, float32)
