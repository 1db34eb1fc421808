#include <stdint.h>

void run(int64_t n, double alpha, double beta, const double A[restrict n][n], const double B[restrict n][n],
         double tmp[restrict n], const double x[restrict n], double y[restrict n]) {
  for (int64_t i = 0; i < n; i++) {
    tmp[i] = 0.0;
    y[i] = 0.0;
    for (int64_t j = 0; j < n; j++) {
      tmp[i] = A[i][j] * x[j] + tmp[i];
      y[i] = B[i][j] * x[j] + y[i];
    }
    y[i] = alpha * tmp[i] + beta * y[i];
  }
}
