"""What the options of Numba's decorators mean here (docs/numba.md has the table). What has no meaning is said once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopwright.errors import warn_once

# Always so, whatever is given: nothing is said.
ALWAYS = {
    "nopython": "no function falls back to Python's objects",
    "cache": "code is kept in the cache folder and found again, by this and by later processes",
    "nogil": "the GIL is not held while a loop runs",
    "looplift": "there is no mode from which loops would have to be lifted",
}

# What is said of a value that asks for something else than what is done; other values ask for just that.
SAID: dict[str, str] = {
    "boundscheck": "an index outside its array always raises, mostly before the loop runs",
    "error_model": "a float divided by zero gives inf or nan, and an int of Python's raises ZeroDivisionError",
    "inline": "a kernel that another one calls is always inlined",
    "locals": "each variable has the type that everything assigned to it asks for",
    "debug": "LOOPWRIGHT_DEBUG and `loopwright show` tell what was made",
    "forceobj": "the function stays Python's own",
    "forceinline": "a kernel that another one calls is always inlined",
    "writable_args": "an argument is written where the function assigns to its elements",
    "identity": "there is no reduce",
    "no_cpython_wrapper": "there are no wrappers",
    "no_cfunc_wrapper": "there are no wrappers",
    "pipeline_class": "the passes are Loopwright's own",
    "link": "nothing is linked to kernels",
    "no_rewrites": "the passes are Loopwright's own",
    "_nrt": "arrays are NumPy's own",
    "_dbg_extend_lifetimes": "LOOPWRIGHT_DEBUG and `loopwright show` tell what was made",
    "_dbg_optnone": "LOOPWRIGHT_DEBUG and `loopwright show` tell what was made",
}
_AS_IT_IS: dict[str, tuple[object, ...]] = {
    "boundscheck": (True, None), "error_model": ("numpy",), "inline": ("always",), "locals": ({}, None),
    "debug": (False,), "forceobj": (False,), "forceinline": (True, False), "writable_args": ((), None),
    "identity": (None,), "no_cpython_wrapper": (False,), "no_cfunc_wrapper": (False,), "link": ((), None),
    "no_rewrites": (False,), "_nrt": (True,), "_dbg_extend_lifetimes": (False,), "_dbg_optnone": (False,),
}  # fmt: skip
MEANT = ("parallel", "fastmath", "target")


def own_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the kernel. Says once what has no meaning; raises TypeError for what Numba does not know."""
    for name, value in given.items():
        if name not in (*ALWAYS, *SAID, *MEANT):
            raise TypeError(f"no option {name!r}: there are {', '.join(sorted((*ALWAYS, *SAID, *MEANT)))}")
        if name in SAID and value not in _AS_IT_IS.get(name, ()):
            warn_once(f"numba option {name}", f"{name}={value!r} has no effect: {SAID[name]} (docs/numba.md)")
    found: dict[str, Any] = {}
    if given.get("parallel") is False:
        found["threads"] = 1
    if given.get("fastmath") is False:
        found["strict"] = True
    if given.get("target") == "cuda":
        found["device"] = "cuda"
    return found
