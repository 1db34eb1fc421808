#include "pluto.h"

/* Rows of tiles in parallel, dealt out one by one: the lower ones are longer. In a tile i, k, j as in gemm. */
void run(int64_t n, int64_t m, double alpha, double beta, double C[restrict n][n], const double A[restrict n][m]) {
#pragma omp parallel for schedule(dynamic)
  for (int64_t ti = 0; ti <= floord(n - 1, TILE); ti++)
    for (int64_t tj = 0; tj <= ti; tj++)
      for (int64_t i = TILE * ti; i <= min(n - 1, TILE * ti + TILE - 1); i++)
#pragma GCC ivdep
        for (int64_t j = TILE * tj; j <= min(i, TILE * tj + TILE - 1); j++)
          C[i][j] *= beta;
#pragma omp parallel for schedule(dynamic)
  for (int64_t ti = 0; ti <= floord(n - 1, TILE); ti++)
    for (int64_t tj = 0; tj <= ti; tj++)
      for (int64_t tk = 0; tk <= floord(m - 1, TILE); tk++)
        for (int64_t i = TILE * ti; i <= min(n - 1, TILE * ti + TILE - 1); i++)
          for (int64_t k = TILE * tk; k <= min(m - 1, TILE * tk + TILE - 1); k++)
#pragma GCC ivdep
            for (int64_t j = TILE * tj; j <= min(i, TILE * tj + TILE - 1); j++)
              C[i][j] += alpha * A[i][k] * A[j][k];
}
