"""The OpenAPI description of the HTTP API."""

from __future__ import annotations

from typing import Any

from app.serving.monitor_reading import QUESTIONS
from audits.runs.monitoring.monitors import MOST_PEOPLE
from audits.runs.monitoring.windows import MOST
from audits.runs.version import VERSION

__all__ = ["document"]

_FAULTS = {
    "401": "The token is missing or wrong.",
    "403": "The token may do other things, not this one.",
    "404": "No such monitor, alarm, message, token or audit.",
    "405": "The address has another method: `Allow` names it.",
    "409": "The idempotency key was used for another content. Nothing was stored.",
    "413": "The body is too large. Nothing was stored.",
    "415": "The content type is none of those listed, or the body is compressed.",
    "422": "Columns, types or values are wrong: names the row and the column. Nothing was stored.",
    "429": "Too many requests came with this token, or wrong tokens from here; `Retry-After` says when.",
    "500": "The server failed in a way that nobody foresaw; its log says how.",
    "507": "The disk is full. Nothing was stored: send it again when there is room.",
    "503": "The database cannot be used, or too much waits. Nothing was stored: send it again.",
}
_TAKES = (
    "At most {people} people and {mb} MB. What is answered with 200 is on disk. A value that the audit "
    "never saw is measured as no known one and named under `unseen`."
)
_NUMBER, _TEXT, _COUNT = {"type": "number"}, {"type": "string"}, {"type": "integer", "minimum": 0}


def document(most_mb: int) -> dict[str, Any]:
    """Return the description, plain data; `most_mb` is the largest body in MB."""
    operations: dict[str, Any] = _asked("")["operations"]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Evenhand",
            "version": VERSION,
            "description": "Predictions of a deployed model in, sensitivity to protected status out. "
            "No protected attribute is needed unless the model itself reads it; what is sent of them under "
            "`protected` is counted, and kept only beside an id, until retention removes it.",
        },
        "paths": {
            "/api/v1/health": {"get": {"summary": "Is the server up?", "responses": {"200": _says("Yes.")}}},
            "/api/v1/ready": {
                "get": {
                    "summary": "Can visitors be served now?",
                    "responses": {"200": _says("Yes."), "503": _says("No: `faults` says why.")},
                }
            },
            "/api/v1/monitors/{monitor}": {
                "parameters": [_MONITOR],
                **operations,
            },
            "/api/v1/monitors": {
                "get": {
                    "summary": "The monitors that the token is of",
                    "security": [{"token": []}],
                    "responses": {"200": _says("The monitors."), **_faults("401", "503")},
                }
            },
            **{_ONE + path: _described(path) for path in _PATHS if path},
            "/api/v1/monitors/{monitor}/predictions": {
                "parameters": [_MONITOR],
                "post": {
                    "summary": "Measure and store a batch",
                    "description": _TAKES.format(people=f"{MOST_PEOPLE:,}", mb=most_mb),
                    "security": [{"token": []}],
                    "parameters": [
                        {
                            "name": "Idempotency-Key",
                            "in": "header",
                            "schema": {**_TEXT, "maxLength": 200},
                            "description": "A batch sent again under its key is answered again and stored "
                            "once, for as long as the monitor keeps it.",
                        }
                    ],
                    "requestBody": {
                        "required": True,
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/Batch"}},
                            "application/vnd.apache.arrow.stream": {"schema": {"type": "string"}},
                            "application/vnd.apache.arrow.file": {"schema": {"type": "string"}},
                        },
                    },
                    "responses": {
                        "200": {
                            "description": "Measured and stored, rows in the order sent.",
                            "content": _json({"$ref": "#/components/schemas/Measured"}),
                        },
                        **_faults(*_FAULTS),
                    },
                },
                "patch": {
                    "summary": "Note outcomes of people whose predictions were stored with an id",
                    "description": "By your ids, whether each outcome was the favorable one. What is known "
                    "already is passed over; what is known otherwise is named and not changed.",
                    "security": [{"token": []}],
                    "requestBody": {"required": True, "content": _json(_OUTCOMES)},
                    "responses": {
                        "200": _says("How many were noted, and which ids nobody has."),
                        **_faults(*(status for status in _FAULTS if status != "409")),
                    },
                },
            },
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Batch": _BATCH, "Measured": _MEASURED, "Error": _ERROR},
        },
    }


def _described(path: str) -> dict[str, Any]:
    found = _asked(path)
    return {"parameters": [_MONITOR, *found["parameters"]], **found["operations"]}


