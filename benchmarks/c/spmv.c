#include <stdint.h>

void run(int64_t n_starts, const int64_t starts[restrict n_starts], int64_t n_columns,
         const int32_t columns[restrict n_columns], int64_t n_values, const double values[restrict n_values],
         int64_t n_x, const double x[restrict n_x], int64_t rows, double y[restrict rows]) {
#pragma omp parallel for
  for (int64_t i = 0; i < rows; i++) {
    double total = 0.0;
    for (int64_t e = starts[i]; e < starts[i + 1]; e++)
      total += values[e] * x[columns[e]];
    y[i] = total;
  }
}
