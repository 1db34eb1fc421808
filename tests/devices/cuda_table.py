"""What host code does with a GPU of CUDA's, for tests."""

from __future__ import annotations

import ctypes

from loopwright.ir.program import DeviceText

HALF = 4096
_ADDRESS, _COUNT = ctypes.c_void_p, ctypes.c_int64
LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int32, _ADDRESS, _COUNT, _ADDRESS, _ADDRESS, _COUNT, _ADDRESS, _COUNT)
FETCH = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
CLEAR = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
TICKET = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
TEXT = DeviceText("", ("saxpy", "fault", "nothing"))


class Table:
    """What host code does with struct lw_gpu."""

    def __init__(self, module):
        kinds = (LAUNCH, FETCH, ALLOCATE, RELEASE, CLEAR, ALLOCATE, TICKET)
        *addresses, self.stopped, self.patience = (ctypes.c_void_p * 9).from_address(module.table)
        functions = [kind(each) for kind, each in zip(kinds, addresses, strict=True)]
        self._launch, self._fetch, self._allocate, self._release, self._clear, self._visible, self._ticket = functions
        self.module, self.table = module, module.table

    def launch(self, kernel, grid, block, shared, *values, work=0):
        sizes = [(ctypes.c_int64 * 3)(*(*each, 1, 1)[:3]) for each in (grid, block)]
        arguments = (ctypes.c_void_p * max(1, len(values)))(*map(ctypes.addressof, values))
        return self._launch(self.table, kernel, sizes[0], sizes[1], shared, arguments, work)

    def saxpy(self, n, a, x, y):
        values = ctypes.c_int64(n), ctypes.c_float(a), ctypes.c_uint64(x), ctypes.c_uint64(y)
        return self.launch(0, ((n + 255) // 256,), (256,), 0, *values)

    def fetch(self, to, address):
        return self._fetch(self.table, to.ctypes.data, address, to.nbytes)

    def allocate(self, size_bytes):
        return self._allocate(self.table, size_bytes)

    def visible(self, size_bytes):
        return self._visible(self.table, size_bytes)

    def release(self, address):
        self._release(self.table, address)

    def clear(self, address, size_bytes):
        return self._clear(self.table, address, size_bytes)

    def ticket(self):
        return self._ticket(self.table)
