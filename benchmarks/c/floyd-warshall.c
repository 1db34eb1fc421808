#include <stdint.h>

void run(int64_t n, int32_t path[restrict n][n]) {
  for (int64_t k = 0; k < n; k++)
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
}
