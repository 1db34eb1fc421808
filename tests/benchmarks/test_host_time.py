"""What a call costs the host is measured over a driver that does nothing, which a process cannot get rid of."""

from __future__ import annotations

import re
import subprocess
import sys


def test_a_call_on_one_and_on_two_idle_gpus() -> None:
    command = [sys.executable, "-m", "benchmarks.host_time", "--only", "sums of rows", "--gpus", "1,2"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    told = re.findall(r"sums of rows +on (\d): +([\d.]+) us of the host \((\d+) calls\)", found)
    assert [count for count, _, _ in told] == ["1", "2"], found
    assert all(float(spent) > 0 and int(calls) >= 3 for _, spent, calls in told)
