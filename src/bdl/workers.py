"""Items of work on several processes or machines.

Back ends: ``loky`` (processes of this machine), ``ray`` and ``dask`` (a cluster, or a local one if
no address is given). All of them return futures, so that one loop serves all. A few items per
worker are in progress at a time. If a worker dies, the items in progress are run again at the end,
one at a time; an item whose worker dies repeatedly is given up. Every worker uses the same number
of threads, so that two workers on two cores do not compete. Workers of this machine end with the
process that started them, even if it is killed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import Field, model_validator

from bdl.child_processes import end_local_cluster, end_with, local_cluster
from bdl.config import Value
from bdl.errors import ConfigError, StudyError, require

ATTEMPTS = 2  # of an item that is alone with its worker, before it is given up
# Seconds after which a waiting process checks for an interruption: if a library has changed the
# handling of signals, they do not end a system call.
POLL = 0.5
AHEAD = 2  # items in progress per worker, so that no worker waits for the next one
T = TypeVar("T")
R = TypeVar("R")
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
    """Where work is done.

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
    jobs: Annotated[int, Field(gt=0, le=10_000)] = 1
    threads: Annotated[int, Field(gt=0, le=10_000)] | None = None
    address: str | None = None

    @model_validator(mode="after")
    def _addressed(self) -> Self:
        if self.address is not None and self.backend == "loky":
            raise ValueError("address (--address) has no effect with the backend loky (--backend)")
        return self

    @property
    def here(self) -> bool:
        """Whether all work is done in this process."""
        return self.backend == "loky" and self.jobs == 1


@dataclass(frozen=True)
class WorkerDeath:
    """Takes the place of a result if an item's worker died every time."""

    reason: str

    def __str__(self) -> str:
        return (
            f"its worker died {ATTEMPTS} times ({self.reason}); it may need more memory than there "
            "is: try fewer --jobs"
        )


def run_all(
    work: Callable[[T], R],
    items: Iterable[T],
    workers: Workers,
    on_death: Callable[[str], None] = lambda reason: None,
    split: Callable[[T], Iterable[T]] = lambda item: (item,),
) -> Iterator[tuple[T, R | WorkerDeath]]:
    """Yield each item with its result, in the order in which they are finished.

    Parameters
    ----------
    work
        Function of one item, sent to the workers with each item. Its errors are raised here, so a
        function that should not stop the others returns what went wrong.
    items
        What to work on.
    workers
        Where to run.
    on_death
        Called with a description of each death of a worker.
    split
        Divides an item whose worker died into parts that are items as well, so that only the part
        at fault is given up.

    Examples
    --------
    >>> sorted(run_all(abs, [-1, -2], Workers()))
    [(-2, 2), (-1, 1)]
    """
    if workers.here:
        for item in items:
            yield item, work(item)
        return
    work = _Work(work, os.getcwd())
    suspects: list[T] = []
    with _pool(workers) as submit:
        for item, result in _flow(work, items, submit, AHEAD * workers.jobs):
            if isinstance(result, WorkerDeath):
                suspects.append(item)
                on_death(result.reason)
            else:
                yield item, result
        for part in (part for item in suspects for part in split(item)):
            for _ in range(ATTEMPTS):
                [(_, result)] = _flow(work, [part], submit, 1)
                if not isinstance(result, WorkerDeath):
                    break
                on_death(result.reason)
            yield part, result


Submit = Callable[..., "Future[Any]"]


def _flow(
    work: Callable[[T], R], items: Iterable[T], submit: Submit, limit: int
) -> Iterator[tuple[T, R | WorkerDeath]]:
    """Items and their results; at most ``limit`` are in progress at a time."""
    in_progress: dict[Future[R], T] = {}
    waiting = iter(items)
    try:
        while True:
            for item in islice(waiting, limit - len(in_progress)):
                in_progress[submit(work, item)] = item
            if not in_progress:
                return
            for future in wait(in_progress, timeout=POLL, return_when=FIRST_COMPLETED).done:
                item = in_progress.pop(future)
                try:
                    yield item, future.result()
                except (Exception, CancelledError) as error:
                    if not _is_death(error):
                        raise
                    first = str(error).strip().partition("\n")[0]
                    yield item, WorkerDeath(f"{type(error).__name__}: {first}"[:200])
    finally:
        for future in in_progress:
            future.cancel()


