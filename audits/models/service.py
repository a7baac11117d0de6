"""Asking a service for scores: rows go out as JSON, one answer a row comes back.

The request is ``POST`` with ``{"instances": [{column: value, …}, …]}``, which TensorFlow Serving and KServe
read too; the rows can stand under another key (MLflow reads ``dataframe_records``). The answer is a JSON
list with one entry a row, bare or under ``probabilities``, ``scores``, ``predictions`` or ``outputs``.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import urllib3

from audits.checks import choices
from audits.data.missing_markers import MissingCells
from audits.data.values import is_true, text_of
from audits.errors import InputError
from audits.models.protocol import need_columns, row_words

if TYPE_CHECKING:
    from audits.models.spec import Endpoint

_TOKEN = "EVENHAND_ENDPOINT_TOKEN"  # noqa: S105  (the variable's name)
_ANSWERS = ("probabilities", "scores", "predictions", "outputs")
_MAX_ANSWER = 64 * 2**20
_RETRIES = urllib3.Retry(
    total=3,
    redirect=0,  # an allowed host must not send us on to another
    status_forcelist=(429, 502, 503, 504),
    allowed_methods=None,  # scoring changes nothing: a POST can be said again
    backoff_factor=0.2,
    raise_on_status=False,
    raise_on_redirect=False,
    respect_retry_after_header=False,
)


@dataclass(frozen=True, eq=False)
class Service:
    """What answers at the address.

    Attributes
    ----------
    options : Endpoint
        From the spec.
    columns : tuple of str
        What is sent of each person.
    whole : frozenset of str
        Columns whose numbers are sent as integers where they are whole.
    truths : frozenset of str
        Columns of texts that all say true or false, as a CSV file has truth values: sent as these.
    written : Written
        What stands in cells that count as missing: it is sent that.
    sha256 : str
        Digest of what it is and answered.
    """

    options: Endpoint
    columns: tuple[str, ...]
    whole: frozenset[str]
    truths: frozenset[str] = frozenset()
    written: MissingCells = field(default_factory=MissingCells, repr=False)
    sha256: str = ""
    _pool: urllib3.PoolManager = field(repr=False, default_factory=urllib3.PoolManager)

    @property
    def name(self) -> str:
        """The model in words."""
        parts = urlsplit(self.options.url)
        return f"endpoint {parts.netloc}{parts.path}"

    def ask(self, frame: pd.DataFrame) -> np.ndarray:
        """Return one answer a row of `frame`: numbers (n,) or (n, k), or labels (n,); raises as `answers`."""
        return self.answers(frame)[0]

    def answers(self, frame: pd.DataFrame) -> tuple[np.ndarray, tuple[str, ...] | None]:
        """Return one answer a row of `frame` as `ask` does, and the classes that it gives answers by, if any.

        Raises
        ------
        InputError
            If a column is missing, the service cannot be reached, or it answers something else.
        """
        need_columns(frame, self.columns, self.name)
        frame = frame[list(self.columns)]
        frame = self.written.restore(frame, texts=frame.select_dtypes(["datetime", "datetimetz"]).columns)
        size = self.options.rows_at_once
        answers: list[Any] = []
        for start in range(0, len(frame), size):
            rows = frame.iloc[start : start + size]
            answers += self._answers(self._post(self._body(rows)), len(rows))
        return _together(answers, frame, self.name)

    def _body(self, rows: pd.DataFrame) -> bytes:
        columns = [self._plain(rows[name]) for name in self.columns]
        # JSON knows rows only one by one
        people = [dict(zip(self.columns, values, strict=True)) for values in zip(*columns, strict=True)]
        try:
            return json.dumps({self.options.rows_under: people}, allow_nan=False).encode()
        except ValueError:
            raise InputError(
                self.name, "cannot be sent infinite numbers", advice="drop or replace them in the data"
            ) from None

    def _plain(self, column: pd.Series) -> list[Any]:
        """Return the values of a column as JSON knows them, None where one is missing."""
        if column.name in self.truths:
            column = column.map(lambda value: is_true(str(value)), na_action="ignore")
        elif pd.api.types.is_datetime64_any_dtype(column):
            column = column.map(text_of, na_action="ignore")
        elif column.name in self.whole and pd.api.types.is_float_dtype(column):
            known = column.dropna()
            if np.isfinite(known).all() and (known == known.round()).all():
                column = column.astype("Int64")
        return column.astype(object).where(column.notna(), None).tolist()

    def _post(self, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if os.environ.get(_TOKEN):
            headers["Authorization"] = f"Bearer {os.environ[_TOKEN]}"
        try:
            response = self._pool.request(
                "POST",
                self.options.url,
                body=body,
                headers=headers,
                timeout=urllib3.Timeout(connect=5.0, read=self.options.timeout),
                retries=_RETRIES,
                preload_content=False,
            )
            content = response.read(_MAX_ANSWER + 1)
            response.drain_conn() if len(content) <= _MAX_ANSWER else response.close()
        except (urllib3.exceptions.HTTPError, OSError, UnicodeError) as error:
            raise InputError(
                "model.endpoint.url",
                f"must be the address of a service that answers ({_reason(error)})",
                self.options.url,
                "start the service, or correct the address",
            ) from None
        if len(content) > _MAX_ANSWER:
            raise InputError(self.name, f"must answer in at most {_MAX_ANSWER >> 20} MB")
        if response.status != 200:
            said = " ".join(content[:300].decode("utf-8", "replace").split())
            raise InputError(
                self.name,
                f"must answer with status 200, but answered {response.status}{': ' + said if said else ''}",
                advice=f"it is sent {{{self.options.rows_under!r}: [{{column: value, …}}, …]}}; "
                "name another key with model.endpoint.rows_under",
            )
        return content

    def _answers(self, content: bytes, n: int) -> list[Any]:
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            raise InputError(
                self.name, "must answer in JSON", content[:80].decode("utf-8", "replace")
            ) from None
        if isinstance(found, dict):
            key = next((key for key in _ANSWERS if key in found), None)
            if key is None:
                raise InputError(
                    self.name,
                    f"must answer a list, or an object with {choices(_ANSWERS)}, but it has {choices(found)}",
                )
            found = found[key]
        if not isinstance(found, list) or len(found) != n:
            count = f"{len(found):,} answers" if isinstance(found, list) else "no list"
            raise InputError(self.name, f"must give one answer a person, but gave {count} for {n:,} people")
        return found


def _together(
    answers: list[Any], frame: pd.DataFrame, name: str
) -> tuple[np.ndarray, tuple[str, ...] | None]:
    kinds = {type(answer) for answer in answers}
    if kinds == {dict} and all(answer.keys() == answers[0].keys() for answer in answers) and answers[0]:
        keys = tuple(answers[0])
        return _numbers([[answer[key] for key in keys] for answer in answers], name), keys
    if kinds <= {int, float, type(None)} or kinds == {list}:
        return _numbers(answers, name), None
    if kinds <= {str, bool}:
        return np.array(answers, dtype=object), None
    odd = np.array([type(answer) is not type(answers[0]) for answer in answers])
    where = f" ({row_words(frame, odd)} unlike the first)" if odd.any() else ""
    raise InputError(
        name,
        "must give everyone a number, a list of numbers, an object {class: probability} or a label, always "
        f"the same{where}",
        answers[0],
    )


def _numbers(answers: list[Any], name: str) -> np.ndarray:
    try:
        found = np.array(answers, dtype=np.float64)  # null becomes NaN, which is refused with its rows
    except (TypeError, ValueError, OverflowError):
        found = np.empty(0)
    if found.ndim not in {1, 2} or not found.size:
        raise InputError(name, "must give everyone numbers, and as many for each person", answers[0])
    if found.ndim == 1 and not any(type(answer) is float for answer in answers):
        return found.astype(np.int64) if np.isfinite(found).all() else found
    return found


def _reason(error: Exception) -> str:
    """Return what went wrong, in a few words."""
    inner = getattr(error, "reason", None) or error
    words = str(inner).split(": ", 1)[-1].split("\n")[0].strip().rstrip(".")
    return words[:150] or type(inner).__name__
