#include <stdint.h>

void run(int64_t m, int64_t n, const double A[restrict n][m], double s[restrict m], double q[restrict n],
         const double p[restrict m], const double r[restrict n]) {
  for (int64_t i = 0; i < m; i++)
    s[i] = 0.0;
  for (int64_t i = 0; i < n; i++) {
    q[i] = 0.0;
    for (int64_t j = 0; j < m; j++) {
      s[j] = s[j] + r[i] * A[i][j];
      q[i] = q[i] + A[i][j] * p[j];
    }
  }
}
