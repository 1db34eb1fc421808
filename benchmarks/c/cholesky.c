#include <math.h>
#include <stdint.h>

void run(int64_t n, double A[restrict n][n]) {
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < i; j++) {
      for (int64_t k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int64_t k = 0; k < i; k++)
      A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = sqrt(A[i][i]);
  }
}
