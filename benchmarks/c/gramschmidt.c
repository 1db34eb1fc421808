#include <math.h>
#include <stdint.h>

void run(int64_t m, int64_t n, double A[restrict m][n], double R[restrict n][n], double Q[restrict m][n]) {
  for (int64_t k = 0; k < n; k++) {
    double nrm = 0.0;
    for (int64_t i = 0; i < m; i++)
      nrm += A[i][k] * A[i][k];
    R[k][k] = sqrt(nrm);
    for (int64_t i = 0; i < m; i++)
      Q[i][k] = A[i][k] / R[k][k];
    for (int64_t j = k + 1; j < n; j++) {
      R[k][j] = 0.0;
      for (int64_t i = 0; i < m; i++)
        R[k][j] += Q[i][k] * A[i][j];
      for (int64_t i = 0; i < m; i++)
        A[i][j] = A[i][j] - Q[i][k] * R[k][j];
    }
  }
}
