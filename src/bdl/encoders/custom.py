"""A user's own torch module as an encoder."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from bdl.encoders.encoder import Encoder
from bdl.errors import ConfigError

if TYPE_CHECKING:
    from torch import nn

    from bdl.encoders.networks.module import Capabilities


class Custom(Encoder):
    """A user's own torch module: a model file holds its weights, but not its code.

    The module is called with values (batch, bins, inputs), hour, weekday and mask, and returns
    logits (batch, bins, outputs). It may declare two attributes: ``causal = True`` if no output
    depends on a later bin, and ``fixed_bins``, the only number of bins that it accepts. A causal
    module with the methods ``initial_state(batch)`` and ``step(values, state, hour, weekday)``
    runs tile by tile, and bin by bin in a stream.

    Parameters
    ----------
    name
        Import path of the module's class; taken from ``module`` if empty.
    module
        The module itself, or None where only its name is known, as in a model file.

    Examples
    --------
    >>> from torch import nn
    >>> Encoder.parse(nn.Linear(2, 1)).name
    'torch.nn.modules.linear.Linear'
    """

    kind: Literal["custom"] = "custom"
    name: str = Field(min_length=1)
    module: Any = Field(default=None, exclude=True, repr=False)

    @model_validator(mode="before")
    @classmethod
    def _name_of_module(cls, data: Any) -> Any:
        if isinstance(data, dict) and "name" not in data and data.get("module") is not None:
            kind = type(data["module"])
            return {**data, "name": f"{kind.__module__}.{kind.__qualname__}"}
        return data

    @property
    def causal(self) -> bool:
        """What the module declares; False without one."""
        return self._declared is not None and self._declared.causal

    @property
    def fixed_bins(self) -> int | None:
        return None if self._declared is None else self._declared.fixed_bins

    @property
    def _declared(self) -> Capabilities | None:
        """The capabilities of the module, if there is one."""
        if self.module is None:
            return None
        from bdl.encoders.networks.module import capabilities

        return capabilities(self.module)

    def build(self, inputs: int, outputs: int, calendar: bool) -> nn.Module:
        if self.module is None:
            raise ConfigError(
                f"the encoder is a user's own module, {self.name}: pass one of that class as module"
            )
        module: nn.Module = copy.deepcopy(self.module)
        return module

    def _not_exported(self) -> str:
        return f"{self.name} is your own module, whose operators are not known here"
