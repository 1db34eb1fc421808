/* What the loops of a polyhedral compiler need in their bounds. TILE: iterations of every tiled loop in one tile. */
#ifndef PLUTO_H
#define PLUTO_H

#include <stdint.h>

#define TILE 32

static inline int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t floord(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
static inline int64_t ceild(int64_t a, int64_t b) { return -floord(-a, b); }

#endif
