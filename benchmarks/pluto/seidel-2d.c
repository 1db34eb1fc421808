#include "pluto.h"

/* One tile of x = t + i and y = 2 t + i + j: no neighbour that is still to come, or already new, lies behind. */
static void tile(int64_t tsteps, int64_t n, double A[restrict n][n], int64_t tt, int64_t tx, int64_t ty) {
  for (int64_t t = TILE * tt; t <= min(tsteps - 1, TILE * tt + TILE - 1); t++)
    for (int64_t x = max(t + 1, TILE * tx); x <= min(t + n - 2, TILE * tx + TILE - 1); x++) {
      int64_t i = x - t, from = TILE * ty - 2 * t - i;
      for (int64_t j = max(1, from); j <= min(n - 2, from + TILE - 1); j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] +
                   A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) /
                  9.0;
    }
}

/* Tiled in t, x, y; a front of tiles with the same tt + tx runs in parallel. y is t + x + j in a tile of t and x. */
void run(int64_t tsteps, int64_t n, double A[restrict n][n]) {
  int64_t last = floord(tsteps - 1, TILE), width = TILE - 1 + n - 2; /* the largest x less TILE tt */
  for (int64_t front = 0; front <= last + floord(tsteps - 1 + n - 2, TILE); front++) {
    int64_t from = max(0, max(ceild(front - floord(width, TILE), 2), front - floord(tsteps + n - 3, TILE)));
#pragma omp parallel for
    for (int64_t tt = from; tt <= min(last, floord(front, 2)); tt++) {
      int64_t tx = front - tt, t = min(tsteps - 1, TILE * tt + TILE - 1);
      int64_t first = TILE * tt + max(TILE * tt + 1, TILE * tx) + 1;
      int64_t end = t + min(t + n - 2, TILE * tx + TILE - 1) + n - 2;
      for (int64_t ty = floord(first, TILE); ty <= floord(end, TILE); ty++)
        tile(tsteps, n, A, tt, tx, ty);
    }
  }
}
