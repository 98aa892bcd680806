"""Many steps on many processes or machines, by joblib.

Back ends: ``loky`` (processes of this machine), ``ray`` and ``dask`` (a cluster, or a local one if
no address is given). If a worker dies, the steps that are not done are run again; after `RETRIES`
rounds in which nothing was finished the study stops. Every worker uses the same number of threads,
so that two workers on two cores do not compete and results do not depend on the back end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from pydantic import PositiveInt

from bdl.config import Value
from bdl.errors import ConfigError, StudyError, require

if TYPE_CHECKING:
    from bdl.study.steps import StudyStep

RETRIES = 3
Work = Callable[["StudyStep"], str | None]
# Errors by which the back ends report that a worker process died.
DEATHS = {
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


class Workers(Value):
    """Where steps run.

    Parameters
    ----------
    backend
        Where workers run: loky (this machine), ray or dask.
    jobs
        Worker processes.
    threads
        Threads per worker; by default the cores are divided evenly between the workers, and a
        resumed study keeps the number it was started with.
    address
        Address of a running Ray or Dask cluster; by default a local one is started.

    Examples
    --------
    >>> Workers(jobs=2).backend
    'loky'
    """

    backend: Literal["loky", "ray", "dask"] = "loky"
    jobs: PositiveInt = 1
    threads: PositiveInt | None = None
    address: str | None = None


def limit_threads(threads: int) -> None:
    """Limit the threads of this process, in torch and in compiled libraries."""
    require("threadpoolctl", "all").threadpool_limits(threads)
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(threads)


def run_all(
    work: Work,
    steps: Sequence[StudyStep],
    done: Callable[[StudyStep], bool],
    workers: Workers,
    on_death: Callable[[str], None] = lambda text: None,
) -> None:
    """Run every step that is not done.

    Parameters
    ----------
    work
        Performs one step and marks it done; returns None, or what went wrong.
    steps
        What to run.
    done
        Whether a step is done already.
    workers
        Where to run.
    on_death
        Called with a description of each death of a worker.

    Raises
    ------
    StudyError
        If steps went wrong, after the others have run; or if workers keep dying.
    """
    idle = 0
    while todo := [step for step in steps if not done(step)]:
        death = ""
        problems: list[str | None] = []
        try:
            problems = _round(work, todo, workers)
        except Exception as error:
            if not {kind.__name__ for kind in type(error).__mro__} & DEATHS:
                raise
            death = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            on_death(death)
        texts = [problem for problem in problems if problem is not None]
        if texts:
            raise StudyError("\n".join(dict.fromkeys(texts)))
        left = [step for step in todo if not done(step)]
        idle = idle + 1 if len(left) == len(todo) else 0
        if left and idle >= RETRIES:
            raise StudyError(
                f"workers died {RETRIES} times without finishing a step ({death}); "
                f"{left[0].name} may need more memory than there is: try fewer --jobs"
            )


def _round(work: Work, steps: Sequence[StudyStep], workers: Workers) -> list[str | None]:
    from joblib import Parallel, delayed

    if workers.backend == "loky" and workers.jobs == 1:
        return [work(step) for step in steps]
    with _backend(workers):
        calls = (delayed(work)(step) for step in steps)
        problems: list[str | None] = Parallel(n_jobs=workers.jobs, batch_size=1)(calls)
    return problems


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
            _connect(
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
            _connect(
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


def _connect(start: Callable[[], Any], workers: Workers) -> Any:
    try:
        return start()
    except (OSError, ValueError, ConnectionError) as error:
        raise ConfigError(
            f"no {workers.backend} cluster can be reached at --address {workers.address}: {error}"
        ) from error
