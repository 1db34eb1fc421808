#include <math.h>
#include <stdint.h>

void run(int64_t m, int64_t n, double float_n, double data[restrict n][m], double corr[restrict m][m],
         double mean[restrict m], double stddev[restrict m]) {
  const double eps = 0.1;
  for (int64_t j = 0; j < m; j++) {
    mean[j] = 0.0;
    for (int64_t i = 0; i < n; i++)
      mean[j] += data[i][j];
    mean[j] /= float_n;
  }
  for (int64_t j = 0; j < m; j++) {
    stddev[j] = 0.0;
    for (int64_t i = 0; i < n; i++)
      stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    stddev[j] /= float_n;
    stddev[j] = sqrt(stddev[j]);
    stddev[j] = stddev[j] <= eps ? 1.0 : stddev[j];
  }
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++) {
      data[i][j] -= mean[j];
      data[i][j] /= sqrt(float_n) * stddev[j];
    }
  for (int64_t i = 0; i < m - 1; i++) {
    corr[i][i] = 1.0;
    for (int64_t j = i + 1; j < m; j++) {
      corr[i][j] = 0.0;
      for (int64_t k = 0; k < n; k++)
        corr[i][j] += data[k][i] * data[k][j];
      corr[j][i] = corr[i][j];
    }
  }
  corr[m - 1][m - 1] = 1.0;
}
