"""Families of variants: names, mappings and values, and classes that come later."""

import pytest

from bdl.config import Value
from bdl.errors import ConfigError
from bdl.registry import Variant, exports, field_help


class Shape(Variant):
    package = "bdl.test_shapes"


class Square(Shape):
    """A square.

    Parameters
    ----------
    side
        Length of a side in metres,
        above 0.
    """

    kind: str = "square"
    side: float = 1.0

    @classmethod
    def shorthands(cls):
        return {"big-square": {"side": 10.0}}


class Rectangle(Shape):
    """A rectangle. Its sides have no default."""

    kind: str = "rectangle"
    width: float
    height: float


class Tile(Value):
    shape: Shape = Square()


def test_a_field_of_a_family_takes_value_mapping_and_name():
    assert Tile(shape=Square(side=2.0)).shape.side == 2.0
    assert Tile(shape={"kind": "rectangle", "width": 1.0, "height": 3.0}).shape.height == 3.0
    assert Tile(shape="big-square").shape == Square(side=10.0)


def test_a_field_of_a_family_keeps_all_fields_when_written():
    tile = Tile(shape=Rectangle(width=1.0, height=2.0))
    dumped = {"shape": {"kind": "rectangle", "width": 1.0, "height": 2.0}}
    assert tile.model_dump() == dumped
    assert Tile.model_validate_json(tile.model_dump_json()) == tile


def test_names_leave_out_kinds_that_need_arguments():
    assert Shape.names() == ("square", "big-square")
    assert [*Shape.kinds()] == ["rectangle", "square"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("circle", "shape 'circle' is not known; expected one of square, big-square"),
        ({"kind": "circle"}, "kind: one of rectangle, square expected, got 'circle'"),
        ({"side": 1.0}, "got no kind"),
        (
            {"kind": "square", "sides": 1.0},
            "Square: sides: unknown key; known are",
        ),
        (3, "a Shape, a name or a mapping with the key 'kind' expected, got int"),
    ],
)
def test_what_is_not_a_variant_is_an_error_that_lists_them(given, message):
    with pytest.raises(ConfigError, match=message.replace("(", r"\(")):
        Shape.parse(given)
    with pytest.raises(ConfigError, match="Tile: shape: "):
        Tile(shape=given)


def test_two_classes_of_one_kind_are_an_error():
    class Family(Variant):
        package = "bdl.test_family"

    class First(Family):
        kind: str = "same"

    class Second(Family):
        kind: str = "same"

    with pytest.raises(ConfigError, match="two variants of Family are called 'same'"):
        Family.kinds()
    assert First is not Second


def test_a_class_that_comes_later_is_known():
    class Circle(Shape):
        kind: str = "circle-of-a-test"

    assert Tile(shape="circle-of-a-test").shape == Circle()


def test_help_comes_from_the_docstring():
    assert field_help(Square) == {"side": "Length of a side in metres, above 0."}
    assert Square.summary() == "A square."
    get, _ = exports(Shape)
    with pytest.raises(AttributeError):
        get("Circle")
