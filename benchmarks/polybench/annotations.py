"""The name `prange` of every `kernel_prange`: Python's range, so that the kernels import and run without Numba.

The benchmark of Numba puts `numba.prange` in the place of this name, in each kernel's module, before it compiles.
"""

prange = range
