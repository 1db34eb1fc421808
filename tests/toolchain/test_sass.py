"""Instructions one by one: what nvdisasm prints, and what it prints of a cubin that knows its lines."""

from __future__ import annotations

import sys

import pytest

from devices.handmade import config_in
from loopwright.ir.program import DeviceText
from loopwright.toolchain import nvrtc, sass
from loopwright.toolchain.sass import Instruction, instructions, parse_listing

LISTING = """
	.section	.text.first_32,"ax",@progbits
first_32:
.text.first_32:
	//## File "/x/kernel.cu", line 26
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_1:
	//## File "/x/kernel.cu", line 4 inlined at "/x/kernel.cu", line 17
	//## File "/x/kernel.cu", line 17 inlined at "/x/kernel.cu", line 26
	//## File "/x/kernel.cu", line 26
        /*0010*/              @!P0 LDG.E.128 R4, desc[UR4][R2.64+0x10] ;
        /*0020*/               @P1 BRA `(.L_x_1) ;
        /*0030*/                   BRA P0, `(.L_x_2) ;
.L_x_2:
        /*0040*/                   EXIT ;
.L_x_3:
        /*0050*/                   BRA `(.L_x_3);
        /*0060*/                   NOP;
.L_x_9:
	.section	.text.second_32,"ax",@progbits
.text.second_32:
        /*0000*/                   EXIT ;
"""


def test_a_listing() -> None:
    found = parse_listing(LISTING)
    assert found is not None
    assert list(found) == ["first_32", "second_32"]
    chain = (4, 17, 26)
    assert found["first_32"] == (
        Instruction(0, "", "LDC", "R1, c[0x0][0x28]", (26,)),
        Instruction(0x10, "@!P0", "LDG.E.128", "R4, desc[UR4][R2.64+0x10]", chain),
        Instruction(0x20, "@P1", "BRA", "`(.L_x_1)", chain, 0x10),
        Instruction(0x30, "", "BRA", "P0, `(.L_x_2)", chain, 0x40),
        Instruction(0x40, "", "EXIT", "", chain),
    )
    assert found["first_32"][1].name == "LDG"
    assert found["second_32"] == (Instruction(0, "", "EXIT", ""),)


@pytest.mark.parametrize("text", ["", "nonsense\n", '\t.section\t.text.k,"ax"\n', "\t.section\t.debug_line\n"])
def test_no_instructions(text: str) -> None:
    assert parse_listing(text) is None


SUM = """
extern "C" __global__ void __launch_bounds__(32) sum(int n, const float *__restrict__ a, float *__restrict__ b) {
  float s = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i)
    s += a[i * 32 + threadIdx.x] * 3.0f;
  b[threadIdx.x] = s;
}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="NVRTC comes as a wheel for Linux")
def test_lines_of_a_cubin(tmp_path, monkeypatch) -> None:
    config = config_in(tmp_path / "cache")
    text = DeviceText(SUM, ("sum",))
    told = nvrtc.build(text, "sm_90", config, lines=True)
    found = instructions(told.path, config)
    assert found is not None
    lines = {one.name: one.lines for one in found["sum"]}
    assert lines["LDG"] == (6,)
    assert lines["FFMA"] == (6,)
    assert lines["STG"] == (7,)
    [jump] = [one for one in found["sum"] if one.name == "BRA" and one.target is not None and one.target < one.address]
    assert jump.lines == (5,)
    plain = nvrtc.build(text, "sm_90", config)
    without = instructions(plain.path, config)
    assert without is not None
    assert plain.path != told.path
    assert [(one.opcode, one.operands) for one in without["sum"]] == [
        (one.opcode, one.operands) for one in found["sum"]
    ]
    assert not any(one.lines for one in without["sum"])
    monkeypatch.setattr(sass, "run_compiler", lambda *_: pytest.fail("disassembled again"))
    assert instructions(told.path, config) == found
    monkeypatch.setattr(sass, "find_nvdisasm", lambda: None)
    assert instructions(told.path, config) is None
