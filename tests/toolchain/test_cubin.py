"""What a cubin says of its kernels, held against what ptxas said when it made them, and their instructions. No GPU is
needed."""

from __future__ import annotations

import re
import stat
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devices.handmade import config_in
from loopwright import errors
from loopwright.errors import CompilerError, LoopwrightWarning
from loopwright.ir.program import DeviceText
from loopwright.toolchain import nvrtc, sass
from loopwright.toolchain.cubin import kernel_resources
from loopwright.toolchain.sass import Instruction, bytes_moved, instructions

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="NVRTC comes as a wheel for Linux")

KERNELS = DeviceText(
    """
extern "C" __global__ void __launch_bounds__(256)
saxpy(long long n, float a, const float *__restrict__ x, float *__restrict__ y) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void copy(const float4 *__restrict__ x, float4 *__restrict__ y) {
  y[threadIdx.x] = x[threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(512)
matmul(int n, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c) {
  __shared__ float p[16][32], q[16][32];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    p[y][x] = a[(blockIdx.y * 16 + y) * n + k + x];
    q[y][x] = b[(k + y) * n + blockIdx.x * 32 + x];
    __syncthreads();
    for (int j = 0; j < 16; j++) sum += p[y][j] * q[j][x];
    __syncthreads();
  }
  c[(blockIdx.y * 16 + y) * n + blockIdx.x * 32 + x] = sum;
}
extern "C" __global__ void __launch_bounds__(1024, 2) spills(const double *__restrict__ a, double *__restrict__ c) {
  double v[32];
#pragma unroll
  for (int i = 0; i < 32; i++) v[i] = a[threadIdx.x + i * 1024];
#pragma unroll
  for (int r = 0; r < 2; r++)
#pragma unroll
    for (int i = 0; i < 32; i++) v[i] = v[i] * v[(i * 7 + r) % 32] + c[i];
#pragma unroll
  for (int i = 0; i < 32; i++) c[threadIdx.x + i * 1024] = v[i];
}
extern "C" __global__ void indexed(int n, const int *__restrict__ w, double *__restrict__ c) {
  double v[200];
  for (int i = 0; i < n; i++) v[w[i]] += i;
  c[threadIdx.x] = v[w[threadIdx.x]];
}
__device__ __noinline__ double power(double x, int n) {
  double r = x;
  for (int i = 0; i < n; i++) r = r * sin(r);
  return r;
}
extern "C" __global__ void calls(int n, double *__restrict__ c) {
  extern __shared__ double at_launch[];
  at_launch[threadIdx.x] = c[threadIdx.x];
  __syncthreads();
  atomicAdd(&c[0], 1.0);
  c[threadIdx.x] = power(at_launch[threadIdx.x ^ 1], n) + __shfl_down_sync(0xffffffff, c[threadIdx.x + 9], 3);
}
""",
    ("saxpy", "copy", "matmul", "spills", "indexed", "calls"),
)
ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")


@pytest.fixture(scope="module")
def shared_config(tmp_path_factory: pytest.TempPathFactory):
    return config_in(tmp_path_factory.mktemp("cubins") / "cache")


@pytest.fixture
def config(tmp_path: Path):
    return config_in(tmp_path / "cache")


@pytest.fixture
def said_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "_WARNED", set())


@pytest.fixture(scope="module", params=ARCHITECTURES)
def artifact(request, shared_config):
    return nvrtc.build(KERNELS, request.param, shared_config)


@pytest.fixture(scope="module")
def on_sm_90(shared_config):
    return nvrtc.build(KERNELS, "sm_90", shared_config)


@pytest.fixture(scope="module")
def listed(on_sm_90, shared_config):
    listed = instructions(on_sm_90.path, shared_config)
    assert listed is not None
    return listed


def counts(listed: Mapping[str, tuple[Instruction, ...]], kernel: str) -> Counter[str]:
    return Counter(instruction.name for instruction in listed[kernel])


def moved(listed: Mapping[str, tuple[Instruction, ...]], kernel: str, opcode: str) -> list[int]:
    """Bytes of a thread, of each instruction of this name."""
    return [bytes_moved(instruction.opcode) for instruction in listed[kernel] if instruction.name == opcode]


def program(path: Path, text: str) -> Path:
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


# ---- resources --------------------------------------------------------------------------------------------------


def of_log(log: str, kernel: str) -> dict[str, int]:
    """What ptxas says of the kernel itself, in its own words."""
    part = log.split(f"Compiling entry function '{kernel}'")[1].split("Compiling entry function")[0]
    found = {"stack frame": 0, "bytes smem": 0, "cumulative stack": 0, "barriers": 0}
    for number, words in re.findall(r"(\d+) (registers|barriers|bytes smem|bytes cumulative stack)", part):
        found[words.removeprefix("bytes ") if "stack" in words else words] = int(number)
    frame = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", part)
    assert frame is not None
    found |= zip(("stack frame", "stores", "loads"), map(int, frame.groups()), strict=True)
    found["cmem"] = sum(int(number) for number in re.findall(r"(\d+) bytes cmem\[", part))
    return found


