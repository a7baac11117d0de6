"""A monitor's bundle: all that a service needs to measure sensitivity, as JSON and safetensors.

Made from a finished audit. A network or a logistic regression is measured by its gradients; a model file,
and the trees of a forest or of boosting as plain arrays, are carried along and asked for scores, by finite
differences and swaps. One made of a table of predictions carries no model: scores or decisions come
with the rows, and nothing is measured. The bundle loads without torch, the data and Streamlit:

    bundle = MonitorBundle.load(Path("monitor"))
    scored = bundle.score([{"age": 39, "priors_count": 2, "c_charge_degree": "F"}])
    scored.sensitivity, scored.flagged, scored.top(0)
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from audits.data.preprocessing.groups import cut
from audits.data.row_encoder import RowEncoder, columns_of
from audits.data.values import MISSING_TEXTS, text_of
from audits.errors import InputError
from audits.monitor.profile import BatchContext, Look, Profile
from audits.sensitivity.measurement.gradients import (
    AuditedModel,
    Measured,
    Status,
    exceeds,
    measure,
    smoothing_noise,
)
from audits.sensitivity.monitor.models import CarriedModel, restore, unpack
from audits.sensitivity.monitor.networks import network_arrays, network_of, tables_of
from audits.sensitivity.monitor.reference import profile_of
from audits.sensitivity.result import SensitivityResult

if TYPE_CHECKING:
    from audits.models.subject import Subject

FORMAT, FORMAT_ONNX, FORMAT_TREES, FORMAT_BENT, FORMAT_FILE, FORMAT_TABLE = range(1, 7)
Measuring = Callable[[Mapping[str, Sequence[Any]], np.ndarray], Measured]
_REFERENCE = 1000
_PLAIN = ("people", "above", "threshold", "literal", "smooth", "smooth_noise", "known")


@dataclass(frozen=True, eq=False)
class Scored:
    """What a bundle says about n rows.

    Attributes
    ----------
    score : (n,)
        Probability of the favorable outcome.
    sensitivity, flagged : (n,)
    contributions : (n, c)
        Parts of the sensitivity by column of `columns`.
    unseen : dict of int to list of str
        By row the columns whose value the audit never saw; it counts as in the model: as no known one.
    points : (n, d), optional
        The rows as the networks see them.
    """

    score: np.ndarray
    sensitivity: np.ndarray
    flagged: np.ndarray
    contributions: np.ndarray
    columns: tuple[str, ...]
    unseen: dict[int, list[str]]
    points: np.ndarray | None = None

    def part(self, start: int, end: int) -> Scored:
        """Return what is said of the rows from `start` to before `end`."""
        rows = slice(start, end)
        return Scored(
            self.score[rows],
            self.sensitivity[rows],
            self.flagged[rows],
            self.contributions[rows],
            self.columns,
            {row - start: names for row, names in self.unseen.items() if start <= row < end},
            None if self.points is None else self.points[rows],
        )

    def top(self, row: int, most: int = 3) -> list[tuple[str, float]]:
        """Return the columns with the largest parts in a row's sensitivity, those above 0."""
        return self.part(row, row + 1).tops(most)[0]

    def tops(self, most: int = 3) -> list[list[tuple[str, float]]]:
        """Return `top` of every row."""
        order = np.argsort(-self.contributions, axis=1, kind="stable")[:, :most]
        values = np.take_along_axis(self.contributions, order, axis=1).tolist()
        names = self.columns
        return [
            [(names[k], value) for k, value in zip(places, row, strict=True) if value > 0]
            for places, row in zip(order.tolist(), values, strict=True)
        ]

    def described(self) -> list[dict[str, Any]]:
        """Return what is said of each row, as JSON has it."""
        values = (self.sensitivity.tolist(), self.flagged.tolist(), self.score.tolist(), self.tops())
        rows: list[dict[str, Any]] = [
            {"sensitivity": value, "flagged": flag, "score": score, "top": dict(top)}
            for value, flag, score, top in zip(*values, strict=True)
        ]
        for place, names in self.unseen.items():
            rows[place]["unseen"] = names
        return rows


