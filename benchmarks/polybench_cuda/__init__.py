"""The 30 kernels of PolyBench by hand for numba.cuda, the way a user writes a first version.

Each loop whose iterations need no order is a kernel with one thread for each item, neighbouring threads along rows;
sums stay inside one thread; loops around that carry something are loops of the host. Nothing goes through shared memory
or registers by hand. A sum that stands alone is one atomic addition for each item. Where the source's order leaves
nothing to do at once (lu, cholesky, nussinov, seidel-2d, ...), it is the usual other order: right-looking elimination,
or lines of the table one after the other.

`KERNELS`, by PolyBench's name: functions with the parameters of `benchmarks.polybench`'s kernels, arrays on the GPU.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

if not hasattr(np, "row_stack"):
    np.row_stack = np.vstack  # releases of numba-cuda look for it, and newer NumPy does not have it

from benchmarks.polybench_cuda import mining, products, recurrences, solvers, stencils, vectors

KERNELS: dict[str, Callable[..., None]] = {
    "correlation": mining.correlation,
    "covariance": mining.covariance,
    "gemm": products.gemm,
    "gemver": vectors.gemver,
    "gesummv": vectors.gesummv,
    "symm": products.symm,
    "syr2k": products.syr2k,
    "syrk": products.syrk,
    "trmm": products.trmm,
    "2mm": products.two_products,
    "3mm": products.three_products,
    "atax": vectors.atax,
    "bicg": vectors.bicg,
    "doitgen": products.doitgen,
    "mvt": vectors.mvt,
    "cholesky": solvers.cholesky,
    "durbin": solvers.durbin,
    "gramschmidt": solvers.gramschmidt,
    "lu": solvers.lu,
    "ludcmp": solvers.ludcmp,
    "trisolv": solvers.trisolv,
    "deriche": recurrences.deriche,
    "floyd-warshall": recurrences.floyd_warshall,
    "nussinov": recurrences.nussinov,
    "adi": recurrences.adi,
    "fdtd-2d": stencils.fdtd_2d,
    "heat-3d": stencils.heat_3d,
    "jacobi-1d": stencils.jacobi_1d,
    "jacobi-2d": stencils.jacobi_2d,
    "seidel-2d": stencils.seidel_2d,
}
