"""Clusters of this machine, each in a process of its own, which ends them when its input closes."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

DASK = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print("address", cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""
RAY = """
import sys
import ray

context = ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
print("address", context.address_info["gcs_address"], flush=True)
sys.stdin.read()
ray.shutdown()
"""


@contextmanager
def _started(code: str, **variables: str) -> Iterator[str]:
    environment = {**os.environ, **variables}
    with subprocess.Popen(
        [sys.executable, "-c", code], env=environment, text=True, stderr=subprocess.DEVNULL,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("address "):
                yield line.split()[1]
                break
        else:
            raise AssertionError("no cluster started")


@contextmanager
def dask() -> Iterator[dict[str, str]]:
    """A Dask scheduler with two workers: its address, as the variable DASK."""
    with _started(DASK) as address:
        yield {"DASK": address}


@contextmanager
def ray() -> Iterator[dict[str, str]]:
    """A Ray head with two cores: its address, as the variable RAY, and a token made for it."""
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    with _started(RAY, RAY_USAGE_STATS_ENABLED="0", **token) as address:
        yield {"RAY": address, **token}
