"""Processes of this machine that end with the process that started them, even if it is killed.

*Workers.* A process that is killed cannot stop its workers. On Linux the kernel kills them with it.
Elsewhere, and if the thread that started them has ended before, they check once per second whether
that process is still their parent, and end if it is not; the check waits while a function is
compiled. Partly written files are discarded.

*Clusters.* Processes of Ray outlive a killed driver by up to a minute, because each waits for a
server that has ended as well; those of Dask take seconds to end. A cluster is therefore started by
a separate process, ``python -m bdl.child_processes BACKEND CORES``, which adopts all orphans among
its descendants. When its standard input closes, because the process at the other end has closed it
or has ended, it kills all of them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from bdl.errors import ConfigError, require

INTERVAL = 1.0  # seconds between two checks of a worker
PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux: orphans become children of this process
READY = "address "
POLL = 0.5  # seconds after which a cluster that failed is noticed
ATTEMPTS = 3  # Ray gives up after 30 seconds, which its start may take on a busy machine
_running: dict[str, tuple[int, str, subprocess.Popen[str]]] = {}  # by back end: cores, address


def end_with(parent: int) -> None:
    """End this process when the process with this number, which started it, has ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(INTERVAL)
        os._exit(1)

    threading.Thread(target=watch, name="bdl parent watch", daemon=True).start()


def local_cluster(backend: str, cores: int) -> str:
    """Address of a ``ray`` or ``dask`` cluster that this process has started, or starts now.

    It runs ``cores`` tasks at a time.
    """
    if backend in _running:
        count, address, process = _running[backend]
        if count == cores and process.poll() is None:
            return address
        end_local_cluster(backend)
    if backend == "ray":
        _set_ray_token()
    for _ in range(ATTEMPTS):
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, backend, str(cores)],
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for this process, which then ends the cluster
        )
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(READY):
                address = line.removeprefix(READY).strip()
                _running[backend] = cores, address, process
                return address
        process.communicate()  # its input is closed
    raise ConfigError(f"no local {backend} cluster could be started; its own messages are above")


def end_local_cluster(backend: str) -> None:
    """End the cluster that this process has started, if there is one, and all that it works on."""
    if backend in _running:
        if backend == "ray":
            require("ray", "ray").shutdown()
        _, _, process = _running.pop(backend)
        process.communicate()  # its input is closed


def _set_ray_token() -> None:
    """Set a token, unless the user has one, so that nobody else can send work to the cluster."""
    if "RAY_AUTH_MODE" in os.environ:
        return
    os.environ["RAY_AUTH_MODE"] = "token"
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    if "ray" in sys.modules:  # it has read the mode when it was imported
        with contextlib.suppress(AttributeError):  # or is older than the mode
            sys.modules["ray"]._raylet.Config.initialize("")


def _serve(backend: str, cores: int) -> None:
    """Start a cluster in a child, and kill it and all that it started when the input closes."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if child == 0:
        print(READY + {"ray": _start_ray, "dask": _start_dask}[backend](cores), flush=True)
        signal.pause()
    os.close(1)  # so that its reader sees the end if the child fails
    while not select.select([sys.stdin], [], [], POLL)[0]:  # nothing is ever sent: it was closed
        if os.waitpid(child, os.WNOHANG)[0]:
            break
    if sys.platform == "linux":
        _kill_descendants()
    else:
        os.kill(child, signal.SIGINT)  # it ends its cluster in order


def _start_ray(cores: int) -> str:
    context = require("ray", "ray").init(
        num_cpus=cores, include_dashboard=False, log_to_driver=False, logging_level="WARNING"
    )
    return str(context.address_info["gcs_address"])


def _start_dask(cores: int) -> str:
    distributed = require("distributed", "dask")
    # A worker that dies is reported at once: what to do then is decided in `run_all`.
    require("dask", "dask").config.set({"distributed.scheduler.allowed-failures": 0})
    cluster = distributed.LocalCluster(
        n_workers=cores, threads_per_worker=1, dashboard_address=None
    )
    return str(cluster.scheduler_address)


def _kill_descendants() -> None:
    """Kill until nothing is left: a process may start another before it dies."""
    while descendants := _descendants(os.getpid()):
        for process in descendants:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.05)


def _descendants(ancestor: int) -> list[int]:
    """The children of a process, their children, and so on."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    descendants = list(children.get(ancestor, ()))
    for process in descendants:  # the list grows while it is read
        descendants += children.get(process, ())
    return descendants


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
