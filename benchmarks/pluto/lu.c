#include "pluto.h"

/* One tile: in it i, k, j, so that the innermost loop runs along rows. A[i][k] is divided before it is used. */
static void tile(int64_t n, double A[restrict n][n], int64_t ti, int64_t tj, int64_t tk) {
  for (int64_t i = TILE * ti; i <= min(n - 1, TILE * ti + TILE - 1); i++)
    for (int64_t k = TILE * tk; k <= min(i - 1, TILE * tk + TILE - 1); k++) {
      if (tj == tk)
        A[i][k] /= A[k][k];
#pragma GCC ivdep
      for (int64_t j = max(k + 1, TILE * tj); j <= min(n - 1, TILE * tj + TILE - 1); j++)
        A[i][j] -= A[i][k] * A[k][j];
    }
}

/* All three loops tiled; a front of tiles with the same ti + tj runs in parallel. */
void run(int64_t n, double A[restrict n][n]) {
  int64_t last = floord(n - 1, TILE);
  for (int64_t front = 0; front <= 2 * last; front++) {
#pragma omp parallel for schedule(dynamic)
    for (int64_t ti = max(0, front - last); ti <= min(last, front); ti++)
      for (int64_t tk = 0; tk <= min(ti, front - ti); tk++)
        tile(n, A, ti, front - ti, tk);
  }
}
