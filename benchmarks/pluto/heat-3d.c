#include "pluto.h"

static inline void flow(int64_t n, int64_t i, int64_t j, int64_t from, int64_t to, const double old[restrict n][n][n],
                        double new[restrict n][n][n]) {
#pragma GCC ivdep
  for (int64_t k = from; k <= to; k++)
    new[i][j][k] = 0.125 * (old[i + 1][j][k] - 2.0 * old[i][j][k] + old[i - 1][j][k]) +
                   0.125 * (old[i][j + 1][k] - 2.0 * old[i][j][k] + old[i][j - 1][k]) +
                   0.125 * (old[i][j][k + 1] - 2.0 * old[i][j][k] + old[i][j][k - 1]) + old[i][j][k];
}

/* One tile of x = 2 t + i, y = 2 t + j and z = 2 t + k. A follows B one plane, row and column behind. */
static void tile(int64_t tsteps, int64_t n, double A[restrict n][n][n], double B[restrict n][n][n], int64_t tt,
                 int64_t tx, int64_t ty, int64_t tz) {
  for (int64_t t = TILE * tt; t <= min(tsteps - 1, TILE * tt + TILE - 1); t++)
    for (int64_t x = max(2 * t + 1, TILE * tx); x <= min(2 * t + n - 1, TILE * tx + TILE - 1); x++)
      for (int64_t y = max(2 * t + 1, TILE * ty); y <= min(2 * t + n - 1, TILE * ty + TILE - 1); y++) {
        int64_t i = x - 2 * t, j = y - 2 * t, from = TILE * tz - 2 * t, to = from + TILE - 1;
        if (i <= n - 2 && j <= n - 2)
          flow(n, i, j, max(1, from), min(n - 2, to), (const double(*)[n][n])A, B);
        if (i >= 2 && j >= 2)
          flow(n, i - 1, j - 1, max(1, from - 1), min(n - 2, to - 1), (const double(*)[n][n])B, A);
      }
}

/* Time skewed, then tiled in t, x, y, z; a front of tiles with the same tt + tx runs in parallel. */
void run(int64_t tsteps, int64_t n, double A[restrict n][n][n], double B[restrict n][n][n]) {
  int64_t last = floord(tsteps - 1, TILE), width = 2 * TILE - 2 + n - 1; /* the largest x less 2 TILE tt */
  for (int64_t front = 0; front <= last + floord(2 * (tsteps - 1) + n - 1, TILE); front++) {
    int64_t from = max(0, max(ceild(front - floord(width, TILE), 3), front - floord(2 * tsteps + n - 3, TILE)));
#pragma omp parallel for
    for (int64_t tt = from; tt <= min(last, floord(front, 3)); tt++) {
      int64_t end = floord(2 * min(tsteps - 1, TILE * tt + TILE - 1) + n - 1, TILE);
      for (int64_t ty = 2 * tt; ty <= end; ty++)
        for (int64_t tz = 2 * tt; tz <= end; tz++)
          tile(tsteps, n, A, B, tt, front - tt, ty, tz);
    }
  }
}
