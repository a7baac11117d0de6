"""A spec's file as commands read it: what it asks for fetched, and all of it checked."""

from __future__ import annotations

from pathlib import Path

from audits.runs.documents import load_document
from audits.runs.source.fetch import fetch_data
from audits.runs.spec import Spec, parse_spec


def read_spec(path: Path) -> Spec:
    """Return the spec in a file, whose paths start from its folder.

    Raises
    ------
    InputError
        If it cannot be read, what it asks for cannot be fetched, or anything in it is wrong.
    """
    folder = path.absolute().parent
    return parse_spec(fetch_data(load_document(path), folder, path.stem), folder)
