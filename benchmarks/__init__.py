"""Speed, beside others in the same run: `python -m benchmarks`, or `make bench`."""

import os

# OpenBLAS reads this when NumPy is imported. Its threads spin for 2**26 cycles after a call, and keep a core from
# whoever is timed next; now for 2**4.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
