"""Options that several commands share, each written once.

A group of options is a dataclass or a `bdl.config.Value`; a command that `takes` it has one
parameter for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import GenericAlias, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import typer

from bdl.config import Value, read_yaml
from bdl.errors import ConfigError
from bdl.registry import Variant, field_help

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from bdl.intervals import IntervalType
    from bdl.recording import Recordings

Family = TypeVar("Family", bound=Variant)
Command = Callable[..., None]
_NONE = "none"  # on the command line; None itself means that an option was not given
Format = Literal["bdl", "kaggle", "bids", "seizures", "dcase", "edf", "wfdb"]
Written = Literal["bdl", "kaggle", "bids", "seizures", "dcase"]
Period = Annotated[float | None, typer.Option(help="Seconds from one sample to the next.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Intervals = Annotated[
    list[str] | None,
    typer.Option(
        "--interval",
        help="Interval type: NAME=ONSET,OFFSET (event types), or NAME for NAME:onset, NAME:offset.",
    ),
]


@dataclass(frozen=True)
class TableLayout:
    """Which files hold recordings, and which column of a table is what: `formats.Layout`."""

    pattern: Annotated[
        str | None, typer.Option(help="Which files of a folder, such as '**/*.parquet'.")
    ] = None
    recording: Annotated[
        str | None, typer.Option(help="Column of recording ids in a long table.")
    ] = None
    channels: Annotated[
        list[str] | None, typer.Option("--channel", help="A column of values; repeat for more.")
    ] = None
    sample: Annotated[str | None, typer.Option(help="Column of sample numbers.")] = None
    first_sample: Annotated[int, typer.Option(help="Number of a recording's first sample.")] = 0
    time: Annotated[str | None, typer.Option(help="Column of times.")] = None
    clock: Annotated[
        Literal["seconds", "epoch", "iso"] | None, typer.Option(help="What the time column holds.")
    ] = None
    unit: Annotated[
        Literal["s", "ms", "us", "ns"], typer.Option(help="Unit of numbers as times.")
    ] = "s"
    period: Period = None
    zone: Annotated[
        str | None, typer.Option(help="UTC offset or zone of times without one, such as +02:00.")
    ] = None
    group: Annotated[str | None, typer.Option(help="Column of groups (subjects).")] = None
    group_pattern: Annotated[
        str | None, typer.Option(help="Regular expression on the id; its first group is the group.")
    ] = None
    regular: Annotated[
        bool,
        typer.Option("--regular", help="Fill gaps with missing values instead of refusing them."),
    ] = False

    def read(self, source: Path) -> Recordings:
        """The recordings of a source in this layout."""
        from bdl.formats import read_recordings

        given = {name: value for name, value in vars(self).items() if value not in (None, [])}
        return read_recordings(source, **given)


@dataclass(frozen=True)
class Fields:
    """Options generated from the fields of a `Value`, in its order.

    Parameters
    ----------
    kind
        The class. Help texts come from the section ``Parameters`` of its docstring.
    without
        Fields that get no option.
    flags
        Names of options that differ from the generated ones. A field ``learning_rate`` becomes
        ``--learning-rate``; a tuple ``tolerances`` becomes ``--tolerance``, which may be repeated.
    """

    kind: type[Value]
    without: tuple[str, ...] = ()
    flags: Mapping[str, str] = field(default_factory=dict)

    def parameters(self) -> dict[str, Parameter]:
        """One keyword parameter per field, as typer reads them; None means not given."""
        help_texts = field_help(self.kind)
        parameters = {}
        for name, info in self.kind.model_fields.items():
            if name in self.without:
                continue
            option_type: Any = _option_type(info)
            repeated = get_origin(option_type) is list
            plain = name.removesuffix("s") if repeated else name
            flag = self.flags.get(name, f"--{plain.replace('_', '-')}")
            if option_type is bool and name not in self.flags:
                flag += f"/--no-{plain.replace('_', '-')}"
            text = help_texts.get(name, "")
            if not info.is_required() and info.default not in (None, ()):
                text += f" Default: {_shown(info.get_default(call_default_factory=True))}."
            option = typer.Option(
                flag,
                help=text.strip(),
                parser=_parse_yaml if option_type is object else None,
                metavar="VALUE" if option_type is object else None,
            )
            parameters[name] = Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[option_type | None, option],
            )
        return parameters

    def __call__(self, **options: Any) -> dict[str, Any]:
        """The values that were given on the command line, by field."""
        return {
            name: None if value == _NONE else value
            for name, value in options.items()
            if value is not None and value != []
        }


def takes(**groups: type[Value] | Callable[..., Any]) -> Callable[[Command], Command]:
    """Give a command the options of each group in place of its parameter of that name.

    Parameters
    ----------
    **groups
        For each parameter of the command its group of options. For a dataclass the command
        receives an instance of it. For a `Value`, or `Fields` of one, it receives a dictionary of
        those fields only that were given, so that they can be merged with a configuration file
        before they are validated.

    Examples
    --------
    >>> @takes(layout=TableLayout)
    ... def show(source: Path, *, layout: TableLayout) -> None:
    ...     print(layout.period)
    >>> [*signature(show).parameters][:3]
    ['source', 'pattern', 'recording']
    >>> show(source=Path("walk.csv"), **{**vars(TableLayout()), "period": 5.0})
    5.0

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
    options = {
        name: maker.parameters()
        if isinstance(maker, Fields)
        else signature(maker, eval_str=True).parameters
        for name, maker in makers.items()
    }

    def decorate(command: Command) -> Command:
        @wraps(command)
        def run(**arguments: Any) -> None:
            for name, maker in makers.items():
                arguments[name] = maker(**{key: arguments.pop(key) for key in options[name]})
            command(**arguments)

        parameters = [
            each.replace(kind=Parameter.KEYWORD_ONLY)
            for name, own in signature(command, eval_str=True).parameters.items()
            for each in options.get(name, {name: own}).values()
        ]
        vars(run)["__signature__"] = Signature(parameters)  # what typer reads
        return run

    return decorate


