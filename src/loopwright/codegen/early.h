/* A function under a condition: what all lanes have computed before it, where there are functions for lanes. */
#if defined(LW_HAS_LANES) && __GLIBC_PREREQ(2, 35)
#define LW_EARLY(early, late) (early)
#else
#define LW_EARLY(early, late) (late)
#endif
