"""The error of a detector that is used before it is fitted.

It has its own module, because an exported detector is always fitted and needs no scikit-learn.
"""

from __future__ import annotations

from sklearn.exceptions import NotFittedError

from bdl.errors import ConfigError


class DetectorNotFittedError(ConfigError, NotFittedError):  # type: ignore[misc]
    """A detector was used before it was fitted."""
