"""Pretrained models of the package: files in this folder, each known by its name.

``bench/pretrained.py`` has the commands that trained them. Each file describes its training data,
their licence, and its score on groups that were not used in training (``bdl show NAME``).
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Names of the pretrained models.

    Examples
    --------
    >>> names()
    ['hapt-transitions', 'mitdb-beats']
    """
    return sorted(file.stem for file in FOLDER.glob("*.safetensors"))


def model_file(path: str | Path) -> Path:
    """The file of a pretrained model, or the path itself if it is not the name of one.

    Parameters
    ----------
    path
        Name of a pretrained model, or the path of a file. A file of that name takes precedence.

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
