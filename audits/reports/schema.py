"""The JSON schema of results.json: what every run states, and what each audit's record adds."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from audits.runs.registry import AUDITS


def results_schema() -> dict[str, Any]:
    """Return the schema, with the keys of every audit that is known here: ours, and those of other packages.

    Raises
    ------
    InputError
        If a package brings an audit that cannot be loaded: names the package.
    """
    text = files("audits.reports").joinpath("results.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    schema["$defs"]["audit"]["allOf"] = [
        {"if": {"properties": {"audit": {"const": name}}}, "then": dict(keys)}
        for name, audit in AUDITS.items()
        if (keys := audit.result_keys())
    ]
    return schema
