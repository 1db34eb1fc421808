"""python -m benchmarks.layout.conversions [out.json]: how fast planes are filled and written back, by the number of
fields and by how many one call converts, as a part of the speed of a copy of as many bytes on the device."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

import numpy as np

import loopwright as lw
from benchmarks.layout.on_gpu import device_copy
from loopwright.kernel import kernel_with
from loopwright.memory.device_array import DeviceArray, DevicePart
from loopwright.tuning.in_planes import _Conversion


def parts(array: DeviceArray, plane: DeviceArray, width: int, size: int, kind: Any, columns: int) -> tuple[Any, Any]:
    """The first so many columns of the array, each by itself, and their planes."""
    count = array.nbytes // width
    ones = [DevicePart.of(array, (count,), kind, (width,), k * size) for k in range(columns)]
    others = [DevicePart.of(plane, (count,), kind, (size,), k * size * count) for k in range(columns)]
    return tuple(ones), tuple(others)


def wide(array: DeviceArray, plane: DeviceArray, width: int, size: int, kind: Any, columns: int) -> tuple[Any, Any]:
    """The same as one array each."""
    count = array.nbytes // width
    one = DevicePart.of(array, (count, columns), kind, (width, size))
    other = DevicePart.of(plane, (count, columns), kind, (size, size * count))
    return (one,), (other,)


def seconds(gpu: Any, make: Callable[[], object]) -> float:
    """The least of some."""
    best = float("inf")
    for _ in range(5):
        gpu.synchronize()
        timer = gpu.timer()
        with timer:
            make()
        gpu.synchronize()
        best = min(best, (timer.finished_ns() or 0) / 1e9)
    return best


def main() -> None:
    """Measure, print, and keep all figures where a file is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--bytes", type=int, default=512 << 20)
    asked = parser.parse_args()
    rows = []
    with lw.options(device=asked.device, store="off"):
        copy = device_copy() if asked.device != "emulated" else lambda size: float("nan")
        convert = _Conversion(kernel_with)
        array, plane = (lw.device_array(np.zeros(asked.bytes // 8)) for _ in range(2))
        for width, size in ((128, 8), (256, 8), (44, 4), (32, 8), (32, 4)):
            kind = np.dtype(f"f{size}")
            most = width // size
            records = DevicePart.of(array, (array.nbytes // width * width // 8,), np.dtype("f8"), (8,))
            for columns in sorted({1, 2, 4, 7, 8, 12, 16, most} & set(range(most + 1))):
                payload = records.nbytes // width * columns * size
                copied = copy(payload)
                row = {"record": width, "size": size, "columns": columns, "copy_s": copied}
                for name, made in (("parts", parts), ("wide", wide)):
                    if (columns > 12 and made is parts) or (columns < 2 and made is wide):
                        continue
                    there, here = made(records, plane, width, size, kind, columns)
                    row[f"{name} in"] = copied / seconds(records.gpu, lambda a=there, b=here: convert(a, b))
                    row[f"{name} back"] = copied / seconds(records.gpu, lambda a=there, b=here: convert(b, a))
                rows.append(row)
                print({key: round(one, 4) for key, one in row.items()}, flush=True)
                if asked.out:
                    with open(asked.out, "w", encoding="utf-8") as file:
                        json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
