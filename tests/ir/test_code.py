"""Code as a tree: its lines, and which of them are loops and branches."""

from __future__ import annotations

from loopwright.codegen.print_cuda import CUDA
from loopwright.codegen.printer import print_code
from loopwright.ir.code import Branch, CodeBlock, CodeLine, CodeRegion, Loop, Otherwise

AHEAD = (
    Branch(condition="k < lw_upper", name="k", part="prologue", body=(CodeLine("start();"),)),
    Branch(
        condition="whole", versions=True,
        body=(Loop(head="lw_left = n; lw_left > 0; --lw_left", name="k", part="steady", body=(CodeLine("go();"),)),),
    ),
    Otherwise(body=(CodeLine("rest();"),)),
    Loop(
        head="; k < lw_upper; ++k", name="k", part="epilogue", unroll=4,
        body=(CodeLine("go();"),),
    ),
    Branch(
        condition="threadIdx.x == 0", axes="x", body=(CodeLine("s = 1;"),)
    ),
)  # fmt: skip
AHEAD_TEXT = """\
  if (k < lw_upper) {
    start();
  }
  if (whole) {
    for (lw_left = n; lw_left > 0; --lw_left) {
      go();
    }
  } else {
    rest();
  }
  #pragma unroll 4
  for (; k < lw_upper; ++k) {
    go();
  }
  if (threadIdx.x == 0) {
    s = 1;
  }"""


def printed(code: tuple[CodeLine | CodeBlock, ...], depth: int = 0, before: int = 0) -> tuple[str, CodeRegion]:
    """The text, behind so many other lines, and the region of all of it."""
    lines = [""] * before
    kernel = CodeRegion("kernel", before + 1)
    print_code(code, depth, lines, kernel, CUDA)
    return "\n".join(lines[before:]), kernel


def test_loops_and_branches_and_their_lines() -> None:
    text, kernel = printed(AHEAD, 1)
    assert text == AHEAD_TEXT
    assert [(one.kind, one.name, one.part, one.first, one.last) for one in kernel.within()] == [
        ("then", "k", "prologue", 1, 3),
        ("then", "", "all", 4, 8),
        ("loop", "k", "steady", 5, 7),
        ("else", "", "all", 8, 10),
        ("loop", "k", "epilogue", 12, 14),
        ("then", "", "all", 15, 17),
    ]
    assert [one.condition for one in kernel.inner] == ["k < lw_upper", "whole", "whole", "", "threadIdx.x == 0"]
    assert [one.unroll for one in kernel.inner if one.kind == "loop"] == [4]
    assert kernel.inner[1].versions and kernel.inner[-1].axes == "x"


def test_the_region_of_a_line() -> None:
    _, kernel = printed(AHEAD, before=10)
    steady = kernel.at(16)
    assert (steady.part, steady.loop, steady.outer) == ("steady", steady, kernel.inner[1])
    assert kernel.at(12).kind == "then" and kernel.at(12).loop is kernel
    assert list(steady.around()) == [steady, kernel.inner[1], kernel]
    assert kernel.at(99) is kernel
