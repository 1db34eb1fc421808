/* What the machine can do at most: bytes copied and floating-point operations done per second, on all its cores. */
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define WIDTH 8
#elif defined(__AVX__)
#define WIDTH 4
#else
#define WIDTH 2
#endif
#define CHAINS 12 /* independent chains of multiply-adds, enough to hide their latency */

typedef double vector __attribute__((vector_size(WIDTH * sizeof(double))));

/* Copies n doubles, each thread its part. */
void copy(int64_t n, const double *from, double *to, int64_t threads) {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int64_t t = 0; t < threads; t++) {
    const int64_t begin = n * t / threads, end = n * (t + 1) / threads;
    memcpy(to + begin, from + begin, (size_t)(end - begin) * sizeof(double));
  }
}

/* Does `rounds` multiply-adds in each of CHAINS vectors on each thread; returns the operations done in all. */
double multiply_add(int64_t rounds, int64_t threads) {
  double kept = 0.0;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : kept)
  for (int64_t t = 0; t < threads; t++) {
    const vector zero = {0}, factor = zero + 0.999999, term = zero + 1e-6 * (double)(t + 1);
    vector chain[CHAINS];
    for (int c = 0; c < CHAINS; c++)
      chain[c] = zero + (1.0 + c);
    for (int64_t r = 0; r < rounds; r++)
      for (int c = 0; c < CHAINS; c++)
        chain[c] = chain[c] * factor + term;
    for (int c = 0; c < CHAINS; c++)
      kept += chain[c][0];
  }
  return kept == 0.5 ? 0.0 : 2.0 * CHAINS * WIDTH * (double)rounds * (double)threads;
}
