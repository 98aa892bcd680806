"""Buffers that stay: a process that asks for large blocks again and again soon faults no more."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys, torch
from bdl.encoders.allocator import keep_buffers
if sys.argv[1] == "keep":
    assert keep_buffers()
torch.set_num_threads(1)
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
counts = []
for turn in range(24):
    begin = faults()
    torch.ones(64 * 2**20 // 4)
    counts.append(faults() - begin)
print(sorted(counts[14:])[5])
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the habit is glibc's")
def test_large_buffers_stay() -> None:
    counts = {
        habit: int(
            subprocess.run(
                [sys.executable, "-c", PROGRAM, habit], check=True, capture_output=True, text=True
            ).stdout
        )
        for habit in ("keep", "leave")
    }
    # Some kernels hand the same pages back by themselves, so without the habit anything may come.
    assert counts["keep"] < 100
    assert counts["keep"] <= counts["leave"]
