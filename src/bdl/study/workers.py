"""Many steps on many processes or machines, by joblib.

Back ends: ``loky`` (processes of this machine), ``ray`` and ``dask`` (a cluster, or a local one
where no address is given). A worker that dies costs another round over the steps that are not
done; after `RETRIES` rounds in which nothing was finished the study stops. Every worker keeps to
``threads`` threads, so that two of them on two cores do not stand in each other's way, and sums
come out in one order whatever the back end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from pydantic import Field

from bdl.config import Value
from bdl.errors import ConfigError, StudyError, require
from bdl.study.run_directory import StudyStep

RETRIES = 3
Backend = Literal["loky", "ray", "dask"]


class Workers(Value):
    """Where steps run.

    Parameters
    ----------
    backend : ``loky``, ``ray`` or ``dask``.
    jobs : worker processes.
    threads : threads a worker.
    address : of a running Ray or Dask cluster; without it a local one is started.

    >>> Workers.shared(jobs=2, cores=8).threads
    4
    """

    backend: Backend = "loky"
    jobs: int = Field(1, ge=1)
    threads: int = Field(1, ge=1)
    address: str | None = None

    @classmethod
    def shared(cls, *, jobs: int, cores: int | None = None, **others: Any) -> Workers:
        """Workers that share this machine's cores evenly."""
        cores = cores or os.cpu_count() or 1
        return cls(jobs=jobs, threads=max(1, cores // jobs), **others)


def limit_threads(threads: int) -> None:
    """Keep this process to so many threads, in torch and in compiled libraries."""
    require("threadpoolctl", "all").threadpool_limits(threads)
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(threads)


def run_all(
    work: Callable[[StudyStep], str | None],
    steps: Sequence[StudyStep],
    done: Callable[[StudyStep], bool],
    workers: Workers,
    notice: Callable[[str], None] = lambda text: None,
) -> None:
    """Run every step that is not done; raise once the rest has been tried.

    Parameters
    ----------
    work : does one step and marks it done; returns None, or what went wrong.
    done : whether a step is done already.
    notice : told of each worker that died.

    >>> seen = []
    >>> step = StudyStep("a", "x", {})
    >>> run_all(lambda s: seen.append(s.name), [step], lambda s: s.name in seen, Workers())
    >>> seen
    ['a']
    """
    idle = 0
    while todo := [step for step in steps if not done(step)]:
        died = ""
        problems: list[str | None] = []
        try:
            problems = _round(work, todo, workers)
        except Exception as error:
            if not _is_death(error):
                raise
            died = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            notice(died)
        wrong = [problem for problem in problems if problem is not None]
        if wrong:
            raise StudyError("\n".join(dict.fromkeys(wrong)))
        left = [step for step in todo if not done(step)]
        idle = idle + 1 if len(left) == len(todo) else 0
        if left and idle >= RETRIES:
            raise StudyError(
                f"workers died {RETRIES} times without finishing a step ({died}); "
                f"{left[0].name} may need more memory than there is"
            )


def _round(
    work: Callable[[StudyStep], str | None], steps: Sequence[StudyStep], workers: Workers
) -> list[str | None]:
    from joblib import Parallel, delayed

    if workers.backend == "loky" and workers.jobs == 1:
        return [work(step) for step in steps]
    with _backend(workers):
        calls = (delayed(work)(step) for step in steps)
        found: list[str | None] = Parallel(n_jobs=workers.jobs, batch_size=1)(calls)
    return found


@contextmanager
def _backend(workers: Workers) -> Iterator[None]:
    from joblib import parallel_config

    if workers.backend == "loky":
        with parallel_config(backend="loky", inner_max_num_threads=workers.threads):
            yield
    elif workers.backend == "ray":
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray = require("ray", "ray")
        require("ray.util.joblib", "ray").register_ray()
        if not ray.is_initialized():
            _reach(
                lambda: ray.init(
                    address=workers.address,
                    num_cpus=None if workers.address else workers.jobs,
                    log_to_driver=False,
                    include_dashboard=False if workers.address is None else None,
                ),
                workers,
            )
        with parallel_config(backend="ray"):
            yield
    else:
        distributed = require("distributed", "dask")
        with (
            _reach(
                lambda: (
                    distributed.Client(workers.address, timeout=10)
                    if workers.address
                    else distributed.Client(
                        n_workers=workers.jobs, threads_per_worker=1, dashboard_address=None
                    )
                ),
                workers,
            ),
            parallel_config(backend="dask"),
        ):
            yield


def _reach(connect: Callable[[], Any], workers: Workers) -> Any:
    try:
        return connect()
    except (OSError, ValueError, ConnectionError) as error:
        raise ConfigError(
            f"no {workers.backend} cluster can be reached at {workers.address}: {error}"
        ) from error


def _is_death(error: Exception) -> bool:
    """Whether an error says that a worker process died, rather than that work failed."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(
        names
        & {
            "BrokenProcessPool",
            "TerminatedWorkerError",
            "RayActorError",
            "ActorDiedError",
            "WorkerCrashedError",
            "NodeDiedError",
            "OutOfMemoryError",
            "KilledWorker",
            "CommClosedError",
        }
    )
