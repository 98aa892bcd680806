"""Families of variants: each variant is one class in one file, known by its name.

A *family* (kernels, objectives, encoders, decoders, metrics, formats, data sets) is an abstract
subclass of `Variant` that names the package its variants live in. A *variant* is a concrete
subclass whose field ``kind`` is its name. Nothing else lists the variants of a family: its
registry is read from the modules of the package and from the entry points of the group of the
same name, the first time that it is requested. To add a variant, add one file to the
package, or declare an entry point in a package of your own::

    [project.entry-points."bdl.kernels"]
    triangle = "my_package.triangle:Triangle"

Wherever a family is the type of a field or an argument, three forms are accepted: a value, a
mapping with the key ``kind`` (as ``model_dump`` writes it), or a name. A name is the ``kind`` of a
variant with its defaults, or one of its `Variant.shorthands`.

Examples
--------
>>> class Shape(Variant):
...     package = "bdl.doctest_shapes"
>>> class Square(Shape):
...     kind: str = "square"
...     side: float = 1.0
...     @classmethod
...     def shorthands(cls):
...         return {"unit-square": {}, "big-square": {"side": 10.0}}
>>> Shape.names()
('square', 'unit-square', 'big-square')
>>> Shape.parse("big-square")
Square(kind='square', side=10.0)
>>> Shape.parse({"kind": "square", "side": 2.0}).side
2.0
>>> Shape.parse("circle")
Traceback (most recent call last):
bdl.errors.ConfigError: shape 'circle' is not known; expected one of square, unit-square, ...
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, ClassVar, Self

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from bdl.config import Value
from bdl.errors import ConfigError, missing_extra


class Variant(Value):
    """Base of all families and their variants; see the module's text.

    A family sets ``package``. A variant sets ``kind`` and may override `shorthands`.
    """

    package: ClassVar[str] = ""
    kind: str

    @classmethod
    def shorthands(cls) -> Mapping[str, Mapping[str, Any]]:
        """Further names of this variant, each with the fields it sets."""
        return {}

    def plain(self, mode: str = "json") -> Any:
        """The form in which a field of the family is written: all fields of the variant."""
        return self.model_dump(mode=mode)

    @classmethod
    def summary(cls) -> str:
        """The first sentence of the docstring, for command-line help and tables."""
        return inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")

    @classmethod
    def kinds(cls) -> dict[str, type[Self]]:
        """The variants of the family by ``kind``: those of the package first, sorted by kind."""
        family = _family(cls)
        _load(family.package)
        variants: dict[str, type[Any]] = {}
        for variant in _variants(family):
            kind = variant.model_fields["kind"].default
            # A class may be defined again, as notebooks and doctests do.
            if kind in variants and _place(variants[kind]) != _place(variant):
                raise ConfigError(
                    f"two variants of {family.__name__} are called {kind!r}: "
                    f"{_place(variants[kind])} and {_place(variant)}"
                )
            variants[kind] = variant
        return dict(sorted(variants.items(), key=lambda item: (_outside(item[1]), item[0])))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Every name that `parse` accepts: kinds that need no argument, and shorthands."""
        return tuple(_named(cls))

    @classmethod
    def parse(cls, given: object, what: str | None = None) -> Self:
        """A value of the family from a value, a mapping with ``kind``, or a name.

        Parameters
        ----------
        given
            Value, mapping or name.
        what
            What is being parsed (a file, an option), for error messages.
        """
        family = _family(cls).__name__
        if isinstance(given, cls):
            return given
        if isinstance(given, str):
            named = _named(cls)
            if given not in named:
                known = ", ".join(named) or "none"
                raise ConfigError(
                    f"{what or family.lower()} {given!r} is not known; expected one of {known}"
                )
            variant, fields = named[given]
            value: Self = variant(**fields)
            return value
        prefix = f"{what}: " if what else ""
        if not isinstance(given, Mapping):
            raise ConfigError(
                f"{prefix}a {family}, a name or a mapping with the key 'kind' expected, "
                f"got {type(given).__name__}"
            )
        kinds = cls.kinds()
        kind = given.get("kind")
        if not isinstance(kind, str) or kind not in kinds:
            actual = "no kind" if kind is None else repr(kind)
            raise ConfigError(f"{prefix}kind: one of {', '.join(kinds)} expected, got {actual}")
        try:
            return kinds[kind](**given)
        except ConfigError as error:
            raise ConfigError(f"{prefix}{error}") from error

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        if "package" not in vars(cls):
            return handler(source)
        # A family as the type of a field stands for all its variants, later ones included.
        return core_schema.no_info_plain_validator_function(
            lambda given: cls.parse(given),
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value, info: value.plain(info.mode), info_arg=True
            ),
        )