@dataclass(frozen=True, eq=False)
class MonitorBundle:
    """See the module.

    Attributes
    ----------
    about : dict
        Plain facts: ``model`` (name, sha256, threshold), ``protected``, ``method``, ``note``.
    reads : tuple of str
        Columns that every row must have, and no others.
    encoding : list of dict
    audited : Audited, Carried or None
        A network, or a model that is asked for scores; none in a bundle of a table of predictions.
    statuses : tuple of Status
    reference : (k,)
        Sensitivities of the reference people: at most 1,000 evenly spaced quantiles, rising.
    people : int
        Reference people behind them.
    above : int
        How many of them lie above the threshold.
    threshold : float
    literal : bool
    smooth, smooth_noise
        As in `SensitivityOptions`.
    known : dict, optional
        What is kept of the audited people, from `profile_of`; None in bundles of older audits.
    """

    about: dict[str, Any]
    reads: tuple[str, ...]
    encoding: list[dict[str, Any]]
    audited: AuditedModel | CarriedModel | None
    statuses: tuple[Status, ...]
    reference: np.ndarray
    people: int
    above: int
    threshold: float
    literal: bool = False
    smooth: int = 0
    smooth_noise: float = 0.1
    known: dict[str, Any] | None = None

    @classmethod
    def of(cls, result: SensitivityResult, *, note: str = "") -> MonitorBundle:
        """Make the bundle of a finished audit.

        Raises
        ------
        InputError
            If the audited model cannot be carried along, or there is no threshold.
        """
        if result.threshold.value is None or result.unwatchable:
            raise InputError(
                "the audit",
                "must be of a model that a monitor can include",
                result.model["name"],
                result.unwatchable.removesuffix("."),
            )
        arrays = tables_of(result.parameters)
        good = arrays.pop("F.favorable", None)
        if result.estimated:
            audited: AuditedModel | CarriedModel | None = unpack(result.carried or {}, result.encoding)
        else:
            audited = AuditedModel(network_of(arrays, "F"), None if good is None else good.astype(bool))
        statuses = _statuses({name: result.status_groups[name] for name in result.protected}, arrays)
        values = np.sort(result.people["sensitivity"].to_numpy(dtype=float))
        ranks = np.linspace(0, len(values) - 1, min(_REFERENCE, len(values))).round().astype(int)
        options = result.options
        return cls(
            {
                "model": result.model,
                "protected": list(result.protected),
                "method": result.method,
                "mean": result.baseline.mean.value,
                "note": note,
            },
            result.reads,
            result.encoding,
            audited,
            statuses,
            values[ranks],
            len(values),
            int(np.count_nonzero(exceeds(values, result.threshold.value))),
            float(result.threshold.value),
            options["gradient"] == "literal",
            options["smooth"],
            options["smooth_noise"],
            result.profile,
        )

    @classmethod
    def of_predictions(cls, subject: Subject, *, inputs: bool = True, note: str = "") -> MonitorBundle:
        """Make the bundle of reference people whose scores or decisions are known, without the model.

        Scores are watched where they are probabilities of the favorable outcome, decisions always.

        Parameters
        ----------
        inputs : bool
            Whether the features are watched, and so sent.

        Raises
        ------
        InputError
            If rows come in clusters that are no persons.
        """
        subject, weights = _independent(subject)
        data, space = subject.data, subject.space
        reads = tuple(name for name in space.columns if name in data.features) if inputs else ()
        encoding = space.described() if inputs else []
        z = space.encode(data.frame) if inputs else np.zeros((data.n, 0))
        chance = subject.score_kind != "label" and subject.higher_is == "favorable"
        chance = chance and bool(((subject.scores >= 0) & (subject.scores <= 1)).all())
        known = profile_of(
            subject, space, z, subject.scores if chance else None, None, weights, encoding, reads
        )
        known |= {} if inputs else {"repeats": None}
        model = {"name": subject.model.name, "sha256": subject.model.sha256, "threshold": subject.threshold}
        column = getattr(subject.model, "column", None)
        columns = {"score" if chance or subject.score_kind != "label" else "decision": column}
        about = {
            "model": model,
            "protected": list(data.protected),
            "method": "",
            "mean": None,
            "note": note,
            "columns": columns,
            "favorable": [text_of(value) for value in data.favorable],
        }
        return cls(about, reads, encoding, None, (), np.zeros(1), data.n, 0, 1.0, known=known)

    @cached_property
    def encoder(self) -> RowEncoder:
        """How rows become points."""
        return RowEncoder(self.encoding, self.reads)

    @cached_property
    def profile(self) -> Profile | None:
        """What the audited people looked like."""
        return None if self.known is None else Profile(self.known, self.encoding, self.encoder.starts)

    @property
    def needs(self) -> str:
        """What has to be sent with each row, where no model is carried along: scores or decisions."""
        if self.audited is not None:
            return ""
        return "scores" if self.known is not None and "score" in self.known else "decisions"

    @property
    def groups(self) -> dict[str, list[str]]:
        """The groups that are watched, by protected attribute."""
        known = {} if self.known is None else self.known.get("groups", {})
        return {name: list(known[name]) for name in self.about["protected"] if known.get(name)}

    @property
    def bins(self) -> dict[str, list[float]]:
        """The edges at which the audit cut the numbers of a protected attribute."""
        return {} if self.known is None else self.known.get("bins", {})

    def group_names(self, attribute: str, values: Sequence[Any]) -> tuple[str | None, ...]:
        """Return the group of each value of a protected attribute as the audit named it; None for none.

        Numbers are cut where the audit cut them; names of groups stay. What a file would have as missing is
        no group, unless it was one in the audit.
        """
        missing = MISSING_TEXTS.difference(self.groups.get(attribute, ()))
        texts = [None if each is None or each != each else text_of(each) for each in values]
        names = [None if each in missing else each for each in texts]
        if attribute not in self.bins:
            return tuple(names)
        numbers = pd.to_numeric(pd.Series(names, dtype=object), errors="coerce").astype(float)
        binned = cut(numbers, self.bins[attribute])
        return tuple(binned.astype(object).where(numbers.notna(), pd.Series(names, dtype=object)).tolist())

    def look(self, scored: Scored) -> Look | None:
        """Hold measured rows against the audited people; None where nothing is known of those."""
        if self.profile is None or scored.points is None:
            return None
        return self.profile.look(scored.points, scored.unseen)

    def with_sent(self, scored: Scored, sent: BatchContext) -> Scored:
        """Return measured rows with the scores that were sent with them, where no model is carried along.

        Raises
        ------
        InputError
            If a row has neither the score nor the decision that this monitor needs.
        """
        name = self.needs
        if not name:
            return scored
        values = np.array(getattr(sent, name) or [None] * len(scored.score), dtype=float)
        lacking = np.flatnonzero(np.isnan(values))
        if len(lacking):
            rule = "is missing, and this monitor has no model to compute it"
            raise InputError(f"{name}[{lacking[0]}]", rule, advice=f"send {name}, one per row")
        return replace(scored, score=values)

    def sent_of(self, frame: pd.DataFrame) -> BatchContext:
        """Return what a table says beside its rows, by the columns of the table of reference predictions."""
        columns = self.about.get("columns", {})
        lacking = [name for name in columns.values() if name not in frame]
        if lacking:
            raise InputError("rows", "lack columns", lacking)
        known = {} if self.known is None else self.known["groups"]
        protected = {
            name: groups
            for name in self.about["protected"]
            if columns and name in frame
            for groups in [self.group_names(name, _values(frame[name]))]
            if {*groups} & {*known.get(name, ())}
        }
        scores: list[Any] = _values(frame[columns["score"]]) if "score" in columns else []
        favorable, decided = self.about.get("favorable", ()), columns.get("decision")
        decisions: list[Any] = (
            [None if each is None else text_of(each) in favorable for each in _values(frame[decided])]
            if decided
            else []
        )
        cut = None if self.known is None else self.known["threshold"]
        if scores and self.needs == "decisions" and self.known is not None and cut is not None:
            lower = self.known[
                "unfavorable"
            ]  # scores that are no chances say who is decided how, and no more
            decisions = [None if each is None else each < cut if lower else each >= cut for each in scores]
            scores = []
        return BatchContext(tuple(scores), tuple(decisions), (), protected)

    @cached_property
    def _noise(self) -> np.ndarray | None:
        return smoothing_noise(self.encoder.space.movable(), self.smooth, self.smooth_noise, seed=0)

    @cached_property
    def _blocks(self) -> list[slice]:
        starts = [*self.encoder.starts, self.encoder.width]
        return [slice(a, b) for a, b in pairwise(starts)]

    def score(self, rows: Sequence[Mapping[str, Any]] | pd.DataFrame) -> Scored:
        """Measure rows: mappings with exactly the columns `reads`, or a frame that has at least these.

        Raises
        ------
        InputError
            Naming row and column of the first value that is wrong.
        """
        if isinstance(rows, pd.DataFrame):
            missing = [name for name in self.reads if name not in rows.columns]
            if missing:
                raise InputError("rows", "lack columns", missing)
            columns = {name: _values(rows[name]) for name in self.reads}
            return self.score_columns(columns, len(rows))
        return self.score_columns(columns_of(rows, self.reads), len(rows))

    def score_columns(
        self, columns: Mapping[str, Sequence[Any]], n: int, measure: Measuring | None = None
    ) -> Scored:
        """Measure `n` rows given as columns; `measure` does so elsewhere, of the columns and their points."""
        z, unseen = self.encoder.encode(columns, n)
        with np.errstate(over="ignore", invalid="ignore"):
            found = (measure or self._measure)(columns, z)
        values = found.sensitivity if n else np.empty(0)
        bad = ~(np.isfinite(values) & np.isfinite(found.score)) if self.audited else np.zeros(n, dtype=bool)
        if bad.any():
            raise InputError(
                f"rows[{int(np.argmax(bad))}]", "must have numbers that the model gives a finite score for"
            )
        return Scored(
            found.score,
            values,
            exceeds(values, self.threshold),
            found.contributions,
            self.encoder.columns,
            unseen,
            z,
        )

    def _measure(self, columns: Mapping[str, Sequence[Any]], z: np.ndarray) -> Measured:
        if self.audited is None:
            n, parts = len(z), np.zeros((len(z), len(self.encoding)))
            return Measured(np.full(n, np.nan), np.zeros((n, 1)), parts, np.zeros(n))
        if isinstance(self.audited, CarriedModel):
            return self.audited.measure(columns, z, self.statuses, literal=self.literal)
        return measure(z, self.audited, self.statuses, self._blocks, literal=self.literal, noise=self._noise)

    def dump(self) -> tuple[str, bytes]:
        """Return the bundle as JSON text and safetensors bytes."""
        from safetensors.numpy import save

        audited, arrays = self.audited, dict[str, np.ndarray]()
        if isinstance(audited, AuditedModel):
            arrays |= network_arrays(audited.network, "F")
        elif audited is not None:
            arrays |= audited.arrays
        for status in self.statuses:
            arrays |= network_arrays(status.network, f"A:{status.attribute}")
        favorable, statuses = getattr(audited, "favorable", None), self.statuses
        document = {
            "format": _format_of(audited, arrays),
            "about": self.about,
            "reads": list(self.reads),
            "encoding": self.encoding,
            "favorable": None if favorable is None else favorable.tolist(),
            "statuses": [{"attribute": each.attribute, "groups": list(each.groups)} for each in statuses],
            **{name: getattr(self, name) for name in _PLAIN},
        }
        if isinstance(audited, CarriedModel):
            document["carried"] = audited.own
        weights = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        return json.dumps(document, ensure_ascii=False), save({**weights, "reference": self.reference})

    @classmethod
    def parse(cls, text: str, weights: bytes) -> MonitorBundle:
        """Read what `dump` gave.

        Raises
        ------
        InputError
            If it is no bundle, or one of another format.
        """
        from safetensors import SafetensorError
        from safetensors.numpy import load

        try:
            document = json.loads(text)
            if document["format"] not in range(FORMAT, FORMAT_TABLE + 1):
                raise InputError(
                    "bundle", f"must have a format from {FORMAT} to {FORMAT_TABLE}", document["format"]
                )
            arrays = load(weights)
            document.setdefault("known", None)  # of an older audit
            made = cls(
                document["about"],
                tuple(document["reads"]),
                document["encoding"],
                _read_model(document, arrays),
                _statuses({each["attribute"]: each["groups"] for each in document["statuses"]}, arrays),
                arrays["reference"],
                *(document[name] for name in _PLAIN),
            )
            networks = [status.network for status in made.statuses]
            networks += [made.audited.network] if isinstance(made.audited, AuditedModel) else []
            widths = {network.inputs for network in networks}
            if made.audited is not None and widths != {made.encoder.width}:
                raise InputError("bundle", "must have networks as wide as its encoding", sorted(widths))
            if made.profile is not None:
                made.profile.check()
        except (ValueError, KeyError, TypeError, IndexError, SafetensorError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                "bundle", f"is damaged or was not written by Evenhand ({type(error).__name__}: {error})"
            ) from None
        return made

    def save(self, folder: Path) -> None:
        """Write ``monitor.json`` and ``monitor.safetensors`` into `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        text, weights = self.dump()
        (folder / "monitor.json").write_text(text, encoding="utf-8")
        (folder / "monitor.safetensors").write_bytes(weights)

    @classmethod
    def load(cls, folder: Path) -> MonitorBundle:
        """Read what `save` wrote."""
        try:
            text = (folder / "monitor.json").read_text(encoding="utf-8")
            weights = (folder / "monitor.safetensors").read_bytes()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError("bundle", f"could not be read from {folder} ({error})") from None
        return cls.parse(text, weights)


def bundle_of(result: SensitivityResult, *, note: str = "") -> MonitorBundle:
    """Make the bundle of a finished audit: what the audit's record names."""
    return MonitorBundle.of(result, note=note)


