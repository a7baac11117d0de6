"""The `data` section of a spec: which table, which rows, which label, which groups."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from audits.checks import Strict, adapter
from audits.data.io.tables import ReadOptions
from audits.data.kinds import Kind, Role
from audits.errors import InputError
from audits.stats.vocabulary import DataWords


def _scalar(value: Any) -> Any:
    if not isinstance(value, (str, int, float, datetime.date)):
        raise PydanticCustomError("scalar", "must be a text, a number or a date")
    return value


Scalar = Annotated[bool | int | float | datetime.date | str, BeforeValidator(_scalar)]
Number = int | float
Bound = Annotated[int | float | datetime.date | str, BeforeValidator(_scalar)]


@dataclass(frozen=True)
class Keep(Strict):
    """One row filter; exactly one condition besides `column`.

    Attributes
    ----------
    column : str
        A column of the table, after recodes.
    between : (low, high), optional
        Both ends included.
    within : tuple, optional
        "in" in a spec: one of these values, compared as text.
    not_in : tuple, optional
        None of these values.
    at_least, at_most : number or date, optional
        Bounds, inclusive.
    above, below : number or date, optional
        Bounds, exclusive.
    not_missing : True, optional
        Any value.
    missing : True, optional
        The cell holds no value.

    A row whose value is missing fails every condition but `not_in` and `missing`.
    """

    column: str
    between: tuple[Bound, Bound] | None = None
    within: Annotated[tuple[Scalar, ...] | None, Field(alias="in")] = None
    not_in: tuple[Scalar, ...] | None = None
    at_least: Bound | None = None
    at_most: Bound | None = None
    above: Bound | None = None
    below: Bound | None = None
    not_missing: Literal[True] | None = None
    missing: Literal[True] | None = None


DatePart = Literal["year", "month", "weekday", "hour", "days", "years"]


@dataclass(frozen=True)
class Recode(Strict):
    """New values for old ones, in a new column or in place; or a column that says who belongs to a group.

    Attributes
    ----------
    mapping : mapping
        "map" in a spec: old value to new value. Old values are compared as text; a new value of null means
        missing. Values that it does not name stay as they are, and are counted in the notes.
    source : str, optional
        "from" in a spec: the column to read; by default the one with the same name as the recode.
    where : tuple of Keep
        Instead of a map: the column holds its own name in rows that meet all of these conditions, and
        "everyone else" in the others.
    rows : tuple of int or str
        Row numbers ("9-14" means all from 9 to 14): only these rows can belong to the group.
    take : {"year", "month", "weekday", "hour", "days", "years"}, optional
        Instead of a map: the part to take from a column of dates. Days and whole years, such as an age, count
        from that date to `until`.
    until : str, optional
        A column of dates, or a date such as 2024-12-31.
    """

    mapping: Annotated[Mapping[Scalar, Scalar | None], Field(alias="map", default_factory=dict)]
    source: Annotated[str | None, Field(alias="from")] = None
    where: tuple[Keep, ...] = ()
    rows: tuple[int | str, ...] = ()
    take: DatePart | None = None
    until: str | None = None

    @property
    def is_group(self) -> bool:
        """Whether it says who belongs to a group."""
        return bool(self.where or self.rows)


@dataclass(frozen=True)
class LabelCut(Strict):
    """A label made from a number: true where the condition holds. True is favorable by default."""

    column: str
    at_least: Number | None = None
    at_most: Number | None = None
    above: Number | None = None
    below: Number | None = None

    @property
    def name(self) -> str:
        """Name of the column made: ``"gpa >= 3"``."""
        sign, _, bound = self._condition
        return f"{self.column} {sign} {bound:g}"

    @property
    def side(self) -> str:
        """The side that the cut calls true, in words: ``"at least 3"``."""
        _, words, bound = self._condition
        return f"{words} {bound:g}"

    @property
    def bound(self) -> float:
        """The number where it cuts."""
        return float(self._condition[2])

    @property
    def _condition(self) -> tuple[str, str, Number]:
        """Return its condition as a sign and in words, and its bound."""
        told = (
            (">=", "at least", self.at_least),
            ("<=", "at most", self.at_most),
            (">", "above", self.above),
            ("<", "below", self.below),
        )
        return next((sign, words, bound) for sign, words, bound in told if bound is not None)


@dataclass(frozen=True)
class NumericOutcome:
    """An outcome that is a number, taken as it is: pay, days, scores, loss.

    Attributes
    ----------
    favorable : {"high", "low"}
        Which numbers are good for the person.
    column : str or None
        The column of true numbers; None where none is known.
    name : str
        What sentences call it: the label, or without one the column that is audited.
    units : mapping of str to str
        What columns are counted in (``{"wage": "$ an hour"}``), as far as the spec says.
    """

    favorable: Literal["high", "low"] = "high"
    column: str | None = None
    name: str = "number"
    units: Mapping[str, str] = field(default_factory=dict)

    @property
    def unit(self) -> str:
        """What it is counted in; empty where the spec does not say."""
        return self.units.get(self.name, "")

    @property
    def sign(self) -> float:
        """1.0 where a higher number is better for the person, -1.0 where a lower one is."""
        return 1.0 if self.favorable == "high" else -1.0


@dataclass(frozen=True)
class Weights(Strict):
    """What a column of weights means.

    Attributes
    ----------
    column : str
        The column of weights.
    kind : {"counts", "sampling"}, optional
        counts: how many people a row represents. sampling: survey weights, where a row is still one person.
        If left out, weights must look like counts: whole and mostly repeated, or the cells of a cross table.
    strata, cluster : str, optional
        Columns with the strata and clusters of a survey.
    """

    column: str
    kind: Literal["counts", "sampling"] | None = None
    strata: str | None = None
    cluster: str | None = None


@dataclass(frozen=True)
class DataSpec(Strict):
    """What to audit: the spec's `data` section.

    Attributes
    ----------
    path : str or tuple of str, optional
        A file, a list of files with the same columns, or a Parquet folder. None for a table in memory.
    query : str, optional
        One SELECT whose answer becomes the file `path`: over files, in DuckDB's SQL, or over `database`.
    database : str, optional
        Environment variable with the SQLAlchemy address of the database.
    address : str, optional
        Where to fetch the file `path` from: https://, s3://, gs://.
    format : str, optional
        "csv", "tsv", "parquet", "arrow", "xlsx" or "jsonl"; detected if left out.
    read : ReadOptions
        How to read the file.
    keep : tuple of Keep
        Row filters, applied after the recodes.
    among : tuple of Keep
        Row filters that only apply to who is audited: a model trained here learns from everyone.
    recode : mapping of str to Recode
        New or changed columns.
    label : str or LabelCut, optional
        The outcome column, or a cut of a numeric one.
    favorable : value or tuple of values, optional
        Label values that are good for the person. With a cut, true by default; for a numeric outcome, high
        (the default) or low.
    outcome : {"numeric"}, optional
        The outcome is a number that is used as it is: pay, days, loss. By default it is favorable or not.
    protected : tuple of str
        Protected attributes.
    features : tuple of str, optional
        What models read. By default all columns but label, protected attributes, weights, identifiers and
        text. A protected attribute is a feature only if named here.
    kinds : mapping of str to Kind
        Kinds of columns, where the detected kind is wrong.
    orders : mapping of str to tuple of str
        Levels of ordinal columns, lowest first, where the order cannot be detected.
    roles : mapping of Role to tuple of str
        Which columns a person can change.
    bins : mapping of str to tuple of float, or int
        Edges at which to cut numeric protected attributes: [a, b), the last [a, b]. A number of bins cuts
        at quantiles, into bins of about the same number of people.
    weights : str or Weights, optional
        Column of counts (how many people a row represents), or of sampling weights if `kind` says so.
    person : str, optional
        Column that repeats for one person: rows of one person then do not count as separate evidence.
    missing : {"category", "drop", "impute"}
        What to do about missing feature values ("drop" also drops rows with missing protected ones).
    repeated : {"keep", "drop"}, optional
        Whether to leave out rows that repeat another in every column. By default they are kept, with a note
        if there are many.
    labels : mapping of str to mapping
        What the values of a column mean (``{sex: {1: male, 2: female}}``): these names appear everywhere.
        Your own model gets the values as they are in the file.
    words : DataWords, optional
        What sentences call people, decisions and groups.
    units : mapping of str to str
        What a column of numbers is measured in (``{income: EUR a year}``): shown beside the values of one
        person.
    mended : tuple of str
        What was fixed before the audit, in sentences: kept with the data.
    test_size : float
        Share held out when a model is trained here.
    draw : int, optional
        Rows to sample from a Parquet table, with label and protected attributes in proportion. By default
        200,000 if a table is too large for memory, unless everything asked for can be counted in it.
    """

    path: str | tuple[str, ...] | None = None
    query: str | None = None
    database: str | None = None
    address: str | None = None
    format: Literal["csv", "tsv", "parquet", "arrow", "xlsx", "jsonl"] | None = None
    read: ReadOptions = field(default_factory=ReadOptions)
    keep: tuple[Keep, ...] = ()
    among: tuple[Keep, ...] = ()
    recode: Mapping[str, Recode] = field(default_factory=dict)
    label: str | LabelCut | None = None
    favorable: tuple[Scalar, ...] | Scalar | None = None
    outcome: Literal["numeric"] | None = None
    protected: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    roles: Mapping[Role, tuple[str, ...]] = field(default_factory=dict)
    bins: Mapping[str, tuple[float, ...] | int] = field(default_factory=dict)
    weights: str | Weights | None = None
    person: str | None = None
    missing: Literal["drop", "impute", "category"] = "category"
    repeated: Literal["keep", "drop"] | None = None
    labels: Mapping[str, Mapping[Scalar, str]] = field(default_factory=dict)
    words: DataWords | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    mended: tuple[str, ...] = ()
    test_size: Annotated[float, Field(gt=0, lt=1)] = 0.3
    draw: Annotated[int, Field(ge=1000, le=5_000_000)] | None = None

    @property
    def weighing(self) -> Weights | None:
        """The weights, whichever way they were written; None without."""
        return Weights(self.weights) if isinstance(self.weights, str) else self.weights

    @property
    def cut(self) -> LabelCut | None:
        """The cut that makes the label; None where the label is a column as it is."""
        return self.label if isinstance(self.label, LabelCut) else None

    @property
    def label_column(self) -> str | None:
        """The column of the label, or that it is cut from."""
        return self.label.column if isinstance(self.label, LabelCut) else self.label

    @property
    def origin(self) -> list[str]:
        """Where the file was fetched from, in a sentence; nothing of a file that simply lay there."""
        if self.query is None and self.address is None:
            return []
        asked = "of DuckDB" if self.database is None else f"of the database in {self.database}"
        source = f"the answer {asked} to data.query" if self.address is None else f"what {self.address} gave"
        return [f"The table is {source}, kept in {self.path}."]

    @property
    def design_columns(self) -> tuple[str, ...]:
        """Columns that say who counts as one: weights, strata, clusters, persons."""
        weighing = self.weighing
        told = () if weighing is None else (weighing.column, weighing.strata, weighing.cluster)
        return tuple(dict.fromkeys(name for name in (*told, self.person) if name is not None))

    def to_dict(self) -> dict[str, Any]:
        """Return the section as plain data, as a spec file has it; defaults left out."""
        return adapter(DataSpec).dump_python(self, mode="json", by_alias=True, exclude_defaults=True)


def check_spec(spec: DataSpec, where: str = "data") -> None:
    """Raise InputError for the first contradiction inside a `DataSpec`."""
    if spec.database is not None and spec.query is None:
        raise InputError(f"{where}.database", "needs data.query", advice="write the SELECT to ask it")
    for key in ("query", "address"):
        if getattr(spec, key) is not None and spec.path is None:
            raise InputError(
                f"{where}.{key}", "is fetched on the command line and by evenhand.check only",
                advice="run it there, or name the file that it gave in data.path",
            )  # fmt: skip
    filters = {f"{where}.keep": spec.keep, f"{where}.among": spec.among}
    filters |= {f"{where}.recode.{name}.where": each.where for name, each in spec.recode.items()}
    for place, rules in filters.items():
        check_rules(rules, place)
    if spec.cut is not None:
        _check_one(spec.cut, f"{where}.label")
    if spec.outcome == "numeric":
        _check_numeric(spec, where)
    weighing = spec.weighing
    apart = {
        "label": spec.label_column,
        "weights": None if weighing is None else weighing.column,
        "persons": spec.person,
    }
    for name, columns in (("features", spec.features or ()), ("protected", spec.protected)):
        _check_once(columns, f"{where}.{name}", "must name each column once")
        for what, column in apart.items():
            if column is not None and column in columns:
                rule = f"must not hold the column of {what}"
                raise InputError(f"{where}.{name}", rule, column, "remove it there")
    for column, edges in spec.bins.items():
        _check_bins(spec, column, edges, f"{where}.bins.{column}")
    if weighing is not None and weighing.kind != "sampling":
        if weighing.strata is not None or weighing.cluster is not None:
            raise InputError(
                f"{where}.weights.kind", "must be 'sampling' where strata or clusters are named", "counts"
            )
        if spec.person is not None:
            raise InputError(
                f"{where}.person",
                "cannot be combined with counts: a row that represents many people is not one person",
                spec.person,
                "leave out one of the two, or say weights: {column: ..., kind: sampling}",
            )
    _check_once(chain.from_iterable(spec.roles.values()), f"{where}.roles", "must give a column one role")
    for column in spec.orders:
        if spec.kinds.get(column) != "ordinal":
            raise InputError(
                f"{where}.orders.{column}", "needs the column's kind to be ordinal in data.kinds"
            )


def _check_once(columns: Iterable[str], where: str, rule: str) -> None:
    for column, count in Counter(columns).items():
        if count > 1:
            raise InputError(where, rule, column)


def check_rules(rules: Sequence[Keep], where: str) -> None:
    """Raise InputError for the first row filter that has not exactly one condition that can be met."""
    for i, rule in enumerate(rules):
        _check_one(rule, f"{where}[{i}]")
        if rule.between is not None and _ends_swapped(*rule.between):
            raise InputError(f"{where}[{i}].between", "must go from low to high", list(rule.between))


def _check_one(rule: Keep | LabelCut, where: str) -> None:
    conditions = [name for name in type(rule).__dataclass_fields__ if name != "column"]
    given = [name for name in conditions if getattr(rule, name) is not None]
    if len(given) != 1:
        names = ", ".join("in" if name == "within" else name for name in conditions)
        raise InputError(where, f"must have exactly one of {names}", len(given))
    bounds = getattr(rule, given[0])
    for bound in bounds if isinstance(bounds, tuple) else (bounds,):
        if isinstance(bound, float) and not math.isfinite(bound):
            raise InputError(f"{where}.{given[0]}", "must be finite", bound)


def _ends_swapped(low: Any, high: Any) -> bool:
    comparable = isinstance(low, Number) and isinstance(high, Number)
    return (comparable or type(low) is type(high)) and low > high


def _check_numeric(spec: DataSpec, where: str) -> None:
    """Raise InputError where a numeric outcome is cut as well, or its good end is not named."""
    if spec.cut is not None:
        raise InputError(
            f"{where}.label",
            "must not be cut where the outcome is numeric",
            spec.cut.name,
            f"write label: {spec.cut.column}, or leave out outcome",
        )
    if spec.favorable not in {None, "high", "low"}:
        raise InputError(
            f"{where}.favorable", "must be high or low where the outcome is numeric", spec.favorable
        )


MAX_QUANTILE_BINS = 20
"""The most bins that `bins` may ask for by number."""


def _check_bins(spec: DataSpec, column: str, edges: tuple[float, ...] | int, where: str) -> None:
    if column not in spec.protected:
        raise InputError(where, "must name a protected attribute", column, "add it to data.protected")
    if isinstance(edges, int):
        if not 2 <= edges <= MAX_QUANTILE_BINS:
            rule = f"must be edges, or a number of bins from 2 to {MAX_QUANTILE_BINS}"
            raise InputError(where, rule, edges, f"write [LOWEST, {edges}, HIGHEST] for an edge")
        return
    if len(edges) == 1:
        line = f"[LOWEST, {edges[0]:g}, HIGHEST]"
        raise InputError(where, "must be edges, from the lowest to the highest", list(edges), f"write {line}")
    rising = all(a < b for a, b in pairwise(edges))
    if len(edges) < 2 or not rising or not all(map(math.isfinite, edges)):
        raise InputError(where, "must be at least two finite edges, each above the one before", list(edges))
