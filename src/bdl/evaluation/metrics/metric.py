"""The family of metrics and their text form, which is read here and nowhere else."""

from __future__ import annotations

import re
import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import NonNegativeFloat, PositiveFloat

from bdl.arrays import Floats
from bdl.errors import ConfigError
from bdl.evaluation.matches import Matches
from bdl.evaluation.rounding import find_tolerance
from bdl.registry import Variant

_FORM = re.compile(
    r"(?P<name>[^@:<>=]+)(?:@(?P<tolerance>[^:<>=]+))?(?:>=(?P<threshold>[^:<]+))?"
    r"(?:<=(?P<delay>[^:]+))?(?::(?P<type>.+))?"
)


class Metric(Variant):
    """Base class of metrics; see `bdl.evaluation.metrics`.

    Parameters
    ----------
    tolerance
        One of the matched tolerances, in seconds. None takes the mean over all.
    type
        One event type. None takes all of them.
    delay
        Most seconds from an event to the time its detection was issued: later ones are not hits.
        None allows any.

    Examples
    --------
    A metric needs a ``kind`` and a method ``values``; it is then known by its kind:

    >>> class Recordings(Metric):
    ...     kind: str = "doctest-recordings"
    ...     def values(self, matches, weights):
    ...         return weights.sum(axis=1)
    >>> Metric.parse("doctest-recordings@60").tolerance
    60.0
    """

    package: ClassVar[str] = "bdl.evaluation.metrics"
    higher_is_better: ClassVar[bool] = True

    tolerance: PositiveFloat | None = None
    type: str | None = None
    delay: NonNegativeFloat | None = None

    @abstractmethod
    def values(self, matches: Matches, weights: Floats) -> Floats:
        """The metric of each replicate, (replicates,), NaN where there is nothing to measure.

        Parameters
        ----------
        matches
            Matches of one set of detections.
        weights
            (replicates, recordings) how often each recording counts.
        """

    def timely(self, matches: Matches) -> Matches:
        """The matches with only the hits that the allowed delay leaves."""
        return matches if self.delay is None else matches.within(self.delay)

    def replicates(self, matches: Matches, weights: Floats) -> Floats:
        """The metric of each replicate, of hits within the allowed delay; see `values`."""
        if self.needs_scores and not matches.ranked:
            raise ConfigError(
                f"{self.name} reads the scores of detections, which these do not have: add a "
                "column 'score', or name another metric, such as mF1 (--metric mF1)"
            )
        return self.values(self.timely(matches), weights)

    def value(self, matches: Matches) -> float:
        """The metric with every recording counted once."""
        return float(self.replicates(matches, np.ones((1, len(matches.recordings))))[0])

    def better(self, value: float) -> float:
        """The value as a number that is larger the better, minus infinity for NaN."""
        if np.isnan(value):
            return -np.inf
        return value if self.higher_is_better else -value

    @property
    def needs_scores(self) -> bool:
        """Whether the metric reads scores, which detections then must have.

        By default it does where it has a threshold; a metric that ranks detections overrides this.
        """
        return getattr(self, "threshold", None) is not None

    @property
    def label(self) -> str:
        """First part of the text form."""
        return self.kind

    @property
    def name(self) -> str:
        """The text form, which `parse` reads back."""
        threshold = getattr(self, "threshold", None)
        tolerance_text = "" if self.tolerance is None else f"@{number(self.tolerance)}"
        threshold_text = "" if threshold is None else f">={number(threshold)}"
        delay_text = "" if self.delay is None else f"<={number(self.delay)}"
        type_text = f":{self.type}" if self.type else ""
        return self.label + tolerance_text + threshold_text + delay_text + type_text

    def __str__(self) -> str:
        return self.name

    def measurable(self, tolerances: Sequence[float]) -> bool:
        """Whether the tolerance of this metric is among those that are matched."""
        return self.tolerance is None or find_tolerance(tolerances, self.tolerance) is not None

    @classmethod
    def parse(cls, given: object, what: str | None = None) -> Self:
        """A metric from a value, a text form, or a mapping with ``kind``.

        Examples
        --------
        >>> Metric.parse("accuracy")
        Traceback (most recent call last):
        bdl.errors.ConfigError: metric 'accuracy' is not known; expected one of ...
        """
        if not isinstance(given, str):
            return super().parse(given, what)
        what = what or "metric"
        form = _FORM.fullmatch(given)
        names: dict[str, tuple[type[Self], dict[str, Any]]] = {}
        for kind, variant in cls.kinds().items():
            names[kind] = (variant, {})
            names |= {name: (variant, {**set_}) for name, set_ in variant.shorthands().items()}
        if form is None or form["name"] not in names:
            raise ConfigError(
                f"{what} {given!r} is not known; expected one of {', '.join(names)}, followed by "
                "@TOLERANCE, >=THRESHOLD, <=DELAY and :TYPE where they apply, such as AP@60:onset, "
                "sensitivity@60>=0.5 or AP@60<=300"
            )
        variant, set_fields = names[form["name"]]
        fields: dict[str, Any] = {"type": form["type"]} if form["type"] else {}
        for field, sign in (("tolerance", "@"), ("threshold", ">="), ("delay", "<=")):
            if form[field] is None:
                continue
            if field not in variant.model_fields:
                raise ConfigError(
                    f"{what} {given!r}: {form['name']} takes no {sign}{field.upper()}"
                )
            try:
                fields[field] = float(form[field])
            except ValueError:
                raise ConfigError(
                    f"{what} {given!r}: {form[field]!r} is not a number; expected {sign}"
                    f"{field.upper()}, such as AP@60 or sensitivity@60>=0.5"
                ) from None
        try:
            return variant(**set_fields, **fields)
        except ConfigError as error:
            raise ConfigError(f"{what} {given!r}: {error}") from error

    def plain(self, mode: str = "json") -> str | dict[str, Any]:
        """The text form where it says everything, otherwise all fields."""
        try:
            if type(self).parse(self.name) == self:
                return self.name
        except ConfigError:
            pass
        return self.model_dump(mode=mode)


class MeanMetric(Metric):
    """Base class of means over tolerances and types; ``mNAME`` is the mean over all."""

    @classmethod
    def shorthands(cls) -> Mapping[str, Mapping[str, Any]]:
        return {f"m{cls.model_fields['kind'].default}": {}}

    @property
    def label(self) -> str:
        return f"m{self.kind}" if self.tolerance is None else self.kind

    def mean_of_types(self, table: Floats, matches: Matches) -> Floats:
        """Mean of (replicates, types, tolerances) over tolerances, then over types with events."""
        if self.tolerance is not None:
            table = table[:, :, [matches.tolerance_index(self.tolerance)]]
        if self.type is not None:
            table = table[:, [matches.type_index(self.type)]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a replicate without any event: NaN
            means: Floats = np.nanmean(table.mean(axis=2), axis=1)
        return means


def number(value: float) -> str:
    """A number as short text that reads back as the same number."""
    return str(int(value)) if value == int(value) else repr(value)
