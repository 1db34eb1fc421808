#include "pluto.h"

/* One tile of x = t + i and y = t + j. hz follows ex and ey one row and one column behind: hz[x - t - 1] at x. */
static void tile(int64_t tmax, int64_t nx, int64_t ny, double ex[restrict nx][ny], double ey[restrict nx][ny],
                 double hz[restrict nx][ny], const double fict[restrict tmax], int64_t tt, int64_t tx, int64_t ty) {
  for (int64_t t = TILE * tt; t <= min(tmax - 1, TILE * tt + TILE - 1); t++)
    for (int64_t x = max(t, TILE * tx); x <= min(t + nx - 1, TILE * tx + TILE - 1); x++) {
      int64_t i = x - t, from = TILE * ty - t, to = from + TILE - 1;
      if (i == 0) {
#pragma GCC ivdep
        for (int64_t j = max(0, from); j <= min(ny - 1, to); j++)
          ey[0][j] = fict[t];
      } else {
#pragma GCC ivdep
        for (int64_t j = max(0, from); j <= min(ny - 1, to); j++)
          ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
      }
#pragma GCC ivdep
      for (int64_t j = max(1, from); j <= min(ny - 1, to); j++)
        ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
      if (i >= 1) {
#pragma GCC ivdep
        for (int64_t j = max(0, from - 1); j <= min(ny - 2, to - 1); j++)
          hz[i - 1][j] = hz[i - 1][j] - 0.7 * (ex[i - 1][j + 1] - ex[i - 1][j] + ey[i][j] - ey[i - 1][j]);
      }
    }
}

/* Time skewed, then tiled in t, x, y; a front of tiles with the same tt + tx runs in parallel. */
void run(int64_t tmax, int64_t nx, int64_t ny, double ex[restrict nx][ny], double ey[restrict nx][ny],
         double hz[restrict nx][ny], const double fict[restrict tmax]) {
  int64_t last = floord(tmax - 1, TILE), width = TILE - 1 + nx - 1; /* the largest x less TILE tt */
  for (int64_t front = 0; front <= last + floord(tmax - 1 + nx - 1, TILE); front++) {
    int64_t from = max(0, max(ceild(front - floord(width, TILE), 2), front - floord(tmax + nx - 2, TILE)));
#pragma omp parallel for
    for (int64_t tt = from; tt <= min(last, floord(front, 2)); tt++)
      for (int64_t ty = tt; ty <= floord(min(tmax - 1, TILE * tt + TILE - 1) + ny - 1, TILE); ty++)
        tile(tmax, nx, ny, ex, ey, hz, fict, tt, front - tt, ty);
  }
}