@pytest.mark.parametrize("kernel", KERNELS.kernels)
def test_the_elf_says_what_ptxas_says(artifact, kernel):
    said = of_log(artifact.log_path.read_text(), kernel)
    read = artifact.kernels[kernel]
    assert read.registers == said["registers"] > 0
    assert read.shared_bytes == said["bytes smem"]
    assert read.stack_bytes == said["stack frame"]
    assert read.local_bytes == said["cumulative stack"]
    assert read.barriers == said["barriers"]
    assert (read.spill_store_bytes, read.spill_load_bytes) == (said["stores"], said["loads"])
    if said["cmem"]:  # ptxas says it up to sm_89
        assert read.constant_bytes == said["cmem"]
    assert read.constant_bytes > 0


def test_what_the_text_says_is_read(artifact):
    kernels = artifact.kernels
    assert kernels["matmul"].shared_bytes == 4096
    assert [name for name, needs in kernels.items() if needs.shared_bytes] == ["matmul"]
    most = {name: needs.max_threads for name, needs in kernels.items()}
    assert most == {"saxpy": 256, "copy": None, "matmul": 512, "spills": 1024, "indexed": None, "calls": None}
    assert kernels["spills"].spill_store_bytes and kernels["spills"].spill_load_bytes
    assert kernels["saxpy"].spill_store_bytes == 0
    assert kernels["indexed"].stack_bytes >= 1600
    assert kernels["saxpy"].local_bytes == 0
    assert kernels["matmul"].barriers == 1


@pytest.mark.parametrize("count", [0, 32, 512])
def test_the_systems_own_shared_memory_does_not_count(config, count):
    body = f"__shared__ int s[{count}]; s[threadIdx.x] = *x; __syncthreads(); *x = s[threadIdx.x ^ 1];" if count else ""
    text = DeviceText(f'extern "C" __global__ void alone(int *x) {{ {body} }}', ("alone",))
    assert nvrtc.build(text, "sm_90", config).kernels["alone"].shared_bytes == 4 * count


def test_without_a_log_spills_are_not_known(on_sm_90):
    read = kernel_resources(on_sm_90.path.read_bytes())
    assert set(read) == set(KERNELS.kernels)
    assert (read["spills"].spill_store_bytes, read["spills"].spill_load_bytes) == (None, None)
    assert read["spills"].registers == on_sm_90.kernels["spills"].registers


def test_spills_of_a_function_are_its_kernels(on_sm_90):
    log = """
ptxas info    : Compiling entry function 'calls' for 'sm_90'
ptxas info    : Function properties for calls
ptxas         .     40 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 40 bytes cumulative stack size
ptxas info    : Function properties for _Z5powerdi
ptxas         .     0 bytes stack frame, 100 bytes spill stores, 200 bytes spill loads
ptxas info    : Compiling entry function 'saxpy' for 'sm_90'
"""
    read = kernel_resources(on_sm_90.path.read_bytes(), log)
    assert (read["calls"].spill_store_bytes, read["calls"].spill_load_bytes) == (108, 216)
    assert read["saxpy"].spill_store_bytes is None


# ---- what is no cubin -------------------------------------------------------------------------------------------


def test_a_cut_cubin_is_refused_wherever_it_is_cut(on_sm_90):
    whole = on_sm_90.path.read_bytes()
    for size in (*range(0, len(whole), 997), *range(len(whole) - 100, len(whole))):
        with pytest.raises(CompilerError, match=f"a cubin of {size} bytes cannot be read: .*"):
            kernel_resources(whole[:size])


def test_what_is_no_cubin_is_refused(on_sm_90):
    with pytest.raises(CompilerError, match="it is not an ELF file for NVIDIA GPUs"):
        kernel_resources(Path(sys.executable).read_bytes())
    with pytest.raises(CompilerError, match="it is not an ELF file for NVIDIA GPUs"):
        kernel_resources(b"")
    header = bytearray(on_sm_90.path.read_bytes())
    struct.pack_into("<Q", header, 40, 2**64 - 1)
    with pytest.raises(CompilerError, match="cannot be read"):
        kernel_resources(bytes(header))


def test_a_cubin_that_lacks_what_is_read_is_refused(on_sm_90):
    whole = on_sm_90.path.read_bytes()
    with pytest.raises(CompilerError, match="it has no table of symbols"):
        kernel_resources(whole.replace(b".symtab\0", b".nosyms\0"))
    with pytest.raises(CompilerError, match="it does not tell the registers of '"):
        kernel_resources(whole.replace(b".nv.info\0", b".nv.none\0"))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(data=st.data())
def test_a_damaged_cubin_gives_numbers_or_a_compiler_error(on_sm_90, data):
    damaged = bytearray(on_sm_90.path.read_bytes())
    (headers,) = struct.unpack_from("<Q", damaged, 40)
    interesting = st.one_of(st.integers(0, 4096), st.integers(headers, len(damaged) - 1))  # not the code between
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(interesting)] = data.draw(st.integers(0, 255))
    try:
        read = kernel_resources(bytes(damaged))
    except CompilerError as error:
        assert "cannot be read" in str(error)
    else:
        assert all(needs.registers >= 0 for needs in read.values())


