"""``bdl fit --from``: fine-tuning of an earlier model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bdl.cli.console import err
from bdl.cli.sources import FitSource
from bdl.errors import ConfigError

if TYPE_CHECKING:
    from bdl import Detector

HELD_OUT = 0.2  # share of the groups that the page scores


def fine_tuned(
    model: Path,
    source: FitSource,
    training: dict[str, Any],
    other_settings: dict[str, Any],
    *,
    page: Path | None,
    directory: Path,
    progress: bool,
) -> Detector:
    """Fine-tune the model of a file, and write the page of scores before and after.

    ``training`` has settings of `bdl.training.Training`; any of the ``other_settings`` is an error.
    With a ``page``, a fifth of the groups is held out.
    """
    from bdl import Detector
    from bdl.detector.holdouts import holdouts

    for name, value in other_settings.items():
        if value:
            raise ConfigError(
                f"--{name.replace('_', '-')} has no effect with --from: everything but the weights "
                "stays as the model has it"
            )
    before = Detector.load(model).set_params(directory=directory, progress=progress)
    recordings, events = source.recordings, source.events.select(types=source.types)
    train = [*recordings.ids]
    held_out: list[str] = []
    if page is not None:
        seed = training.get("seed", before.model_.settings.training.seed)
        parts = holdouts(recordings, events, folds=1, share=HELD_OUT, seed=seed)
        if not parts:
            raise ConfigError("--page needs two or more groups: one is held out")
        train, held_out = parts[0]
    after = before.fine_tune(recordings.select(train), events.select(recordings=train), **training)
    if page is not None:
        from bdl.report import write_report
        from bdl.report.before_after import before_and_after

        content = before_and_after(
            before,
            after,
            recordings.select(held_out),
            events.select(recordings=held_out),
            event_free=source.event_free,
        )
        scores = {
            system.name: matches.mean_average_precision()
            for system, matches in zip(content.systems, content.matches, strict=True)
        }
        write_report(content, page)
        err.print(
            f"held-out mAP {scores['before']:.4f} before, {scores['after']:.4f} after, "
            f"{len(held_out)} recordings: {page}",
        )
    return after
