#include <stdint.h>

void run(int64_t ni, int64_t nj, int64_t nk, int64_t nl, int64_t nm, double E[restrict ni][nj],
         const double A[restrict ni][nk], const double B[restrict nk][nj], double F[restrict nj][nl],
         const double C[restrict nj][nm], const double D[restrict nm][nl], double G[restrict ni][nl]) {
  for (int64_t i = 0; i < ni; i++)
    for (int64_t j = 0; j < nj; j++) {
      E[i][j] = 0.0;
      for (int64_t k = 0; k < nk; k++)
        E[i][j] += A[i][k] * B[k][j];
    }
  for (int64_t i = 0; i < nj; i++)
    for (int64_t j = 0; j < nl; j++) {
      F[i][j] = 0.0;
      for (int64_t k = 0; k < nm; k++)
        F[i][j] += C[i][k] * D[k][j];
    }
  for (int64_t i = 0; i < ni; i++)
    for (int64_t j = 0; j < nl; j++) {
      G[i][j] = 0.0;
      for (int64_t k = 0; k < nj; k++)
        G[i][j] += E[i][k] * F[k][j];
    }
}
