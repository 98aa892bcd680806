"""The server of the page: requests with answers in JSON, and tiles as binary numbers.

| request | answer |
|---|---|
| ``GET /api/session`` | recordings, event types, state of the journal |
| ``GET /api/recordings/N`` | data to draw recording N, or the progress of its index |
| ``GET /api/recordings/N/tiles/LEVEL/INDEX`` | a tile, little-endian float32 |
| ``GET /api/recordings/N/density/LEVEL/INDEX`` | a tile of the density |
| ``GET /api/recordings/N/events`` | labels, detections, events of other annotators |
| ``GET /api/changes?after=NUMBER`` | later edits, of any window |
| ``POST /api/edits``, ``/api/undo``, ``/api/redo`` | an edit, which is on disk before the answer |
| ``GET /api/queue``, ``GET /api/agreement`` | the review queue; agreement of annotators |
| ``POST /api/export`` | writes the corrected table beside the journal |

A recording is addressed by its index in the list, so that no id is ever part of a path.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bdl.config import Value
from bdl.drawing import FOLDER
from bdl.errors import BdlError, ConfigError
from bdl.explore.filters import HIGHEST_LEVEL
from bdl.explore.guard import Guard
from bdl.explore.journal import ConflictError, Entry
from bdl.explore.label_export import corrected_name, export, export_formats
from bdl.explore.label_session import LabelSession
from bdl.explore.pyramid import TILE
from bdl.explore.requests import (
    EditRequest,
    ExportRequest,
    StepRequest,
    body_of,
    channels_of,
    filter_of,
    whole_number,
)

MEDIA = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


def application(session: LabelSession, *, token: str, port: int) -> Guard:
    """The whole application, with its guard in front."""
    handlers = Handlers(session)
    recording = "/api/recordings/{number:place}"
    routes = [
        Route("/api/session", _json(handlers.session)),
        Route(recording, _json(handlers.recording)),
        Route(recording + "/tiles/{level:place}/{index:place}", handlers.tile),
        Route(recording + "/density/{level:place}/{index:place}", handlers.density),
        Route(recording + "/events", _json(handlers.events)),
        Route("/api/changes", _json(handlers.changes)),
        Route("/api/queue", _json(handlers.queue)),
        Route("/api/agreement", _json(handlers.agreement)),
        Route("/api/edits", _json(handlers.edit, EditRequest), methods=["POST"]),
        Route("/api/undo", _json(handlers.undo, StepRequest), methods=["POST"]),
        Route("/api/redo", _json(handlers.redo, StepRequest), methods=["POST"]),
        Route("/api/export", _json(handlers.export, ExportRequest), methods=["POST"]),
        *(Route(path, _static(file)) for path, file in _assets().items()),
    ]
    return Guard(Starlette(routes=routes), token=token, port=port)


class Handlers:
    """One method per request."""

    def __init__(self, session: LabelSession) -> None:
        self._session = session

    def session(self, request: Request) -> dict[str, Any]:
        session = self._session
        return {
            "recordings": session.recording_rows(),
            "types": session.types,
            "intervals": [vars(interval) for interval in session.interval_types],
            "others": [*session.others],
            "model": session.detections is not None or bool(session.densities),
            "tolerance": session.tolerance,
            "threshold": session.threshold,
            "tile": TILE,
            "filtered": HIGHEST_LEVEL,
            "formats": export_formats(),
            "journal": str(session.labels.journal.path),
            "notes": [*session.recordings.notes, *session.labels.journal.notes],
            **self._state(),
        }

    def recording(self, request: Request) -> dict[str, Any]:
        id = self._session.id(request.path_params["number"])
        ready = self._session.tiles.ready(id)
        return {"indexing": ready} if ready < 1 else self._session.details(id)

    def events(self, request: Request) -> dict[str, Any]:
        with self._session.lock:
            id = self._session.id(request.path_params["number"])
            return {
                **self._session.drawn_events(id),
                "number": len(self._session.labels.journal.entries),
            }

    def changes(self, request: Request) -> dict[str, Any]:
        after = whole_number(request, "after", 0)
        entries = self._session.labels.journal.entries
        return {"entries": [self._shown(entry) for entry in entries[after:]], **self._state()}

    def queue(self, request: Request) -> dict[str, Any]:
        session = self._session
        place = {id: number for number, id in enumerate(session.recordings.ids)}
        verdicts = session.labels.verdicts
        items = [
            {
                "key": item.key,
                "number": place[item.recording],
                **item._asdict(),
                "verdict": verdicts.get(item.key),
            }
            for item in session.queue
        ]
        return {"items": items, "doubts": session.doubts()}

    def agreement(self, request: Request) -> dict[str, Any]:
        return {"rows": self._session.agreement_rows()}

    def edit(self, body: EditRequest) -> dict[str, Any]:
        return self._answer(self._session.edit(body.changes, body.annotator, body.review))

    def undo(self, body: StepRequest) -> dict[str, Any]:
        with self._session.lock:
            return self._answer(self._session.labels.undo(body.number, annotator=body.annotator))

    def redo(self, body: StepRequest) -> dict[str, Any]:
        with self._session.lock:
            return self._answer(self._session.labels.redo(body.number, annotator=body.annotator))

    def _answer(self, entry: Entry) -> dict[str, Any]:
        return {"entry": self._shown(entry), **self._state()}

    def export(self, body: ExportRequest) -> dict[str, Any]:
        session = self._session
        journal = session.labels.journal.path
        table = journal.with_name(journal.name.removesuffix(".journal"))
        target = corrected_name(table, body.format)
        log = export(session, target, format=body.format)
        return {"table": str(target), "log": str(log)}

    async def tile(self, request: Request) -> Response:
        ids = self._session.recordings.ids[request.path_params["number"] :][:1]
        plain = "pass" not in request.url.query and "notch" not in request.url.query
        if plain and ids and self._session.tiles.is_open(ids[0]):
            # Reading a tile takes less time than starting it in another thread.
            return _numbers(request, self._signal_tile)
        return await run_in_threadpool(_numbers, request, self._signal_tile)

    async def density(self, request: Request) -> Response:
        return await run_in_threadpool(_numbers, request, self._density_tile)

    def _signal_tile(self, request: Request) -> bytes:
        path = request.path_params
        id = self._session.id(path["number"])
        info = self._session.recordings.info(id)
        channels = channels_of(request, len(info.channels))
        pyramid = self._session.tiles.open(id)
        display_filter = filter_of(request)
        if not display_filter.is_empty and path["level"] <= HIGHEST_LEVEL:
            tile = display_filter.tile(pyramid, info.period, path["level"], path["index"], channels)
        else:
            tile = pyramid.tile(path["level"], path["index"], channels)
        return tile.astype("<f4", copy=False).tobytes()

    def _density_tile(self, request: Request) -> bytes:
        path = request.path_params
        id = self._session.id(path["number"])
        if id not in self._session.densities:
            raise ConfigError(f"there is no density of recording {id!r}")
        pyramid = self._session.density_tiles(id)
        channels = range(pyramid.values.shape[1])
        return pyramid.tile(path["level"], path["index"], channels).astype("<f4").tobytes()

    def _state(self) -> dict[str, Any]:
        session = self._session
        return {
            "number": len(session.labels.journal.entries),
            "undoable": session.labels.undoable,
            "redoable": session.labels.redoable,
            "changed": session.table is not None and session.table.changed,
        }

    def _shown(self, entry: Entry) -> dict[str, Any]:
        """An entry as the page applies it; undo and redo list their changes, too."""
        changes = self._session.labels.changes_of(entry)
        review, shown_review = self._session.labels.edit_of(entry).review, None
        if review is not None:
            verdict = None if entry.undo is not None else review.verdict
            shown_review = {"item": review.item, "verdict": verdict}
        return {
            "number": entry.number,
            "annotator": entry.annotator,
            "changes": [change.model_dump(mode="json") for change in changes],
            "review": shown_review,
        }


def _json(handle: Callable[[Any], dict[str, Any]], body: type[Value] | None = None) -> Any:
    """A handler whose result, or error, is sent as JSON."""

    async def respond(request: Request) -> Response:
        try:
            argument: Any = request if body is None else await body_of(request, body)
            content = await run_in_threadpool(handle, argument)
        except BdlError as error:
            return _failure(error)
        return JSONResponse(content)

    return respond


def _numbers(request: Request, read: Callable[[Request], bytes]) -> Response:
    try:
        return Response(read(request), media_type="application/octet-stream")
    except BdlError as error:
        return _failure(error)


def _failure(error: BdlError) -> Response:
    status = 409 if isinstance(error, ConflictError) else 400
    return JSONResponse({"error": str(error)}, status)


def _assets() -> dict[str, Traversable]:
    """The files of the page by their address; no other file is served."""
    folders = (FOLDER, files("bdl.explore") / "static")
    pages = {
        f"/{entry.name}": entry
        for folder in folders
        for entry in folder.iterdir()
        if entry.name.endswith(tuple(MEDIA))
    }
    return {"/": pages.pop("/index.html"), **pages}


def _static(file: Traversable) -> Any:
    media = next(kind for suffix, kind in MEDIA.items() if file.name.endswith(suffix))

    async def respond(request: Request) -> Response:
        headers = {"Cache-Control": "no-cache"}
        return Response(file.read_bytes(), media_type=media, headers=headers)

    return respond