def _asked(path: str) -> dict[str, Any]:
    """Return the operations of an address, from the questions that the API answers."""
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    operations = {}
    for each in QUESTIONS:
        if each.path != path:
            continue
        schema = _WINDOW if each.path == "/audits" else {"type": "object"}
        takes = {"requestBody": {"content": _json(schema)}}
        body: dict[str, Any] = takes if each.method in _BODIES else {}
        query = [{"name": name, "in": "query", "schema": _TEXT} for name in each.query]
        operations[each.method.lower()] = {
            "summary": each.summary,
            "description": f"For a token that may {each.scope}.",
            "security": [{"token": []}],
            "parameters": query,
            **body,
            "responses": {
                "200": _says("The answer."),
                **_faults("401", "403", "404", "405", "413", "422", "500", "503", "507"),
            },
        }
    parameters = [{"name": name, "in": "path", "required": True, "schema": _TEXT} for name in names]
    return {"operations": operations, "parameters": parameters}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _says(sentence: str) -> dict[str, Any]:
    return {"description": sentence, "content": _json({"type": "object"})}


def _faults(*statuses: str) -> dict[str, Any]:
    error = _json({"$ref": "#/components/schemas/Error"})
    return {status: {"description": _FAULTS[status], "content": error} for status in statuses}


_ONE = "/api/v1/monitors/{monitor}"
_PATHS = tuple(dict.fromkeys(each.path for each in QUESTIONS))
_BODIES = frozenset({"POST", "PATCH"})
_MONITOR = {"name": "monitor", "in": "path", "required": True, "schema": _TEXT}
_ERROR = {"type": "object", "required": ["error"], "properties": {"error": _TEXT}}
_BATCH = {
    "type": "object",
    "required": ["rows"],
    "additionalProperties": False,
    "properties": {
        "rows": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_PEOPLE,
            "description": "Each with exactly the columns that the monitor reads.",
            "items": {
                "type": "object",
                "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
            },
        },
        "ids": {
            "type": "array",
            "items": {**_TEXT, "maxLength": 200},
            "description": "Your own ids, one a row; kept for the flagged.",
        },
        "at": {**_TEXT, "format": "date-time", "description": "Your time; the server's own counts."},
        "persons": {
            "type": "array",
            "items": {**_TEXT, "maxLength": 200},
            "description": "Whom each row is about; counted once in the monitor's window.",
        },
        "scores": {
            "type": "array",
            "items": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
            "description": "The deployed model's own probability of the favorable outcome.",
        },
        "decisions": {
            "type": "array",
            "items": {"type": ["boolean", "null"]},
            "description": "Whether the decision was favorable.",
        },
        "protected": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": ["string", "null"]}},
            "description": "By protected attribute the value of each row.",
        },
    },
}
_OUTCOMES = {
    "type": "object",
    "required": ["outcomes"],
    "additionalProperties": False,
    "properties": {"outcomes": {"type": "object", "additionalProperties": {"type": "boolean"}}},
}
_WINDOW = {
    "type": "object",
    "additionalProperties": False,
    "description": "Either `last`, or `since` and `until` or one of them.",
    "properties": {
        "last": {"type": "integer", "minimum": 1, "maximum": MOST, "description": "The last so many people."},
        "since": {**_TEXT, "description": "A date or time, of UTC unless it says otherwise."},
        "until": {**_TEXT, "description": "A date or time; not included."},
        "outcomes": {"type": "boolean", "description": "Only people whose outcome is known, with it."},
        "audits": {
            "type": "array",
            "minItems": 1,
            "maxItems": 20,
            "items": {"type": ["string", "object"]},
            "description": "As in a spec; by default groups, rule_sets, and where rows are kept flipset.",
        },
        "title": {**_TEXT, "maxLength": 200},
    },
}
_ROW = {
    "type": "object",
    "required": ["sensitivity", "flagged", "score", "top"],
    "properties": {
        "sensitivity": {**_NUMBER, "minimum": 0},
        "flagged": {"type": "boolean"},
        "score": {**_NUMBER, "description": "Probability of the favorable outcome."},
        "top": {
            "type": "object",
            "additionalProperties": _NUMBER,
            "description": "The three features with the largest parts in the sensitivity.",
        },
        "id": _TEXT,
        "unseen": {"type": "array", "items": _TEXT},
    },
}
_MEASURED = {
    "type": "object",
    "required": ["batch", "people", "flagged", "threshold", "replayed", "alarms", "notes", "rows"],
    "properties": {
        "batch": _COUNT,
        "people": _COUNT,
        "counted": {**_COUNT, "description": "Without persons seen before within the window."},
        "flagged": _COUNT,
        "threshold": _NUMBER,
        "replayed": {"type": "boolean", "description": "It had been stored before, and was not again."},
        "alarms": {"type": "array", "items": _TEXT},
        "notes": {"type": "array", "items": _TEXT},
        "rows": {"type": "array", "items": _ROW},
    },
}
