"""`python -m benchmarks.gpu.returned OUT.json`: kernels that return arrays, whose arguments are on the GPU, under
`results="host"` and `results="device"`, beside PyTorch: milliseconds until the GPU has done everything; what a call
takes of the host; memory after many calls; calls with PyTorch's tensors, whose results PyTorch sees in place.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import loopwright as lw

ROUNDS, MANY = 20, 10_000


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def distances(a, b):
    return np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))


def standardised(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


def above(x):
    return x[x > 0.5]


def counted(x):
    found = np.full(2 * len(x), 3.0)
    for i in range(len(x)):
        found[2 * i] += x[i]
    return found


def doubled(x):
    return 2.0 * x


def in_torch(name: str) -> Callable[..., Any]:
    """The same with PyTorch's functions."""
    functions: dict[str, Callable[..., Any]] = {
        "softmax": lambda x: torch.softmax(x, 1),
        "distances": lambda a, b: torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist"),
        "standardised": lambda x: (x - x.mean(0)) / x.std(0, correction=0),
        "above": lambda x: x[x > 0.5],
        "counted": lambda x: torch.stack((x + 3.0, torch.full_like(x, 3.0)), 1).reshape(-1),
        "doubled": lambda x: 2.0 * x,
    }
    return functions[name]


def milliseconds(run: Callable[[], object]) -> float:
    """The least time until the GPU has done everything."""
    least = float("inf")
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        kept = run()
        torch.cuda.synchronize()
        least = min(least, time.perf_counter() - begun)
        del kept
    return 1e3 * least


def measured(function: Callable[..., Any], given: tuple[Any, ...]) -> dict[str, Any]:
    """One row."""
    kernel, tensors = lw.kernel(function), [torch.as_tensor(one, device="cuda") for one in given]
    there, other = [lw.device_array(one) for one in given], in_torch(function.__name__)
    row: dict[str, Any] = {"case": function.__name__, "host": milliseconds(lambda: kernel(*there))}
    with lw.options(results="device"):
        row["same"] = bool(np.allclose(kernel(*there).numpy(), function(*given)))
        row["device"] = milliseconds(lambda: kernel(*there))
        row["tensors"] = milliseconds(lambda: kernel(*tensors))
        seen = torch.as_tensor(kernel(*tensors), device="cuda")
        row["torch agrees"] = bool(torch.allclose(seen, other(*tensors)))
        if function is doubled:
            row |= many(kernel, there, given[0])
    return row | {"torch": milliseconds(lambda: other(*tensors))}


def many(kernel: Callable[..., Any], there: list[Any], given: Any) -> dict[str, Any]:
    """Many calls one after the other."""
    torch.cuda.synchronize()
    free, begun = torch.cuda.mem_get_info()[0], time.perf_counter()
    for _ in range(MANY):
        kernel(*there)
    spent = time.perf_counter() - begun
    torch.cuda.synchronize()
    (chain,) = there
    for _ in range(20):
        chain = kernel(chain)
    is_right = bool(np.array_equal(chain.numpy(), given * 2**20))
    lost = free - torch.cuda.mem_get_info()[0]
    return {"us a call": 1e6 * spent / MANY, "bytes lost": lost, "chain": is_right}


def main() -> None:
    """Measure, and write each row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    out, random, rows = parser.parse_args().out, np.random.default_rng(1), list[dict[str, Any]]()
    for function, given in (
        (doubled, (random.random(1000),)),
        (softmax, (random.random((4000, 2500)),)),
        (distances, (random.random((4000, 16)), random.random((4000, 16)))),
        (standardised, (random.random((200_000, 50)),)),
        (above, (random.random(10_000_000),)),
        (counted, (random.random(10_000_000),)),
    ):
        rows.append(measured(function, given))
        print(rows[-1], flush=True)
        out.write_text(json.dumps({"gpu": torch.cuda.get_device_name(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
