"""Functions compiled to machine code, by one decorator: `compiled`.

numba is imported when the first of these functions is compiled or read from its cache, not when a
module that defines one is imported. Machine code is cached on disk: beside the source where that
folder can be written, otherwise in the user's cache folder (``XDG_CACHE_HOME``, or
``NUMBA_CACHE_DIR`` if set). Where neither can be written, or the disk is full, functions are
compiled again by every process, and one warning says so.

Loading numba and its cache takes a second, compiling takes several. A function that only compares,
adds, subtracts, multiplies, divides or takes roots gives the same bits as plain Python. Such a
function may be declared ``small_in_python=True``: small inputs are then processed without the
compiler, up to `PATIENCE` array elements per process.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from functools import cache, update_wrapper
from typing import Any, TypeVar, cast, overload

F = TypeVar("F", bound=Callable[..., Any])

# Array elements per process that plain Python may process: at one or two microseconds each this
# is less than it takes to load numba. Tests set 0, so that they cover the compiled code.
PATIENCE = 20_000

_lock = threading.RLock()
_state = threading.local()
_processed = 0
_announce: Callable[[], None] | None = None


class Compiled:
    """A function that is compiled when it is first needed; see `compiled`."""

    def __init__(self, function: Callable[..., Any], small_in_python: bool) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._small_in_python = small_in_python
        self._dispatcher: Any = None

    def __call__(self, *arguments: Any) -> Any:
        if self._dispatcher is not None:
            return self._dispatcher(*arguments)
        if self._small_in_python and _affordable(arguments):
            import numpy as np

            _state.interpreting = True
            try:
                with np.errstate(all="ignore"):
                    return self.py_func(*arguments)
            finally:
                _state.interpreting = False
        if getattr(_state, "interpreting", False):
            return self.py_func(*arguments)
        return self.dispatcher(*arguments)

    @property
    def dispatcher(self) -> Any:
        """The numba dispatcher of the function."""
        with _lock:
            if self._dispatcher is None:
                self._dispatcher = _dispatcher(self.py_func)
            return self._dispatcher

    def __reduce__(self) -> str:
        return self.py_func.__qualname__  # other processes import it by name


@overload
def compiled(function: F) -> F: ...
@overload
def compiled(*, small_in_python: bool) -> Callable[[F], F]: ...
def compiled(function: F | None = None, *, small_in_python: bool = False) -> F | Callable[[F], F]:
    """Compile a function with numba at its first call, without the interpreter lock.

    Arguments are positional. Compiled functions may call each other.

    Parameters
    ----------
    function
        Function of scalars and arrays, in the part of Python that numba compiles.
    small_in_python
        Whether small inputs are processed in plain Python. For functions that take linear time in
        the elements of their array arguments and use exactly rounded arithmetic only.

    Examples
    --------
    >>> @compiled
    ... def double(x: float) -> float:
    ...     return 2 * x
    >>> double(1.5)
    3.0
    """
    if function is None:
        return lambda decorated: cast(F, Compiled(decorated, small_in_python))
    return cast(F, Compiled(function, small_in_python))


def announce_compilation(show: Callable[[], None]) -> None:
    """Call ``show`` once, before this process first compiles instead of reading its cache."""
    global _announce
    _announce = show


def _affordable(arguments: tuple[Any, ...]) -> bool:
    """Whether plain Python may process these arguments; if so, they are counted."""
    global _processed
    if getattr(_state, "interpreting", False):
        return False  # a call within a call that was counted
    elements: int = sum(getattr(value, "size", 0) for value in arguments)
    if _processed + elements >= PATIENCE:
        return False
    _processed += elements + 1
    return True


def _dispatcher(function: Callable[..., Any]) -> Any:
    njit = _numba().njit
    if function.__code__.co_filename.startswith("<"):
        return njit(nogil=True)(function)  # typed at a prompt: no file to keep a cache for
    try:
        dispatcher = njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba found no folder that can be written
        _warn_no_cache()
        return njit(nogil=True)(function)
    file = getattr(dispatcher._cache, "_cache_file", None)
    if file is not None:
        # A cache that another version of the source has written, or that is damaged, counts as
        # empty: numba unpickles the index before it compares its date, and classes may be missing.
        file._load_index = _guarded(file._load_index, Exception, dict)
        # Its folder may have been filled or removed since it was chosen.
        file.save = _guarded(file.save, OSError, _warn_no_cache)
    return dispatcher


def _guarded(
    function: Callable[..., Any], errors: type[Exception], instead: Callable[[], Any]
) -> Callable[..., Any]:
    """A function that calls another one instead of raising an error."""

    def guarded(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except errors:
            return instead()

    return guarded


@cache
def _warn_no_cache() -> None:
    warnings.warn(
        "no folder for compiled functions can be written, so they are compiled again each time; "
        "set NUMBA_CACHE_DIR to a folder that can be written",
        stacklevel=2,
    )


@cache
def _numba() -> Any:
    """The module numba, prepared so that compiled functions may call each other."""
    import numba
    from numba.core import event
    from numba.core.typing.typeof import typeof_impl

    @typeof_impl.register(Compiled)
    def _(value: Compiled, context: Any) -> Any:
        return typeof_impl(value.dispatcher, context)

    class Announcement(event.Listener):
        def on_start(self, event: Any) -> None:
            global _announce
            if _announce is not None:
                show, _announce = _announce, None
                show()

        def on_end(self, event: Any) -> None: ...

    register: Callable[..., None] = event.register
    register("numba:compile", Announcement())
    return numba
