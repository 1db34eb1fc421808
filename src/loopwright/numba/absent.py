"""Numba's names that mean nothing here: what to do instead of each."""

from __future__ import annotations

ABSENT = {
    "cuda": "a kernel of plain loops runs on a GPU as it is: @lw.kernel(device='cuda') (docs/gpu.md)",
    "roc": "there is no code for such GPUs",
    "typeof": "types come from each call; an array's is a.dtype",
    "objmode": "do what needs Python's objects before or after the call",
    "cfunc": "call a kernel as a function; for C, `loopwright show --c` prints the code",
    "generated_jit": "write one function: code is made for each combination of types",
    "overload": "kernels call functions written with 'def' as they are",
    "overload_method": "kernels call functions written with 'def' as they are",
    "overload_attribute": "kernels call functions written with 'def' as they are",
    "intrinsic": "kernels call functions written with 'def' as they are",
    "get_parallel_chunksize": "how loops are shared out is chosen for each machine (docs/schedules.md)",
    "set_parallel_chunksize": "how loops are shared out is chosen for each machine (docs/schedules.md)",
    "parallel_chunksize": "how loops are shared out is chosen for each machine (docs/schedules.md)",
    "gdb": "step through the Python function: f.py_func(...)",
    "gdb_init": "step through the Python function: f.py_func(...)",
    "carray": "make an array where the kernel is called: np.ctypeslib.as_array",
    "farray": "make an array where the kernel is called: np.ctypeslib.as_array",
    "from_dtype": "a kernel takes arrays of records as they are",
}


def instead_of(name: str) -> str:
    """One sentence: that there is no such name, and what to do."""
    return f"loopwright.numba has no {name!r}" + (f": {ABSENT[name]}" if name in ABSENT else "")
