"""What the passes made of a function before, in this process or another one: it is looked up in the cache by all that
it depends on, so that a first call needs no pass at all.

What a function finds outside itself is part of that, and only reading it tells what that is. So an entry of the cache
holds either a result, or the questions that had to be asked on the way to one; the answers give the key of the next
entry. What no text can tell apart is not remembered. Nothing here can make a call fail: an entry that is missing,
damaged or cannot be written means that the passes run.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from loopwright.config import Tools
from loopwright.deferred import deferred
from loopwright.devices.base import CLASSES, NAMED, Returns, number_of_class, returns_of
from loopwright.errors import name_of_class
from loopwright.frontend.capture import Source
from loopwright.frontend.outside import Outside, UnknownError, Way, text_of
from loopwright.ir.captured import CapturedConstant
from loopwright.ir.location import Location
from loopwright.ir.program import FailureSite, Program
from loopwright.ir.variant import Compilation
from loopwright.revision import files_of, revision
from loopwright.toolchain.machine import cache_bytes, cpu_fingerprint
from loopwright.toolchain.store import Stored, discard, find, keep, key_of

if TYPE_CHECKING:
    from loopwright.ir import text
    from loopwright.ir.nodes import Kernel
else:
    text = deferred("loopwright.ir.text")

FORMAT = "6"  # of the entries: raise it when what they hold changes
ENTRY = "remembered.json"


@dataclass(frozen=True)
class Ready:
    """All that a call needs besides the loaded program. results: the kernel without its body, where the call
    allocates arrays, else None. constants: what the program relies on outside the function.
    fingerprint: of the kernel as it was written, with its types; measurements are kept under it."""

    program: Program
    returns: Returns
    results: Kernel | None
    constants: tuple[CapturedConstant, ...]
    fingerprint: str


@dataclass
class ResultPlace:
    """Where a result is, or has to be kept: `key` is '' where it cannot be remembered. `outside` has the answers
    that lead there, and `asked` says which."""

    key: str
    outside: Outside
    asked: list[Way]


def ready_of(program: Program, kernel: Kernel, constants: tuple[CapturedConstant, ...]) -> Ready:
    """What a call needs of a kernel."""
    results = replace(kernel, body=()) if kernel.results else None
    return Ready(program, returns_of(kernel), results, constants, fingerprint_of(kernel))


def fingerprint_of(kernel: Kernel) -> str:
    """What tells a kernel for certain types from others, wherever it stands: its text as IR."""
    return key_of(("kernel", text.print_kernel(kernel)))


def recall(source: Source, wanted: Compilation) -> tuple[Ready | None, ResultPlace]:
    """What was made of this function for a CPU; None where the passes have to run, with the Outside of the
    Place, before `remember`."""
    ready, place, _ = search(Outside(source), _first_key(source, wanted), wanted.tools.cache)
    return ready, place


def search(outside: Outside, key: str, folder: Path) -> tuple[Ready | None, ResultPlace, Stored | None]:
    """The result that these answers lead to from a first key on, and the entry that holds it."""
    asked: list[Way] = []
    while key and (entry := find(folder, key)) is not None:
        try:
            content = json.loads(entry.contents[ENTRY])
            if "program" in content:
                return _ready(content, outside.constants), ResultPlace(key, outside, asked), entry
            questions = [_way(one) for one in content["questions"]]
            key = _next_key(key, outside, questions)
        except UnknownError:
            key = ""
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            discard(entry)
            break
        asked += questions
    return None, ResultPlace(key, outside, asked), None


def remember(ready: Ready, place: ResultPlace, tools: Tools) -> None:
    """Keep what the passes made with the Outside of this Place, which `recall` gave."""
    if not revision():  # some of the passes were loaded after the key was made
        return
    for key, content in entries(ready, place):
        _keep(tools, key, content)


def entries(ready: Ready, place: ResultPlace) -> list[tuple[str, str]]:
    """Keys and texts of the entries that lead to this result, and last its own; none where it cannot be told apart."""
    outside = place.outside
    left = sorted(set(outside.asked).difference(place.asked), key=repr)  # in an order of no accident
    content = _content(ready) if place.key and not outside.untold else None
    if content is None:
        return []
    try:
        key = _next_key(place.key, outside, left) if left else place.key
    except UnknownError:
        return []
    questions = [(place.key, json.dumps({"questions": left}))] if left else []
    return [*questions, (key, json.dumps(content))]


# ---- keys -------------------------------------------------------------------------------------------------------


def _first_key(source: Source, wanted: Compilation) -> str:
    """No result depends on where it is kept, how much there may be and how long making it may take; nor on the device,
    since only what runs on a CPU is remembered. Where passes are to print what they do, they run."""
    versions, tools = (revision(), _isl_version()), wanted.tools
    if not all(versions) or tools.debug or tools.dump is not None or source.structures:
        return ""  # the text does not tell which functions are given
    told = (
        *versions,
        np.__version__,
        cpu_fingerprint(),
        repr(cache_bytes()),
        repr(text_of(source)),
        repr((wanted.signature, wanted.schedule, wanted.semantics, tools.compiler, tools.compiler_flags)),
        repr((tools.layout, tools.remap, os.cpu_count())),
    )
    return key_of(("remembered", FORMAT, *told))


@cache
def _isl_version() -> str:
    """Which islpy is installed, without loading it."""
    try:
        spec = importlib.util.find_spec("islpy")
        places = (spec.submodule_search_locations if spec is not None else None) or ()
        return "\n".join(map(files_of, places))
    except (OSError, ValueError):
        return ""


def _next_key(key: str, outside: Outside, questions: Iterable[Way]) -> str:
    return key_of((key, *(f"{question}: {outside.mark(question)}" for question in questions)))


# ---- entries ----------------------------------------------------------------------------------------------------


def _keep(tools: Tools, key: str, written: str) -> None:
    def make(entry: Path) -> None:
        (entry / ENTRY).write_text(written)

    keep(tools.cache, key, make, tools.cache_size)


def _way(value: object) -> Way:
    """Lists of JSON as the tuples that they were."""
    if not isinstance(value, list):
        raise TypeError("no question")
    kind, way, name = value
    is_named = kind in ("name", "attribute")
    if (not is_named and kind not in ("item", "given", "maker")) or isinstance(name, str) != is_named:
        raise TypeError("no question")
    return (kind, _way(way) if way else (), name)


def _content(ready: Ready) -> dict[str, Any] | None:
    """The entry's text as JSON; None for what does not come back as it was. What it relies on is not in it: the
    questions on the way to it are about that."""
    results = None if ready.results is None else text.print_kernel(ready.results)
    program = {one.name: getattr(ready.program, one.name) for one in fields(Program) if one.name != "sites"}
    content = {
        "program": program,
        "sites": [[one.kind, one.array, one.axis, one.at and _listed(one.at)] for one in ready.program.sites],
        "returns": [ready.returns.shape, [_portable(code, number) for code, number in ready.returns.values]],
        "results": results,
        "fingerprint": ready.fingerprint,
    }
    try:
        return content if _ready(json.loads(json.dumps(content)), ready.constants) == ready else None
    except (ValueError, LookupError, TypeError):
        return None


def _portable(code: int, number: int) -> tuple[int, int | str]:
    """A part of what is returned; a class by its name, since another process gives it another number."""
    return code, name_of_class(CLASSES[number]) if code == NAMED else number


def _here(code: int, number: int | str) -> tuple[int, int]:
    return code, number if isinstance(number, int) else number_of_class(number)


def _listed(at: Location) -> list[str | int]:
    return [at.file, at.line, at.column, at.end_column]


def _ready(content: dict[str, Any], constants: tuple[CapturedConstant, ...]) -> Ready:
    program = {name: _tuples(value) for name, value in content["program"].items()}
    sites = tuple(
        FailureSite(kind, array, axis, None if at is None else Location(*at))
        for kind, array, axis, at in content["sites"]
    )
    shape, values = content["returns"]
    return Ready(
        Program(sites=sites, **program),
        Returns(shape, tuple(_here(code, number) for code, number in values)),
        None if content["results"] is None else text.parse_kernel(content["results"]),
        constants,
        str(content["fingerprint"]),
    )


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
