"""File systems of their own, for disks that are full or read-only."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(folder: Path, options: str):
    """A small file system of its own, which nobody else may write to; the test is skipped where this process may not
    mount one."""
    folder.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"mode=700,{options}", "tmpfs", folder], capture_output=True
    ).returncode:
        pytest.skip("may not mount a file system")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
