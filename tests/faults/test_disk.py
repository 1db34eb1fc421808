"""A cache that cannot be written or has no room: a private folder, one warning, the right answer."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
from pathlib import Path

import pytest

from faults.children import BUILD, PREAMBLE, USE, run
from faults.mounts import mounted

ANSWER = "[2.0, 2.0, 2.0]"


@pytest.mark.parametrize("size", ["4k", "16k", "32k"])
def test_a_full_disk(tmp_path, size):
    cache = tmp_path / "cache"
    with mounted(cache, f"size={size}"):
        output, trouble = run(USE, cache)
    assert output == ANSWER
    assert trouble.count("LoopwrightWarning") == 1
    assert os.strerror(errno.ENOSPC) in trouble


def test_a_disk_without_inodes(tmp_path):
    cache = tmp_path / "cache"
    with mounted(cache, "nr_inodes=6"):
        output, trouble = run(USE, cache)
    assert output == ANSWER
    assert trouble.count("LoopwrightWarning") == 1


def test_a_full_disk_as_this_process_sees_it(tmp_path):
    full = """
import errno, os, sys
from pathlib import Path
original = Path.write_text
def write_text(self, *args):
    if self.is_relative_to(sys.argv[1]):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return original(self, *args)
Path.write_text = write_text
"""
    output, trouble = run(
        full.replace("import errno", "import errno, os, sys\nfrom pathlib import Path") + USE, tmp_path
    )
    assert output == ANSWER
    assert trouble.count("LoopwrightWarning") == 1


def test_a_folder_that_cannot_be_made(tmp_path):
    output, trouble = run(USE, Path("/proc/loopwright"))
    assert output == ANSWER
    assert trouble.count("LoopwrightWarning") == 1
    assert "LOOPWRIGHT_CACHE" in trouble


def test_a_read_only_cache_is_still_read(tmp_path):
    cache = tmp_path / "cache"
    with mounted(cache, "size=10m"):
        run(USE, cache)
        subprocess.run(["mount", "-o", "remount,ro", cache], check=True)
        output, trouble = run(USE, cache)
        assert (output, trouble) == (ANSWER, "")
        output, trouble = run(USE.replace("executable(ADD", "executable(ADD + '//'"), cache)
        assert output == ANSWER
        assert trouble.count("LoopwrightWarning") == 1
        assert os.strerror(errno.EROFS) in trouble


def test_a_cache_that_code_may_not_run_from(tmp_path):
    cache = tmp_path / "cache"
    with mounted(cache, "size=10m,noexec"):
        output, trouble = run(USE, cache)
    assert output == ANSWER
    assert "mounted without the right to execute" in trouble


def test_the_private_folder_is_removed_at_the_end(tmp_path):
    report = "\nfrom loopwright.toolchain.store import private_folders\nprint(private_folders()[0])\n"
    folder = run(BUILD + report, Path("/proc/loopwright"))[0].splitlines()[-1]
    assert "loopwright-" in folder
    assert not Path(folder).exists()


def test_no_file_of_any_size_can_be_written_anywhere(tmp_path):
    """Nothing can be done then but say so; once there is room again, it works."""
    code = (
        PREAMBLE
        + f"""
import resource
from loopwright.errors import CompilerError
from loopwright.toolchain.cc import find_compiler
find_compiler(config)
resource.setrlimit(resource.RLIMIT_FSIZE, (600, {resource.RLIM_INFINITY}))
try:
    build(HEADER + ADD, (), config)
except CompilerError as error:
    print("refused")
resource.setrlimit(resource.RLIMIT_FSIZE, ({resource.RLIM_INFINITY},) * 2)
print(build(HEADER + ADD, (), config).path.exists())
"""
    )
    assert run(code, tmp_path)[0].split() == ["refused", "True"]


# ---- the reason that is told -----------------------------------------------------------------------------------------

SCALED = """
import loopwright as lw


@lw.kernel
def scale(a, n):
    for i in range(n):
        a[i] = a[i] * 2
"""
CALLS = (
    PREAMBLE
    + """
sys.path.insert(0, FOLDER)
import resource
import scaled
from loopwright.toolchain.cc import find_compiler

def room(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

BEFORE
room(LIMIT)
a = np.ones(3)
scaled.scale(a, 3)
scaled.scale(a, 3)
print(a.tolist())
"""
)


@pytest.mark.parametrize(
    ("before", "size"),
    [("", 0), ("", 600), ("find_compiler(config)", 0), ("find_compiler(config)", 600)],
    ids=["nothing", "small files", "nothing any more", "small files only by now"],
)
def test_files_that_cannot_be_written_are_not_called_a_missing_compiler(tmp_path, before, size):
    """The call works, slowly, and one warning names a file and what the system says of it."""
    (tmp_path / "scaled.py").write_text(SCALED)
    code = CALLS.replace("FOLDER", repr(str(tmp_path))).replace("BEFORE", before).replace("(LIMIT)", f"({size})")
    output, trouble = run(code, tmp_path / "cache")
    assert output == "[4.0, 4.0, 4.0]"
    assert "no working C compiler" not in trouble
    told = [line for line in trouble.splitlines() if "no file for compiled code can be written" in line]
    assert len(told) == 1
    assert os.strerror(errno.EFBIG) in told[0] and "loopwright-" in told[0] and "slow interpreter" in told[0]
    assert f"the cache folder {tmp_path / 'cache'} cannot be used" in trouble
    assert trouble.count("LoopwrightWarning") == 2  # that of the cache, and what follows from it
