#include <stdint.h>

void run(int64_t m, int64_t n, double alpha, const double A[restrict m][m], double B[restrict m][n]) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      for (int64_t k = i + 1; k < m; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] = alpha * B[i][j];
    }
}
