"""`AuditData`: the rows an audit works on, with label, groups, roles and what was left out."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from audits.checks import generator, one_of
from audits.data.kinds import Kind, Role
from audits.data.missing_markers import MissingCells
from audits.data.partition import (
    balanced_rows,
    content_keys,
    content_order,
    draw_people,
    held_out_strata,
    table_keys,
    with_counts,
)
from audits.data.spec import LabelCut, NumericOutcome
from audits.data.values import find_level, text_of
from audits.errors import InputError
from audits.stats.text import says_little

if TYPE_CHECKING:
    from audits.stats.design import Design

_NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class UnlabeledRows:
    """Rows left out because their label is missing: they count where decisions alone are compared.

    Attributes
    ----------
    frame, groups, weights, gathered
        Of these rows, as of `AuditData`.
    design : Design or None
        Of all rows, those with a label first.
    """

    frame: pd.DataFrame
    groups: pd.DataFrame
    weights: np.ndarray | None = None
    gathered: pd.DataFrame | None = None
    design: Design | None = None

    def beside(self, labeled: np.ndarray, n: int, positions: np.ndarray) -> UnlabeledRows | None:
        """Return some of these rows beside some of the `n` with a label; None without any."""
        if not len(positions):
            return None
        parts = {name: _at(getattr(self, name), positions) for name in _BY_ROW}
        return UnlabeledRows(**parts, design=_at(self.design, np.concatenate([labeled, n + positions])))


@dataclass(frozen=True)
class LeftOut:
    """People whom something leaves out.

    Attributes
    ----------
    share : float
        Of all people, or of the side of which more are left out beyond chance.
    missing : tuple of str
        The columns whose missing values are the reason; empty where filters look at values.
    uneven : tuple of str
        Sentences on groups of which more are left out than of others, beyond chance.
    """

    share: float
    missing: tuple[str, ...]
    uneven: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class AuditData:
    """A table ready for an audit. Made by `build_data`; arrays are aligned with `frame`'s rows.

    Attributes
    ----------
    frame : DataFrame (n, columns)
        The rows used, values as the user knows them, recodes applied. The index holds the user's
        row numbers (1-based for a file) and is named "row". Missing values are NaN or NaT.
    kinds : mapping of str to Kind
        The kind of every column of `frame`.
    features : tuple of str
        Columns that the model and the feature space read.
    protected : tuple of str
        Protected attributes, the columns of `groups`.
    groups : DataFrame (n, protected)
        The value of each protected attribute as text; binned ones as ``"[18, 25)"``, missing ones
        as ``"(missing)"``.
    label : str or None
        The label's column in `frame`; None when there is no label.
    favorable : tuple
        The raw label values that are good for the person.
    y : bool array (n,) or None
        Whether the row's label is favorable; None without a label.
    roles : mapping of str to Role
        The role of those columns that were given one; protected columns are immutable unless told.
    weights : float array (n,) or None
        How many people a row stands for (> 0); None means one each.
    missing : {"drop", "impute", "category"}
        What was done about missing values.
    rows_read : int
        Rows in the file; ``rows_read == n + sum(excluded.values())`` until rows are taken.
    excluded : mapping of str to int
        Rows left out by reason in words.
    imputed : mapping of str to int
        Cells filled by column.
    sha256 : str
        Digest of the source's bytes (of the content for a DataFrame).
    digest : str
        Digest of content and roles: equal digests mean equal audits. Rows taken from a larger
        table have a digest of their own, made from the table's and their positions.
    notes : tuple of str
        What the user should know, in sentences.
    orders : mapping of str to tuple of str
        Levels of the ordinal columns, lowest first, as text.
    bins : mapping of str to tuple of float
        Edges of the protected attributes that were cut into bins.
    cut : LabelCut or None
        How the label was made from a column of numbers, which `frame` holds as well.
    numeric : NumericOutcome or None
        Where the outcome is a number that is taken as it is: `label` and `y` are then None.
    written : Written
        What stands in the cells that are missing or filled in: what a model that was brought along is given.
    design : Design or None
        Where rows are not one independent person each: sampling weights, strata, clusters, persons with
        several rows. `weights` is then None.
    gathered : DataFrame or None
        Where a row stands for all rows of the table that agree in what is audited: what it was gathered from
        (`audits.data.groupby.count_rows`). `weights` then counts the people.
    labels : mapping of str to mapping
        What values of a column mean, by their text, as the spec says.
    among : Index or None
        Rows of those who are audited, where a model may learn from more; None: everyone.
    unlabeled : Unlabeled or None
        Rows without a label, which `everyone` adds; counted in `excluded`.
    left_out : tuple of LeftOut
        Whom filters and missing values leave out.
    custom_groups : tuple of str
        The protected attributes that rules or chosen rows make. Neither who is held out nor what is learned
        hangs on them, so that a group can be made without changing the model that it was seen in.
    """

    frame: pd.DataFrame
    kinds: Mapping[str, Kind]
    features: tuple[str, ...]
    protected: tuple[str, ...]
    groups: pd.DataFrame
    label: str | None
    favorable: tuple[object, ...]
    y: np.ndarray | None
    roles: Mapping[str, Role]
    weights: np.ndarray | None
    missing: str
    rows_read: int
    excluded: Mapping[str, int]
    imputed: Mapping[str, int]
    sha256: str
    digest: str
    notes: tuple[str, ...]
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bins: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    cut: LabelCut | None = None
    numeric: NumericOutcome | None = None
    written: MissingCells = field(default_factory=MissingCells)
    design: Design | None = None
    gathered: pd.DataFrame | None = None
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    among: pd.Index | None = None
    unlabeled: UnlabeledRows | None = None
    left_out: tuple[LeftOut, ...] = ()
    custom_groups: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Rows used."""
        return len(self.frame)

    @property
    def number(self) -> str | None:
        """The column of true numbers, cut into a label or taken as it is; None where there is none."""
        if self.cut is not None:
            return self.cut.column
        return None if self.numeric is None else self.numeric.column

    @property
    def rows(self) -> int:
        """Rows of the table that are used: as `n`, unless rows that agree were gathered."""
        return self.n if self.gathered is None else int(self.gathered["rows"].sum())

    @property
    def row_weights(self) -> np.ndarray:
        """How many people each row stands for, (n,) float64: 1 without weights."""
        return np.ones(self.n) if self.weights is None else np.asarray(self.weights, dtype=np.float64)

    @property
    def size(self) -> float:
        """People the rows stand for: the total weight, or `n` without weights."""
        return float(self.n) if self.weights is None else float(self.weights.sum())

    @property
    def people(self) -> float:
        """People of whom the rows are: persons, where several rows are of one; else `size`."""
        if self.design is not None and self.design.persons:
            return float(len(np.unique(self.design.cluster)))
        return self.size

    def take(self, positions: np.ndarray) -> AuditData:
        """Return some of the rows; what was left out before stays counted as it was.

        Parameters
        ----------
        positions : bool array (n,) or int array (k,)
            A mask, or positions from 0 in the wished order; a position may come more than once.

        Raises
        ------
        InputError
            If a mask has another length, or a position lies outside 0 to n - 1.
        """
        chosen = _positions(positions, self.n)
        if chosen.size == self.n and np.array_equal(chosen, np.arange(self.n)):
            return self
        mark = hashlib.sha256(self.digest.encode() + chosen.astype("<i8").tobytes())
        return dataclasses.replace(
            self,
            **{name: _at(getattr(self, name), chosen) for name in (*_BY_ROW, "y", "design")},
            digest=mark.hexdigest(),
            unlabeled=None,
        )

    @property
    def everyone(self) -> AuditData:
        """The rows with and without a label, those with one first, and no labels; itself where all do."""
        more = self.unlabeled
        if more is None:
            return self
        return dataclasses.replace(
            self,
            frame=pd.concat([self.frame, more.frame]),
            groups=pd.concat([self.groups, more.groups]),
            y=None,
            weights=None
            if self.weights is None or more.weights is None
            else np.concatenate([self.weights, more.weights]),
            design=more.design,
            gathered=None if self.gathered is None else pd.concat([self.gathered, more.gathered]),
            digest=hashlib.sha256(f"{self.digest} and without a label".encode()).hexdigest(),
            unlabeled=None,
        )

    def without_feature(self, column: str) -> AuditData:
        """Return the data without a column of predictions among the features.

        A prediction is about the person, it does not describe them.
        """
        if column not in self.features:
            return self
        digest = hashlib.sha256(f"{self.digest} without {column}".encode()).hexdigest()
        features = tuple(name for name in self.features if name != column)
        return dataclasses.replace(self, features=features, digest=digest)

    @property
    def without_custom_groups(self) -> AuditData:
        """The same rows, and of their groups those that are columns of the table."""
        if not self.custom_groups:
            return self
        protected = tuple(name for name in self.protected if name not in self.custom_groups)
        digest = hashlib.sha256(f"{self.digest} without {self.custom_groups}".encode()).hexdigest()
        groups = self.groups[list(protected)]
        return dataclasses.replace(self, protected=protected, groups=groups, digest=digest, custom_groups=())

    def with_unlabeled(self, mask: np.ndarray) -> AuditData:
        """Return the same rows, and of those without a label the ones that a mask picks."""
        return self.beside(self, np.ones(self.n, dtype=bool), mask)

    def beside(self, taken: AuditData, chosen: np.ndarray, more: np.ndarray) -> AuditData:
        """Return rows taken at `chosen` with the rows without a label that a mask picks."""
        if self.unlabeled is None:
            return taken
        kept = self.unlabeled.beside(np.flatnonzero(chosen), self.n, np.flatnonzero(more))
        return dataclasses.replace(taken, unlabeled=kept)

    @property
    def audited(self) -> AuditData:
        """The rows of those who are audited: all of them, unless `among` says otherwise.

        Raises
        ------
        InputError
            If none of them is among these rows.
        """
        if self.among is None:
            return self
        inside = self.frame.index.isin(self.among)
        if not inside.any():
            raise InputError("data.among", f"leaves nobody of the {self.n:,} people to audit")
        more = np.empty(0, dtype=bool)
        if self.unlabeled is not None:
            more = self.unlabeled.frame.index.isin(self.among)
        return self.beside(self.take(inside), inside, more)

    def members(self, where: Mapping[str, object], *, argument: str = "group") -> np.ndarray:
        """Return who belongs to a group, as a mask (n,) of bool.

        Parameters
        ----------
        where : mapping of protected attribute to value
            A value is compared as text ("1" matches 1); a list of values is their union;
            ``{"not": value}`` is everyone else, those with a missing value included. Several
            attributes mean their intersection, which may be empty.
        argument : str
            What a message calls the group: the option that names it.

        Raises
        ------
        InputError
            For no attribute at all, an attribute that is not protected, or a value that the data
            does not hold; suggests the nearest.
        """
        if not isinstance(where, Mapping) or not where:
            raise InputError(argument, "must name at least one protected attribute and its value", where)
        inside = np.ones(self.n, dtype=bool)
        for attribute, value in where.items():
            one_of(argument, attribute, self.protected, what="a protected attribute")
            inside &= self._has(attribute, value, argument)
        return inside

    def _has(self, attribute: str, value: object, argument: str) -> np.ndarray:
        values, negated = _condition_values(f"{argument}.{attribute}", value)
        column = self.groups[attribute]
        levels = sorted(column.unique())
        known = [
            find_level(
                f"{argument}.{attribute}",
                each,
                levels,
                rule=f"must be a value of {attribute!r} that people audited have",
            )
            for each in values
        ]
        return column.isin(known).to_numpy() != negated

    def split(
        self, test_size: float, rng: np.random.Generator | int | None = None
    ) -> tuple[AuditData, AuditData]:
        """Return a training and a held-out part, drawn at random, rows in their old order.

        Stratified by `y` and the protected attributes of the table, as far as sizes allow. A row that stands
        for several people may give some of them to either part. Neither the order of rows nor whether people
        with the same content are rows or counts decides how many of them are held out.

        Parameters
        ----------
        test_size : float in (0, 1)
            Share of people held out, rounded to whole people in each stratum.
        rng : Generator or int
            Same seed, same split.

        Raises
        ------
        InputError
            If `test_size` is outside (0, 1) or a part would be empty.
        """
        if not 0 < test_size < 1:
            raise InputError("data.test_size", "must lie between 0 and 1, both excluded", test_size)
        rng = generator(rng)
        if self.design is not None and self.design.clustered:
            return self._split_clusters(test_size, rng)
        held = self._held_out(test_size, rng)
        left = self.row_weights - held
        if not held.any() or not left.any():
            raise InputError("data.test_size", f"leaves one part empty with {self.n:,} rows", test_size)
        first, second = with_counts(self, left), with_counts(self, held)
        others = self.without_label
        if others is None:
            return first, second
        more = others._held_out(test_size, rng)
        second = self.beside(second, held > 0, more > 0)
        kept = second.unlabeled
        if kept is None or kept.weights is None:
            return first, second
        kept = dataclasses.replace(kept, weights=more[more > 0])
        return first, dataclasses.replace(second, unlabeled=kept)

    @property
    def without_label(self) -> AuditData | None:
        """The rows without a label, alone; None where all have one."""
        more = self.unlabeled
        if more is None:
            return None
        own = {name: getattr(more, name) for name in _BY_ROW}
        return dataclasses.replace(self, **own, y=None, design=None, unlabeled=None)

    def _held_out(self, test_size: float, rng: np.random.Generator) -> np.ndarray:
        """Return how many people of each row (n,) are held out."""
        sizes = np.ones(self.n) if self.weights is None else np.floor(self.weights)
        plain = self.without_custom_groups
        strata, wanted = held_out_strata(sizes, self.y, plain.groups, test_size)
        finer = content_keys(self) if self.custom_groups else None
        held = draw_people(sizes, content_keys(plain), strata, wanted, rng, finer=finer)
        if self.weights is not None and (self.weights != sizes).any():  # what is less than a person
            lot = np.empty(self.n)
            lot[content_order(self)] = rng.random(self.n)
            held += (self.weights - sizes) * (lot < test_size)
        return held

    def one_row_each(self, rng: np.random.Generator, told: np.ndarray | None = None) -> AuditData:
        """Return one row of each person, with a label or without, drawn at random: independent rows.

        Parameters
        ----------
        told : array (n, c), optional
            Of the rows of `everyone`, numbers of which each group keeps what all its rows add: see
            `audits.data.partition.balanced_rows`.

        References
        ----------
        Hoffman, Sen, Weinberg (2001), Biometrika 88:1121-1134 (within-cluster resampling, one draw of it).
        """
        assert self.design is not None  # noqa: S101 - the caller has looked
        # the order of the table decides nothing, nor do a model's scores, by which rows may be sorted
        whole = self.everyone
        assert whole.design is not None  # noqa: S101 - as `build_data` has it
        order, groups = content_order(whole, table_keys(whole)), whole.without_custom_groups.groups
        told = np.empty((whole.n, 0)) if told is None else told
        chosen = np.zeros(whole.n, dtype=bool)
        chosen[balanced_rows(whole.design.cluster, told, groups, order, rng)] = True
        labeled, others = np.split(chosen, [self.n])
        taken = self.beside(self.take(labeled), labeled, others)
        more = taken.unlabeled
        more = None if more is None else dataclasses.replace(more, design=None)
        return dataclasses.replace(taken, design=None, unlabeled=more)

    def _split_clusters(self, test_size: float, rng: np.random.Generator) -> tuple[AuditData, AuditData]:
        """Hold out whole clusters, so that nobody is both learned from and audited."""
        assert self.design is not None  # noqa: S101 - the caller has looked
        cluster, persons = self.design.cluster, len(np.unique(self.design.cluster))
        share, others = max(test_size, min(1 / persons, 0.5)), self.without_label  # at least one
        of_other = _NONE
        if others is not None:
            assert self.unlabeled is not None  # noqa: S101 - there are others
            assert self.unlabeled.design is not None  # noqa: S101 - as `build_data` has it
            cluster, of_other = np.split(self.unlabeled.design.cluster, [self.n])  # numbered together
        held = self._draw_persons(cluster, share, rng, others, of_other)
        if held.all() or not held.any():
            raise InputError("data.test_size", f"leaves one part empty with {persons:,} persons or clusters",
                             test_size)  # fmt: skip
        if others is None:
            return self.take(~held), self.take(held)
        more, unknown = np.isin(of_other, cluster[held]), ~np.isin(of_other, cluster)
        more[unknown] = others.take(unknown)._draw_persons(of_other[unknown], test_size, rng)
        return self.take(~held), self.beside(self.take(held), held, more)

    def _draw_persons(
        self,
        cluster: np.ndarray,
        share: float,
        rng: np.random.Generator,
        others: AuditData | None = None,
        of_other: np.ndarray = _NONE,
    ) -> np.ndarray:
        """Return who (n,) belongs to the persons or clusters drawn, as many of them as `share` says.

        Stratified by the groups of one row of each, which its content decides. Persons are alike whose rows
        are, those of `others` included.
        """
        present, code = np.unique(cluster, return_inverse=True)
        known = np.isin(of_other, present)
        places = np.concatenate([code, np.searchsorted(present, of_other[known])])

        def keys(each: AuditData, more: AuditData | None) -> tuple[np.ndarray, np.ndarray]:
            of_row = content_keys(each)
            unknown = np.empty(0, np.uint64) if more is None else content_keys(more)[known]
            of_person = np.zeros(len(present), dtype=np.uint64)
            np.add.at(of_person, places, np.concatenate([of_row, unknown]))
            return of_row, of_person

        plain = self.without_custom_groups
        of_row, alike = keys(plain, None if others is None else others.without_custom_groups)
        finer = keys(self, others)[1] if self.custom_groups else None
        by_content = np.argsort(of_row, kind="stable")
        first = by_content[np.unique(code[by_content], return_index=True)[1]]
        one = np.ones(len(present))
        strata, wanted = held_out_strata(one, None, plain.groups.iloc[first], share)
        return draw_people(one, alike, strata, wanted, rng, finer=finer)[code] > 0


