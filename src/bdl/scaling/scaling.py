"""The family of scalings."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from bdl.arrays import Floats
from bdl.recording import Recording, Recordings
from bdl.registry import Variant

Affine = tuple[Floats, Floats]


class Scaling(Variant):
    """Base class of scalings; see `bdl.scaling`."""

    package: ClassVar[str] = "bdl.scaling"

    def fit(self, recordings: Recordings) -> Scaling:
        """Return a scaling that has learned what it needs from the training recordings."""
        return self

    def describe(self, channels: Sequence[str]) -> str:
        """Return in a few words how the named channels are scaled, for the user."""
        return f"scaling {self.kind}"

    @property
    def needs_whole(self) -> bool:
        """Whether scaling a sample needs the whole recording, also what comes after it."""
        return False

    def forward(self) -> Scaling:
        """Return a similar scaling that does not need the whole recording, if there is one."""
        return self

    def units(self, channels: int) -> Floats:
        """Return the unit of each channel's logarithm, which is taken before scaling; 0 for none.

        See `bdl.scaling.logarithm`.
        """
        return np.zeros(channels)

    @abstractmethod
    def affine(self, recording: Recording) -> Affine:
        """Return the shift and the scale of each channel of a recording, after any logarithm.

        Parameters
        ----------
        recording
            The recording that is scaled.

        Returns
        -------
        tuple of ndarray
            Two arrays of shape (channels,).
        """
