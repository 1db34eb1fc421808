"""`numba.cpython`: what programs import of it."""
