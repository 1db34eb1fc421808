"""The 30 kernels of PolyBench/C 4.2 (L.-N. Pouchet and others), as plain Python loops over NumPy arrays.

One module per kernel, named as PolyBench's with underscores (`k2mm` for 2mm), each with

- `NAME`: PolyBench's name; `SIZES`: its five data sets, `SIZES["LARGE"] == {"n": 2000}`;
- `initialise(**sizes)`: the arguments of the kernel by name, in the order of its parameters, with PolyBench's initial
  values;
- `kernel(...)`: PolyBench's loops, in its order and with its data types. It changes its arrays and returns None;
- `kernel_prange(...)`: the same with the `prange` that a user of Numba would write (see `annotations`); it is
  `kernel` itself where no loop gains from it;
- `reference(...)`: the values of `OUTPUTS` after `kernel`, found another way; changes nothing;
- `TOLERANCE`, where 1e-6 is too much to ask of a correct result: the relative error to allow;
- `PARALLEL`: what is true of each loop of `kernel` as it is written, found by thought and not by a program. A loop
  is named by its variable (less leading underscores), the second such loop in reading order `i_2`, and so on.
  "parallel" and "reduction" count scalars and local arrays that each iteration writes before it reads as private;
- `flops(**sizes)`: arithmetic on data as the source has it: `+ - * /`, sqrt and comparisons count one each;
  arithmetic on indices, and on scalar parameters and constants alone, is not counted;
- `bytes_min(**sizes)`: what any order of execution moves between memory and a cache of any size: each element of an
  array argument once if its first access is a read, and once if it is written.
"""

from types import ModuleType

from benchmarks.polybench import (
    adi,
    atax,
    bicg,
    cholesky,
    correlation,
    covariance,
    deriche,
    doitgen,
    durbin,
    fdtd_2d,
    floyd_warshall,
    gemm,
    gemver,
    gesummv,
    gramschmidt,
    heat_3d,
    jacobi_1d,
    jacobi_2d,
    k2mm,
    k3mm,
    lu,
    ludcmp,
    mvt,
    nussinov,
    seidel_2d,
    symm,
    syr2k,
    syrk,
    trisolv,
    trmm,
)

MODULES: tuple[ModuleType, ...] = (
    # data mining
    correlation,
    covariance,
    # linear algebra: BLAS
    gemm,
    gemver,
    gesummv,
    symm,
    syr2k,
    syrk,
    trmm,
    # linear algebra: compositions
    k2mm,
    k3mm,
    atax,
    bicg,
    doitgen,
    mvt,
    # linear algebra: solvers
    cholesky,
    durbin,
    gramschmidt,
    lu,
    ludcmp,
    trisolv,
    # medley
    deriche,
    floyd_warshall,
    nussinov,
    # stencils
    adi,
    fdtd_2d,
    heat_3d,
    jacobi_1d,
    jacobi_2d,
    seidel_2d,
)