# ---- instructions -----------------------------------------------------------------------------------------------


def test_every_kernel_is_listed(artifact, shared_config):
    listed = instructions(artifact.path, shared_config)
    assert listed is not None
    assert set(listed) == set(KERNELS.kernels)
    assert all(len(listed[name]) > 5 and counts(listed, name)["EXIT"] for name in listed)


def test_instructions_are_what_the_text_says(listed):
    assert (moved(listed, "saxpy", "LDG"), moved(listed, "saxpy", "STG")) == ([4, 4], [4])
    assert counts(listed, "saxpy")["FFMA"] == 1
    assert (moved(listed, "copy", "LDG"), moved(listed, "copy", "STG")) == ([16], [16])
    assert counts(listed, "copy")["FFMA"] == counts(listed, "copy")["BAR"] == 0
    matmul = counts(listed, "matmul")
    assert matmul["BAR"] % 2 == 0 < matmul["BAR"]
    assert matmul["FFMA"] % 16 == 0 < matmul["FFMA"]
    assert matmul["STS"] % 2 == 0 < matmul["STS"]
    assert matmul["LDS"] > 0 == matmul["LDL"]
    assert counts(listed, "spills")["DFMA"] == 64
    assert counts(listed, "indexed")["LDL"] and counts(listed, "indexed")["STL"]


def test_spilled_bytes_are_those_of_local_loads_and_stores(artifact, shared_config):
    listed = instructions(artifact.path, shared_config)
    assert listed is not None
    spilled = [sum(moved(listed, "spills", opcode)) for opcode in ("STL", "LDL")]
    assert spilled == [artifact.kernels["spills"].spill_store_bytes, artifact.kernels["spills"].spill_load_bytes]


def test_a_kernels_functions_follow_it(listed):
    calls = counts(listed, "calls")
    assert calls["DFMA"] > 10  # of sin
    assert calls["BAR"] == calls["LDS"] == calls["STS"] == 1


def test_as_many_instructions_as_nvdisasm_prints(on_sm_90, listed):
    disassembler = sass.find_nvdisasm()
    assert disassembler is not None
    command = [str(disassembler), "-c", str(on_sm_90.path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for opcode in ("LDG", "STL", "DFMA", "BAR"):
        lines = re.findall(rf"^\s+/\*[0-9a-f]+\*/\s+(?:@\S+\s+)?{opcode}\b", printed, re.MULTILINE)
        assert len(lines) == sum(counts(listed, kernel)[opcode] for kernel in listed) > 0
    padding = len(re.findall(r"\bNOP ?;", printed)) + len(listed)  # one jump to itself in each
    printed_lines = re.findall(r"^\s+/\*[0-9a-f]+\*/.*;", printed, re.MULTILINE)
    assert len(printed_lines) - padding == sum(map(len, listed.values()))


@pytest.mark.parametrize(
    ("opcode", "size"),
    [("LDG.E", 4), ("LDG.E.U8", 1), ("LDS.S16", 2), ("STG.E.64", 8), ("LDG.E.LTC128B.128", 16), ("LDSM.16.M88.4", 16)],
)
def test_widths_are_bytes_per_thread(opcode, size):
    assert bytes_moved(opcode) == size


# ---- nvdisasm ---------------------------------------------------------------------------------------------------


def test_what_nvdisasm_said_is_kept(config, on_sm_90, monkeypatch, listed):
    assert instructions(on_sm_90.path, config) == listed
    monkeypatch.setattr(sass, "run_compiler", lambda *_: pytest.fail("disassembled again"))
    assert instructions(on_sm_90.path, config) == listed


def test_without_nvdisasm_there_are_no_instructions(config, on_sm_90, monkeypatch):
    monkeypatch.setattr(sass, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    sass.find_nvdisasm.cache_clear()
    try:
        assert sass.find_nvdisasm() is None
        assert instructions(on_sm_90.path, config) is None
    finally:
        sass.find_nvdisasm.cache_clear()


def test_nvdisasm_on_the_path_is_found(tmp_path, monkeypatch):
    fake = program(tmp_path / "nvdisasm", "exit 1\n")
    monkeypatch.setattr(sass, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    sass.find_nvdisasm.cache_clear()
    try:
        assert sass.find_nvdisasm() == fake
    finally:
        sass.find_nvdisasm.cache_clear()


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("echo 'nvdisasm fatal : Unknown option -gi'; exit 1", "Unknown option -gi"),
        ("exit 3", "it ended with code 3"),
        ("echo hello", "hello"),
    ],
)
def test_an_nvdisasm_that_cannot_read_it_is_told_of(
    said_nothing, tmp_path, config, on_sm_90, monkeypatch, answer, says
):
    fake = program(tmp_path / "nvdisasm", answer + "\n")
    monkeypatch.setattr(sass, "find_nvdisasm", lambda: fake)
    with pytest.warns(LoopwrightWarning, match=says):
        assert instructions(on_sm_90.path, config) is None
    assert instructions(on_sm_90.path, config) is None  # said once, and not kept
