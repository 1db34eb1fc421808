#include <stdint.h>

void run(int64_t n, int64_t m, double alpha, double beta, double C[restrict n][n], const double A[restrict n][m],
         const double B[restrict n][m]) {
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j <= i; j++)
      C[i][j] *= beta;
    for (int64_t k = 0; k < m; k++)
      for (int64_t j = 0; j <= i; j++)
        C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
  }
}
