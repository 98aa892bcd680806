"""Options that several commands share.

A group of options is a dataclass or a `bdl.config.Value`; a command that `takes` it has one
parameter for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from typer import Argument, Context, Option

from bdl import plain_data
from bdl.cli.generated_options import Fields, parameters_of
from bdl.cli.numbers import INTERVALS, REPLICATES, SCORE, SECONDS, SEED, TOLERANCE
from bdl.cli.option_types import parse_yaml_option
from bdl.config import Value, read_yaml
from bdl.errors import ConfigError
from bdl.registry import Variant

if TYPE_CHECKING:
    from bdl.intervals import IntervalType

Family = TypeVar("Family", bound=Variant)
Command = Callable[..., None]
Pattern = Annotated[str | None, Option(help="Files of a folder to read, such as '**/*.parquet'.")]
StepPeriod = Annotated[
    float | None,
    Option("--period", parser=SECONDS, help="Seconds per step, for Kaggle tables."),
]
EventFreeRule = Annotated[
    Literal["ignore", "count"],
    Option("--event-free", help="Whether detections in recordings without events count."),
]
TrustPickle = Annotated[
    bool, Option("--trust-pickle", help="Open pickled data, which can run code.")
]
Strict = Annotated[
    bool, Option("--strict", help="Stop at the first recording that cannot be read.")
]
Quiet = Annotated[bool, Option("--quiet", help="No progress display.")]
Json = Annotated[bool, Option("--json", help="One JSON object on standard output.")]
TableOut = Annotated[Path | None, Option("--out", help="Table to write.")]
ScoreThreshold = Annotated[float, Option(parser=SCORE, help="Score from which a detection counts.")]
FittedModel = Annotated[Path, Argument(help="Model file written by fit.")]
StreamModel = Annotated[
    Path, Argument(help="Model file written by fit with --lag, or exported from one.")
]
WholeRanking = Annotated[
    bool,
    Option("--all", help="All detections, for AP, not only those above the threshold."),
]
PROJECT = Argument(help="Folder made by `bdl new`, or its bdl.yaml.")
MovedData = Annotated[
    Path | None,
    Option("--data", help="Folder of the data set, if it has moved since the study."),
]
TOLERANCES = Option(
    "--tolerance", parser=TOLERANCE, help="Matching tolerance in seconds; may be repeated."
)
Replicates = Annotated[
    int,
    Option("--bootstrap", parser=INTERVALS, help="Replicates of the confidence intervals."),
]
Bootstrap = Annotated[
    int,
    Option("--bootstrap", parser=REPLICATES, help="Replicates; 0: no confidence intervals."),
]
BootstrapSeed = Annotated[int, Option("--seed", parser=SEED, help="Seed of the bootstrap.")]
Intervals = Annotated[
    list[str] | None,
    Option(
        "--interval",
        help="Interval type: NAME=ONSET,OFFSET (event types), or NAME for NAME:onset, NAME:offset.",
    ),
]


def takes(**groups: type[Value] | Callable[..., Any]) -> Callable[[Command], Command]:
    """Give a command the options of each group in place of its parameter of that name.

    For a dataclass the command receives an instance of it. For a `Value`, or `Fields` of some, it
    receives a dictionary of the fields that were given, so that they can be merged with a
    configuration file before they are validated. A field with the name of a parameter of the
    command or of an earlier group, such as one of a third-party format, has no option there.

    Examples
    --------
    >>> class Budget(Value):
    ...     epochs: int = 20
    ...     tolerances: tuple[float, ...] = ()
    >>> @takes(budget=Budget)
    ... def fit(*, budget: dict[str, object]) -> None:
    ...     print(budget)
    >>> fit(epochs=5, tolerances=None)
    {'epochs': 5}
    """
    makers: dict[str, Callable[..., Any]] = {
        name: Fields(group) if isinstance(group, type) and issubclass(group, Value) else group
        for name, group in groups.items()
    }

    def decorate(command: Command) -> Command:
        command_parameters = signature(command, eval_str=True).parameters
        taken, options = {*command_parameters}, {}
        for name, maker in makers.items():
            group_options = parameters_of(maker)
            options[name] = {key: group_options[key] for key in group_options if key not in taken}
            taken |= {*group_options}

        @wraps(command)
        def run(**arguments: Any) -> None:
            for name, maker in makers.items():
                arguments[name] = maker(**{key: arguments.pop(key) for key in options[name]})
            command(**arguments)

        parameters = [
            option.replace(kind=Parameter.KEYWORD_ONLY)
            for name, parameter in command_parameters.items()
            for option in options.get(name, {name: parameter}).values()
        ]
        vars(run)["__signature__"] = Signature(parameters)  # what typer reads
        return run

    return decorate


def given_options(context: Context) -> dict[str, str]:
    """The options that were given on the command line, by the names of their parameters."""
    flags = {parameter.name or "": parameter.opts[0] for parameter in context.command.params}
    sources = {name: context.get_parameter_source(name) for name in flags}
    return {
        name: flags[name]
        for name, source in sources.items()
        if source is not None and source.name == "COMMANDLINE"
    }


def refuse_options(context: Context, names: Collection[str], reason: str) -> None:
    """Raise an error if one of these options was given: it has no effect, for this reason."""
    for name, flag in given_options(context).items():
        if name in names:
            raise ConfigError(f"{flag} has no effect {reason}")


def parse_options(texts: list[str]) -> dict[str, Any]:
    """Options ``key=value`` as plain data; values are read as YAML.

    Examples
    --------
    >>> parse_options(["task=walking", "period=0.02", "channels=[x, y]"])
    {'task': 'walking', 'period': 0.02, 'channels': ['x', 'y']}
    """
    options = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise ConfigError(f"--option: key=value expected, got {text!r}")
        options[key] = plain_data.parse_yaml(value, f"--option {key}")
    return options


def interval_types(texts: list[str] | None) -> tuple[IntervalType, ...]:
    """Interval types from their command-line form.

    Examples
    --------
    >>> interval_types(["sleep=onset,wakeup", "seizure"])
    (IntervalType(name='sleep', onset='onset', offset='wakeup'),
     IntervalType(name='seizure', onset='seizure:onset', offset='seizure:offset'))
    """
    from bdl.intervals import IntervalType

    return tuple(IntervalType.parse(text) for text in texts or ())


def parse_variant(
    family: type[Family], text: str, flag: str, *, key: str = "", also: tuple[str, ...] = ()
) -> Family:
    """A variant from its command-line form: a name, a YAML mapping, or a file with a mapping.

    Examples
    --------
    >>> from bdl.decoding import Decoder
    >>> parse_variant(Decoder, "{kind: peaks, smooth: 50}", "--decoder").smooth
    50.0
    >>> parse_variant(Decoder, "peeks", "--decoder")
    Traceback (most recent call last):
    bdl.errors.ConfigError: --decoder peeks: expected one of expected-ap, forward-mass, peaks, ...
    """
    if text in family.names():
        return family.parse(text, flag)
    if text.lstrip().startswith("{"):
        return family.parse(parse_yaml_option(text), flag)
    if not Path(text).suffix and not Path(text).exists():
        names = ", ".join([*family.names(), *also])
        raise ConfigError(f"{flag} {text}: expected one of {names}, a YAML mapping, or a file")
    content: Mapping[str, Any] = read_yaml(Path(text))
    inner = content.get(key)
    return family.parse(inner if isinstance(inner, dict) else content, f"{flag} {text}")
