"""CUDA from a code tree: how it spells what C has no word for."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.codegen.printer import Language
from loopwright.ir.code import CodeBlock, Exit, Leaf, Loop, Repeat


def _leaf(node: Leaf) -> str:
    assert not isinstance(node, Exit), "kernels have no way out that needs a label"
    return node.text


def _before(node: CodeBlock) -> Iterator[str]:
    if isinstance(node, Loop | Repeat) and node.unroll is not None:
        yield f"#pragma unroll{f' {node.unroll}' if node.unroll else ''}"


def _first(node: CodeBlock) -> Iterator[str]:
    yield from ()


CUDA = Language(_leaf, _before, _first)
