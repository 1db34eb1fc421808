"""The compiler: found, probed once, and called so that its output lands in the store."""

from __future__ import annotations

import ctypes
import shutil
import stat
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from devices.handmade import config_in
from loopwright import errors
from loopwright.errors import CompilerError, LoopwrightWarning
from loopwright.toolchain import cc

THREE = "int three(void) { return 3; }\n"


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch: pytest.MonkeyPatch):
    """As if nothing had been searched or said yet."""
    monkeypatch.setattr(errors, "_WARNED", set())
    monkeypatch.setattr(cc, "_searches", {})


@pytest.fixture
def config(tmp_path: Path):
    return config_in(tmp_path / "cache")


def script(path: Path, text: str) -> str:
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_library_is_built_once_and_can_be_called(config):
    first = cc.build(THREE, (), config)
    assert ctypes.CDLL(str(first.path)).three() == 3
    assert first.source_path.read_text() == THREE
    second = cc.build(THREE, (), config)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert second.path == first.path
    assert first.seconds > 0 == second.seconds


def test_all_that_changes_the_code_changes_the_entry(config, monkeypatch):
    paths = [
        cc.build(THREE, (), config).path,
        cc.build(THREE + "\n", (), config).path,
        cc.build(THREE, ("-ffp-contract=off",), config).path,
        cc.build(THREE, (), replace(config, compiler_flags=("-g",))).path,
    ]
    monkeypatch.setattr(cc, "cpu_fingerprint", lambda: "another CPU")
    paths.append(cc.build(THREE, (), config).path)
    monkeypatch.setattr(cc, "ABI", "another")
    paths.append(cc.build(THREE, (), config).path)
    compiler = cc.find_compiler(config)
    assert compiler is not None
    paths.append(cc.build_with(replace(compiler, identity="newer"), THREE, (), config).path)
    paths.append(cc.build_with(compiler, THREE, (), config, salt=("x",)).path)
    assert len(set(paths)) == len(paths)


def test_integers_wrap_and_sums_keep_their_order(config):
    text = "#include <stdint.h>\nint64_t next(int64_t x) { return x + 1 > x; }\n"
    function = ctypes.CDLL(str(cc.build(text, (), config).path)).next
    function.argtypes, function.restype = [ctypes.c_int64], ctypes.c_int64
    assert function(2**63 - 1) == 0


def test_openmp_is_there(config):
    text = "#include <omp.h>\nint most(void) { return omp_get_max_threads(); }\n"
    assert ctypes.CDLL(str(cc.build(text, (), config).path)).most() >= 1


def test_the_named_compiler_is_the_only_one_tried(tmp_path, config, monkeypatch):
    assert cc.find_compiler(replace(config, compiler="no-such-compiler")) is None
    assert "no-such-compiler: not found" in cc.why_none(replace(config, compiler="no-such-compiler"))
    monkeypatch.setenv("CC", "no-such-compiler")
    assert cc.find_compiler(config) is not None  # $CC is a wish: cc, gcc and clang come after it


def test_words_after_the_compilers_name_are_kept(config):
    found = cc.find_compiler(replace(config, compiler="cc -DX=5"))
    assert found is not None
    assert found.command[1:] == ("-DX=5",)
    path = cc.build("int x(void) { return X; }", (), replace(config, compiler="cc -DX=5")).path
    assert ctypes.CDLL(str(path)).x() == 5


def test_probes_are_kept_between_processes(config, monkeypatch):
    assert cc.find_compiler(config) is not None
    monkeypatch.setattr(cc, "_searches", {})
    monkeypatch.setattr(cc, "_runs", lambda *_: pytest.fail("probed again"))
    assert cc.find_compiler(config) is not None


def test_what_works_is_not_probed_again_for_another_folder(config, tmp_path, monkeypatch):
    found = cc.find_compiler(config)
    monkeypatch.setattr(cc, "_runs", lambda *_: pytest.fail("probed again"))
    other = replace(config, cache=tmp_path / "other")
    assert found is not None and cc.find_compiler(other) is found
    assert ctypes.CDLL(str(cc.build(THREE, (), other).path)).three() == 3


