"""Options that are generated from the fields of values, with help from their docstrings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Annotated, Any, get_origin, get_type_hints

from typer import Option

from bdl.cli.numbers import number_type
from bdl.cli.option_types import (
    NONE,
    is_mapping,
    option_type,
    parse_pairs,
    parse_yaml_option,
    shown_default,
)
from bdl.config import Value
from bdl.registry import Variant, field_help, singular


@dataclass(frozen=True)
class Fields:
    """Options generated from the fields of a `Value`, or of all variants of a family.

    Help texts come from the section ``Parameters`` of the docstring. A family (such as
    `bdl.formats.recordings.RecordingFormat`) has the fields of all its variants, third-party ones
    included. A field ``learning_rate`` becomes ``--learning-rate``; a tuple ``tolerances`` becomes
    ``--tolerance``, which may be repeated.
    """

    kind: type[Value]
    without: tuple[str, ...] = ()  # fields that get no option
    names: Mapping[str, str] = field(default_factory=dict)  # of options that differ from the field

    def _kinds(self) -> dict[str, type[Value]]:
        if issubclass(self.kind, Variant) and "package" in vars(self.kind):
            return dict(self.kind.kinds())
        return {"": self.kind}

    def parameters(self) -> dict[str, Parameter]:
        """One keyword parameter per option, as typer reads them; None means not given."""
        kinds = self._kinds()
        names = dict.fromkeys(name for kind in kinds.values() for name in kind.model_fields)
        hidden = self.without if "" in kinds else (*self.without, "kind")
        parameters = [self._parameter(name, kinds) for name in names if name not in hidden]
        return {parameter.name: parameter for parameter in parameters}

    def _parameter(self, name: str, kinds: dict[str, type[Value]]) -> Parameter:
        """The option of a field that some of the kinds have."""
        owners = {owner: kind for owner, kind in kinds.items() if name in kind.model_fields}
        fields = [kind.model_fields[name] for kind in owners.values()]
        types = [option_type(field) for field in fields]
        shared: Any = types[0] if all(other == types[0] for other in types) else object
        option_name = self.names.get(name, name)
        plain = singular(option_name) if get_origin(shared) is list else option_name
        flag = _flag(plain)
        if shared is bool:
            flag += f"/{_flag('no_' + plain)}"
        help = next(filter(None, (field_help(kind).get(name) for kind in owners.values())), "")
        help = re.sub(r"``(\w+)``", lambda word: self._flag_of(word[1], owners) or word[0], help)
        if len(owners) < len(kinds):
            help += f" (Only {', '.join(owners)}.)"
        defaults = {shown_default(field) for field in fields}
        if len(defaults) == 1 and (default := defaults.pop()):
            help += f" [default: {default}]"
        numbers = {*map(number_type, fields, types)}
        number = numbers.pop() if len(numbers) == 1 else None
        option = Option(
            flag,
            help=help.strip(),
            parser=parse_yaml_option if shared is object else number,
            metavar="VALUE" if shared is object else None,
        )
        annotation = Annotated[shared | None, option]
        return Parameter(option_name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)

    def _flag_of(self, name: str, kinds: Mapping[str, type[Value]]) -> str | None:
        """The flag of a field of these kinds; None if they have no option of that name."""
        known = any(name in kind.model_fields for kind in kinds.values())
        return _flag(self.names.get(name, name)) if known and name not in self.without else None

    def __call__(self, **options: Any) -> dict[str, Any]:
        """The values that were given on the command line, by field."""
        fields = {option: name for name, option in self.names.items()}
        values: dict[str, Any] = {
            fields.get(name, name): None if value == NONE else value
            for name, value in options.items()
            if value is not None and value != []
        }
        for kind in self._kinds().values():
            for name in values.keys() & kind.model_fields.keys():
                if is_mapping(kind.model_fields[name]) and isinstance(values[name], list):
                    values[name] = parse_pairs(values[name], _flag(singular(name)))
        return values


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


@dataclass(frozen=True)
class NestedFields:
    """Options of a group and of the values in its fields.

    The command receives a nested dictionary if the group is `Fields`, or an instance if it is a
    dataclass.
    """

    outer: Callable[..., Any]  # options of the group itself
    inner: Mapping[str, Fields]  # options of the values that it holds, by field

    def parameters(self) -> dict[str, Parameter]:
        """The parameters of all groups."""
        parameters = {
            name: parameter
            for name, parameter in parameters_of(self.outer).items()
            if name not in self.inner
        }
        for group in self.inner.values():
            parameters |= group.parameters()
        return parameters

    def flags(self) -> dict[str, str]:
        """The option of each field."""
        flags = {}
        fields = {o: name for group in self.inner.values() for name, o in group.names.items()}
        for name, parameter in self.parameters().items():
            option = parameter.annotation.__metadata__[0]  # not yet completed by typer
            flag = option.param_decls[0] if option.param_decls else option.default
            flags[fields.get(name, name)] = flag.partition("/")[0]
        return flags

    def __call__(self, **options: Any) -> Any:
        """The values that were given on the command line; groups without any are left out."""
        for field_name, group in self.inner.items():
            values = group(
                **{name: options.pop(name) for name in group.parameters() if name in options}
            )
            if values:
                options[field_name] = values
        return self.outer(**options)


def parameters_of(group: Callable[..., Any]) -> Mapping[str, Parameter]:
    """Keyword parameters of a group of options: a dataclass, `Fields` or `NestedFields`."""
    if isinstance(group, Fields | NestedFields):
        return group.parameters()
    types = get_type_hints(group, include_extras=True)  # also of fields inherited from elsewhere
    return {
        name: parameter.replace(annotation=types[name])
        for name, parameter in signature(group).parameters.items()
    }
