#include <stdint.h>

void run(int64_t m, int64_t n, double float_n, double data[restrict n][m], double cov[restrict m][m],
         double mean[restrict m]) {
  for (int64_t j = 0; j < m; j++) {
    mean[j] = 0.0;
    for (int64_t i = 0; i < n; i++)
      mean[j] += data[i][j];
    mean[j] /= float_n;
  }
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++)
      data[i][j] -= mean[j];
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = i; j < m; j++) {
      cov[i][j] = 0.0;
      for (int64_t k = 0; k < n; k++)
        cov[i][j] += data[k][i] * data[k][j];
      cov[i][j] /= float_n - 1.0;
      cov[j][i] = cov[i][j];
    }
}
