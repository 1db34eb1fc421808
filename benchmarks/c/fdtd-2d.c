#include <stdint.h>

void run(int64_t tmax, int64_t nx, int64_t ny, double ex[restrict nx][ny], double ey[restrict nx][ny],
         double hz[restrict nx][ny], const double fict[restrict tmax]) {
  for (int64_t t = 0; t < tmax; t++) {
    for (int64_t j = 0; j < ny; j++)
      ey[0][j] = fict[t];
#pragma omp parallel for
    for (int64_t i = 1; i < nx; i++)
      for (int64_t j = 0; j < ny; j++)
        ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
#pragma omp parallel for
    for (int64_t i = 0; i < nx; i++)
      for (int64_t j = 1; j < ny; j++)
        ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
#pragma omp parallel for
    for (int64_t i = 0; i < nx - 1; i++)
      for (int64_t j = 0; j < ny - 1; j++)
        hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
}
