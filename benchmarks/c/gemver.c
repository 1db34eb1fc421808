#include <stdint.h>

void run(int64_t n, double alpha, double beta, double A[restrict n][n], const double u1[restrict n],
         const double v1[restrict n], const double u2[restrict n], const double v2[restrict n], double w[restrict n],
         double x[restrict n], const double y[restrict n], const double z[restrict n]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++)
      A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++)
      x[i] = x[i] + beta * A[j][i] * y[j];
  for (int64_t i = 0; i < n; i++)
    x[i] = x[i] + z[i];
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++)
      w[i] = w[i] + alpha * A[i][j] * x[j];
}
