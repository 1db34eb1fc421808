#include <stdint.h>

void run(int64_t n, double A[restrict n][n], const double b[restrict n], double x[restrict n], double y[restrict n]) {
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < i; j++) {
      double w = A[i][j];
      for (int64_t k = 0; k < j; k++)
        w -= A[i][k] * A[k][j];
      A[i][j] = w / A[j][j];
    }
    for (int64_t j = i; j < n; j++) {
      double w = A[i][j];
      for (int64_t k = 0; k < i; k++)
        w -= A[i][k] * A[k][j];
      A[i][j] = w;
    }
  }
  for (int64_t i = 0; i < n; i++) {
    double w = b[i];
    for (int64_t j = 0; j < i; j++)
      w -= A[i][j] * y[j];
    y[i] = w;
  }
  for (int64_t i = n - 1; i >= 0; i--) {
    double w = y[i];
    for (int64_t j = i + 1; j < n; j++)
      w -= A[i][j] * x[j];
    x[i] = w / A[i][i];
  }
}
