#include <stdint.h>

void run(int64_t ni, int64_t nj, int64_t nk, int64_t nl, double alpha, double beta, double tmp[restrict ni][nj],
         const double A[restrict ni][nk], const double B[restrict nk][nj], const double C[restrict nj][nl],
         double D[restrict ni][nl]) {
  for (int64_t i = 0; i < ni; i++)
    for (int64_t j = 0; j < nj; j++) {
      tmp[i][j] = 0.0;
      for (int64_t k = 0; k < nk; k++)
        tmp[i][j] += alpha * A[i][k] * B[k][j];
    }
  for (int64_t i = 0; i < ni; i++)
    for (int64_t j = 0; j < nl; j++) {
      D[i][j] *= beta;
      for (int64_t k = 0; k < nj; k++)
        D[i][j] += tmp[i][k] * C[k][j];
    }
}
