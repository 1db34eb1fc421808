"""What a file says of numba, and the same file with our imports: nothing else of it changes."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import loopwright as lw
from loopwright.cli.numba_source import in_lines, read_source
from loopwright.frontend.refusals import WHEREVER_IT_STANDS


def source(text: str):
    return read_source(textwrap.dedent(text).encode())


def verdicts(text: str) -> dict[str, list[str]]:
    return {one.name: [f"{each.line}: {each.what}" for each in one.refusals] for one in source(text).decorated()}


def test_functions_are_found_under_every_name() -> None:
    assert verdicts("""\
        import numba, numba as nb
        from numba import njit as j, vectorize
        from numba.core.types import float64
        @j
        def a(x): return x
        @nb.njit(parallel=True)
        def b(x): return x
        @numba.jit("f8(f8)", nopython=True)
        def c(x): return x
        @vectorize([float64(float64)])
        def d(x): return x
        def e(x): return x
        fast = j(cache=True)(e)
        def f(x): return x
        faster = nb.njit(f)
        def plain(x): return x
        @staticmethod
        def other(x): return x
        class Holder:
            @j
            def inside(x): return x
        """) == {name: [] for name in ["a", "b", "c", "d", "e", "f", "inside"]}


def test_what_no_types_make_legal_is_told_with_its_line() -> None:
    assert verdicts("""\
        from numba import njit, objmode, cuda, stencil, gdb
        from numba.typed import List
        from numba.experimental import jitclass
        @njit
        def f(x, *args, **kwargs):
            try:
                found = gdb()
            except ValueError:
                yield {1: 2}
        @cuda.jit
        def g(x): pass
        @stencil
        def h(x): return x[0]
        @jitclass
        class C: pass
        """) == {
        "f": [
            "5: '**kwargs' is outside the language",
            "7: 'gdb' means nothing here",
            "9: 'yield' is outside the language",
        ],
        "g": ["11: @cuda.jit means nothing here"],
        "h": [],
        "C": [],
    }


CHANGES = {
    "import numba\n": "import loopwright.numba as numba\n",
    "import numpy as np, numba as nb; x = 'é'; import numba\n":
        "import numpy as np, loopwright.numba as nb; x = 'é'; import loopwright.numba as numba\n",
    "from  numba  import (njit,  # numba\n    prange)\n":
        "from  loopwright.numba  import (njit,  # numba\n    prange)\n",
    "if 'é':\r\n\tfrom numba import njit as numba\r\n": "if 'é':\r\n\tfrom loopwright.numba import njit as numba\r\n",
    "from numba.core import types, errors": "from loopwright.numba import types, errors",
    "import numba.core.types as t": "import loopwright.numba.types as t",
    "from numba.core.errors import NumbaWarning": "from loopwright.numba.errors import NumbaWarning",
    "from numba.extending import register_jitable": "from loopwright.numba.extending import register_jitable",
    "from numba.extending import overload": "from numba.extending import overload",
    "from numba import njit, cuda": "from numba import njit, cuda",
    "from numba.typed import List": "from loopwright.numba.typed import List",
    "import numba.cuda": "import numba.cuda",
    "import numbat\nfrom . import numba\nfrom .numba import njit\n":
        "import numbat\nfrom . import numba\nfrom .numba import njit\n",
    "x = 'from numba import njit'\n\x0c\nfrom numba import njit":
        "x = 'from numba import njit'\n\x0c\nfrom loopwright.numba import njit",
}  # fmt: skip


@pytest.mark.parametrize("text", CHANGES)
def test_imports_change_and_nothing_else_does(text: str) -> None:
    read = read_source(text.encode())
    assert read.with_our_imports() == CHANGES[text]
    assert read_source(CHANGES[text].encode()).with_our_imports() == CHANGES[text]
    assert "".join(in_lines(text)) == text


@pytest.mark.parametrize("head", [b"\xef\xbb\xbf", b"# coding: latin-1\n# \xe9\n"])
def test_the_encoding_stays(head: bytes) -> None:
    read = read_source(head + b"import numba\n")
    assert read.encoded(read.with_our_imports()) == head + b"import loopwright.numba as numba\n"


def test_notes_tell_what_stays_and_what_is_used() -> None:
    found = source("""\
        import numba as nb
        from numba.typed import List
        from numba.cuda import grid
        nb.typed.Dict()
        @nb.cuda.jit
        def f(x): pass
        """).notes()
    assert [line for line, _ in found] == [3, 5]
    assert found[0][1].startswith("this import is left as it is: loopwright.numba has no 'cuda'")
    assert found[1][1].startswith("loopwright.numba has no 'cuda': a kernel of plain loops")


EXAMPLES = {
    "TryStar": "try:\n        x = 1\n    except* ValueError:\n        pass", "With": "with a:\n        pass",
    "Import": "import math",
    "ImportFrom": "from math import sin", "Global": "global q\n    q = 1", "Nonlocal": "",
    "ClassDef": "class C: pass", "AsyncFunctionDef": "async def g(): pass", "AsyncFor": "", "AsyncWith": "",
    "Await": "", "Match": "match 1:\n        case x:\n            pass",
    "Yield": "yield 1", "YieldFrom": "yield from a",
}  # fmt: skip
"""A statement with each of them; '' for what no plain function can have."""


def test_functions_of_numpy_that_no_kernel_calls() -> None:
    """Each of them is refused by the front end too."""
    text = """\
        import numpy, numpy as np
        from numba import njit
        @njit
        def a(x): return np.abs(np.fft.fft(x))
        @njit
        def b(x): return numpy.linalg.eig(x)[0]
        @njit
        def c(x, fft): return np.linalg.solve(x, fft.fft(x)) + np.sort(x)
        """
    assert verdicts(text) == {
        "a": ["4: 'np.fft.fft' is outside the language"],
        "b": ["6: 'numpy.linalg.eig' is outside the language"],
        "c": [],
    }

    def a(x):
        return np.abs(np.fft.fft(x))

    def b(x):
        return np.linalg.eig(x)[0]

    for function in (a, b):
        with pytest.raises(lw.KernelError, match="is outside the language"):
            lw.kernel(function)(np.ones((2, 2)))


def test_what_is_told_from_the_text_is_refused_by_the_front_end(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(EXAMPLES) == {kind.__name__ for kind in WHEREVER_IT_STANDS}
    monkeypatch.syspath_prepend(tmp_path)
    text = "".join(f"def f{name}(a):\n    {body}\n" for name, body in EXAMPLES.items() if body)
    (tmp_path / "each_refused.py").write_text(text)
    import each_refused

    for name, body in EXAMPLES.items():
        if body:
            with pytest.raises(lw.KernelError):
                lw.kernel(getattr(each_refused, f"f{name}"))(np.ones(2))
