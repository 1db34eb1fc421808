"""NVRTC: found or not, and called so that its cubins land in the store. No GPU is needed."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from devices.handmade import config_in
from loopwright.errors import CompilerError
from loopwright.ir.program import DeviceText
from loopwright.toolchain import nvrtc
from loopwright.toolchain.sass import instructions

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="NVRTC comes as a wheel for Linux")

SAXPY = DeviceText(
    """extern "C" __global__ void __launch_bounds__(256)
saxpy(long long n, float a, const float *__restrict__ x, float *__restrict__ y) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
""",
    ("saxpy",),
)
PRODUCT = """extern "C" __global__ void product(double a, const double *__restrict__ x, double *__restrict__ y) {
  y[threadIdx.x] = a * x[threadIdx.x] + y[threadIdx.x];
}
"""
SYNTAX_ERROR = DeviceText('extern "C" __global__ void wrong(int *x) {\n  x[0] = nobody;\n}\n', ("wrong",))


@pytest.fixture
def config(tmp_path: Path):
    return config_in(tmp_path / "cache")


@pytest.fixture
def found():
    nvrtc._search.cache_clear()
    found = nvrtc.find_nvrtc()
    assert found is not None, nvrtc.why_none()
    return found


@pytest.fixture
def searched_again():
    """What this test finds, nobody else remembers."""
    nvrtc._search.cache_clear()
    yield
    nvrtc._search.cache_clear()


def numbered(number: int) -> DeviceText:
    return replace(SAXPY, text=SAXPY.text.replace("+ y[i]", f"+ y[i] + {number}"))


# ---- building ---------------------------------------------------------------------------------------------------


def test_a_cubin_is_built_once(config):
    first = nvrtc.build(SAXPY, "sm_90", config)
    assert first.path.read_bytes()[:4] == b"\x7fELF"
    assert first.source_path.read_text() == SAXPY.text
    assert "Compiling entry function 'saxpy' for 'sm_90'" in first.log_path.read_text()
    assert list(first.kernels) == ["saxpy"]
    assert first.kernels["saxpy"].max_threads == 256
    second = nvrtc.build(SAXPY, (9, 0), config)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert first.seconds > 0 == second.seconds
    assert replace(second, from_cache=False, seconds=first.seconds) == first


def test_all_that_changes_the_code_changes_the_entry(config, found, monkeypatch):
    paths = [
        nvrtc.build(SAXPY, "sm_90", config).path,
        nvrtc.build(numbered(1), "sm_90", config).path,
        nvrtc.build(replace(SAXPY, strict=True), "sm_90", config).path,
        nvrtc.build(SAXPY, "sm_80", config).path,
    ]
    monkeypatch.setattr(nvrtc, "find_nvrtc", lambda: replace(found, identity="newer"))
    paths.append(nvrtc.build(SAXPY, "sm_90", config).path)
    monkeypatch.setattr(nvrtc, "ABI", "another")
    paths.append(nvrtc.build(SAXPY, "sm_90", config).path)
    assert len(set(paths)) == len(paths)


def test_builds_of_one_release_are_told_apart(found, monkeypatch, tmp_path):
    library = tmp_path / "libnvrtc.so"
    fake = SimpleNamespace(load_nvidia_dynamic_lib=lambda name: SimpleNamespace(abs_path=str(library)))
    monkeypatch.setattr(nvrtc, "import_module", lambda name: fake)
    identities = set()
    for content in ("13.0.48", "13.0.88 "):
        library.write_text(content)
        identities.add(nvrtc._identity((13, 0)))
    assert len(identities) == 2


def test_only_strict_text_is_compiled_without_fused_multiply_add(config):
    opcodes = []
    for strict in (False, True):
        artifact = nvrtc.build(DeviceText(PRODUCT, ("product",), strict), "sm_90", config)
        listed = instructions(artifact.path, config)
        assert listed is not None
        opcodes.append(sorted(one.name for one in listed["product"] if one.name in ("DFMA", "DMUL", "DADD")))
    assert opcodes == [["DFMA"], ["DADD", "DMUL"]]


def test_several_threads_compile_at_once(config):
    texts = [numbered(number % 4) for number in range(12)]
    with ThreadPoolExecutor(4) as pool:
        built = list(pool.map(lambda text: nvrtc.build(text, "sm_90", config), texts))
    for text, artifact in zip(texts, built, strict=True):
        assert artifact.source_path.read_text() == text.text
        assert artifact.kernels["saxpy"].registers > 0
    assert len({artifact.path for artifact in built}) == 4
    assert sum(not artifact.from_cache for artifact in built) == 4


def test_a_corrupt_cubin_is_set_aside_and_made_again(config):
    first = nvrtc.build(SAXPY, "sm_90", config)
    whole = first.path.read_bytes()
    first.path.write_bytes(whole[:1000])
    again = nvrtc.build(SAXPY, "sm_90", config)
    assert (again.from_cache, again.path.read_bytes()) == (False, whole)
    [aside] = (config.cache / "aside").glob("*/kernel.cubin")
    assert len(aside.read_bytes()) == 1000


def test_a_refused_text_is_kept_and_told(config):
    with pytest.raises(CompilerError) as caught:
        nvrtc.build(SYNTAX_ERROR, "sm_90", config)
    message = str(caught.value)
    assert message.startswith("NVRTC 13.0 refuses CUDA text: NVRTC_ERROR_COMPILATION\n")
    assert 'kernel.cu(2): error: identifier "nobody" is undefined' in message
    assert "try: run it on the CPU: LOOPWRIGHT_DEVICE=cpu" in message
    [source] = [line.split(": ", 1)[1] for line in message.splitlines() if line.startswith("  source: ")]
    assert Path(source).read_text() == SYNTAX_ERROR.text
    assert list((config.cache / "work").glob("*")) == []
    assert not (config.cache / "objects").exists()


def test_ptxas_refusal_is_told(config):
    text = DeviceText(
        'extern "C" __global__ void big(int *x) { __shared__ int s[20000]; s[threadIdx.x] = x[0]; __syncthreads(); '
        "x[threadIdx.x] = s[threadIdx.x ^ 1]; }",
        ("big",),
    )
    with pytest.raises(CompilerError, match="uses too much shared data"):
        nvrtc.build(text, "sm_90", config)


@pytest.mark.parametrize(("declared", "has"), [("", "none"), ("__global__ void wanted() {}", "_Z6wantedv")])
def test_a_kernel_that_is_not_there_is_named(config, declared, has):
    with pytest.raises(CompilerError) as caught:
        nvrtc.build(DeviceText(declared, ("wanted",)), "sm_90", config)
    first, source, remedy = str(caught.value).splitlines()
    assert first == f"CUDA text has no kernel 'wanted': it has {has}"
    assert Path(source.removeprefix("  source: ")).read_text() == declared
    assert remedy == '  try: declare it extern "C" __global__'


def test_nowhere_to_write_is_told(config, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(nvrtc, "obtain", full)
    with pytest.raises(CompilerError, match=r"No space left on device(?s:.)*LOOPWRIGHT_CACHE"):
        nvrtc.build(SAXPY, "sm_90", config)


# ---- architectures ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("capability", "architecture"),
    [((9, 0), "sm_90"), ((8, 6), "sm_86"), ((8, 7), "sm_86"), ((8, 9), "sm_89"), ((12, 1), "sm_120")],
)
def test_the_newest_architecture_that_the_gpu_runs_is_chosen(found, capability, architecture):
    known = replace(found, architectures=(75, 80, 86, 89, 90, 100, 120))
    assert nvrtc.architecture_for(capability, known) == architecture


@pytest.mark.parametrize(
    ("wanted", "what", "remedy"),
    [
        ((7, 0), "compute capability 7.0", "try: run it on the CPU"),
        ((99, 0), "compute capability 99.0", "try: a newer NVRTC, or run it on the CPU"),
        ("sm_70", "sm_70", "try: run it on the CPU"),
        ("sm_990", "sm_990", "try: a newer NVRTC"),
    ],
)
def test_an_unsupported_architecture_is_refused(config, wanted, what, remedy):
    with pytest.raises(CompilerError) as caught:
        nvrtc.build(SAXPY, wanted, config)
    message = str(caught.value)
    assert message.startswith(f"NVRTC 13.0 makes no code for {what}\n  it knows compute capabilities 7.5, 8.0, ")
    assert remedy in message


def test_a_word_is_no_architecture(config):
    with pytest.raises(CompilerError, match="'hopper' is not the name of a GPU architecture"):
        nvrtc.build(SAXPY, "hopper", config)


def test_architectures_with_a_suffix_are_known(config):
    assert nvrtc.build(SAXPY, "sm_90a", config).architecture == "sm_90a"


# ---- finding ----------------------------------------------------------------------------------------------------


def test_nothing_of_cuda_is_imported_before_it_is_needed():
    program = (
        "import sys, loopwright, loopwright.toolchain.nvrtc\n"
        "print([name for name in sys.modules if name == 'cuda' or name.startswith('cuda.')])"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_it_is_found(found):
    assert found.version == (13, 0)
    assert 90 in found.architectures
    assert found.architectures == tuple(sorted(found.architectures))


def test_a_missing_binding_is_an_answer(searched_again, monkeypatch, config):
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvrtc", None)
    assert nvrtc.find_nvrtc() is None
    assert nvrtc.why_none().endswith('nothing can be compiled for a GPU. To install it: pip install "loopwright[cuda]"')
    with pytest.raises(CompilerError, match="no working NVRTC was found"):
        nvrtc.build(SAXPY, "sm_90", config)


def test_a_missing_library_is_an_answer(searched_again, monkeypatch):
    def version() -> None:
        raise RuntimeError('Failure finding "libnvrtc.so"\nlisted: nothing')

    monkeypatch.setattr(nvrtc, "import_module", lambda name: SimpleNamespace(nvrtcVersion=version))
    assert nvrtc.find_nvrtc() is None
    assert 'no working NVRTC was found (Failure finding "libnvrtc.so")' in nvrtc.why_none()


@pytest.mark.parametrize("failing", ["nvrtcVersion", "nvrtcGetSupportedArchs"])
def test_a_library_that_does_not_answer_is_an_answer(searched_again, monkeypatch, failing):
    answers = {
        "nvrtcVersion": (0, 13, 0),
        "nvrtcGetSupportedArchs": (0, [90]),
        failing: (7, None, None)[: 3 if failing == "nvrtcVersion" else 2],
        "nvrtcGetErrorString": (0, b"NVRTC_ERROR_INTERNAL_ERROR"),
    }
    fake = SimpleNamespace(**{name: lambda *_, answer=answer: answer for name, answer in answers.items()})
    monkeypatch.setattr(nvrtc, "import_module", lambda name: fake)
    assert nvrtc.find_nvrtc() is None
    assert "NVRTC_ERROR_INTERNAL_ERROR" in nvrtc.why_none()
