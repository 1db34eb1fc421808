#include <stdint.h>

void run(int64_t tsteps, int64_t n, double A[restrict n][n]) {
  for (int64_t t = 0; t <= tsteps - 1; t++)
    for (int64_t i = 1; i <= n - 2; i++)
      for (int64_t j = 1; j <= n - 2; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] +
                   A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) /
                  9.0;
}
