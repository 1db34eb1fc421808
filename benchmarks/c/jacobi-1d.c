#include <stdint.h>

void run(int64_t tsteps, int64_t n, double A[restrict n], double B[restrict n]) {
  for (int64_t t = 0; t < tsteps; t++) {
    for (int64_t i = 1; i < n - 1; i++)
      B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
    for (int64_t i = 1; i < n - 1; i++)
      A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
  }
}
