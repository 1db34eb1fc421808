"""`numba.cpython.unsafe`: what programs import of it."""
