#include "pluto.h"

/* Rows of tiles in parallel; in a tile i, k, j: the loop that runs along rows of memory is moved innermost. */
void run(int64_t ni, int64_t nj, int64_t nk, double alpha, double beta, double C[restrict ni][nj],
         const double A[restrict ni][nk], const double B[restrict nk][nj]) {
#pragma omp parallel for
  for (int64_t ti = 0; ti <= floord(ni - 1, TILE); ti++)
    for (int64_t tj = 0; tj <= floord(nj - 1, TILE); tj++)
      for (int64_t i = TILE * ti; i <= min(ni - 1, TILE * ti + TILE - 1); i++)
#pragma GCC ivdep
        for (int64_t j = TILE * tj; j <= min(nj - 1, TILE * tj + TILE - 1); j++)
          C[i][j] *= beta;
#pragma omp parallel for
  for (int64_t ti = 0; ti <= floord(ni - 1, TILE); ti++)
    for (int64_t tj = 0; tj <= floord(nj - 1, TILE); tj++)
      for (int64_t tk = 0; tk <= floord(nk - 1, TILE); tk++)
        for (int64_t i = TILE * ti; i <= min(ni - 1, TILE * ti + TILE - 1); i++)
          for (int64_t k = TILE * tk; k <= min(nk - 1, TILE * tk + TILE - 1); k++)
#pragma GCC ivdep
            for (int64_t j = TILE * tj; j <= min(nj - 1, TILE * tj + TILE - 1); j++)
              C[i][j] += alpha * A[i][k] * B[k][j];
}
