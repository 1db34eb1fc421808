#include "pluto.h"

/* to = left * right: cleared tile by tile, then all three loops tiled, j innermost in a tile. */
static void multiply(int64_t ni, int64_t nj, int64_t nk, double to[restrict ni][nj],
                     const double left[restrict ni][nk], const double right[restrict nk][nj]) {
#pragma omp parallel for
  for (int64_t ti = 0; ti <= floord(ni - 1, TILE); ti++)
    for (int64_t tj = 0; tj <= floord(nj - 1, TILE); tj++)
      for (int64_t i = TILE * ti; i <= min(ni - 1, TILE * ti + TILE - 1); i++)
#pragma GCC ivdep
        for (int64_t j = TILE * tj; j <= min(nj - 1, TILE * tj + TILE - 1); j++)
          to[i][j] = 0.0;
#pragma omp parallel for
  for (int64_t ti = 0; ti <= floord(ni - 1, TILE); ti++)
    for (int64_t tj = 0; tj <= floord(nj - 1, TILE); tj++)
      for (int64_t tk = 0; tk <= floord(nk - 1, TILE); tk++)
        for (int64_t i = TILE * ti; i <= min(ni - 1, TILE * ti + TILE - 1); i++)
          for (int64_t k = TILE * tk; k <= min(nk - 1, TILE * tk + TILE - 1); k++)
#pragma GCC ivdep
            for (int64_t j = TILE * tj; j <= min(nj - 1, TILE * tj + TILE - 1); j++)
              to[i][j] += left[i][k] * right[k][j];
}

void run(int64_t ni, int64_t nj, int64_t nk, int64_t nl, int64_t nm, double E[restrict ni][nj],
         const double A[restrict ni][nk], const double B[restrict nk][nj], double F[restrict nj][nl],
         const double C[restrict nj][nm], const double D[restrict nm][nl], double G[restrict ni][nl]) {
  multiply(ni, nj, nk, E, A, B);
  multiply(nj, nl, nm, F, C, D);
  multiply(ni, nl, nj, G, (const double(*)[nj])E, (const double(*)[nl])F);
}