def test_what_failed_in_one_folder_is_tried_in_another(config, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(cc, "_runs", lambda *_: "no room")
        assert cc.find_compiler(config) is None
    assert cc.find_compiler(config) is None
    assert cc.find_compiler(replace(config, cache=tmp_path / "other")) is not None


def test_a_compiler_without_openmp_works_on_one_thread(tmp_path, config):
    real = shutil.which("cc")
    fake = script(
        tmp_path / "plain",
        f'for word; do [ "$word" = -fopenmp ] && {{ echo "error: no omp"; exit 1; }}; done\nexec {real} "$@"\n',
    )
    plain = replace(config, compiler=fake)
    found = cc.find_compiler(plain)
    assert found is not None
    assert (found.openmp, found.tuning) == ((), cc.TUNING[0])
    with pytest.warns(LoopwrightWarning, match="no OpenMP"):
        artifact = cc.build(THREE, (), plain)
    assert ctypes.CDLL(str(artifact.path)).three() == 3
    cc.build(THREE + "//", (), plain)  # said once


def test_what_is_lacking_is_looked_for_again(tmp_path, config, monkeypatch):
    real, marker = shutil.which("cc"), tmp_path / "installed"
    fake = script(
        tmp_path / "later",
        f'[ -e {marker} ] || for word; do [ "$word" = -march=native ] && {{ echo "error"; exit 1; }}; done\n'
        f'exec {real} "$@"\n',
    )
    later = replace(config, compiler=fake)
    found = cc.find_compiler(later)
    assert found is not None
    assert found.tuning == ()
    marker.touch()
    monkeypatch.setattr(cc, "_searches", {})
    found = cc.find_compiler(later)
    assert found is not None
    assert found.tuning[:1] == ("-march=native",)


def test_a_refused_text_shows_the_compilers_words_and_is_kept(config):
    with pytest.raises(CompilerError) as caught:
        cc.build("int three(void) { return 3 }\n", (), config)
    text = str(caught.value)
    assert "expected ';'" in text
    kept = Path(next(line for line in text.splitlines() if "source:" in line).split(": ")[1])
    assert kept.read_text() == "int three(void) { return 3 }\n"


def test_output_of_other_encodings_is_no_trouble(tmp_path):
    code, output = cc.run_compiler(("printf", r"\377\376 x"), tmp_path, 10)
    assert code == 0
    assert output.endswith(" x")


def test_a_child_that_hangs_dies_with_its_children(tmp_path):
    code, output = cc.run_compiler(("sh", "-c", "echo begun; (sleep 1000 & echo $!; wait)"), tmp_path, 0.5)
    assert code is None
    child = int(output.split()[1])
    for _ in range(1000):  # the signal is on its way
        if _gone(child):
            return
        time.sleep(0.01)
    pytest.fail("the compiler's child still runs")


def _gone(process: int) -> bool:
    try:
        return "zombie" in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return True


# ---- the answer to --version ---------------------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that were asked for their version, in order."""
    commands: list[str] = []
    real = cc.run_compiler

    def noting(command, folder, timeout_s):
        if command[-1] == "--version":
            commands.append(command[0])
        return real(command, folder, timeout_s)

    monkeypatch.setattr(cc, "run_compiler", noting)
    return commands


def test_a_compiler_that_is_the_same_file_is_asked_once(config, asked, monkeypatch):
    first = cc.find_compiler(config)
    monkeypatch.setattr(cc, "_searches", {})
    assert cc.find_compiler(config) == first and first is not None
    if not cc._same_file(first.command):
        pytest.skip("the compiler here passes the work on to another program")
    assert len(asked) == 1


def test_another_file_is_asked_again(config, asked, monkeypatch, tmp_path):
    real = Path(shutil.which("cc") or "").resolve()
    if not cc._same_file((str(real),)):
        pytest.skip("the compiler here passes the work on to another program")
    keys = [cc._same_file((str(real),))]
    copy = tmp_path / "my-gcc-12"
    for _ in range(2):
        shutil.copy(real, copy)
        keys.append(cc._same_file((str(copy),)))
        copy.rename(tmp_path / "my-gcc-11")
        keys.append(cc._same_file((str(tmp_path / "my-gcc-11"),)))
    assert len(set(keys)) == 5 and "" not in keys


def test_what_passes_the_work_on_is_asked_each_time(config, asked, monkeypatch, tmp_path):
    named = script(tmp_path / "gcc", f'exec {shutil.which("cc")} "$@"\n')
    for _ in range(2):
        monkeypatch.setattr(cc, "_searches", {})
        assert cc.find_compiler(replace(config, compiler=named)) is not None
    assert asked == [named] * 2
    real = shutil.which("cc") or ""
    assert (
        cc._same_file((real, "-m64")) == cc._same_file((str(tmp_path / "none"),)) == cc._same_file(("/bin/sh",)) == ""
    )


def described(march: str, avx512: str) -> str:
    return f"  -march=                     \t\t{march}\n  -mavx512f                   \t\t[{avx512}]\n"


@pytest.mark.parametrize(
    ("native", "known", "wanted"),
    [
        (described("znver3", "enabled"), described("znver3", "disabled"), True),  # gcc 12 on a Zen 4 or 5
        (described("znver4", "enabled"), described("znver4", "enabled"), False),
        (described("znver3", "disabled"), described("znver3", "disabled"), False),
        ("", "", False),  # clang does not say
    ],
)
def test_a_cpu_that_the_compiler_does_not_know(native: str, known: str, wanted: bool) -> None:
    assert cc.takes_for_an_older_one(lambda name: native if name == "native" else known) is wanted


def test_flags_for_another_processor_leave_the_others(config):
    found = cc.find_compiler(config)
    assert found is not None
    other = cc.for_flags(found, ("-march=x86-64-v3",))
    assert not any(flag.startswith("-m") for flag in other.tuning)
    assert [flag for flag in found.tuning if not flag.startswith("-m")] == list(other.tuning)
    assert cc.for_flags(found, ("-O2",)) == found


def test_a_compiler_that_does_not_know_a_parameter_goes_without(tmp_path, config):
    real = shutil.which("cc")
    text = f'for word; do case "$word" in --param*) echo "error: what"; exit 1;; esac; done\nexec {real} "$@"\n'
    found = cc.find_compiler(replace(config, compiler=script(tmp_path / "old", text)))
    assert found is not None and found.tuning[0] == "-march=native" and cc.LOOPS not in found.tuning


def test_a_compiler_that_is_not_gcc_is_not_told_what_only_gcc_knows(tmp_path, config):
    real = shutil.which("cc")
    words = "*no-ipa-cp-clone*|*no-tree-sink*"
    text = f'for word; do case "$word" in {words}) echo "error: what"; exit 1;; esac; done\nexec {real} "$@"\n'
    other = replace(config, compiler=script(tmp_path / "other", text))
    found = cc.find_compiler(other)
    assert found is not None and cc.ONE_COPY not in found.tuning
    path = cc.build("int run(void) { return 7; }\n", ("-fno-tree-sink",), other).path
    assert ctypes.CDLL(str(path)).run() == 7


def test_a_library_is_few_mappings(config):
    found = cc.find_compiler(config)
    assert found is not None
    if not set(cc.FEW_SEGMENTS) <= set(found.tuning):
        pytest.skip("another linker")
    path = cc.build("int some = 1; const int other = 2; int run(void) { return some + other; }\n", (), config).path
    loaded = ctypes.CDLL(str(path))
    assert loaded.run() == 3
    mappings = [line for line in Path("/proc/self/maps").read_text().splitlines() if line.endswith(str(path))]
    assert len(mappings) == 2, mappings


def test_a_linker_that_does_not_know_a_word_goes_without(tmp_path, config):
    real = shutil.which("cc")
    text = f'for word; do case "$word" in -Wl,*) echo "error: what"; exit 1;; esac; done\nexec {real} "$@"\n'
    found = cc.find_compiler(replace(config, compiler=script(tmp_path / "old", text)))
    assert found is not None
    assert tuple(flag for flag in found.tuning if flag not in cc.UNKNOWN) == ("-march=native", cc.LOOPS, cc.ONE_COPY)


SHARED = """
#include <stdint.h>
static __attribute__((noinline)) int64_t part(int64_t first, int64_t bound, int64_t step, double *out) {
  for (int64_t row = first / step; row * step < bound; ++row) {
    const int64_t from = first - row * step, begin = from > 0 ? from : 0;
    for (int64_t i = begin; i < step; ++i) out[row * step + i] += 1.0 / (1.0 + out[i] + first);
  }
  return first;
}
int64_t run(int64_t first, int64_t bound, int64_t threads, int64_t step, double *out) {
  for (int64_t k = 0; k < threads; ++k) {
    if (threads == 1) out[k] += part(0, bound, step, out);
    else out[k] += part(first, bound, step, out);
  }
  return 0;
}
"""


def test_loops_that_threads_share_are_compiled_once(config):
    """And not once more for the call that one thread makes, from iteration 0 on."""
    found = cc.find_compiler(config)
    assert found is not None
    if cc.ONE_COPY not in found.tuning:
        pytest.skip("a compiler that makes no copies")
    names = subprocess.run(["nm", cc.build(SHARED, (), config).path], capture_output=True, text=True, check=True).stdout
    assert sum(" part" in line for line in names.splitlines()) == 1


def test_the_level_of_users_calls(config, monkeypatch):
    """In this folder of tests; in many others it is a lower one (tests/conftest.py)."""
    run, commands = cc.run_compiler, []
    monkeypatch.setattr(cc, "run_compiler", lambda command, *more: (commands.append(command), run(command, *more))[1])
    cc.build(THREE + "\n\n", (), config)
    assert [[word for word in one if word.startswith("-O")] for one in commands if "-shared" in one] == [["-O3"]]
