#include <stdint.h>

void run(int64_t m, int64_t n, double alpha, double beta, double C[restrict m][n], const double A[restrict m][m],
         const double B[restrict m][n]) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      double temp2 = 0.0;
      for (int64_t k = 0; k < i; k++) {
        C[k][j] += alpha * B[i][j] * A[i][k];
        temp2 += B[k][j] * A[i][k];
      }
      C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * temp2;
    }
}
