"""Layout: which column of a table is what.

A long table has a recording column; otherwise each file is one recording, named by its stem.
Columns that the user does not name are taken by their plain names where they are there:
``recording``, ``sample``, ``time``, ``group``. All others are channels.
"""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field, field_validator, model_validator

from bdl.config import Value
from bdl.errors import ConfigError

Clock = Literal["seconds", "epoch", "iso"]
Unit = Literal["s", "ms", "us", "ns"]


class Layout(Value):
    """Names of the columns and the kind of clock.

    Parameters
    ----------
    recording : column of recording ids in a long table.
    channels : columns of the values, in this order; None takes all that have no other part.
    sample : column of sample numbers, counted from ``first_sample``.
    first_sample : number of a recording's first sample (0 or 1 as a rule).
    time : column of times.
    clock : what ``time`` holds: ``seconds`` from the start, ``epoch`` (numbers since
        1970-01-01 UTC, in ``unit``) or ``iso`` (ISO 8601 text with UTC offset). None tells
        by the column's type: text is ISO, an Arrow timestamp is an epoch, a number is seconds.
    unit : unit of numbers in ``time``.
    period : seconds from one sample to the next; None infers it from ``time``.
    zone : UTC offset such as ``+02:00`` or ``UTC`` of timestamps that have none, or an IANA
        zone for epochs; without it, text without offset is an error.
    group : column of groups (constant within a recording).
    group_pattern : regular expression on the id whose first group is the recording's group.
    regular : put irregular or missing samples on a regular clock (NaN where nothing came);
        otherwise they are an error.

    >>> Layout(recording="series_id", sample="step", time="timestamp", period=5.0).period
    5.0
    >>> Layout(chanels=["x"])
    Traceback (most recent call last):
    bdl.errors.ConfigError: Layout: chanels: Extra inputs are not permitted, got ['x']
    """

    recording: str | None = None
    channels: tuple[str, ...] | None = None
    sample: str | None = None
    first_sample: int = 0
    time: str | None = None
    clock: Clock | None = None
    unit: Unit = "s"
    period: float | None = Field(default=None, gt=0)
    zone: str | None = None
    group: str | None = None
    group_pattern: str | None = None
    regular: bool = False

    @field_validator("group_pattern")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            try:
                groups = re.compile(pattern).groups
            except re.error as error:
                raise ValueError(f"not a regular expression: {error}") from error
            if groups < 1:
                raise ValueError("one parenthesised group expected, such as '_(user[0-9]+)'")
        return pattern

    @model_validator(mode="after")
    def _apart(self) -> Layout:
        named = [n for n in (self.recording, self.sample, self.time, self.group) if n is not None]
        if len(set(named)) != len(named):
            raise ConfigError(f"Layout: one column has two parts: {', '.join(named)}")
        if self.channels is not None and len(set(self.channels)) != len(self.channels):
            raise ConfigError(f"Layout: channels repeat: {', '.join(self.channels)}")
        return self

    def group_of(self, id: str) -> str | None:
        """The group that the id itself tells, by ``group_pattern``.

        >>> Layout(group_pattern="_(user[0-9]+)").group_of("exp01_user01")
        'user01'
        """
        if self.group_pattern is None:
            return None
        found = re.search(self.group_pattern, id)
        return found.group(1) if found else None
