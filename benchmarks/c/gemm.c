#include <stdint.h>

void run(int64_t ni, int64_t nj, int64_t nk, double alpha, double beta, double C[restrict ni][nj],
         const double A[restrict ni][nk], const double B[restrict nk][nj]) {
  for (int64_t i = 0; i < ni; i++) {
    for (int64_t j = 0; j < nj; j++)
      C[i][j] *= beta;
    for (int64_t k = 0; k < nk; k++)
      for (int64_t j = 0; j < nj; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
}
