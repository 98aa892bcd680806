"""A detector that was exported to ONNX, applied by onnxruntime instead of torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar, NoReturn

from bdl.binning import Binned
from bdl.density import Density
from bdl.detector.application import Featured, density_from
from bdl.detector.onnx_encoder import OnnxEncoder
from bdl.detector.onnx_file import SUFFIX, read_metadata, read_sealed
from bdl.detector.streaming import Streaming
from bdl.errors import ConfigError, InputError
from bdl.formats.atomic_files import atomic


class ExportedDetector(Streaming):
    """A detector from a file of ``bdl export``: it detects without torch, and cannot be fitted.

    Its densities are those of the exported detector within 1e-6.

    Parameters
    ----------
    path
        The file.
    """

    suffix: ClassVar[str] = SUFFIX

    def __init__(self, path: str | Path) -> None:
        self._content = read_sealed(path)
        try:
            self.encoder_ = OnnxEncoder(self._content)
        except RuntimeError as error:
            raise InputError(f"{path}: onnxruntime cannot read it: {error}") from error
        self.model_, self.rescorer_ = read_metadata(self.encoder_.metadata, path)

    def set_decoder(self, decoder: object) -> NoReturn:
        """Refuse: the decoder is part of the file."""
        raise ConfigError("the decoder of an exported model is fixed: change the model and export")

    def save(self, path: str | Path) -> None:
        """Write the file again, as it was read."""
        with atomic(path) as temporary:
            temporary.write_bytes(self._content)

    def _encode(self, features: Iterable[Featured]) -> Iterator[tuple[Binned, Density]]:
        for info, binned in features:
            values = self.encoder_.density(binned, self.model_)
            yield binned, density_from(self.model_, info, values)

    def _steps(self) -> OnnxEncoder:
        return self.encoder_

    def _digest(self) -> str:
        return self.encoder_.metadata["bdl.digest"]
