"""Arrays of libraries that speak DLPack only, on a GPU."""

from __future__ import annotations

import ctypes
import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices import gpus
from loopwright.errors import ArgumentTypeError, ArgumentValueError
from loopwright.memory.dlpack import _Tensor, _Versioned, is_on_gpu, of_dlpack
from loopwright.memory.on_device import LEGACY_STREAM
from loopwright.runtime.specialise import as_arguments
from memory.watched import Watched

CODES = {"i": 0, "u": 1, "f": 2, "b": 6, "c": 5}
NEW = ctypes.pythonapi.PyCapsule_New
NEW.restype, NEW.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class _Plain(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = (("tensor", _Tensor), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class Producer:
    """An array of a library like JAX, at an address of a GPU. version: of DLPack, 0 for before there was one."""

    def __init__(
        self, address: int, like: np.ndarray, version: int = 1, flags: int = 0, number: int = 0, **changed: int
    ) -> None:
        self.address, self.like, self.version, self.flags = address, like, version, flags
        self.number, self.changed, self.asked = number, changed, []

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.number

    def __dlpack__(self, *, stream: object = None, **more: object) -> object:
        if self.version == 0 and more:
            raise TypeError("unexpected keyword argument")
        self.asked.append((stream, more))
        self.holder = whole = _Versioned() if self.version else _Plain()
        tensor, like = whole.tensor, self.like
        self.axes = (ctypes.c_int64 * like.ndim)(*like.shape)
        self.steps = (ctypes.c_int64 * like.ndim)(*(step // like.itemsize for step in like.strides))
        tensor.data, tensor.byte_offset = self.address - 16, 16
        tensor.device_type, tensor.ndim, tensor.lanes = 2, like.ndim, 1
        tensor.code, tensor.bits = CODES[like.dtype.kind], like.itemsize * 8
        tensor.shape = self.axes
        if not like.flags.c_contiguous:
            tensor.strides = self.steps
        for field, value in self.changed.items():
            setattr(tensor, field, value)
        if not self.version:
            return NEW(ctypes.addressof(whole), b"dltensor", None)
        whole.major, whole.flags = self.version, self.flags
        return NEW(ctypes.addressof(whole), b"dltensor_versioned", None)


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i4", "u2", "?"])
def test_what_the_capsule_says(version: int, dtype: str) -> None:
    producer = Producer(1 << 40, np.zeros((3, 8), dtype)[:, ::2], version)
    array = of_dlpack(producer)
    assert (array.shape, array.strides, array.dtype) == ((3, 4), producer.like.strides, np.dtype(dtype))
    assert (array.ctypes.data, array.where, array.stream, array.is_lent) == (1 << 40, "cuda", LEGACY_STREAM, True)
    assert array.flags.writeable == (version == 1)
    assert producer.asked == [(LEGACY_STREAM, {"max_version": (1, 0)} if version else {})]


def test_arguments_of_calls() -> None:
    assert is_on_gpu(Producer(1 << 40, np.zeros(3))) and not is_on_gpu(np.zeros(3)) and not is_on_gpu(3)
    (array,) = as_arguments([Producer(1 << 40, np.zeros(3))])
    assert array.ctypes.data == 1 << 40 and array.shape == (3,)  # type: ignore[attr-defined]
    assert of_dlpack(Producer(1 << 40, np.zeros(()))).shape == ()
    assert of_dlpack(Producer(1 << 40, np.zeros((2, 3)))).strides == (24, 8)


@pytest.mark.parametrize(
    ("producer", "said"),
    [
        (Producer(1 << 40, np.zeros(3, "c16")), "argument 'a': elements of this type"),
        (Producer(1 << 40, np.zeros(3), code=4, bits=16), "code 4, 16 bits, 1 lanes"),
        (Producer(1 << 40, np.zeros(3), lanes=4), "4 lanes"),
        (Producer(1 << 40, np.zeros(3), bits=4), "4 bits"),
        (Producer(1 << 40, np.zeros(3), bits=24), "24 bits"),
        (Producer(1 << 40, np.zeros(3), version=2), "version 2, and 1 was asked for"),
    ],
)
def test_what_is_refused(producer: Producer, said: str) -> None:
    with pytest.raises(ArgumentTypeError, match=said):
        of_dlpack(producer, "a")


def test_another_capsule_is_refused() -> None:
    class Odd(Producer):
        def __dlpack__(self, **_: object) -> object:
            return NEW(ctypes.addressof(_Plain()), b"used_dltensor", None)

    with pytest.raises(ArgumentTypeError, match="a capsule named b'used_dltensor'"):
        of_dlpack(Odd(1 << 40, np.zeros(3)))


def test_a_library_that_does_not_share_is_quoted() -> None:
    class Learning(Producer):
        def __dlpack__(self, **_: object) -> object:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")

    with pytest.raises(ArgumentTypeError, match=r"(?s)argument 'a': .*require gradient.*try: pass a\.detach\(\)"):
        of_dlpack(Learning(1 << 40, np.zeros(3)), "a")


# ---- in calls ---------------------------------------------------------------------------------------------------


def add(a, b):
    for i in range(a.shape[0]):
        a[i] += b[i]


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    watched = Watched()
    monkeypatch.setattr(gpus, "gpu_of", lambda _: watched)
    with lw.options(device="emulated"):
        yield watched


def there(gpu: Watched, values: np.ndarray, **more: Any) -> Producer:
    address = gpu.allocate(values.nbytes)
    gpu.upload(address, values)
    return Producer(address, values, **more)


def test_used_in_place(gpu: Watched) -> None:
    a, b = there(gpu, np.ones(10)), there(gpu, np.arange(10.0), flags=1)
    kernel = lw.kernel(add)
    asked: list[bool] = []
    kernel(of_dlpack(a, "a", "emulated"), of_dlpack(b, "b", "emulated"))
    (one,) = kernel.specialisations()
    module = one.executable.module  # type: ignore[union-attr]
    fault = module.fault
    module.fault = lambda: asked.append(True) or fault()  # type: ignore[method-assign, func-returns-value]
    gpu.moved.clear()
    kernel(of_dlpack(a, "a", "emulated"), of_dlpack(b, "b", "emulated"))
    assert gpu.moved == [] and len(asked) > 1, "nothing moves, and the call waits for its kernels"
    found = np.zeros(10)
    gpu.download(found, a.address)
    np.testing.assert_array_equal(found, 1 + 2 * np.arange(10.0))


@pytest.mark.parametrize("more", [{"flags": 1}, {"version": 0}])
def test_what_may_not_be_written_is_not(gpu: Watched, more: dict[str, int]) -> None:
    a = of_dlpack(there(gpu, np.ones(10), **more), "a", "emulated")
    with pytest.raises(ArgumentValueError, match="argument 'a': the array is read-only"):
        lw.kernel(add)(a, np.ones(10))


def test_the_library_keeps_the_memory_until_the_argument_is_gone() -> None:
    producer = Producer(1 << 40, np.zeros(3))
    argument, gone = of_dlpack(producer), weakref.ref(producer)
    del producer
    gc.collect()
    assert gone() is not None and argument.owner[0] is not None  # type: ignore[index]
    del argument
    gc.collect()
    assert gone() is None


def test_an_array_on_another_gpu_is_used_there() -> None:
    assert of_dlpack(Producer(1 << 40, np.zeros(3), number=1)).where == "cuda1"
    assert of_dlpack(Producer(1 << 40, np.zeros(3))).where == "cuda"
