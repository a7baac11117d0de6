"""What one example set consists of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ExampleSet", "csv_bytes"]


@dataclass(frozen=True)
class ExampleSet:
    """One example set.

    Attributes
    ----------
    name : str
        Short name: ``NAME.yaml`` is its spec, ``NAME.csv`` its data.
    title, sentence : str
        For someone who has never audited a model: what it is about, and what there is to see.
    made : str
        How the rows came to be, with their number and the seed.
    columns : mapping
        Data file to (column to meaning).
    model : str
        The model that is audited.
    source : str
        Where the example comes from.
    known_truth : str
        What is true of it by construction, for comparison with what an audit says.
    spec_text : str
        The spec as YAML; paths are relative to the folder that the files are written to.
    build : callable
        Makes the data and model files anew: name to bytes.
    models : tuple of str
        Names of the model files.
    """

    name: str
    title: str
    sentence: str
    made: str
    columns: Mapping[str, Mapping[str, str]]
    model: str
    source: str
    known_truth: str
    spec_text: str
    build: Callable[[], dict[str, bytes]]
    models: tuple[str, ...] = ()

    @property
    def spec_file(self) -> str:
        """Name of the spec's file."""
        return f"{self.name}.yaml"

    @property
    def files(self) -> tuple[str, ...]:
        """Names of all its files: the spec, the data, the models."""
        return (self.spec_file, *self.columns, *self.models)

    @property
    def spec(self) -> dict[str, Any]:
        """The spec as plain data, a fresh copy at each call."""
        return yaml.safe_load(self.spec_text)

    def contents(self) -> dict[str, bytes]:
        """Make all its files anew: name to bytes, the same at every call."""
        return {self.spec_file: self.spec_text.encode(), **self.build()}


def csv_bytes(frame: pd.DataFrame, decimals: int | None = None) -> bytes:
    """Return `frame` as CSV; rounding keeps the last, machine-dependent digits out of the file."""
    if decimals is not None:
        frame = frame.round(decimals)
    counts = [
        column
        for column in frame.select_dtypes("float")
        if (frame[column].dropna() % 1 == 0).all()  # integers that a blank made floats
    ]
    text = frame.astype(dict.fromkeys(counts, "Int64")).to_csv(index=False, lineterminator="\n")
    return text.encode()
