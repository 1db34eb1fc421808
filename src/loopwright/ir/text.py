"""The text form of a kernel: readable, exact, and it parses back to an equal kernel (locations are not in it).

    kernel smooth(a: float64[2] C, b: float64[2] strided, n: int64) -> python float64:
        var total: float64
        total = 0.0
        for i in 1 .. n - 1 parallel:
            for j in 1 .. size(a, 1) - 1:
                b[i, j] = 0.5 * (a[i, j - 1] + a[i, j + 1])
                total = total + b[i, j]
        return total

The words are Python's where Python has them. What Python does not have:

    a: float64[2] C              an array of 2 axes and its layout; then `unaligned`, `argument 0` where that is not the
                                 parameter's own place, `offset 8`, `tail 3:4` (an axis of a sub-array: size:stride)
    -> tuple(python float64, int32, array b)     what is returned: a Python float, a NumPy scalar, an array
    -> tuple(int32) packed(value 0, none 0, tuple 2)     ... and how it is made of these, in postfix order
    overlap                      arguments may share memory in ways that the names do not show
    guard none                   no condition on the sizes of calls may be relied on; `sizes`: none that data are behind
    result b: float64[n] = 0.0   an array that the call allocates and returns; without `= fill`, not filled
    var total: float64           the type of a scalar local
    for i in 0 .. n step 2 asserted parallel:    `asserted`: prange, or by `scan`; then how the loop runs
    for i in 0 .. n thread.x 32:                 ... shared out among 32 threads of a block of a GPU grid
    for i in 0 .. n independent parallel:        `independent`: by `redirect`
    for i in 0 .. n balanced 256:                ... rows: blocks of 256 threads take equal parts of these, and of
    for k in p[i] .. p[i + 1] entries 2048:      their entries: 2048 in all
    while x < n named w:         a while loop has a name, as a for loop has
    allocate t: int32[n, 4] = 0i32               a local array
    allocate t: int32[m, n] for a 1 0            ... which holds what is axis 1 and axis 0 of `a` (made by `relayout`)
    allocate t: float32[8, 4] double             ... which a block of a GPU fills for the next iteration meanwhile
    block name: ... leave name   go on after the block
    size(a, 0)                   a.shape[0]
    float32(x)                   a conversion
    checked(x, condition, kind)  x, provided that the condition holds
    checked(x, condition, raised, 'ValueError: no')      ... else the user's exception, with what it says
    1, 1i32, 255u8               int64, int32, uint8
    0.5, 0.5f32, float64('nan')  float64, float32; NaN and infinities
    `my name`                    a name that is not made of words and dots

Min, max, abs and the functions of nodes.Function are written as calls, everything else with Python's operators and
their precedence; `&`, `|`, `^` and `~` stand for the operators on bits and bools, `and` and `or` for the lazy ones.
Comments start with `#`.
"""

from loopwright.ir.parse import TextError, parse_kernel
from loopwright.ir.printing import print_expr, print_kernel, print_stmt
from loopwright.ir.user_text import user_element, user_text

__all__ = ["TextError", "parse_kernel", "print_expr", "print_kernel", "print_stmt", "user_element", "user_text"]
