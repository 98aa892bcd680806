"""Parameters of an estimator that are values: their fields can be set by name."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator

from bdl.config import Value


class NestedParameters(BaseEstimator):  # type: ignore[misc]
    """Base class of an estimator whose property ``settings`` has its parameters as a value."""

    settings: Any

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also fields of values: ``set_params(training__epochs=5)``.

        Parameters
        ----------
        **params
            New values by name; names of fields follow their parameter after two underscores.
        """
        super().set_params(**{name: params[name] for name in params if "__" not in name})
        for name, value in params.items():
            parameter, nested, path = name.partition("__")
            if nested:
                setattr(self, parameter, _with_field(self.settings, name, path, value))
        return self


def _with_field(value: Value, name: str, path: str, new: object) -> Any:
    """Return the field of a value that ``name`` begins with, changed at ``path``.

    Examples
    --------
    >>> from bdl.detector import DetectorSettings
    >>> _with_field(DetectorSettings(), "features__stride", "stride", 5).stride
    5
    """
    parameter = name.split("__")[0]
    if parameter not in type(value).model_fields:
        known = ", ".join(type(value).model_fields)
        raise ValueError(f"{type(value).__name__} has no field {parameter!r}; it has {known}")
    current = getattr(value, parameter)
    if not path:
        return new
    if not isinstance(current, Value):
        raise ValueError(f"{parameter!r} has no fields, so {name!r} is not known")
    field, _, inner_path = path.partition("__")
    return current.replace(**{field: _with_field(current, path, inner_path, new)})
