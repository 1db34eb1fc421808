#include "pluto.h"

/* Columns do not meet: tiles of j in parallel. Rows go up in both the loop over i and that over k, so that a row is
   read before it is overwritten; what is left of a tile of rows is to scale them, when nobody reads them any more. */
void run(int64_t m, int64_t n, double alpha, const double A[restrict m][m], double B[restrict m][n]) {
#pragma omp parallel for
  for (int64_t tj = 0; tj <= floord(n - 1, TILE); tj++)
    for (int64_t ti = 0; ti <= floord(m - 1, TILE); ti++) {
      for (int64_t tk = ti; tk <= floord(m - 1, TILE); tk++)
        for (int64_t i = TILE * ti; i <= min(m - 1, TILE * ti + TILE - 1); i++)
          for (int64_t k = max(i + 1, TILE * tk); k <= min(m - 1, TILE * tk + TILE - 1); k++)
#pragma GCC ivdep
            for (int64_t j = TILE * tj; j <= min(n - 1, TILE * tj + TILE - 1); j++)
              B[i][j] += A[k][i] * B[k][j];
      for (int64_t i = TILE * ti; i <= min(m - 1, TILE * ti + TILE - 1); i++)
#pragma GCC ivdep
        for (int64_t j = TILE * tj; j <= min(n - 1, TILE * tj + TILE - 1); j++)
          B[i][j] *= alpha;
    }
}
