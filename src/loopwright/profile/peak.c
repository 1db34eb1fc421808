/* As many multiplications and additions as a core can do: twelve independent chains of fused multiply-adds on whole
   vector registers, enough to keep every unit busy for as long as one of them takes. */
typedef double vector __attribute__((vector_size(LW_VECTOR_BYTES)));
#define LW_CHAINS(each) \
  each(a) each(b) each(c) each(d) each(e) each(f) each(g) each(h) each(i) each(j) each(k) each(l)
#if defined(__aarch64__)
#define LW_REGISTER "w"
#else
#define LW_REGISTER "x"
#endif

/* 2 * 12 * (LW_VECTOR_BYTES / 8) operations for each round. What comes out is used, so that nothing is left out; and
   each chain is taken for something else after each operation, so that none is shortened or made of another. */
double lw_peak(long rounds, double factor, double term) {
  const vector factors = factor + (vector){}, terms = term + (vector){};
#define LW_BEGIN(chain) vector chain = terms;
#define LW_GO_ON(chain)              \
  chain = chain * factors + terms;   \
  __asm__("" : "+" LW_REGISTER(chain));
#define LW_ADD(chain) all += chain;
  LW_CHAINS(LW_BEGIN)
  for (long round = 0; round < rounds; round++) {
    LW_CHAINS(LW_GO_ON)
  }
  vector all = {};
  LW_CHAINS(LW_ADD)
  return all[0];
}
