"""The ways on which a function may come to a value outside of it, each with what changes the value."""

from __future__ import annotations

import linecache
import math
import textwrap
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from frontend.judge import alike


def world(text: str, file: str = "outside.py") -> dict[str, Any]:
    """What a file with this text defines."""
    text = textwrap.dedent(text).lstrip("\n")
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {"np": np, "math": math, "types": types, "__name__": "outside"}
    exec(compile(text, file, "exec", dont_inherit=True), space)
    return space


def agree(kernel: Callable[..., object], function: Callable[..., object], *more: object) -> None:
    """A call of the kernel does what the function does."""
    ours, theirs = np.arange(3.0), np.arange(3.0)
    expected = function(theirs, *more)
    found = kernel(ours, *more)
    assert alike(expected, found), f"Python gives {expected!r}, the kernel {found!r}"
    assert alike(theirs, ours)


# What defines `put(value)` and the names in an expression, and the expression.
FORMS: dict[str, tuple[str, str]] = {
    "a global": ("V = 2\ndef put(v): globals()['V'] = v", "V"),
    "an attribute of a class": ("class Cfg: v = 2\ndef put(v): Cfg.v = v", "Cfg.v"),
    "of its base": ("class Base: v = 2\nclass Cfg(Base): pass\ndef put(v): Base.v = v", "Cfg.v"),
    "shadowed in the derived class": ("class Base: v = 2\nclass Cfg(Base): pass\ndef put(v): Cfg.v = v", "Cfg.v"),
    "of a class with a metaclass": ("import abc\nclass Cfg(abc.ABC): v = 2\ndef put(v): Cfg.v = v", "Cfg.v"),
    "of the metaclass": ("class Meta(type): v = 2\nclass Cfg(metaclass=Meta): pass\ndef put(v): Meta.v = v", "Cfg.v"),
    "of a class in a class": ("class Cfg:\n    class Sub: v = 2\ndef put(v): Cfg.Sub.v = v", "Cfg.Sub.v"),
    "a class in a class, another one": (
        "class Cfg:\n    class Sub: v = 2\ndef put(v): Cfg.Sub = type('Sub', (), {'v': v})", "Cfg.Sub.v"),
    "a class, another one": ("class Cfg: v = 2\ndef put(v): globals()['Cfg'] = type('Cfg', (), {'v': v})", "Cfg.v"),
    "bases, others": (
        "class Root: pass\nclass Base(Root): v = 2\nclass Cfg(Base): pass\n"
        "def put(v): Cfg.__bases__ = (type('Base', (Root,), {'v': v}),)", "Cfg.v"),
    "SimpleNamespace": ("cfg = types.SimpleNamespace(v=2)\ndef put(v): cfg.v = v", "cfg.v"),
    "a namespace in another one": (
        "cfg = types.SimpleNamespace(sub=types.SimpleNamespace(v=2))\ndef put(v): cfg.sub.v = v", "cfg.sub.v"),
    "an instance": (
        "class Cfg:\n    def __init__(self): self.v = 2\ncfg = Cfg()\ndef put(v): cfg.v = v", "cfg.v"),
    "what its class has": ("class Cfg: v = 2\ncfg = Cfg()\ndef put(v): Cfg.v = v", "cfg.v"),
    "what hides what its class has": ("class Cfg: v = 2\ncfg = Cfg()\ndef put(v): cfg.v = v", "cfg.v"),
    "its whole dict": (
        "class Cfg:\n    def __init__(self): self.v = 2\ncfg = Cfg()\ndef put(v): cfg.__dict__ = {'v': v}", "cfg.v"),
    "its class, another one": (
        "class Cfg: v = 2\ncfg = Cfg()\ndef put(v): cfg.__class__ = type('Cfg', (), {'v': v})", "cfg.v"),
    "a dataclass": (
        "import dataclasses\n@dataclasses.dataclass\nclass Cfg:\n    v: int = 2\ncfg = Cfg()\n"
        "def put(v): cfg.v = v", "cfg.v"),
    "a frozen dataclass": (
        "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass Cfg:\n    v: int = 2\ncfg = Cfg()\n"
        "def put(v): object.__setattr__(cfg, 'v', v)", "cfg.v"),
    "a dataclass with slots": (
        "import dataclasses\n@dataclasses.dataclass(slots=True)\nclass Cfg:\n    v: int = 2\ncfg = Cfg()\n"
        "def put(v): cfg.v = v", "cfg.v"),
    "a member of an Enum": (
        "import enum\nclass E(enum.Enum):\n    A = 2\ndef put(v): E.A._value_ = v", "E.A.value"),
    "an attribute of a module": (
        "mod = types.ModuleType('mod')\nmod.v = 2\ndef put(v): mod.v = v", "mod.v"),
    "of a class in a module": (
        "mod = types.ModuleType('mod')\nclass Cfg: v = 2\nmod.Cfg = Cfg\ndef put(v): mod.Cfg.v = v", "mod.Cfg.v"),
    "of a function": ("def g(): pass\ng.v = 2\ndef put(v): g.v = v", "g.v"),
    "a helper's default": ("def g(x, v=2): return x + v\ndef put(v): g.__defaults__ = (v,)", "g(1)"),
    "a helper's keyword default": (
        "def g(x, *, v=2): return x + v\ndef put(v): g.__kwdefaults__ = {'v': v}", "g(1)"),
    "a helper's keyword default in its dict": (
        "def g(x, *, v=2): return x + v\ndef put(v): g.__kwdefaults__['v'] = v", "g(1)"),
    "a helper's global": ("V = 2\ndef g(x): return x + V\ndef put(v): globals()['V'] = v", "g(1)"),
    "a helper's cell": (
        "def make():\n    v = 2\n    def put(w):\n        nonlocal v\n        v = w\n"
        "    def g(x): return x + v\n    return put, g\nput, g = make()", "g(1)"),
    "a cell of a helper in a helper": (
        "def make():\n    v = 2\n    def put(w):\n        nonlocal v\n        v = w\n"
        "    def h(x): return x + v\n    def g(x): return h(x) * 2\n    return put, g\nput, g = make()", "g(1)"),
    "a nested function's global": (
        "V = 2\ndef g(x):\n    def h(y): return y + V\n    return h(x)\ndef put(v): globals()['V'] = v", "g(1)"),
    "a helper's class attribute": ("class Cfg: v = 2\ndef g(x): return x + Cfg.v\ndef put(v): Cfg.v = v", "g(1)"),
    "a static method's default": (
        "class Cfg:\n    @staticmethod\n    def g(x, v=2): return x + v\ndef put(v): Cfg.g.__defaults__ = (v,)",
        "Cfg.g(1)"),
    "a tuple": ("V = (2, 1)\ndef put(v): globals()['V'] = (v, 1)", "V[0]"),
    "a tuple of a class": ("class Cfg: v = (2, 1)\ndef put(v): Cfg.v = (v, 1)", "Cfg.v[0]"),
    "a string that decides": (
        "class Cfg: mode = 'two'\ndef put(v): Cfg.mode = {2: 'two', 5: 'five'}.get(v, 'else')",
        "(2 if Cfg.mode == 'two' else 5 if Cfg.mode == 'five' else 7)"),
}  # fmt: skip
LOOP = "\ndef f(a):\n    for i in range(len(a)):\n        a[i] = a[i] + {0}\n    return {0}\n"