def _is_death(error: BaseException) -> bool:
    return isinstance(error, CancelledError) or bool(
        {kind.__name__ for kind in type(error).__mro__} & DEATHS
    )


@contextmanager
def _pool(workers: Workers) -> Iterator[Submit]:
    """A function that starts work on an item and returns its future."""
    connect = {"loky": _loky, "ray": _ray, "dask": _dask}[workers.backend]
    try:
        with connect(workers) as submit:
            yield submit
    except BaseException as error:
        end_local_cluster(workers.backend)
        if type(error).__module__.partition(".")[0] not in ("ray", "distributed"):
            raise
        first = str(error).strip().partition("\n")[0]
        raise StudyError(
            f"the {workers.backend} cluster has failed ({type(error).__name__}: {first[:200]}); "
            "what is finished is kept: run the same command again"
        ) from error


@contextmanager
def _loky(workers: Workers) -> Iterator[Submit]:
    """Worker processes of this machine, which are started again after a death."""
    from joblib.externals.loky import get_reusable_executor

    executor: Any = None

    def submit(work: Callable[[T], R], item: T) -> Future[R]:
        nonlocal executor
        future: Future[R]
        try:
            executor = get_reusable_executor(
                max_workers=workers.jobs,
                timeout=300,
                env={} if workers.threads is None else _thread_variables(workers.threads),
                initializer=end_with,
                initargs=(os.getpid(),),
            )
            future = executor.submit(work, item)
        except RuntimeError as error:  # a worker has just died
            future = Future()
            future.set_exception(error)
        return future

    try:
        yield submit
    except BaseException:  # interrupted, or no longer needed
        if executor is not None:
            executor.shutdown(wait=True, kill_workers=True)
        raise


@contextmanager
def _ray(workers: Workers) -> Iterator[Submit]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = require("ray", "ray")
    if not ray.is_initialized():
        address = workers.address or local_cluster("ray", workers.jobs)
        options = {"log_to_driver": False, "logging_level": "WARNING"}
        _connect(lambda: ray.init(address=address, **options), workers)
    call = ray.remote(max_retries=0)(_call)
    yield lambda work, item: call.remote(work, item).future()


@contextmanager
def _dask(workers: Workers) -> Iterator[Submit]:
    distributed = require("distributed", "dask")
    address = workers.address or local_cluster("dask", workers.jobs)
    with _connect(lambda: distributed.Client(address, timeout=10), workers) as client:
        yield client.get_executor(pure=False).submit


def _call(work: Callable[[T], R], item: T) -> R:
    return work(item)


@dataclass(frozen=True, eq=False)
class _Work(Generic[T, R]):
    """Work that is done in the folder of the process which sent it: paths may be relative."""

    work: Callable[[T], R]
    folder: str

    def __call__(self, item: T) -> R:
        if os.getcwd() != self.folder:
            with suppress(OSError):  # another machine need not have it
                os.chdir(self.folder)
        return self.work(item)


def _thread_variables(threads: int) -> dict[str, str]:
    """Environment of a worker: numbers of threads that libraries read when they are imported."""
    libraries = ("OMP", "MKL", "OPENBLAS", "NUMBA", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR")
    return {f"{library}_NUM_THREADS": str(threads) for library in libraries}


def _connect(start: Callable[[], Any], workers: Workers) -> Any:
    try:
        return start()
    except (OSError, ValueError, ConnectionError) as error:
        raise ConfigError(
            f"no {workers.backend} cluster can be reached at --address {workers.address}: {error}"
        ) from error
