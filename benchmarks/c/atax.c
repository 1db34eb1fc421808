#include <stdint.h>

void run(int64_t m, int64_t n, const double A[restrict m][n], const double x[restrict n], double y[restrict n],
         double tmp[restrict m]) {
  for (int64_t i = 0; i < n; i++)
    y[i] = 0.0;
  for (int64_t i = 0; i < m; i++) {
    tmp[i] = 0.0;
    for (int64_t j = 0; j < n; j++)
      tmp[i] = tmp[i] + A[i][j] * x[j];
    for (int64_t j = 0; j < n; j++)
      y[j] = y[j] + A[i][j] * tmp[i];
  }
}
