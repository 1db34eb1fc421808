"""`python -m benchmarks.gpu`: the same loops on an NVIDIA GPU, beside PyTorch, CuPy, Triton and numba.cuda.

A part is a family of kernels (`--only streams,products`), a case one kernel with its data, a trial one case at one
size. Cases run one after the other in a process of their own, so that one that fails, hangs or spoils the GPU's state
costs its own row and no other. Every row is written to the JSON file as soon as it is there, and a second run with the
same file measures only what is missing. What is not installed is left out of the table.

    --size tiny --device emulated     a dry run on any machine: Loopwright's results, and no times to speak of
"""
