#include <stdint.h>
#include <stdlib.h>

void run(int64_t n, const double r[restrict n], double y[restrict n]) {
  double *restrict z = malloc((size_t)n * sizeof(double));
  y[0] = -r[0];
  double beta = 1.0;
  double alpha = -r[0];
  for (int64_t k = 1; k < n; k++) {
    beta = (1.0 - alpha * alpha) * beta;
    double total = 0.0;
    for (int64_t i = 0; i < k; i++)
      total += r[k - i - 1] * y[i];
    alpha = -(r[k] + total) / beta;
    for (int64_t i = 0; i < k; i++)
      z[i] = y[i] + alpha * y[k - i - 1];
    for (int64_t i = 0; i < k; i++)
      y[i] = z[i];
    y[k] = alpha;
  }
  free(z);
}
