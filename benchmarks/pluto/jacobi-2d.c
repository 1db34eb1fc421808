#include "pluto.h"

static inline void average(int64_t n, int64_t i, int64_t from, int64_t to, const double old[restrict n][n],
                           double new[restrict n][n]) {
#pragma GCC ivdep
  for (int64_t j = from; j <= to; j++)
    new[i][j] = 0.2 * (old[i][j] + old[i][j - 1] + old[i][j + 1] + old[i + 1][j] + old[i - 1][j]);
}

/* One tile of x = 2 t + i and y = 2 t + j. A follows B one row and one column behind: A[x - 2 t - 1] at x. */
static void tile(int64_t tsteps, int64_t n, double A[restrict n][n], double B[restrict n][n], int64_t tt, int64_t tx,
                 int64_t ty) {
  for (int64_t t = TILE * tt; t <= min(tsteps - 1, TILE * tt + TILE - 1); t++)
    for (int64_t x = max(2 * t + 1, TILE * tx); x <= min(2 * t + n - 1, TILE * tx + TILE - 1); x++) {
      int64_t i = x - 2 * t, from = TILE * ty - 2 * t, to = from + TILE - 1;
      if (i <= n - 2)
        average(n, i, max(1, from), min(n - 2, to), (const double(*)[n])A, B);
      if (i >= 2)
        average(n, i - 1, max(1, from - 1), min(n - 2, to - 1), (const double(*)[n])B, A);
    }
}

/* Time skewed, then tiled in t, x, y; a front of tiles with the same tt + tx runs in parallel. */
void run(int64_t tsteps, int64_t n, double A[restrict n][n], double B[restrict n][n]) {
  int64_t last = floord(tsteps - 1, TILE), width = 2 * TILE - 2 + n - 1; /* the largest x less 2 TILE tt */
  for (int64_t front = 0; front <= last + floord(2 * (tsteps - 1) + n - 1, TILE); front++) {
    int64_t from = max(0, max(ceild(front - floord(width, TILE), 3), front - floord(2 * tsteps + n - 3, TILE)));
#pragma omp parallel for
    for (int64_t tt = from; tt <= min(last, floord(front, 3)); tt++)
      for (int64_t ty = 2 * tt; ty <= floord(2 * min(tsteps - 1, TILE * tt + TILE - 1) + n - 1, TILE); ty++)
        tile(tsteps, n, A, B, tt, front - tt, ty);
  }
}
