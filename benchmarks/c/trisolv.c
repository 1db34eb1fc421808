#include <stdint.h>

void run(int64_t n, const double L[restrict n][n], double x[restrict n], const double b[restrict n]) {
  for (int64_t i = 0; i < n; i++) {
    x[i] = b[i];
    for (int64_t j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
}
