"""Options that name a data set, and its own options as ``--option key=value``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from bdl.cli.options import parse_options
from bdl.errors import ConfigError

if TYPE_CHECKING:
    from bdl.datasets import Dataset

DATASET_HELP = "Name of a data set; `bdl data list` shows them and their options."


def dataset_names() -> list[str]:
    """Names of all data sets, for completion in the shell."""
    from bdl.datasets import Dataset

    return [*Dataset.kinds()]


DatasetArgument = Annotated[str, Argument(help=DATASET_HELP, autocompletion=dataset_names)]
DatasetName = Annotated[
    str | None, Option("--dataset", help=DATASET_HELP, autocompletion=dataset_names)
]
DatasetOptions = Annotated[
    list[str] | None,
    Option("--option", help="Option of the data set: key=value, value in YAML; may be repeated."),
]


def named_dataset(name: str, options: list[str] | None) -> Dataset:
    """The data set of a name, with its options from the command line.

    Examples
    --------
    >>> named_dataset("mitdb", ["task=afib"])
    MITDB(kind='mitdb', task='afib')
    """
    from bdl.datasets import Dataset

    if name not in Dataset.kinds():
        raise ConfigError(
            f"data set {name!r} (--dataset) is not known; expected one of "
            f"{', '.join(Dataset.kinds())}"
        )
    return Dataset.parse({"kind": name, **parse_options(options or [])}, "data set")