def group_name(where: Mapping[str, object]) -> str:
    """Return a short name of a group for titles and tables.

    A value that says nothing by itself (a number, yes/no, a range) is shown with its attribute.

    Examples
    --------
    >>> group_name({"race": "African-American"})
    'African-American'
    >>> group_name({"sex": "Female", "age": "60-70"})
    'Female & 60-70'
    >>> group_name({"race": {"not": "Caucasian"}}), group_name({"race": ["Asian", "Other"], "married": 1})
    ('not Caucasian', 'Asian or Other & married 1')
    """
    names = []
    for attribute, value in where.items():
        values, negated = _condition_values(attribute, value)
        name = " or ".join(text_of(each) for each in values)
        if any(says_little(text_of(each)) for each in values):
            name = f"{attribute} {name}"
        if negated:
            name = f"not ({name})" if len(values) > 1 else f"not {name}"
        names.append(name)
    return " & ".join(names)


def named_with(attribute: str, group: str) -> str:
    """Return the short name of a group of one attribute, or of several joined by " × ", which names them.

    Examples
    --------
    >>> named_with("sex", "female"), named_with("married", "no"), named_with("sex × race", "female & Asian")
    ('female', 'married no', 'female & Asian')
    """
    return group if " × " in attribute else group_name({attribute: group})


