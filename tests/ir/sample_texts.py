"""Kernels in the text form that several tests read."""

SMOOTH = """\
kernel smooth(a: float64[2] C, b: float64[2] strided) -> python float64:
    var total: float64
    total = 0.0
    for i in 1 .. size(a, 0) - 1 parallel:
        for j in 1 .. size(a, 1) - 1:
            b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
            total = total + b[i, j]
    return total
"""

# Every kind of statement, parameter and result, and names that need care.
EVERYTHING = """\
kernel `<lambda>`(
        p.x: float32[3] strided unaligned offset 4 tail 3:4 tail 2:-16,
        p.k: int32[1] strided argument 0,
        step: uint8 argument 7,
        flags: bool[0] F,
        `my field`: int64[2] last argument 3,
) -> tuple(python int64, float32, array out, array p.k):
    overlap
    result out: float32[size(p.k, 0), 4] = float32('nan')
    result raw: bool[]
    var best: float32
    var x.set: bool
    var x: int64
    best = float32('-inf')
    x.set = False
    block clamp.1:
        if flags[]:
            leave clamp.1
        elif step > 200u8:
            x = -1
            x.set = True
        elif not x.set:
            pass
        else:
            pass
            x = 9223372036854775807
            x.set = True
    for i.o in int64(step) .. size(p.x, 0) step -2 asserted vector:
        allocate t: int16[i.o, 2] = 0i16
        allocate u: float64[1]
        while x.set and `my field`[0, -1] != 0 named w:
            if isnan(best) or t[0, 0] == 3i16:
                break w
            continue w
        best = max(best, p.x[i.o, 0, 1] * 0.5f32)
        u[0] = 1e-07 ** -1.0 if x.set else -0.0
        raw[] = x.set ^ True
    for parallel in 0 .. 3 step parallel_step parallel:
        pass
    return checked(x, x.set, unassigned), best
""".replace("parallel_step", "2").replace("            pass\n            x = 9", "            x = 9")

# What is returned is made of the parts in postfix order; exceptions of the user's own.
PACKED = """\
kernel packed(
        a: float64[1] C,
        n: int64,
) -> tuple(array a, python int64, python bool, array out) packed(PACKING):
    result out: float64[n] = 0.0
    var checked: int64
    checked = checked(0, n > 0, raised, 'ValueError: it\\x27s "n" \\\\ 0\\nnot \\u20ac')
    checked = checked(0, n > 0, raised, 'AssertionError')
    checked = checked(0, n == size(a, 0), shape)
    checked = checked(0, n == 3, unpack)
    checked = checked(0, n > 0, empty)
    checked = checked(0, n > 0, resized)
    checked = checked(0, n > 0, none)
    return n, True
""".replace("PACKING", "value 0, value 1, cut 1, list 0, value 3, value 2, maybe 0, none 0, tuple 2, tuple 2")