def _independent(subject: Subject) -> tuple[Subject, np.ndarray]:
    """Return people who are independent, one row each, and for how many people each row (n,) speaks.

    Rows with sampling weights speak for the population as well as so many people of it drawn alike would.

    References
    ----------
    Kish (1965), Survey Sampling, section 11.7 (effective sample size).
    """
    data, design = subject.data, subject.data.design
    if design is None:
        return subject, data.row_weights
    if design.persons:
        subject = subject.one_row_each(np.random.default_rng(0))
        return subject, np.ones(subject.data.n)
    if design.clustered:
        rule = "must be independent people to be compared with those who come, but rows come in clusters"
        raise InputError("data", rule, advice="make the monitor of a table with one row per person")
    return subject, design.weights * design.weights.sum() / (design.weights**2).sum()


def packed_predictions(subject: Subject, *, note: str = "") -> dict[str, str]:
    """Return `MonitorBundle.of_predictions` as JSON carries it: ``text`` and ``weights``, in base 64."""
    text, weights = MonitorBundle.of_predictions(subject, note=note).dump()
    return {"text": text, "weights": base64.b64encode(weights).decode("ascii")}


def _format_of(audited: AuditedModel | CarriedModel | None, arrays: Mapping[str, np.ndarray]) -> int:
    """Return the format: whoever does not know what is in a bundle must not read it."""
    if audited is None:
        return FORMAT_TABLE
    if isinstance(audited, AuditedModel):
        return FORMAT_BENT if "F.bends" in arrays else FORMAT  # units other than ReLUs
    if audited.feeding is None:
        return FORMAT_TREES
    return FORMAT_FILE if "file" in arrays else FORMAT_ONNX


def _statuses(groups: Mapping[str, Sequence[str]], arrays: Mapping[str, np.ndarray]) -> tuple[Status, ...]:
    """Return what tells the groups of each attribute apart, from the arrays of its network."""
    return tuple(Status(name, tuple(own), network_of(arrays, f"A:{name}")) for name, own in groups.items())


def _read_model(
    document: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> AuditedModel | CarriedModel | None:
    if document["format"] == FORMAT_TABLE:
        return None
    good = None if document["favorable"] is None else np.array(document["favorable"], dtype=bool)
    if document["format"] in {FORMAT, FORMAT_BENT}:
        return AuditedModel(network_of(arrays, "F"), good)
    if good is None:
        raise InputError("bundle", "must say which classes are favorable")
    return restore(document["carried"], arrays, good, document["encoding"])


def _values(column: pd.Series) -> list[Any]:
    """A column's values as Python knows them, None where missing."""
    return column.astype(object).where(column.notna(), None).tolist()
