"""Natural loops of machine code, on code written by hand."""

from __future__ import annotations

from loopwright.cost.control_flow import loops_of
from loopwright.toolchain.sass import Instruction


def code(*lines: str) -> tuple[Instruction, ...]:
    """`@P0 BRA 2`: the number of the instruction that is jumped to comes last."""
    found = []
    for number, line in enumerate(lines):
        words = line.split()
        guard = words.pop(0) if words[0].startswith("@") else ""
        jumps = words[0] in ("BRA", "BSSY", "WARPSYNC", "CALL")
        target = int(words.pop()) * 16 if jumps else None
        found.append(Instruction(number * 16, guard, words[0], " ".join(words[1:]), (), target))
    return tuple(found)


def shapes(*lines: str) -> list[tuple[tuple[int, ...], tuple[int, ...], int]]:
    return [(one.inside, one.own, one.outer) for one in loops_of(code(*lines))]


def test_no_loop() -> None:
    assert shapes("MOV", "@P0 BRA 3", "MOV", "EXIT") == []
    assert loops_of(()) == ()


def test_one_loop() -> None:
    assert shapes("MOV", "FFMA", "@P0 BRA 1", "EXIT") == [((1, 2), (1, 2), -1)]


def test_a_loop_of_one_instruction() -> None:
    assert shapes("MOV", "@P0 BRA 1", "EXIT") == [((1,), (1,), -1)]


def test_loops_in_loops() -> None:
    found = shapes("MOV", "MOV", "FFMA", "@P0 BRA 2", "FADD", "@P1 BRA 4", "@P2 BRA 1", "EXIT")
    assert found == [((1, 2, 3, 4, 5, 6), (1, 6), -1), ((2, 3), (2, 3), 0), ((4, 5), (4, 5), 0)]


def test_a_loop_with_a_way_around_and_two_ends() -> None:
    # `continue` jumps back from the middle: one loop with two latches.
    [one] = loops_of(code("MOV", "ISETP", "@P0 BRA 1", "FADD", "@P1 BRA 1", "EXIT"))
    assert one.inside == (1, 2, 3, 4)
    assert one.latches == (2, 4)


def test_a_way_back_that_is_no_loop() -> None:
    # A slow path behind the end jumps back to where it left off: nothing runs twice.
    assert shapes("MOV", "@P0 BRA 4", "FADD", "EXIT", "FMUL", "BRA 2") == []


def test_a_jump_under_a_second_predicate_falls_through() -> None:
    assert shapes("MOV", "FADD", "BRA P1, 1", "EXIT") == [((1, 2), (1, 2), -1)]


def test_threads_go_on_where_they_were_to_meet() -> None:
    # One side of a branch stands behind the end, and goes on where BSSY has said.
    found = shapes(
        "MOV", "BSSY B0, 4", "@P0 BRA 7", "BSYNC B0", "FADD", "@P1 BRA 1", "EXIT", "FMUL", "BSYNC B0", "EXIT"
    )  # fmt: skip
    assert found == [((1, 2, 3, 4, 5, 7, 8), (1, 2, 3, 4, 5, 7, 8), -1)]


def test_what_is_never_reached() -> None:
    assert shapes("EXIT", "FADD", "BRA 1") == []


def test_jumps_to_other_functions_are_no_jumps() -> None:
    assert shapes("MOV", "FADD", "CALL 99", "@P0 BRA 1", "EXIT") == [((1, 2, 3), (1, 2, 3), -1)]


def test_many_blocks_take_no_long_time() -> None:
    # 20,000 instructions in 4,000 branches, inside one loop.
    lines = ["MOV"]
    for k in range(4000):
        lines += [f"@P0 BRA {1 + 5 * k + 3}", "FADD", "FADD", "FMUL", "FMUL"]
    lines += ["@P1 BRA 1", "EXIT"]
    [one] = loops_of(code(*lines))
    assert len(one.inside) == 20001
