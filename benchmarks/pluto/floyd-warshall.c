#include "pluto.h"

/* k stays outside: every step needs all of the one before. In a step i and j are tiled, rows of tiles in parallel. A
   promise beyond the loops, as with numba's prange: no length is negative, so row k and column k keep their values. */
void run(int64_t n, int32_t path[restrict n][n]) {
  for (int64_t k = 0; k < n; k++) {
#pragma omp parallel for
    for (int64_t ti = 0; ti <= floord(n - 1, TILE); ti++)
      for (int64_t tj = 0; tj <= floord(n - 1, TILE); tj++)
        for (int64_t i = TILE * ti; i <= min(n - 1, TILE * ti + TILE - 1); i++)
#pragma GCC ivdep
          for (int64_t j = TILE * tj; j <= min(n - 1, TILE * tj + TILE - 1); j++)
            path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
  }
}
