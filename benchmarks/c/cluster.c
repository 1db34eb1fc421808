#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void run(int64_t n, int64_t features, const double points[restrict n][features], int64_t clusters,
         int64_t centre_features, double centres[restrict clusters][centre_features], int64_t n_labels,
         int64_t labels[restrict n_labels], int64_t rounds) {
  double(*sums)[features] = malloc((size_t)(clusters * features) * sizeof(double));
  int64_t *counts = malloc((size_t)clusters * sizeof(int64_t));
  for (int64_t round = 0; round < rounds; round++) {
    for (int64_t p = 0; p < n; p++) {
      int64_t best = 0;
      double nearest = INFINITY;
      for (int64_t c = 0; c < clusters; c++) {
        double distance = 0.0;
        for (int64_t f = 0; f < features; f++) {
          const double off = points[p][f] - centres[c][f];
          distance += off * off;
        }
        if (distance < nearest) {
          nearest = distance;
          best = c;
        }
      }
      labels[p] = best;
    }
    for (int64_t c = 0; c < clusters; c++) {
      counts[c] = 0;
      for (int64_t f = 0; f < features; f++)
        sums[c][f] = 0.0;
    }
    for (int64_t p = 0; p < n; p++) {
      counts[labels[p]] += 1;
      for (int64_t f = 0; f < features; f++)
        sums[labels[p]][f] += points[p][f];
    }
    for (int64_t c = 0; c < clusters; c++)
      if (counts[c] > 0)
        for (int64_t f = 0; f < features; f++)
          centres[c][f] = sums[c][f] / (double)counts[c];
  }
  free(sums);
  free(counts);
}
