#include <stdint.h>
#include <stdlib.h>

void run(int64_t nr, int64_t nq, int64_t ns, double A[restrict nr][nq][ns], const double C4[restrict ns][ns]) {
  double *restrict total = malloc((size_t)ns * sizeof(double));
  for (int64_t r = 0; r < nr; r++)
    for (int64_t q = 0; q < nq; q++) {
      for (int64_t p = 0; p < ns; p++) {
        total[p] = 0.0;
        for (int64_t s = 0; s < ns; s++)
          total[p] += A[r][q][s] * C4[s][p];
      }
      for (int64_t p = 0; p < ns; p++)
        A[r][q][p] = total[p];
    }
  free(total);
}
