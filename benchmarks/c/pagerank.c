#include <stdint.h>

void run(int64_t n_starts, const int64_t starts[restrict n_starts], int64_t n_sources,
         const int32_t sources[restrict n_sources], int64_t n_links, const int64_t links[restrict n_links],
         int64_t pages, double rank[restrict pages], int64_t n_share, double share[restrict n_share], double damping,
         int64_t sweeps) {
  for (int64_t sweep = 0; sweep < sweeps; sweep++) {
    double lost = 0.0;
#pragma omp parallel for reduction(+ : lost)
    for (int64_t v = 0; v < pages; v++) {
      if (links[v] > 0) {
        share[v] = rank[v] / (double)links[v];
      } else {
        share[v] = 0.0;
        lost += rank[v];
      }
    }
#pragma omp parallel for
    for (int64_t v = 0; v < pages; v++) {
      double received = 0.0;
      for (int64_t e = starts[v]; e < starts[v + 1]; e++)
        received += share[sources[e]];
      rank[v] = (1.0 - damping) / (double)pages + damping * (received + lost / (double)pages);
    }
  }
}
