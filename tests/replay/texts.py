"""What the package makes of one call: its schedule, C and CUDA text, and what else a program consists of; or the words
of its refusal. Nothing is compiled or run, and the GPU does not have to be there.

This is the only file of the replay that asks for names inside the package, and it does so at both commits. Where a
commit between them renamed one, import it here under either name.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any
from unittest import mock

import loopwright as lw
from loopwright import compiler
from loopwright.compiler import Analysed, analysed, analysed_in_parts, program_of
from loopwright.config import Config
from loopwright.frontend.capture import capture
from loopwright.runtime.specialise import as_arguments, signature_of
from loopwright.steps.schedule import print_schedule
from replay.variants import Variant

try:
    from loopwright.ir.program import Program
except ImportError:  # a commit where it stood in codegen
    from loopwright.codegen.program import Program  # type: ignore[no-redef]

try:
    from loopwright.recipe.target import CpuTarget
except ImportError:  # a commit where its name was Target
    from loopwright.recipe.target import Target as CpuTarget  # type: ignore[attr-defined,no-redef]

try:
    from loopwright.ir.variant import compilation_of
except ImportError:  # a commit where the passes took a Signature and a Config
    compilation_of = None  # type: ignore[assignment]

ROOT = Path(__file__).parents[2]


def texts(function: Callable[..., object], arguments: Sequence[object], variant: Variant) -> dict[str, str]:
    """The texts of a call by kind: 'schedule', 'c', 'cu', and 'program' for what a program has besides these (flags,
    what failures mean, notes). A refusal stands in the place of the first text that could not be
    made."""
    target = replace(CpuTarget(), vector_bytes=variant.vector_bytes, registers=variant.registers)
    found: dict[str, str] = {}
    with (
        warnings.catch_warnings(),
        mock.patch.object(compiler, "target_of_machine", lambda tools: target),
        lw.options(**variant.options) as config,
    ):
        warnings.simplefilter("ignore")
        try:
            made, wanted = _analysed(function, arguments, variant, config)
            found["schedule"] = _schedule(made)
            program = program_of(made, wanted)
        except Exception as error:
            kind = "c" if "schedule" in found else "schedule"
            return found | {kind: f"refused: {type(error).__name__}: {_without_paths(str(error))}\n"}
    device = program.device
    found |= {"program": _described(program), "c": _without_header(program.text)}
    return found if device is None else found | {"cu": device.text}


def refused(variant: Variant) -> str:
    """Why this package has no such variant: an option that it does not know, say. '' where it has."""
    try:
        with lw.options(**variant.options):
            return ""
    except (TypeError, ValueError) as error:
        return str(error)


@cache
def headers() -> Mapping[str, str]:
    """What the package's compiled texts include, by file name."""
    folder = resources.files("loopwright.codegen")
    return {file.name: file.read_text() for file in folder.iterdir() if file.name.endswith((".h", ".cuh"))}


class NotInParts(Exception):
    """A call that no part of its iterations makes."""


def _analysed(
    function: Callable[..., object], arguments: Sequence[object], variant: Variant, config: Config
) -> tuple[Analysed, Any]:
    source = capture(function)
    names = [parameter.name for parameter in source.parameters]
    written = [position for position, name in enumerate(names) if name in source.written]
    signature = signature_of(as_arguments(arguments, names), written, names)
    wanted = (signature, config) if compilation_of is None else (compilation_of(signature, config),)
    found = analysed(source, *wanted)
    if not variant.parts:
        return found, wanted[-1]
    parts = analysed_in_parts(found, wanted[-1])
    if parts is None:
        raise NotInParts("no loop around everything that could be cut")
    return parts[0], wanted[-1]


def _schedule(found: Analysed) -> str:
    """One step a line."""
    return print_schedule(found.recipe.schedule).replace("; ", "\n") + "\n"


def _described(program: Program) -> str:
    lines: list[str] = []
    for part, prefix in ((program, ""), (program.device, "device ")):
        for one in () if part is None else fields(part):
            if one.name not in ("text", "device", "functions"):
                value = getattr(part, one.name)
                many = value if isinstance(value, tuple) else (value,)
                # What a class is called is no part of what a program is.
                lines += [f"{prefix}{one.name}: {repr(item).removeprefix(type(item).__name__)}" for item in many]
    return _without_paths("\n".join(lines)) + "\n"


def _without_header(text: str) -> str:
    """A C text includes its header as text; that one is compared once."""
    known = headers()
    always = "".join(known.get(name, "") for name in ("loopwright.h", "integers.h", "powers.h"))
    return text.replace(always, '#include "loopwright.h"\n', 1)


def _without_paths(text: str) -> str:
    return text.replace(f"{ROOT}/", "")
