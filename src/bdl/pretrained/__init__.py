"""Models that come with the package: files in this folder, each known by its name.

``bench/pretrained.py`` has the commands that made them. Each file describes its training
data, their licence, and its score on groups that it never saw (``bdl show NAME``).
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Names of the models that come with the package.

    Examples
    --------
    >>> names()
    ['hapt-transitions', 'mitdb-beats']
    """
    return sorted(file.stem for file in FOLDER.glob("*.safetensors"))


def model_file(path: str | Path) -> Path:
    """The file of a model that comes with the package if that is what is named; else the path.

    Parameters
    ----------
    path
        Name of a model of this folder, or the path of a file. A file of that name has precedence.

    Examples
    --------
    >>> model_file("mitdb-beats").name
    'mitdb-beats.safetensors'
    >>> model_file("mine/model.safetensors").name
    'model.safetensors'
    """
    if str(path) in names() and not Path(path).exists():
        return FOLDER / f"{path}.safetensors"
    return Path(path)
