/* The loop whose call is timed, and a loop that calls it often, so that the bare cost of a call is seen. */
#include <stdint.h>

void __attribute__((noinline)) run(int64_t na, const double *a, int64_t nb, const double *b, int64_t nc, const double *c,
                                   int64_t nd, const double *d, int64_t ne, const double *e, int64_t nf, double *f) {
  (void)nb, (void)nc, (void)nd, (void)ne, (void)nf;
  for (int64_t i = 0; i < na; i++)
    f[i] = a[i] + b[i] + c[i] + d[i] + e[i];
}

void often(int64_t calls, const double *a, const double *b, const double *c, const double *d, const double *e, double *f) {
  for (int64_t k = 0; k < calls; k++) {
    run(1, a, 1, b, 1, c, 1, d, 1, e, 1, f);
    __asm__ volatile("" ::: "memory");
  }
}
