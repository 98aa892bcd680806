"""Measurements of processes, and measurements in separate processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def child_json(module: str, *arguments: object) -> Any:
    """Run a module in a separate process; the JSON in its last line of output."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def own_processor_seconds() -> float:
    """Processor time of this process and its finished children, all threads."""
    return sum(os.times()[:4])


def processor_seconds(process: int) -> float:
    """Processor time of a process by its id; other programs affect it less than the wall clock."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_memory() -> int:
    """Peak memory of this process in bytes.

    Unlike that of ``getrusage``, it does not count the memory of the parent before the start.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
