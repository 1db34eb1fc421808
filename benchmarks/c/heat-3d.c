#include <stdint.h>

static void step(int64_t n, const double A[restrict n][n][n], double B[restrict n][n][n]) {
#pragma omp parallel for
  for (int64_t i = 1; i < n - 1; i++)
    for (int64_t j = 1; j < n - 1; j++)
      for (int64_t k = 1; k < n - 1; k++)
        B[i][j][k] = 0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k]) +
                     0.125 * (A[i][j + 1][k] - 2.0 * A[i][j][k] + A[i][j - 1][k]) +
                     0.125 * (A[i][j][k + 1] - 2.0 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k];
}

void run(int64_t tsteps, int64_t n, double A[restrict n][n][n], double B[restrict n][n][n]) {
  for (int64_t t = 1; t <= tsteps; t++) {
    step(n, (const double(*)[n][n])A, B);
    step(n, (const double(*)[n][n])B, A);
  }
}
