"""The errors that reach a user, and the one way to word them."""

from __future__ import annotations

import contextlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from typing import Any, cast

_NOT_GIVEN = object()
_MAX_VALUE = 80

_EXTRAS = {
    "transport": {"ot"},
    "large": {"duckdb"},
    "onnx": {"onnx", "onnxruntime"},
    "train": {"sklearn"},
    "saved": {"sqlalchemy"},
    "app": {"streamlit", "starlette", "fastapi", "uvicorn"},
    "neural": {"torch", "safetensors", "fairlearn"},
    "postgres": {"psycopg"},
    "dask": {"dask", "distributed"},
    "remote": {"fsspec"},
    "boosters": {"xgboost", "lightgbm", "catboost", "skops"},
    "telemetry": {"opentelemetry"},
}
"""Packages that only some work needs, by the extra of this package that brings them."""

_CALLED = {"ot": "POT", "sklearn": "scikit-learn", "duckdb": "DuckDB", "sqlalchemy": "SQLAlchemy"}
"""What packages are called where that is not what they are imported as."""


class InputError(ValueError):
    """Something the user gave is wrong: what, where, and what to do, in one sentence.

    Parameters
    ----------
    where : str
        The argument, spec key, file or column at fault, as the user knows it
        (``"data.label"``, ``"threshold"``, ``"loans.csv, row 12"``).
    rule : str
        The rule that was broken, worded to follow `where` ("must lie in [0, 1]").
    value : object, optional
        What was received; shown shortened.
    advice : str, optional
        What to do about it.

    Examples
    --------
    >>> print(InputError("threshold", "must lie in [0, 1]", 1.5, "give a probability"))
    threshold must lie in [0, 1], got 1.5; give a probability.
    >>> print(InputError("rows.csv", "was not stored: the disk is full."))  # another's sentence at its end
    rows.csv was not stored: the disk is full.
    """

    def __init__(self, where: str, rule: str, value: object = _NOT_GIVEN, advice: str = "") -> None:
        self.where, self.rule, self.advice = where, rule, advice
        sentence = f"{where} {rule}"
        if value is not _NOT_GIVEN:
            sentence += f", got {_shorten(value)}"
        if advice:
            sentence += f"; {advice}"
        super().__init__(sentence.removesuffix(".") + ".")

    def moved(self, where: str) -> InputError:
        """Return the error as one about `where`, by which the user knows the same thing."""
        self.where, self.args = where, (f"{where}{str(self).removeprefix(self.where)}",)
        return self


class RunFailed(RuntimeError):
    """A run could not be finished for a reason that is not the user's input."""


@contextlib.contextmanager
def os_refusal(where: str, rule: str, value: object = _NOT_GIVEN, advice: str = "") -> Iterator[None]:
    """Have what the system refuses within told as an `InputError` by this rule, its reason in brackets."""
    try:
        yield
    except OSError as error:
        raise InputError(where, f"{rule} ({error.strerror or error})", value, advice) from None


@contextlib.contextmanager
def os_failure(sentence: str) -> Iterator[None]:
    """Have what the system refuses within told as `RunFailed` by this sentence, its reason in brackets."""
    try:
        yield
    except OSError as error:
        raise RunFailed(f"{sentence} ({error.strerror or error}).") from error


class RunCancelled(RuntimeError):
    """The user cancelled the run; raised by the progress callback to unwind the work."""


def how_to_install(package: str) -> str:
    """Return what to do about a package that is not installed.

    Examples
    --------
    >>> how_to_install("fsspec")
    "install it with: pip install 'evenhand[remote]'"
    """
    extra = _extra_of(package)
    if extra is None:
        return "install Evenhand again, with all that it needs"
    return f"install it with: pip install 'evenhand[{extra}]'"


def optional(package: str) -> bool:
    """Whether a package is one that only an extra brings."""
    return _extra_of(package) is not None


def _extra_of(package: str) -> str | None:
    root = package.split(".")[0]
    return next((name for name, packages in _EXTRAS.items() if root in packages), None)


def distribution_name(package: str) -> str:
    """Return what a package is called that is imported as `package`.

    Examples
    --------
    >>> distribution_name("sklearn.pipeline")
    'scikit-learn'
    """
    root = package.split(".")[0]
    return _CALLED.get(root, root)


def is_installed(package: str) -> bool:
    """Whether a package can be imported, without importing it."""
    if package in sys.modules:
        return True
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def not_installed(where: str, package: str) -> InputError:
    """Return the refusal of what needs a package that is not installed.

    Examples
    --------
    >>> print(not_installed("model.path", "onnx"))
    model.path needs onnx, which is not installed here; install it with: pip install 'evenhand[onnx]'.
    """
    return InputError(
        where,
        f"needs {distribution_name(package)}, which is not installed here",
        advice=how_to_install(package),
    )


def quoted(value: object) -> str:
    """Return a value as Python writes it, NumPy's and pandas' own kinds as the plain ones they stand for.

    Examples
    --------
    >>> import numpy as np
    >>> quoted(np.int64(3)), quoted([np.str_("f"), {"level": np.float64(0.5)}])
    ('3', "['f', {'level': 0.5}]")
    """
    return repr(_plain(value))


def _plain(value: Any) -> Any:
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    if library == "pandas" and hasattr(value, "isoformat"):
        return str(value)
    if library in {"numpy", "pandas"} and hasattr(value, "tolist"):
        return value.tolist()
    if kind in {list, tuple, set, frozenset}:
        return cast(Any, kind)(_plain(each) for each in value)
    return {_plain(key): _plain(each) for key, each in value.items()} if kind is dict else value


def _shorten(value: object) -> str:
    text = quoted(value)
    return text if len(text) <= _MAX_VALUE else text[: _MAX_VALUE - 1] + "…"


def beginning(error: Exception) -> str:
    """Return the first two sentences of what an error says."""
    said = re.split(r"(?<=[.!?])\s", " ".join(str(error).split()))
    return " ".join(said[:2])[:300].rstrip(".")


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says; its kind where it says nothing."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


class NeedsPeople(InputError):
    """Something needs every person of a table whose people are counted: where it can, it is read whole."""


def not_counted(where: str) -> NeedsPeople:
    """Return the refusal of what needs every person in a table whose people are only counted."""
    return NeedsPeople(
        where,
        "cannot be used with a table whose people are counted batch by batch",
        advice="leave it out, apply it to the file, or draw a sample",
    )
