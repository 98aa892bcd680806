"""The command that scores detectors over the number of labelled recordings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option, Typer

from bdl.cli.console import err, out, print_json
from bdl.cli.detector_options import DETECTOR_OPTIONS, PresetOption
from bdl.cli.numbers import COUNT, SHARE
from bdl.cli.options import Json, Quiet, Replicates, TableOut, takes
from bdl.cli.sources import TRAINING_OPTIONS, TrainingOptions, find_training_source
from bdl.errors import ConfigError

if TYPE_CHECKING:
    from bdl import Detector, Events, Recordings

commands = Typer()


@commands.command(epilog="Example: `bdl curve --config mine/bdl.yaml --out curve.csv`")
@takes(source_options=TRAINING_OPTIONS, detector=DETECTOR_OPTIONS)
def curve(
    target: TableOut = None,
    preset: PresetOption = None,
    from_: Annotated[
        Path | None, Option("--from", help="Model file to fine-tune, instead of new models.")
    ] = None,
    size: Annotated[
        list[int] | None,
        Option(
            parser=COUNT,
            help="Number of labelled recordings; may be repeated. [default: 1, 2, 4, ...]",
        ),
    ] = None,
    held_out: Annotated[
        float, Option(parser=SHARE, help="Share of the groups that are held out.")
    ] = 0.2,
    repeats: Annotated[
        int, Option(parser=COUNT, help="Number of orders of added recordings, averaged.")
    ] = 1,
    bootstrap: Replicates = 1000,
    quiet: Quiet = False,
    json: Json = False,
    *,
    source_options: TrainingOptions,
    detector: dict[str, Any],
) -> None:
    """Score by number of labelled recordings: would more labels help?

    Each model is scored in the same held-out recordings, with confidence intervals.
    """
    from bdl import Detector
    from bdl.detector.learning_curve import learning_curve
    from bdl.formats.table_writing import check_table_output, write_table
    from bdl.proposal import propose

    if target is not None:
        check_table_output(target)
    source = find_training_source(source_options)
    training = detector.get("training", {})
    seed = training.get("seed", 0)
    if from_ is not None:
        if [*detector] not in ([], ["training"]) or preset is not None:
            raise ConfigError("with --from, only settings of the training have an effect")
        start = Detector.load(from_)
        tolerances = start.model_.tolerances

        def train(recordings: Recordings, labels: Events) -> Detector:
            return start.fine_tune(recordings, labels, **training)
    else:
        settings = source.detector_settings(preset, detector)
        seed = settings.training.seed
        # Chosen for all the data, so that every model is scored alike.
        proposal = None if settings.tolerances else propose(source.recordings, source.events)
        tolerances = settings.tolerances if proposal is None else tuple(proposal.tolerances.value)
        settings = settings.replace(tolerances=tolerances)

        def train(recordings: Recordings, labels: Events) -> Detector:
            if not quiet:
                err.print(f"training on {len(recordings)} recordings")
            return Detector(**dict(settings)).fit(
                recordings,
                labels,
                intervals=source.intervals,
                types=source.types,
                event_free=source.event_free if settings.selection.folds else "ignore",
            )

    result = learning_curve(
        train,
        source.recordings,
        source.events if source.types is None else source.events.select(types=source.types),
        tolerances=tolerances,
        sizes=size or (),
        share=held_out,
        repeats=repeats,
        event_free=source.event_free,
        replicates=bootstrap,
        seed=seed,
    )
    if target is not None:
        write_table(result.to_frame("pyarrow"), target)
    if json:
        rows = result.to_polars().fill_nan(None).to_dicts()
        print_json({"held_out": result.held_out, "curve": rows, "verdict": result.verdict})
    else:
        out.print(repr(result))
