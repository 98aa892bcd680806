"""Validation of requests of the page: bodies in JSON and parameters of addresses."""

from __future__ import annotations

from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.requests import Request

from bdl.config import Value, validate
from bdl.errors import ConfigError
from bdl.explore.filters import DisplayFilter
from bdl.explore.journal import Change, Name, Review
from bdl.plain_data import parse_json

LARGEST_BODY = 1 << 20  # bytes


class EditRequest(Value):
    """Body of a request for an edit or a verdict."""

    annotator: Name = ""
    changes: tuple[Change, ...] = ()
    review: Review | None = None


class StepRequest(Value):
    """Body of a request to undo or redo; ``number`` is the edit that the page has as its latest."""

    annotator: Name = ""
    number: int | None = None


class ExportRequest(Value):
    """Body of a request to export."""

    format: str = "bdl"


class PlaceConvertor(IntegerConvertor):
    """A number in a path, short enough that Python converts it."""

    regex = "[0-9]{1,12}"


register_url_convertor("place", PlaceConvertor())


async def body_of(request: Request, kind: type[Value]) -> Value:
    """The body of a request, validated as this kind."""
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > LARGEST_BODY:
            raise ConfigError(f"request: at most {LARGEST_BODY:,} bytes expected")
    value: Value = validate(kind, parse_json(data, "request"), "request")
    return value


def whole_number(request: Request, name: str, default: int) -> int:
    """A whole number among the parameters of an address."""
    text = request.query_params.get(name, str(default))
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise ConfigError(f"{name}: a whole number expected, got {text[:50]!r}")
    return int(text)


def channels_of(request: Request, count: int) -> list[int]:
    """Indices of the channels that an address names; all ``count`` if it names none."""
    text = request.query_params.get("channels")
    if text is None:
        return [*range(count)]
    try:
        channels = [int(part) for part in text.split(",")] if text else []
    except ValueError as error:
        raise ConfigError(f"channels: whole numbers expected, got {text[:50]!r}") from error
    if any(not 0 <= channel < count for channel in channels) or len({*channels}) < len(channels):
        raise ConfigError(f"channels: each once, 0 to {count - 1} expected, got {text[:50]!r}")
    return channels


def filter_of(request: Request) -> DisplayFilter:
    """The filter that an address names."""
    cutoffs = {
        name: request.query_params[name]
        for name in DisplayFilter.model_fields
        if request.query_params.get(name)
    }
    display_filter: DisplayFilter = validate(DisplayFilter, cutoffs, "filter")
    return display_filter
