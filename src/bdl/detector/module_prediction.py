"""Methods of a detector that use its trained torch module: densities, streams, files."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar, Self

from torch import Tensor, nn

from bdl.binning import Binned
from bdl.density import Density
from bdl.detector.application import Featured, densities_of
from bdl.detector.encoder_steps import EncoderSteps
from bdl.detector.model import Model
from bdl.detector.model_training import FittedModel
from bdl.detector.modelfile import all_weights, model_digest, write_model
from bdl.detector.onnx_export import export_model
from bdl.detector.streaming import Streaming
from bdl.errors import ConfigError
from bdl.training.history import History


class ModulePrediction(Streaming):
    """The methods of a fitted detector that use its module."""

    suffix: ClassVar[str] = ".safetensors"

    module_: nn.Module
    history_: History
    best_epoch_: int
    checkpoints_: dict[int, dict[str, Tensor]]

    def save(self, path: str | Path) -> None:
        """Write the fitted detector to one file; see `bdl.detector.modelfile`."""
        self._check_fitted()
        write_model(path, self.model_, all_weights(self.module_, self.rescorer_))

    def export(self, path: str | Path) -> None:
        """Write the fitted detector as an ONNX file, which is applied without torch.

        The graph is that of `bdl.detector.onnx_export`. An encoder that has no form in ONNX
        operators is refused.

        Parameters
        ----------
        path
            File to write, with the suffix ``.onnx``.
        """
        self._check_fitted()
        export_model(path, self.model_, self.module_.state_dict(), self.rescorer_, self._digest())

    def checkpoint(self, epoch: int) -> Self:
        """Return the detector with the weights of one of the kept epochs."""
        self._check_fitted()
        if epoch not in self.checkpoints_:
            epochs = ", ".join(map(str, self.checkpoints_)) or "none"
            raise ConfigError(f"no weights of epoch {epoch} were kept; kept are {epochs}")
        module = copy.deepcopy(self.module_)
        module.load_state_dict(self.checkpoints_[epoch])
        model = self.model_.replace(epoch=epoch)
        fitted = FittedModel(model, module, self.rescorer_, self.history_, self.checkpoints_)
        return copy.copy(self)._set(fitted)

    def _set(self, trained: FittedModel) -> Self:
        self.model_ = trained.model
        self.module_ = trained.module
        self.rescorer_ = trained.rescorer
        self.history_ = History(trained.history)
        self.best_epoch_ = trained.model.epoch
        self.checkpoints_ = trained.checkpoints
        return self

    def _encode(self, features: Iterable[Featured]) -> Iterator[tuple[Binned, Density]]:
        return densities_of(self.module_, self.model_, features)

    def _steps(self) -> EncoderSteps:
        cached: EncoderSteps | None = getattr(self, "_steps_", None)
        if cached is None or cached.module is not self.module_:
            model = self.model_
            cached = EncoderSteps(self.module_, model.objective.density, outputs=len(model.outputs))
            self._steps_ = cached
        return cached

    def _digest(self) -> str:
        cached: tuple[Model, nn.Module, str] | None = getattr(self, "_digest_", None)
        if cached is None or cached[0] is not self.model_ or cached[1] is not self.module_:
            weights = all_weights(self.module_, self.rescorer_)
            digest = model_digest(self.model_.model_dump_json(), weights)
            cached = (self.model_, self.module_, digest)
            self._digest_ = cached
        return cached[2]
