"""The gallery: small programs of many fields. Each has `compute(size)`, `check(size)` against code that does without
Loopwright, and `picture(axes, result)`; run as a script, it does all but the picture."""
