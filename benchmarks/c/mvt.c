#include <stdint.h>

void run(int64_t n, double x1[restrict n], double x2[restrict n], const double y1[restrict n],
         const double y2[restrict n], const double A[restrict n][n]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++)
      x1[i] = x1[i] + A[i][j] * y1[j];
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++)
      x2[i] = x2[i] + A[j][i] * y2[j];
}
