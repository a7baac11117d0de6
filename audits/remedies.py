"""One call from Python that treats your own estimator and says what each treatment costs.

`mitigate` is the public name ``evenhand.mitigate``. It fits the estimator on one part of the people, treats
it in every way that it allows, judges all of them on those held out by the audit `mitigation`, and gives the
chosen one back as an estimator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from audits.arguments import JoinedTable, is_matrix, plain_values, protected_of
from audits.checks import one_of
from audits.data import AuditData, build_data, data_spec
from audits.data.adapters import GivenTable, Reader, given_table
from audits.errors import InputError, beginning
from audits.findings import Findings
from audits.mitigation.audit import mitigation
from audits.mitigation.frontier import BOUNDS, SHARES, Candidate, subject_on
from audits.mitigation.options import MitigationOptions
from audits.mitigation.result import FrontierPoint
from audits.models import Model, Subject, model_facts
from audits.models.in_memory import in_memory_model, model_columns, name_of
from audits.models.subject import subject_of
from audits.models.trained.training import check_parts, check_trainable
from audits.progress import Progress, silent
from audits.runs.documents import plain_data
from audits.runs.executors.threads import fixed_threads
from audits.runs.result import AuditResult, data_facts
from audits.runs.spec import audit_request
from audits.runs.version import VERSION


@dataclass(frozen=True, eq=False, repr=False)
class Mitigation(Findings):
    """What `mitigate` found: a `Findings` of the audit `mitigation`, with the estimators behind its frontier.

    Attributes
    ----------
    estimator : object
        The chosen one, fitted: `predict`, `predict_proba` and `clone` as of scikit-learn.
    reads : list of str
        The columns of X that the chosen one reads: ``found.estimator.predict(X[found.reads])``.
    estimators, columns : tuple
        One for each point of the frontier, in its order, and what it reads.
    not_made : mapping of str to str
        Treatments that this estimator does not allow, and why.
    """

    estimators: tuple[Any, ...] = field(kw_only=True, default=())
    columns: tuple[tuple[str, ...], ...] = field(kw_only=True, default=())
    not_made: Mapping[str, str] = field(kw_only=True, default_factory=dict)

    def __reduce__(self) -> Any:
        """Pickle as `Findings` do, without the people, but with the estimators."""
        own = {name: getattr(self, name) for name in ("estimators", "columns", "not_made")}
        return partial(Mitigation, **own), super().__reduce__()[1]

    @property
    def frontier(self) -> tuple[FrontierPoint, ...]:
        """Accuracy and gap of each estimator, with intervals that hold together."""
        return self["mitigation"].frontier

    @property
    def estimator(self) -> Any:
        """The chosen estimator."""
        return self.estimators[self["mitigation"].best]

    @property
    def reads(self) -> list[str]:
        """The columns that the chosen estimator reads."""
        return list(self.columns[self["mitigation"].best])

    def to_frame(self) -> pd.DataFrame:
        """Return the frontier as a table, one row a model."""
        return self["mitigation"].frontier_frame()

    def export(self, path: str | Path) -> Path:
        """Write the chosen estimator: ``.skops`` for every one, ``.onnx`` where one has such a form.

        Raises
        ------
        InputError
            If the ending is neither, a package is missing, or the estimator has no such form.
        """
        return export(self.estimator, path, self.subject)


def mitigate(
    estimator: Any,
    X: Any,
    y: Any,
    protected: Any,
    *,
    favorable: Any = None,
    methods: Sequence[str] = ("thresholds", "reweighing", "reductions", "retraining"),
    by: str | None = None,
    measure: str = "selection_rate",
    accuracy_lost: float = 0.01,
    columns: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    bins: Mapping[str, Sequence[float] | int] | None = None,
    test_size: float = 0.3,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> Mitigation:
    """Treat an estimator of your own for the gap between groups, and state what each way costs.

    Parameters
    ----------
    estimator : scikit-learn estimator with ``predict_proba``
        Fitted or not: it is cloned, and fitted on the people who are not held out.
    X : DataFrame, polars or Arrow frame, or array (n, d)
    y : str or array (n,)
        The label, of two values.
    protected : str, list, mapping of name to array, Series or DataFrame
        As of `audit`. Thresholds by group need a column of X.
    favorable : value
        The label that is good for the person; the larger one by default.
    methods : sequence of str
        Ways to treat: ``"thresholds"`` by group, ``"reweighing"`` (Kamiran, Calders 2012), ``"reductions"``
        (Fairlearn's exponentiated gradient), ``"retraining"`` with examples of the worst rule set.
    by : str, optional
        Attribute whose groups the frontier compares; the first one by default.
    measure : {"selection_rate", "true_positive_rate", "false_positive_rate"}
        Rate whose largest difference between two groups is the gap.
    accuracy_lost : float
        Accuracy that the chosen model may lose at most, as a share.
    columns : sequence of str, optional
        What the estimator reads; what it was fitted on, or all of X, if left out.
    kinds, bins : mapping, optional
        As in a spec's ``data``.
    test_size : float in (0, 1)
        Share of the people held out, on whom everything is stated.
    options : mapping, optional
        Further options of the audit `mitigation`.

    Returns
    -------
    Mitigation

    Raises
    ------
    InputError
        For the first thing that is wrong.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"skill": rng.normal(size=2000), "woman": rng.integers(0, 2, 2000)})
    >>> hired = (people.skill - people.woman + rng.normal(size=2000) > 0).astype(int)
    >>> found = mitigate(LogisticRegression(), people, hired, "woman", methods=["thresholds"])
    >>> [point.name for point in found.frontier]
    ['as it was', 'thresholds by group, half way', 'thresholds by group']
    >>> found.frontier[2].gap.value < 0.1 < found.frontier[0].gap.value
    True
    """
    if not hasattr(estimator, "fit") or not hasattr(estimator, "predict_proba"):
        raise InputError(
            "estimator",
            "must have fit and predict_proba, as scikit-learn's classifiers have",
            name_of(estimator),
        )
    with fixed_threads():
        people = _people(estimator, X, y, protected, favorable, columns, kinds, bins)
        check_trainable(people.data)
        training, held = people.data.split(test_size, seed)
        check_parts(training, held)
        own = OwnEstimator(estimator, people)
        model, fitted = own.retrained(training, silent)
        subject = subject_of(
            held, model, threshold=0.5, score_kind="probability", made="held_out", training=training,
            seed=seed, notes=(f"{model.name}: {training.n:,} people fitted it, {held.n:,} were held out.",),
        )  # fmt: skip
        asked = {
            "methods": list(methods), "by": by, "measure": measure, "accuracy_lost": accuracy_lost,
            **(options or {}),
        }  # fmt: skip
        request = audit_request("mitigation", asked, "")
        own = OwnEstimator(estimator, people, subject)
        kept: list[Candidate] = []
        result = mitigation(
            subject, request.options, maker=own, kept=kept, rng=request.random(seed), progress=progress
        )
        if not kept:
            raise InputError("by", "makes no frontier: " + " ".join(result.warnings[-1:]))
        kept[0] = replace(kept[0], estimator=fitted)
        return _mitigation(subject, people, request, result, kept, own)


@dataclass(frozen=True, eq=False)
class _People:
    """The table as it was given and as audits have it, and what the estimator reads of it."""

    given: GivenTable
    data: AuditData
    reads: tuple[str, ...]
    section: Mapping[str, Any]


def _people(
    estimator: Any, X: Any, y: Any, protected: Any, favorable: Any, columns: Any, kinds: Any, bins: Any
) -> _People:
    given = given_table(X, columns=columns if is_matrix(X) else None)
    table = JoinedTable(given)
    label = table.need(table.take(y, "y", "label"), "y")
    groups = protected_of(table, protected)
    values = sorted(table.frame()[label].dropna().unique().tolist(), key=lambda each: (str(type(each)), each))
    if len(values) != 2:
        raise InputError("y", "must hold two values to be mitigated", values[:5])
    good = plain_values(values[-1] if favorable is None else favorable)
    reads = tuple(columns) if columns is not None else model_columns(estimator, given, [label], [])
    for name in reads:
        one_of("columns", name, given.frame.columns, what="a column of X")
    section = {
        "label": label, "favorable": good, "protected": groups, "features": list(reads),
        **{key: dict(each) for key, each in (("kinds", kinds), ("bins", bins)) if each},
    }  # fmt: skip
    return _People(given, build_data(table.frame(), data_spec(section)), reads, section)


@dataclass(frozen=True, eq=False)
class OwnEstimator:
    """Trains clones of an estimator; a `Maker` of the audit `mitigation`."""

    estimator: Any
    people: _People
    subject: Subject | None = None
    not_made: dict[str, str] = field(default_factory=dict)

    def retrained(self, training: AuditData, progress: Progress) -> tuple[Model, Any]:
        """Fit a clone on other rows."""
        from sklearn.base import clone

        progress(0.0, "Fitting the estimator")
        fitted = self._fitted(clone(self.estimator), training, self.people.reads)
        return self._model(fitted, self.people.reads), fitted

    def treated(self, options: MitigationOptions, by: str, progress: Progress) -> Iterator[Candidate]:
        """Yield what each method makes; one that the estimator does not allow is told in `not_made`."""
        assert self.subject is not None and self.subject.training is not None  # noqa: S101, PT018 - so it is made
        training = self.subject.training
        groups = training.groups[by].to_numpy(dtype=str)
        for method, strength, wrapped, reads in self._wrapped(options, by):
            progress(0.5, f"{method}, {strength:g}")
            told = {} if method == "thresholds" else {"sensitive_features": groups}
            try:
                fitted = self._fitted(wrapped, training, reads, **told)
                model = self._model(fitted, reads)
            except InputError as error:
                self.not_made[method] = str(error)
                continue
            yield Candidate(method, strength, subject_on(self.subject, self.subject.data, model), fitted)

    def _wrapped(
        self, options: MitigationOptions, by: str
    ) -> Iterator[tuple[str, float, Any, tuple[str, ...]]]:
        from audits.mitigation.estimators import GroupThresholds, ReducedMixture, ReweighedEstimator

        people, named = self.people, self.people.given.form == "pandas"
        own = dict(zip(people.given.frame.columns, people.given.names, strict=True))
        common: dict[str, Any] = {"favorable": _own_value(people.data)}
        if "thresholds" in options.methods:
            if named and by in own:
                reads = (*people.reads, *(name for name in (by,) if name not in people.reads))
                inner = [own[name] for name in people.reads] if by not in people.reads else None
                edges = people.data.bins.get(by)
                for share in SHARES:
                    yield "thresholds", share, GroupThresholds(
                        self.estimator, own[by], measure=options.measure, share=share, columns=inner,
                        bins=edges, **common,
                    ), reads  # fmt: skip
            else:
                self.not_made["thresholds"] = (
                    f"{by!r} is not a column of a pandas X, so it would not be known at decision time"
                )
        for share in SHARES if "reweighing" in options.methods else ():
            yield "reweighing", share, ReweighedEstimator(self.estimator, share=share, **common), people.reads
        for bound in BOUNDS if "reductions" in options.methods else ():
            wrapped = ReducedMixture(self.estimator, measure=options.measure, bound=bound, **common)
            yield "reductions", bound, wrapped, people.reads

    def _fitted(self, estimator: Any, training: AuditData, reads: tuple[str, ...], **told: Any) -> Any:
        read = Reader(self.people.given, tuple(reads), self.people.data.frame)
        assert training.label is not None  # noqa: S101 - `_people` names one
        try:
            return estimator.fit(read(training.frame), training.frame[training.label].to_numpy(), **told)
        except InputError:
            raise
        except Exception as error:  # whatever someone's estimator raises is told as its own
            raise InputError(
                "estimator", f"cannot be fitted on {', '.join(reads[:6])} ({type(error).__name__}: {error})",
                name_of(estimator), "name the columns that it reads: columns=[…]",
            ) from error  # fmt: skip

    def _model(self, fitted: Any, reads: tuple[str, ...]) -> Model:
        return in_memory_model(fitted, self.people.given, self.people.data, reads)


def _own_value(data: AuditData) -> Any:
    """Return the favorable label as the frame holds it."""
    assert data.label is not None and data.y is not None  # noqa: S101, PT018 - `_people` names one
    return plain_values(data.frame[data.label][np.asarray(data.y)].iloc[0])


def _mitigation(
    subject: Subject, people: _People, request: Any, result: Any, kept: list[Candidate], own: OwnEstimator
) -> Mitigation:
    """Pack it as a run of one audit."""
    audit = AuditResult("mitigation", request.all_options(), result)
    about = {"in_memory": {"kind": name_of(own.estimator), "columns": list(people.reads)}}
    spec = {
        "data": plain_data(dict(people.section), "data"), "model": plain_data(about, "model"),
        "threshold": 0.5,
        "seed": subject.seed, "audits": [{"mitigation": audit.options}], "search": "off",
    }  # fmt: skip
    return Mitigation(
        VERSION, spec, data_facts(people.data, subject), plain_data(model_facts(subject), "model"), (audit,),
        subject=subject, estimators=tuple(each.estimator for each in kept),
        columns=tuple(tuple(each.subject.model.columns) for each in kept), not_made=own.not_made,
    )  # fmt: skip


def export(estimator: Any, path: str | Path, subject: Subject | None = None) -> Path:
    """Write a fitted estimator as skops or ONNX; see `Mitigation.export`."""
    from audits.mitigation.estimators import GroupThresholds, ReducedMixture, ReweighedEstimator

    place = Path(path)
    ending = one_of(
        "path", place.suffix.lower(), (".skops", ".onnx"), what="the name of a .skops or .onnx file"
    )
    if isinstance(estimator, ReweighedEstimator) and estimator.columns is None:
        estimator = estimator.estimator_  # fitted with weights, it predicts as any other
    try:
        if ending == ".skops":
            import skops.io

            place.write_bytes(skops.io.dumps(estimator))
            return place
        import skl2onnx
    except ModuleNotFoundError as error:
        raise InputError(
            "path", f"needs the package {error.name}", str(path), f"pip install {error.name}"
        ) from None
    if isinstance(estimator, (GroupThresholds, ReducedMixture)):
        raise InputError(
            "path", f"a {type(estimator).__name__} has no ONNX form", str(path), "write a .skops file instead"
        )
    if subject is None:
        raise InputError(
            "path", "needs the people, which saved results do not hold", str(path), "write .skops"
        )
    try:
        first = subject.model.source.reader(subject.data.frame.iloc[:1])  # type: ignore[attr-defined]
        made = skl2onnx.to_onnx(estimator, _plain_floats(first), options={"zipmap": False})
    except Exception as error:  # a converter may fail in any way
        raise InputError(
            "path",
            f"cannot be written as ONNX ({type(error).__name__}: {beginning(error)})",
            str(path),
            "write a .skops file",
        ) from error
    place.write_bytes(made.SerializeToString())
    return place


def _plain_floats(rows: Any) -> Any:
    """Return rows whose numbers are float32 where all are: one matrix input, as most converters want it."""
    if hasattr(rows, "dtypes") and all(pd.api.types.is_numeric_dtype(kind) for kind in rows.dtypes):
        return rows.to_numpy(dtype=np.float32)
    return rows
