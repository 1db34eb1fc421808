"""Tests that compile the same kernel in the same way share what is found out about it, and the code: that is most of
the time of a first call, and many tests begin with one.

What the passes give depends on the kernel, on the options, and on nothing else: but tests replace parts of the passes.
So their modules and classes belong to the key as they are at that moment, by the identity of everything in them."""

from __future__ import annotations

import pickle
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

from loopwright import compiler
from loopwright.compiler import Analysed, Reading
from loopwright.ir.gpu_target import GpuTarget
from loopwright.ir.program import Program
from loopwright.ir.variant import Compilation

MOST = 256
"""How many results are kept."""
CHANGING = ("__builtins__", "__warningregistry__", "_LAST", "_FACTS", "_ALONE")
"""Tables of modules that keep something, or belong to Python."""
PASSES = tuple(
    f"loopwright.{name}"
    for name in ("config", "ir", "frontend", "analysis", "steps", "recipe", "codegen", "compiler", "toolchain.machine")
)

_of_thread = threading.local()
Find = Callable[[Reading, Compilation, GpuTarget], Analysed]
Generate = Callable[[Analysed, Compilation, bool], Program]
State = tuple[tuple[str, str, int], ...]


class Parts:
    """What stands in the modules of the passes, in their classes, and in their tables."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[Any, Callable[[], Iterable[Any]], tuple[Hashable, ...], tuple[Any, ...]]] = {}
        self._kept: dict[int, object] = {}
        self._modules = 0

    def state(self) -> State:
        """What stands somewhere else than when it was first seen, and what stands there now, which stays alive: its
        identity is never another's. What modules load later is no change."""
        if len(sys.modules) != self._modules:
            self._look_for_new_ones()
        changed: list[tuple[str, str, int]] = []
        for name, (owner, present, names, values) in list(self._first.items()):
            if (*present(),) == values:  # which asks first whether they are the same ones: nearly all are
                continue
            now = _items(owner)
            first = dict(zip(names, values, strict=True))
            if isinstance(owner, ModuleType) and (new := {one: now[one] for one in list(now) if one not in first}):
                first |= new
                self._first[name] = owner, present, tuple(first), tuple(first.values())
            changed += [(name, str(one), 0) for one in first if one not in now]
            found = [(one, value) for one, value in now.items() if one not in first or first[one] is not value]
            changed += [(name, str(one), id(value)) for one, value in found]
            self._kept |= {id(value): value for _, value in found}
        return tuple(sorted(changed))

    def _look_for_new_ones(self) -> None:
        self._modules = len(sys.modules)
        for name, module in list(sys.modules.items()):
            if name not in self._first and any(name == one or name.startswith(f"{one}.") for one in PASSES):
                self._see(name, module)
                for key, value in list(module.__dict__.items()):
                    if isinstance(value, type) and value.__module__ == name:
                        self._see(f"{name}:{value.__qualname__}", value)
                    elif isinstance(value, dict | list | set) and key not in CHANGING:
                        self._see(f"{name}:{key}", value)

    def _see(self, name: str, owner: Any) -> None:
        items = _items(owner)
        present = owner.__iter__ if isinstance(owner, list | set) else (owner if items is owner else vars(owner)).values
        self._first[name] = owner, present, tuple(items), tuple(items.values())


def _items(owner: Any) -> Mapping[Any, Any]:
    if isinstance(owner, dict):
        return owner
    return dict(enumerate(owner)) if isinstance(owner, list | set) else owner.__dict__  # type: ignore[no-any-return]


class Kept:
    """Results by their keys, the last ones only. hits: how often one was known."""

    def __init__(self) -> None:
        self._lock, self._known = threading.Lock(), OrderedDict[Hashable, Any]()
        self.hits = 0

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        found = self._known.get(key)
        if found is None:
            found = make()
        else:
            self.hits += 1
        with self._lock:
            self._known[key] = found
            self._known.move_to_end(key)
            while len(self._known) > MOST:
                self._known.popitem(last=False)
        return found


class SharedAnalyses:
    """`compiler._analysed` and `compiler.program_of`, which do the same only once."""

    def __init__(self, find: Find, generate: Generate) -> None:
        self._find, self._generate = find, generate
        self._parts, self._lock = Parts(), threading.Lock()
        self.analyses, self.programs = Kept(), Kept()

    def analysed(self, reading: Reading, wanted: Compilation, gpu: GpuTarget) -> Analysed:
        """Not where a kernel has been read already: what is known is then asked of its own nodes."""
        tools = wanted.tools
        if tools.debug or tools.dump is not None or getattr(_of_thread, "is_further", False):
            return self._find(reading, wanted, gpu)
        records = tuple(sorted(wanted.signature.record_bytes.items()))
        asked = wanted.semantics, wanted.schedule, wanted.on_gpu, tools.compiler_flags, tools.layout, tools.remap
        asked = *asked, records
        key = pickle.dumps(reading.written), self._state(), asked, gpu
        found = self.analyses.get(key, lambda: self._find(reading, wanted, gpu))
        return replace(found, constants=reading.constants)

    def program_of(self, found: Analysed, wanted: Compilation, waits: bool = True) -> Program:
        """Of the very same recipe: a result keeps it alive."""
        if wanted.tools.debug:
            return self._generate(found, wanted, waits)
        key = id(found.recipe), self._state(), wanted.semantics, wanted.on_gpu, waits
        program: Program = self.programs.get(key, lambda: (self._generate(found, wanted, waits), found.recipe))[0]
        return program

    def _state(self) -> State:
        with self._lock:
            return self._parts.state()


def install() -> None:
    """From now on the passes of this process share what they find out. (conftest.py may be imported twice.)"""
    if isinstance(getattr(compiler._analysed, "__self__", None), SharedAnalyses):
        return
    further = compiler.analysed_further

    def analysed_further(*given: Any) -> Analysed:
        _of_thread.is_further = True
        try:
            return further(*given)
        finally:
            _of_thread.is_further = False

    use(SharedAnalyses(compiler._analysed, compiler.program_of))
    compiler.analysed_further = analysed_further


def use(shared: SharedAnalyses) -> None:
    """Of several such things, this one from now on."""
    compiler._analysed, compiler.program_of = shared.analysed, shared.program_of
