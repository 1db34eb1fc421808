"""Kernels of many shapes, each beside PyTorch's own way or one thread for each iteration: where is the default schedule
far from what the GPU can do? Every result is compared with NumPy in float64 at a small size."""
