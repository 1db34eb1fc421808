#include "pluto.h"

/* to *= factor, tile by tile; a factor of 0 clears. */
static void scale(int64_t ni, int64_t nj, double factor, double to[restrict ni][nj]) {
#pragma omp parallel for
  for (int64_t ti = 0; ti <= floord(ni - 1, TILE); ti++)
    for (int64_t tj = 0; tj <= floord(nj - 1, TILE); tj++)
      for (int64_t i = TILE * ti; i <= min(ni - 1, TILE * ti + TILE - 1); i++)
#pragma GCC ivdep
        for (int64_t j = TILE * tj; j <= min(nj - 1, TILE * tj + TILE - 1); j++)
          to[i][j] = factor == 0.0 ? 0.0 : to[i][j] * factor;
}

/* to += alpha * left * right: all three loops tiled, j innermost in a tile. */
static void multiply(int64_t ni, int64_t nj, int64_t nk, double alpha, double to[restrict ni][nj],
                     const double left[restrict ni][nk], const double right[restrict nk][nj]) {
#pragma omp parallel for
  for (int64_t ti = 0; ti <= floord(ni - 1, TILE); ti++)
    for (int64_t tj = 0; tj <= floord(nj - 1, TILE); tj++)
      for (int64_t tk = 0; tk <= floord(nk - 1, TILE); tk++)
        for (int64_t i = TILE * ti; i <= min(ni - 1, TILE * ti + TILE - 1); i++)
          for (int64_t k = TILE * tk; k <= min(nk - 1, TILE * tk + TILE - 1); k++)
#pragma GCC ivdep
            for (int64_t j = TILE * tj; j <= min(nj - 1, TILE * tj + TILE - 1); j++)
              to[i][j] += alpha * left[i][k] * right[k][j];
}

void run(int64_t ni, int64_t nj, int64_t nk, int64_t nl, double alpha, double beta, double tmp[restrict ni][nj],
         const double A[restrict ni][nk], const double B[restrict nk][nj], const double C[restrict nj][nl],
         double D[restrict ni][nl]) {
  scale(ni, nj, 0.0, tmp);
  multiply(ni, nj, nk, alpha, tmp, A, B);
  scale(ni, nl, beta, D);
  multiply(ni, nl, nj, 1.0, D, (const double(*)[nj])tmp, C);
}
