"""The pipeline from a function to a program: which schedule is taken and why, what debugging tells, what a part of a
kernel is, and what machines are like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loopwright import compiler
from loopwright.compiler import (
    ASKED_FOR,
    Analysed,
    Passes,
    analysed,
    analysed_in_parts,
    checked_program_of,
    program_of,
    read,
    space_for,
    target_of_machine,
)
from loopwright.config import Config, current, options
from loopwright.errors import KernelError, LoopwrightWarning, ScheduleError
from loopwright.frontend.capture import capture
from loopwright.ir.text import parse_kernel
from loopwright.ir.variant import Compilation, compilation_of
from loopwright.ir.verify import verify
from loopwright.recipe.target import CpuTarget
from loopwright.runtime.specialise import as_arguments, signature_of
from loopwright.search.ranges import tunable
from loopwright.steps.schedule import print_schedule
from meaning.arguments import make
from meaning.judge import function_of, set_globals
from meaning.programs import program as random_program


def add(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += b[i, j] * (2 - 1)


def chain(a):
    for i in range(1, len(a)):
        a[i] += a[i - 1]


def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def as_data_says(a, ends):
    for i in range(ends[0], ends[1]):
        a[i] = 1.0


def straight(a):
    a[0] = 1.0


SQUARE = (np.zeros((4, 4)), np.zeros((4, 4)))
LINE = (np.zeros(4),)


def found(function: Callable[..., Any], arguments: tuple[Any, ...], **changes: Any) -> Analysed:
    source = capture(function)
    names = [parameter.name for parameter in source.parameters]
    written = [position for position, name in enumerate(names) if name in source.written]
    signature = signature_of(as_arguments(arguments), written, names)
    with options(**({"device": "cpu", "schedule": "", "checks": "auto"} | changes)) as config:
        return analysed(source, compilation_of(signature, config))


def asked() -> Compilation:
    """What the options in force ask for, of whatever call."""
    return compilation_of(signature_of((), []), current())


def schedule(one: Analysed) -> str:
    return print_schedule(one.recipe.schedule)


def test_passes_in_their_order() -> None:
    one = found(add, SQUARE)
    verify(one.recipe.kernel)
    assert "2 - 1" not in compiler.print_kernel(one.written)  # simplified before it is analysed
    assert set(one.facts.loops) == {"i", "j"} and one.seconds > 0
    assert "parallelize i" in schedule(one)
    assert one.recipe.kernel is not one.written


def test_a_schedule_that_is_asked_for_is_taken_and_no_other() -> None:
    one = found(add, SQUARE, schedule="reorder j i; parallelize j")
    assert schedule(one) == "reorder j i; parallelize j"
    assert {decision.why for decision in one.recipe.decisions} == {ASKED_FOR}
    with pytest.raises(ScheduleError, match="parallelize i"):
        found(chain, LINE, schedule="parallelize i")


def test_nothing_is_reordered_where_every_access_is_checked() -> None:
    for changes in ({}, {"schedule": "parallelize i"}, {"device": "emulated"}):
        one = found(add, SQUARE, checks="all", **changes)
        assert one.recipe.schedule == () and one.recipe.kernel is one.written


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("deterministic", [True, False])
def test_where_every_access_is_checked_proofs_make_no_difference(strict: bool, deterministic: bool) -> None:
    compared = 0
    for one in map(random_program, range(25)):
        function, (call, *_) = function_of(one.source), one.calls
        set_globals(function, call)
        source = capture(function)
        written = [place for place, parameter in enumerate(source.parameters) if parameter.name in source.written]
        with options(checks="all", device="cpu", strict=strict, deterministic=deterministic) as config:
            wanted = compilation_of(signature_of(make(call).arguments, written), config)
            try:
                proven = analysed(source, wanted)
            except KernelError:
                continue
            compared += 1
            assert checked_program_of(read(source, wanted), wanted) == program_of(proven, wanted), one.source
    assert compared > 20


def test_plain_only_says_how_loops_run() -> None:
    assert schedule(found(product, (*SQUARE, np.zeros((4, 4))), recipe="plain")) == "parallelize i; vectorize k"
    assert "k j" in schedule(found(product, (*SQUARE, np.zeros((4, 4)))))


def test_a_gpu_has_a_recipe_of_its_own() -> None:
    one = found(add, SQUARE, device="emulated")
    assert "block.x" in schedule(one)
    with options(device="emulated"):
        assert program_of(one, asked()).device is not None
    assert program_of(found(add, SQUARE), asked()).device is None


def test_a_function_outside_the_language() -> None:
    def outside(a):
        yield a[0]

    with pytest.raises(KernelError):
        found(outside, LINE)


# ---- what debugging tells ------------------------------------------------------------------------------------------


def test_debugging_topics(capsys: pytest.CaptureFixture[str]) -> None:
    one = found(add, SQUARE)
    assert capsys.readouterr().err == ""
    with options(device="cpu", debug=frozenset({"source"})):
        program = program_of(one, asked())
    assert capsys.readouterr().err == f"loopwright: {program.text}\n"
    found(add, SQUARE, schedule="parallelize j", debug=frozenset({"schedule"}))
    assert capsys.readouterr().err == "loopwright: add: parallelize j\n"
    found(straight, LINE, debug=frozenset({"schedule"}))
    assert capsys.readouterr().err == "loopwright: straight: sequential\n"
    found(add, SQUARE, debug=frozenset({"passes"}))
    told = capsys.readouterr().err
    assert [line for line in told.splitlines() if line.startswith("loopwright")] == [
        f"loopwright: add after {name}:" for name in ("lower", "simplify", "schedule")
    ]


def test_a_folder_that_nothing_can_be_written_to_ends_no_call(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.warns(LoopwrightWarning, match="LOOPWRIGHT_DUMP: nothing can be written to .*file/dump"):
        found(straight, LINE, dump=tmp_path / "file" / "dump")


def test_a_dump_has_a_file_for_each_pass_that_changed_anything(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "dump"
    found(straight, LINE, dump=folder)
    assert [path.name for path in folder.iterdir()] == ["straight.0.lower.txt"]
    found(add, SQUARE, dump=folder, schedule="parallelize j")
    names = ["add.0.lower.txt", "add.1.simplify.txt", "add.2.schedule.txt"]
    assert sorted(path.name for path in folder.glob("add*")) == names
    assert "parallel" in (folder / names[2]).read_text() and "parallel" not in (folder / names[1]).read_text()
    assert parse_kernel((folder / names[1]).read_text()) == found(add, SQUARE).written


def test_a_name_that_is_no_name_of_a_file(tmp_path: Path) -> None:
    kernel = parse_kernel("kernel `<lambda>`(n: int64):\n  pass\n")
    with options(dump=tmp_path):
        passes = Passes(kernel, current())
    assert passes.after("simplify", kernel) is kernel
    assert [path.name for path in tmp_path.iterdir()] == ["_lambda_.0.lower.txt"]


# ---- parts, spaces, machines ----------------------------------------------------------------------------------------


def test_a_part_of_the_outermost_loop_is_a_kernel_with_two_more_arguments() -> None:
    whole = found(add, SQUARE)
    with options(device="cpu", schedule=""):
        parts = analysed_in_parts(whole, asked())
    assert parts is not None
    part, _ = parts
    verify(part.recipe.kernel)
    assert len(part.written.params) == len(whole.written.params) + 2
    assert part.constants is whole.constants and set(part.facts.loops) == {"i", "j"}


def test_what_has_no_parts() -> None:
    assert analysed_in_parts(found(straight, LINE), asked()) is None
    assert analysed_in_parts(found(chain, LINE), asked()) is None
    assert analysed_in_parts(found(as_data_says, (*LINE, np.zeros(2, np.int64))), asked()) is None


def test_the_variants_that_a_user_names_or_the_recipe_makes() -> None:
    one = found(add, SQUARE)
    named = space_for(one, asked(), tunable("split i {2,4,8}; parallelize i.o"))
    assert len(named.points) == 3
    with options(device="cpu"):
        ours = space_for(one, asked())
        assert len(space_for(one, asked(), most=2).points) <= 2 <= len(ours.points)
        theirs = space_for(one, asked(), device="cuda")
    with options(device="emulated"):
        assert space_for(one, asked()).points == theirs.points != ours.points


@pytest.mark.parametrize(
    ("sizes", "levels"),
    [
        ({}, (CpuTarget().l1_bytes, CpuTarget().l2_bytes, CpuTarget().l3_bytes)),
        ({1: 10, 2: 20, 3: 30}, (10, 20, 30)),
        ({1: 10, 2: 20}, (10, 20, 20)),  # the last one there is
        ({1: 10, 2: 20, 3: 30, 4: 40}, (10, 20, 40)),
    ],
)
def test_caches_of_a_machine(
    monkeypatch: pytest.MonkeyPatch, sizes: dict[int, int], levels: tuple[int, int, int]
) -> None:
    monkeypatch.setattr(compiler, "cache_bytes", lambda: sizes)
    monkeypatch.setattr(compiler, "vector_registers", lambda flags: (64, 32))
    one = target_of_machine(Config())
    assert (one.l1_bytes, one.l2_bytes, one.l3_bytes) == levels
    assert (one.vector_bytes, one.registers) == (64, 32)
