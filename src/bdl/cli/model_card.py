"""The command that shows a model: what it detects, how well, and what its scores mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typer import Typer

from bdl.cli.console import print_json
from bdl.cli.options import FittedModel, Json
from bdl.text_tables import WIDTH, text_table

if TYPE_CHECKING:
    from bdl.config import Value
    from bdl.detector.model import Model

commands = Typer()


@commands.command()
def show(
    model: FittedModel,
    json: Json = False,
) -> None:
    """Show what a model detects, how well, and what its scores mean.

    The reliability table gives, by score, the share of held-out detections that were correct.
    """
    from bdl.detector.modelfile import read_model

    configuration, weights = read_model(model)
    numbers = sum(weight.numel() for weight in weights.values())
    card = {"model": str(model), **model_card(configuration), "weights": numbers}
    if json:
        print_json(card)
    else:
        print(_text(card))


def model_card(model: Model) -> dict[str, Any]:
    """Return the properties of a model as plain data."""
    card: dict[str, Any] = {
        "events": [*model.types],
        "intervals": [interval.name for interval in model.intervals],
        "channels": [*model.channels],
        "units": [*model.units],
        "period": model.period,
        "encoder": model.settings.encoder.kind,
        "objective": model.objective.kind,
        "scaling": model.features.scaling.kind,
        "quality": _plain(model.features.quality, exclude_none=True),
        "tolerances": [*model.tolerances],
        "decoder": model.decoder.kind,
        "reading": _plain(model.reading),
        "cross_validation": _plain(model.cross_validation),
        "provenance": _plain(model.provenance),
        "operating_point": None,
        "reliability": [],
        "versions": model.versions,
    }
    point = model.operating_point
    if point is not None:
        card["operating_point"] = {
            "threshold": point.threshold,
            "decoder": point.decoder.kind,
            "held_out_f1": point.f1,
        }
    if point is not None and point.curve is not None:
        place = point.curve.place(point.threshold)
        rates = point.curve.false_alarms_per_day(model.intervals)
        card["operating_point"] |= {
            "held_out_sensitivity": float(point.curve.sensitivity()[place]),
            "held_out_false_alarms_per_day": float(rates[place]),
        }
        card["reliability"] = [band.model_dump(mode="json") for band in point.curve.reliability()]
    return card


def _plain(value: Value | None, **options: Any) -> dict[str, Any] | None:
    return None if value is None else value.model_dump(mode="json", **options)


def _origin(provenance: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Return rows on what a model was trained on, the last training first."""
    if provenance is None:
        return []
    dataset = f" of {provenance['data']}" if provenance["data"] else ""
    amount = (
        f"{provenance['recordings']:,} recordings{dataset}, {provenance['hours']:,g} h, "
        f"{provenance['events']:,} events"
    )
    rows = [("trained on", amount), ("  digest", provenance["digest"][:16])]
    if provenance["licence"]:
        rows.append(("  licence", provenance["licence"]))
    unseen = provenance["unseen"]
    if unseen is not None:
        rows.append(
            (
                "held out",
                f"{unseen['recordings']} recordings of {len(unseen['groups'])} groups: "
                f"{', '.join(unseen['groups'])}",
            )
        )
        rows += _scores(unseen["scores"])
    before = _origin(provenance["before"])
    return rows + [
        ("fine-tuned from", text) if name == "trained on" else (name, text) for name, text in before
    ]


def _scores(scores: dict[str, dict[str, float | None]]) -> list[tuple[str, str]]:
    from bdl.evaluation import Estimate

    rows = []
    for name, score in scores.items():
        text = "–" if score["value"] is None else Estimate.of_plain(**score).text(3)
        rows.append((f"  {_score_name(name)}", text))
    return rows


def _score_name(name: str) -> str:
    """Return the name of a score as text; F1 without a threshold is the best over all."""
    if name.endswith(">=0"):
        return name.removesuffix(">=0").replace("_", " ")
    return {"mF1": "mean best F1"}.get(name, f"best {name}" if name.startswith("F1") else name)


def _channels(card: dict[str, Any]) -> list[str]:
    """Return the channels, each with its unit if that is known."""
    units = card["units"] or [""] * len(card["channels"])
    pairs = zip(card["channels"], units, strict=True)
    return [f"{channel} ({unit})" if unit else channel for channel, unit in pairs]


def _text(card: dict[str, Any]) -> str:
    """Return the card as text of at most 80 columns, except for long names."""
    rows = [
        ("model", card["model"]),
        ("events", ", ".join(card["events"])),
        ("intervals", ", ".join(card["intervals"]) or "none"),
        ("recordings", f"every {card['period']:g} s: {', '.join(_channels(card))}"),
        ("trained", f"{card['encoder']}, {card['objective']}, scaling {card['scaling']}"),
    ]
    if card["quality"] is not None:
        rows.append(("missing if", ", ".join(f"{k} {v}" for k, v in card["quality"].items())))
    reading = card["reading"]
    if reading is not None:
        options = {**{k: v for k, v in reading.items() if k != "layout"}, **reading["layout"]}
        settings = ", ".join(
            f"{name} {value}" for name, value in options.items() if value is not None
        )
        rows.append(("read with", settings or "default options"))
    rows += _origin(card["provenance"])
    validated = card["cross_validation"]
    if validated is None:
        rows.append(("cross-validated", "unknown; run bdl evaluate to measure it"))
    else:
        rows.append(
            (
                "cross-validated",
                f"{validated['folds']} folds of {validated['groups']} groups, "
                f"{validated['recordings']} recordings",
            )
        )
        rows += _scores(validated["scores"])
        if validated["chosen"]:
            rows.append(("  above the threshold", "that was chosen without the tested groups:"))
        rows += _scores(validated["chosen"])
    point = card["operating_point"]
    if point is not None:
        rows.append(("threshold", f"{point['threshold']:.4g}, best F1 on held-out recordings:"))
        rows += [
            (f"  {name.removeprefix('held_out_').replace('_', ' ')}", f"{value:.3f}")
            for name, value in point.items()
            if name.startswith("held_out")
        ]
    size = max(22, *(len(name) for name, _ in rows))
    lines = [f"{name:<{size}} {text}" for name, text in rows]
    if card["reliability"]:
        bands = card["reliability"]
        lines += ["", "of held-out detections with a score of … were right within"]
        lines += text_table(
            {
                "score": [f"{band['low']:.3g} to {band['high']:.3g}" for band in bands],
                "number": [f"{band['detections']:,}" for band in bands],
                **{
                    f"{tolerance:g} s": [f"{band['right'][k]:.2f}" for band in bands]
                    for k, tolerance in enumerate(card["tolerances"])
                },
            },
            width=WIDTH,
        )
    return "\n".join(lines)