def exports(family: type[Variant]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package that offers its variants by name.

    Examples
    --------
    >>> from bdl.registry import Variant
    >>> class Animal(Variant):
    ...     package = "bdl.doctest_animals"
    >>> getattr_, dir_ = exports(Animal)
    >>> dir_()
    ['Animal']
    """

    def classes() -> dict[str, type[Variant]]:
        inside = (variant for variant in family.kinds().values() if not _outside(variant))
        return {family.__name__: family, **{variant.__name__: variant for variant in inside}}

    def get(name: str) -> Any:
        if not name.startswith("_") and (variant := classes().get(name)):
            return variant
        raise AttributeError(f"module {family.package!r} has no attribute {name!r}")

    return get, lambda: sorted(classes())


def known_name(variant: Variant) -> str | None:
    """The name that stands for a variant with these fields, a shorthand before its kind.

    Examples
    --------
    >>> from bdl.encoders import Encoder, Recurrent
    >>> known_name(Encoder.parse("gru")), known_name(Recurrent(width=3))
    ('gru', None)
    """
    family = _family(type(variant))
    names = [name for name in family.names() if family.parse(name) == variant]
    return names[-1] if names else None


def singular(name: str) -> str:
    """The name of an option that may be repeated, from that of its field.

    Examples
    --------
    >>> singular("columns"), singular("aliases")
    ('column', 'alias')
    """
    return name.removesuffix("es" if name.endswith("ses") else "s")


def field_help(kind: type[Value]) -> dict[str, str]:
    """One sentence per field, from the section ``Parameters`` of numpydoc docstrings.

    The docstrings are those of the class and of its base classes.

    Examples
    --------
    >>> class Box(Value):
    ...     '''A box.
    ...
    ...     Parameters
    ...     ----------
    ...     side
    ...         Length of a side in metres. Default 1.
    ...     '''
    ...     side: float = 1.0
    >>> field_help(Box)
    {'side': 'Length of a side in metres. Default 1.'}
    """
    sentences: dict[str, str] = {}
    for base in kind.__bases__:
        if issubclass(base, Value):
            sentences |= field_help(base)
    text = inspect.cleandoc(kind.__doc__ or "")
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", text, re.M | re.S)
    entries = section[1] if section else ""
    for entry in re.finditer(r"^(\w[^\n]*)\n((?:[ ]+[^\n]*\n?|\n)+)", entries, re.M):
        names = entry[1].split(" : ")[0].split(",")
        sentence = " ".join(entry[2].split("\n\n")[0].split())
        sentences.update({name.strip(): sentence for name in names})
    return {name: sentence for name, sentence in sentences.items() if name in kind.model_fields}


def _family(cls: type[Variant]) -> type[Variant]:
    return next(base for base in cls.__mro__ if "package" in vars(base))


def _variants(cls: type[Variant]) -> list[type[Variant]]:
    """All concrete classes below a family, each after its base."""
    variants = []
    for below in cls.__subclasses__():
        if "kind" in below.model_fields and not below.model_fields["kind"].is_required():
            variants.append(below)
        variants += _variants(below)
    return variants


def _named(cls: type[Variant]) -> dict[str, tuple[type[Any], Mapping[str, Any]]]:
    named: dict[str, tuple[type[Any], Mapping[str, Any]]] = {}
    for kind, variant in cls.kinds().items():
        if not any(field.is_required() for field in variant.model_fields.values()):
            named[kind] = (variant, {})
        for name, fields in variant.shorthands().items():
            named[name] = (variant, fields)
    return named


@cache
def _load(package: str) -> None:
    """Import the modules of a family's package, and the entry points of its group."""
    try:
        home = import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
    else:
        for module in pkgutil.iter_modules(home.__path__):
            if not module.name.startswith("_"):
                try:
                    import_module(f"{package}.{module.name}")
                except ModuleNotFoundError as error:
                    raise missing_extra(error) from error
    for entry in entry_points(group=package):
        try:
            entry.load()
        except Exception as error:
            raise ConfigError(
                f"entry point {entry.name!r} of group {package!r} cannot be loaded: {error!r}"
            ) from error


def _place(variant: type[Variant]) -> str:
    return f"{variant.__module__}.{variant.__qualname__}"


def _outside(variant: type[Variant]) -> bool:
    return not variant.__module__.startswith(_family(variant).package + ".")
