"""Speed, beside others in the same run: `python -m benchmarks`, or `make bench`."""

import os

# OpenBLAS reads these when NumPy is imported. Its threads spin for 2**26 cycles after a call, and keep a core from
# whoever is timed next; now for 2**4. And it chooses its code by itself, not for the older processor that the
# environment may name.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)
