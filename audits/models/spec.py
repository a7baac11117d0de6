"""The `model` section of a spec: exactly one way to come by a model, checked in one sentence."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field

from audits.checks import Strict, allowed_address, build, choices, list_from
from audits.errors import InputError
from audits.models.formats import check_format, is_mlflow
from audits.models.predictions import HigherIs, Made

Train = Literal["logistic", "mlp", "forest", "boosting", "text", "project", "sensr", "reductions"]
PREDICT_LABELS = ("logistic", "mlp", "forest", "boosting")
"""Kinds trained here that can learn the label itself."""

_HOSTS = "EVENHAND_ENDPOINT_HOSTS"
_THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}


def endpoint_hosts() -> tuple[str, ...]:
    """Return the hosts that may be asked for scores: ``EVENHAND_ENDPOINT_HOSTS``, separated by commas.

    Where the variable is not set at all, this machine alone may be asked, under any port.
    """
    return list_from(_HOSTS)


@dataclass(frozen=True)
class Predictions(Strict):
    """A column of the data that holds scores or predicted labels.

    Attributes
    ----------
    score, label : str or None
        The column; exactly one of the two.
    higher_is : {"favorable", "unfavorable"}
        Whether a higher score is better or worse for the person. For a risk score, where it is
        worse, people below the threshold get the favorable decision; at the threshold they do not.
    made : {"held_out", "in_sample", "unknown"} or None
        Whether the model was trained on these people: not at all, yes, or unknown (the default). Stated with
        every accuracy.
    """

    score: str | None = None
    label: str | None = None
    higher_is: HigherIs = "favorable"
    made: Made | None = None


@dataclass(frozen=True)
class Endpoint(Strict):
    """A service that scores people over HTTP: see `audits.models.endpoint`.

    Attributes
    ----------
    url : str
        Its address; the host must be one of ``EVENHAND_ENDPOINT_HOSTS`` (unset: this machine).
    rows_under : str
        The key of the request that holds the rows.
    rows_at_once : int
        Largest number of rows in a request, at least 1.
    timeout : float
        Seconds to wait for an answer, above 0 and at most 600.
    version : str
        Any name for the current model at this address; results are saved under it.
    """

    url: str
    rows_under: Annotated[str, Field(min_length=1)] = "instances"
    rows_at_once: Annotated[int, Field(strict=True, ge=1, le=100_000)] = 1000
    timeout: Annotated[float, Field(gt=0, le=600)] = 30.0
    version: str = ""

    def check_host(self, where: str = "model.endpoint") -> None:
        """Raise `InputError` unless the host may be asked."""
        hosts = endpoint_hosts()
        if _HOSTS not in os.environ:
            with contextlib.suppress(ValueError):
                parts = urlsplit(self.url)
                hosts = (parts.netloc,) if parts.hostname in _THIS_MACHINE else ("127.0.0.1", "localhost")
        allowed_address(f"{where}.url", self.url, hosts, _HOSTS)


@dataclass(frozen=True)
class ModelSpec(Strict):
    """Where the model comes from: exactly one of `train`, `path`, `predictions` and `endpoint`.

    Attributes
    ----------
    train : str or None
        Train this kind of model here, on part of the data; audits use the rest. "text" learns from the words
        of the one text column among the features. "project", "sensr" and "reductions" are fair baselines:
        they use the protected attributes in training, but not in scoring unless they are features.
    path : str or None
        A model file (see `audits.models.formats`), relative to the spec file.
    predictions : Predictions or None
        A column of the data.
    endpoint : Endpoint or None
        A service to ask for scores.
    classes : tuple or None
        Label values in the order of the outputs, if a file or service does not name them, or wrongly.
    predict : {"label"} or None
        What a model trained here learns, or a file or service gives. By default: whether the outcome is
        favorable. ``"label"``: the label itself, which is each of its values if there are more than two, or
        the number that `data.label` cuts.
    columns : tuple of str, or mapping of str to tuple of str, or None
        Columns that a file reads by position, in the order it was trained on. For a file with several inputs:
        the columns of each, by the input's name. For an endpoint: the columns to send (default: features).
    output : {"probabilities", "logits"} or None
        What a file or endpoint gives; ``"logits"`` are log-odds.
    made : {"held_out", "in_sample", "unknown"} or None
        Whether a file or endpoint was trained on the people of these data; see `Predictions`.
    """

    train: Train | None = None
    path: str | None = None
    predictions: Predictions | None = None
    endpoint: Endpoint | None = None
    classes: tuple[bool | int | float | str, ...] | None = None
    predict: Literal["label"] | None = None
    columns: tuple[str, ...] | dict[str, tuple[str, ...]] | None = None
    output: Literal["probabilities", "logits"] | None = None
    made: Made | None = None

    def check(self, where: str = "model") -> None:
        """Raise `InputError` unless exactly one source is given, and one that can be used."""
        sources = ("train", "path", "predictions", "endpoint")
        given = [name for name in sources if getattr(self, name) is not None]
        if len(given) != 1:
            advice = f"give one of {choices(sources)}"
            found = f"has {' and '.join(given)}" if given else "has none"
            raise InputError(
                where, f"must say in exactly one way where the model comes from, but {found}", advice=advice
            )
        if self.endpoint is not None and not self.endpoint.url.startswith(("http://", "https://")):
            raise InputError(
                f"{where}.endpoint.url", "must begin with http:// or https://", self.endpoint.url
            )
        for name in ("classes", "columns", "output", "made"):
            if getattr(self, name) is not None and self.path is None and self.endpoint is None:
                raise InputError(
                    f"{where}.{name}",
                    "only applies to a model file or endpoint",
                    advice="write it under model.predictions"
                    if name == "made" and self.predictions
                    else "leave it out",
                )
        if self.columns is not None and not self.columns:
            raise InputError(f"{where}.columns", "must name at least one column")
        if self.endpoint is not None and isinstance(self.columns, dict):
            raise InputError(f"{where}.columns", "must be a list of columns for an endpoint", self.columns)
        if self.predict is not None and self.train not in {None, *PREDICT_LABELS}:
            raise InputError(
                f"{where}.predict",
                f"is for {choices(PREDICT_LABELS)}, model files and endpoints; {self.train!r} learns "
                "favorable or not",
                advice="leave it out",
            )
        if self.predict is not None and self.predictions is not None:
            raise InputError(
                f"{where}.predict", "does not apply to a column of predictions", advice="leave it out"
            )
        if self.path is not None and not self.path.strip():
            raise InputError(f"{where}.path", "must name a model file", self.path)
        if self.path is not None and (Path(self.path).suffix or is_mlflow(self.path)):
            check_format(self.path, f"{where}.path")
        if self.predictions is not None:
            _check_predictions(self.predictions, f"{where}.predictions")


def model_spec(section: Mapping[str, Any], where: str = "model") -> ModelSpec:
    """Build and check a `ModelSpec` from a spec's plain `model` section.

    Raises
    ------
    InputError
        For the first key or value at fault, or unless exactly one usable source is given.

    Examples
    --------
    >>> model_spec({"predictions": {"score": "decile_score", "higher_is": "unfavorable"}}).predictions.score
    'decile_score'
    """
    for key, line in {"predictions": "{{score: {0}}} or {{label: {0}}}", "endpoint": "{{url: {0}}}"}.items():
        if isinstance(section, Mapping) and isinstance(section.get(key), str):
            value = section[key]
            raise InputError(
                f"{where}.{key}", "must be a mapping", value, f"write {key}: {line.format(value)}"
            )
    spec = build(ModelSpec, section, where)
    spec.check(where)
    return spec


def _check_predictions(predictions: Predictions, where: str) -> None:
    if (predictions.score is None) == (predictions.label is None):
        raise InputError(where, "must name exactly one column, as {score: column} or {label: column}")
    if predictions.label is not None and predictions.higher_is != "favorable":
        raise InputError(f"{where}.higher_is", "only applies to scores", advice="leave it out")


def model_path(path: str, base_dir: Path, where: str = "model.path") -> Path:
    """Return the model file that `path`, relative to `base_dir`, names.

    Raises
    ------
    InputError
        If it is of a format that is refused or does not exist.
    """
    found = base_dir / path
    check_format(path, where, folder=(found / "MLmodel").exists())
    if not found.is_file():
        raise InputError(
            where,
            "must name an existing file",
            path,
            f"relative names are looked up in {'the current folder' if base_dir == Path() else base_dir}",
        )
    return found