def _option_type(info: FieldInfo) -> Any:
    """The type that typer gets for a field; ``object`` stands for a value written in YAML."""
    annotation: Any = info.annotation
    members = [_bare(member) for member in _union(annotation)]
    optional = type(None) in members
    members = [member for member in members if member is not type(None)]
    if len(members) != 1 or (optional and info.default is not None):
        return object  # several types, or "none" as a value that differs from the default
    [member] = members
    if get_origin(member) in (tuple, list):
        element = _bare(get_args(member)[0])
        # Typer takes no list of choices, so they are text; validation refuses others later.
        element = str if get_origin(element) is Literal else element
        return GenericAlias(list, (element,)) if _is_plain(element) else object
    return member if _is_plain(member) else object


def _union(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _bare(annotation: Any) -> Any:
    """An annotation without its constraints: validation applies them later."""
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _is_plain(kind: Any) -> bool:
    if get_origin(kind) is Literal:
        return all(isinstance(choice, str) for choice in get_args(kind))
    return kind in (bool, int, float, str, Path)


def _parse_yaml(text: str) -> Any:
    """A value in YAML: a number, a name, a list, a mapping; ``none`` is None.

    >>> _parse_yaml("[0, 1]"), _parse_yaml("bf16-mixed")
    ([0, 1], 'bf16-mixed')
    """
    import yaml

    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise typer.BadParameter(f"{text!r} is not YAML: {error}") from error
    return _NONE if value is None or value == "none" else value


def _shown(default: object) -> str:
    if isinstance(default, Value):
        return str(getattr(default, "kind", default))
    return " ".join(map(str, default)) if isinstance(default, tuple) else str(default)


def parse_options(texts: list[str]) -> dict[str, Any]:
    """Options ``key=value`` as plain data; values are read as YAML.

    Examples
    --------
    >>> parse_options(["task=walking", "period=0.02", "channels=[x, y]"])
    {'task': 'walking', 'period': 0.02, 'channels': ['x', 'y']}
    """
    import yaml

    options = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise ConfigError(f"--option: key=value expected, got {text!r}")
        try:
            options[key] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise ConfigError(f"--option {key}: not YAML: {value!r}") from error
    return options


def interval_types(texts: list[str] | None) -> tuple[IntervalType, ...]:
    """Interval types from their command-line form.

    >>> interval_types(["sleep=onset,wakeup", "seizure"])
    (IntervalType(name='sleep', onset='onset', offset='wakeup'),
     IntervalType(name='seizure', onset='seizure:onset', offset='seizure:offset'))
    """
    from bdl.intervals import IntervalType

    out = []
    for one in texts or ():
        name, given, events = one.partition("=")
        sides = [side.strip() for side in events.split(",")]
        if not name or (given and (len(sides) != 2 or not all(sides))):
            raise ConfigError(f"--interval {one!r}: NAME=ONSET,OFFSET or NAME expected")
        out.append(IntervalType(name, *sides) if given else IntervalType.named(name))
    return tuple(out)


def parse_variant(
    family: type[Family], text: str, flag: str, *, key: str = "", also: tuple[str, ...] = ()
) -> Family:
    """A variant from its command-line form: a name, a YAML mapping, or a file with a mapping.

    Parameters
    ----------
    family
        The family of variants.
    text
        What was given.
    flag
        The option, for error messages.
    key
        Key under which a file may hold the mapping, beside other content.
    also
        Further names that the option takes, for error messages.

    Examples
    --------
    >>> from bdl.decoding import Decoder
    >>> parse_variant(Decoder, "{kind: peaks, smooth: 50}", "--decoder").smooth
    50.0
    >>> parse_variant(Decoder, "peeks", "--decoder")
    Traceback (most recent call last):
    bdl.errors.ConfigError: --decoder peeks: expected one of expected-ap, peaks, ...
    """
    if text in family.names():
        return family.parse(text, flag)
    if text.lstrip().startswith("{"):
        return family.parse(_parse_yaml(text), flag)
    if not Path(text).suffix and not Path(text).exists():
        known = ", ".join([*family.names(), *also])
        raise ConfigError(f"{flag} {text}: expected one of {known}, a YAML mapping, or a file")
    content: Mapping[str, Any] = read_yaml(Path(text))
    inner = content.get(key)
    return family.parse(inner if isinstance(inner, dict) else content, f"{flag} {text}")


def advance(bar: Any, what: str) -> Callable[[int, int], None]:
    """A callback that moves one task of a progress display; it appears with the first call."""
    task: list[Any] = []

    def move(done: int, total: int) -> None:
        if not task:
            task.append(bar.add_task(what, total=total))
        bar.update(task[0], completed=done)

    return move
