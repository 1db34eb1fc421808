#include <stdint.h>

static int32_t larger(int32_t a, int32_t b) { return a >= b ? a : b; }

static int32_t match(int8_t a, int8_t b) { return a + b == 3 ? 1 : 0; }

void run(int64_t n, const int8_t seq[restrict n], int32_t table[restrict n][n]) {
  for (int64_t i = n - 1; i >= 0; i--)
    for (int64_t j = i + 1; j < n; j++) {
      if (j - 1 >= 0)
        table[i][j] = larger(table[i][j], table[i][j - 1]);
      if (i + 1 < n)
        table[i][j] = larger(table[i][j], table[i + 1][j]);
      if (j - 1 >= 0 && i + 1 < n) {
        if (i < j - 1)
          table[i][j] = larger(table[i][j], table[i + 1][j - 1] + match(seq[i], seq[j]));
        else
          table[i][j] = larger(table[i][j], table[i + 1][j - 1]);
      }
      for (int64_t k = i + 1; k < j; k++)
        table[i][j] = larger(table[i][j], table[i][k] + table[k + 1][j]);
    }
}
