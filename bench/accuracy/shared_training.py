"""Cache of trainings: members of ensembles that several rows share are trained once.

The rows `fast` and `best` and those that take something away from `best` train many of the same
encoders on the same parts. Within `shared_trainings`, the result of a training is kept in a folder
under a digest of everything that it depends on: initial weights, settings, seed and data. Its
processor time is kept with it and added to that of each row that uses it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import joblib
from torch import nn

from bdl.encoders.encoder import Encoder
from bdl.encoders.trees import Trees
from bdl.formats.atomic_files import atomic
from bdl.installation import version
from bdl.training.history import TrainingResult
from bdl.training.task import TrainingTask
from bench.processes import own_processor_seconds

Train = Callable[[Encoder, nn.Module, TrainingTask], TrainingResult]


@dataclass
class Saved:
    """Processor seconds of the trainings that were read from the cache."""

    seconds: float = 0.0


@contextmanager
def shared_trainings(folder: Path) -> Iterator[Saved]:
    """Keep trainings of members in a folder, and read those that are there."""
    saved = Saved()
    folder.mkdir(parents=True, exist_ok=True)

    def sharing(train: Train) -> Train:
        def trained(encoder: Encoder, module: nn.Module, task: TrainingTask) -> TrainingResult:
            if task.validate is not None or task.directory is not None:
                return train(encoder, module, task)
            file = folder / f"{digest(encoder, module, task)}.pickle"
            if file.exists():  # written by this program, in a folder of its own
                weights, result, seconds = pickle.loads(file.read_bytes())
                module.load_state_dict(weights)
                saved.seconds += seconds
                return result  # type: ignore[no-any-return]
            begin = own_processor_seconds()
            result = train(encoder, module, task)
            content = module.state_dict(), result, own_processor_seconds() - begin
            with atomic(file) as temporary:
                temporary.write_bytes(pickle.dumps(content))
            return result

        return trained

    with (
        mock.patch.object(Encoder, "train", sharing(Encoder.train)),
        mock.patch.object(Trees, "train", sharing(Trees.train)),  # type: ignore[arg-type]
    ):
        yield saved


def digest(encoder: Encoder, module: nn.Module, task: TrainingTask) -> str:
    """A digest of everything that the result of a training depends on."""
    weights = {name: value.numpy() for name, value in module.state_dict().items()}
    values = (encoder, task.objective, task.training.replace(workers=1), task.features)
    settings = [value.model_dump_json() for value in values]
    return str(
        joblib.hash((version(), weights, settings, task.window, task.outputs, [*task.recordings]))
    )