def _condition_values(where: str, value: object) -> tuple[list[object], bool]:
    """Return the values a group condition lists and whether it excludes them."""
    negated = isinstance(value, Mapping)
    if isinstance(value, Mapping):
        if set(value) != {"not"}:
            raise InputError(where, 'must be a value, a list of values or {"not": value}', dict(value))
        value = value["not"]
    values = list(value) if isinstance(value, (list, tuple, set, frozenset, np.ndarray)) else [value]
    if not values:
        raise InputError(where, "must list at least one value", value)
    return values, negated


_BY_ROW = tuple(each.name for each in dataclasses.fields(UnlabeledRows) if each.name != "design")
"""What has an entry a row."""


def _at(part: Any, rows: np.ndarray) -> Any:
    """Return some rows of a frame, of an array or of a design; None stays."""
    if part is None:
        return None
    if isinstance(part, pd.DataFrame):
        return part.iloc[rows]
    return part[rows] if isinstance(part, np.ndarray) else part.take(rows)


def _positions(positions: np.ndarray, n: int) -> np.ndarray:
    positions = np.asarray(positions)
    if positions.dtype == bool:
        if positions.shape != (n,):
            raise InputError(
                "positions", f"must be a mask with one entry for each of {n:,} rows", positions.shape
            )
        return np.flatnonzero(positions)
    if positions.size == 0:
        return np.empty(0, dtype=np.int64)
    if positions.ndim != 1 or not np.issubdtype(positions.dtype, np.integer):
        raise InputError("positions", "must be a mask or a flat array of integers", positions)
    outside = positions[(positions < 0) | (positions >= n)]
    if outside.size:
        raise InputError("positions", f"must lie in 0 to {n - 1:,}", int(outside[0]))
    return positions.astype(np.int64)
