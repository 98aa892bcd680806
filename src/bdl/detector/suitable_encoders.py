"""Encoders that suit the other settings: defaults are changed, and what was given is checked.

For an objective that boosted trees have no loss for, defaults leave their trees out, and given
trees are an error. What suits a lag is in `bdl.detector.lag`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bdl.detector.lag import with_forward_defaults
from bdl.encoders import Encoder
from bdl.encoders.ensemble import Ensemble
from bdl.encoders.trees import Trees
from bdl.errors import ConfigError
from bdl.objectives import Objective


def with_suitable_defaults(fields: Mapping[str, Any], default: Encoder) -> Mapping[str, Any]:
    """Return the fields of a detector with defaults that suit its objective and its lag.

    Parameters
    ----------
    fields
        Fields of `bdl.detector.DetectorSettings`, values or plain data.
    default
        The default encoder.
    """
    if "objective" in fields and fields.get("encoder", default) == default:
        default = suitable_encoder(default, fields["objective"])
        fields = {**fields, "encoder": default}
    return fields if fields.get("lag") is None else with_forward_defaults(fields, default)


def suitable_encoder(encoder: Any, objective: Any) -> Any:
    """Return an encoder that was not given, without trees if they cannot learn the objective.

    Parameters
    ----------
    encoder
        The encoder of a default or of a preset: a value or its name.
    objective
        Value, mapping or name; an invalid one is left to the validation, which names it.

    Examples
    --------
    >>> suitable_encoder("gru-and-trees", "mse-hard").kind
    'recurrent'
    >>> suitable_encoder("gru-and-trees", "bdl-hard")
    'gru-and-trees'
    """
    try:
        loss = Objective.parse(objective).tree_loss
    except ConfigError:
        return encoder
    ensemble = Encoder.parse(encoder)
    if loss is not None or not isinstance(ensemble, Ensemble):
        return encoder
    pairs = zip(ensemble.members, ensemble.shares, strict=True)
    members, weights = zip(*(p for p in pairs if not isinstance(p[0], Trees)), strict=True)
    return members[0] if len(members) == 1 else Ensemble(members=members, weights=weights)


def check_tree_loss(encoder: Encoder, objective: Objective) -> None:
    """Raise a ValueError for boosted trees that have no loss like that of the objective."""
    if objective.tree_loss is None and _has_trees(encoder):
        raise ValueError(
            f"the objective {objective.kind!r} has no loss for boosted trees, which are part of "
            f"the encoder {encoder.kind!r}; give an encoder without them, such as gru (--encoder "
            "gru), or the objective bdl or bce (--objective)"
        )


def _has_trees(encoder: Encoder) -> bool:
    if isinstance(encoder, Ensemble):
        return any(map(_has_trees, encoder.members))
    return isinstance(encoder, Trees)
