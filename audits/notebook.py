"""One call from Python: a model, a table, and everything that needs no further choice.

`audit` is the public name ``evenhand.audit``. It says what a spec would say, and where a spec can say it too
(a column of predictions, an ONNX file of the same model) it gives the same numbers.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, ParamSpec, cast, get_args

import pandas as pd

from audits.aliases import american, in_python, key_line
from audits.arguments import (
    JoinedTable,
    is_matrix,
    plain_values,
    protected_of,
    stored_predictions,
    weights_of,
)
from audits.checks import check_seed, choices, one_of
from audits.data import AuditData, build_data, data_spec
from audits.data.adapters import given_table
from audits.data.preprocessing.outcomes import MAX_CLASSES
from audits.data.role_guesses import guess_good_answer
from audits.errors import InputError, quoted
from audits.findings import Findings
from audits.groups.measures import metrics_of
from audits.groups.metrics import METRICS
from audits.models import Subject, model_facts
from audits.models.factory import make_subject
from audits.models.in_memory import (
    Output,
    ignored_columns,
    in_memory_model,
    model_columns,
    name_of,
    says_what_it_reads,
)
from audits.models.labels import cut_threshold
from audits.models.predictions import HigherIs, Made
from audits.models.spec import ModelSpec, Predictions
from audits.models.subject import subject_of
from audits.models.thresholds import check_threshold
from audits.progress import Progress, part, silent
from audits.runs.documents import plain_data
from audits.runs.execute import carry_out
from audits.runs.executors.threads import fixed_threads
from audits.runs.registry import AUDITS, usual_audits
from audits.runs.result import AuditResult, data_facts
from audits.runs.search import with_search
from audits.runs.spec import audit_request
from audits.runs.version import VERSION

_READY = 0.2  # share of the progress bar until audits start
Given = ParamSpec("Given")
Asked = str | Sequence[str | Mapping[str, Any]] | Mapping[str, Any] | None


def _explain_arguments(function: Callable[Given, Findings]) -> Callable[Given, Findings]:
    """Have a call with arguments that do not exist answered by the line to write."""
    known = inspect.signature(function).parameters
    by_place = [name for name, each in known.items() if each.kind is each.POSITIONAL_OR_KEYWORD]

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Findings:
        named = {american(name) if american(name) in known else name: each for name, each in named.items()}
        for name in named:
            if name not in known:
                line = key_line(name, python=True)
                near = difflib.get_close_matches(name, known, n=1)
                advice = f"did you mean {near[0]}=…" if near else f"it takes {', '.join(known)}"
                raise InputError(
                    name, "is not an argument of evenhand.audit", advice=f"write {line}" if line else advice
                )
        if len(given) > len(by_place):
            raise InputError(
                "evenhand.audit", f"takes {', '.join(by_place)} by place, and the rest by name",
                given[len(by_place)], "write favorable=VALUE, protected='COLUMN'",
            )  # fmt: skip
        missing = [name for name in ("model", "X") if name not in named][len(given) :]
        if missing:
            raise InputError(
                missing[0], "is missing", advice="write evenhand.audit(model, X, y, favorable=…, protected=…)"
            )
        return cast(Any, function)(*given, **named)  # type: ignore[no-any-return]

    return cast(Any, call)  # type: ignore[no-any-return]


_ENDS = ("high", "low")  # of a number that is taken as it is


@_explain_arguments
def audit(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    favorable: Any = None,
    protected: Any = None,
    audits: Asked = None,
    predictions: Any = None,
    scores: Any = None,
    columns: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    classes: Sequence[object] | None = None,
    output: Output | None = None,
    threshold: float | Mapping[str, Mapping[str, float]] | None = None,
    higher_is: HigherIs = "favorable",
    made: Made = "unknown",
    weights: Any = None,
    person: Any = None,
    roles: Mapping[str, Sequence[str]] | None = None,
    kinds: Mapping[str, str] | None = None,
    bins: Mapping[str, Sequence[float] | int] | None = None,
    metrics: Mapping[str, Any] | None = None,
    search: bool = True,
    seed: int = 0,
    progress: Progress = silent,
) -> Findings:
    """Audit a model on a table: all that needs no further choice, or the audits named.

    Parameters
    ----------
    model : object or None
        Has ``predict_proba``, ``decision_function`` or ``predict``, is a torch module, or a function of a
        table; or the path of a model file (ONNX, skops, XGBoost, LightGBM, CatBoost). None where
        `predictions` or `scores` say what it decided.
    X : DataFrame, polars or Arrow frame, or array (n, d)
        The people, as the model reads them: it is handed the same form and types, moved people too.
    y : str or array (n,), optional
        The true outcome: a column of X, or values in the order of its rows.
    favorable : value, list of values, or mapping
        Which values of y are good for the person; ``{"at_least": 3.0}`` (``at_most``, ``above``, ``below``)
        cuts a number, which the model then predicts; ``"high"`` or ``"low"`` takes a number as it is
        (pay, days, loss), without a model y itself.
    protected : str, list, mapping of name to array, Series or DataFrame
        The attributes whose groups are compared: columns of X, or values outside it.
    audits : str, list or mapping, optional
        Names, or name to options as in a spec: ``{"flipset": {"source": …, "target": …}}``. By default each
        audit that needs no choice on these data.
    predictions, scores : str or array (n,), optional
        Instead of a model: the labels that it predicted, or its scores.
    columns : sequence of str, optional
        What the model reads, in its order; what it was fitted on, or all of X, if left out. Names the columns
        of a matrix.
    features : sequence of str, optional
        Columns that describe people where audits compare them; those that the model reads if left out.
    classes : sequence, optional
        Label values in the order of the model's outputs, where it does not say.
    output : {"probabilities", "logits", "scores", "labels"}, optional
        What a network or function gives; told from its answers if left out.
    threshold : float or {attribute: {value: float}}, optional
        Favorable from this score on: 0.5, or 0 for a decision function. A model of other numbers needs it.
    higher_is : {"favorable", "unfavorable"}
        Direction of `scores`.
    made : {"held_out", "in_sample", "unknown"}
        Whether the model was trained on the people of X; stated with its accuracy.
    weights : str, array (n,) or mapping, optional
        How many people a row stands for; or, as a spec says it, ``{"column": w, "kind": "sampling"}`` with
        ``strata`` and ``cluster``: each a column of X or an array.
    person : str or array (n,), optional
        Who each row is of, where one person has several: they are no evidence of their own.
    roles, kinds, bins : mapping, optional
        As in a spec's ``data``; ``bins={"age": 4}`` cuts at quartiles.
    metrics : mapping of str to callable, optional
        Metrics of your own for `groups`: functions of labels, decisions and scores (see
        `audits.groups.metrics.Metric`), each with intervals, differences and verdicts of its own.
    search : bool
        Whether a run that clears an attribute searches for groups that the average hides.
    seed : int
        Same seed, same numbers, and those of a spec with the same audits.

    Returns
    -------
    Findings

    Raises
    ------
    InputError
        For the first thing that is wrong: names the argument, the rule, the value, and what to write.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> people = pd.DataFrame({"hours": [1, 2, 3, 4] * 30, "sex": (["f"] * 2 + ["m"] * 2) * 30})
    >>> hired = [0, 0, 1, 1] * 30
    >>> model = LogisticRegression().fit(people[["hours"]], hired)
    >>> found = audit(model, people, hired, favorable=1, protected="sex", audits="groups")
    >>> found["groups"].verdict
    'evidence of a difference'
    """
    with _in_words_of_python(), fixed_threads(), METRICS.also(metrics_of(metrics or {})):
        higher_is = cast(HigherIs, american(str(higher_is)))
        for name, each, known in (
            ("made", made, get_args(Made)),
            ("higher_is", higher_is, get_args(HigherIs)),
            ("output", output, (None, *get_args(Output))),
        ):
            one_of(name, each, known)
        check_seed(seed)
        given = given_table(X, columns=columns if is_matrix(X) else None)
        sources = [name for name, each in (("model", model), ("predictions", predictions), ("scores", scores))
                   if each is not None]  # fmt: skip
        itself = not sources and favorable in _ENDS and y is not None  # what people got is audited
        if len(sources) != 1 and not itself:
            given_as = f"are {' and '.join(sources)}" if sources else "is none"
            raise InputError(
                "model", f"must be given in exactly one way, but there {given_as}",
                advice="give a model, or None with predictions= or scores=",
            )  # fmt: skip
        table = JoinedTable(given)
        label = table.take(y, "y", "label")
        counts = weights_of(table, weights)
        who = table.take(person, "person", "person")
        groups = protected_of(table, protected)
        if isinstance(favorable, Mapping):
            label_part: Any = {"column": table.need(label, "y"), **favorable}
        else:
            label_part = label
            favorable = plain_values(favorable)
        section: dict[str, Any] = {
            "label": label_part,
            "favorable": None if isinstance(favorable, Mapping) else favorable,
            "protected": groups,
            "weights": counts,
            "person": who,
            "roles": roles,
            "kinds": kinds,
            "bins": bins,
        }
        if label is not None and _is_amount(table.frame()[label], favorable):
            section["outcome"] = "numeric"
        elif label is not None and not isinstance(label_part, Mapping):
            _check_favorable(table.frame()[label].dropna(), favorable)
        weighing = (
            [each for key, each in counts.items() if key != "kind"]
            if isinstance(counts, Mapping)
            else [counts]
        )
        apart = [name for name in (label, who, *weighing) if name is not None]
        if model is None or isinstance(model, PathLike) or (isinstance(model, str) and Path(model).suffix):
            about: dict[str, Any]
            section["features"] = list(features) if features is not None else None
            if model is not None:  # a file, opened as a spec's is
                spec = _model_file(model, columns, classes, output, made)
                about = {key: each for key, each in vars(spec).items() if each is not None}
            else:
                found = (
                    Predictions(score=label)
                    if itself
                    else stored_predictions(table, predictions, scores, higher_is, made)
                )
                spec = ModelSpec(predictions=found)
                about = {"predictions": {key: each for key, each in vars(found).items() if each}}
            data = _build_data(table, section)
            subject = make_subject(data, spec, threshold=threshold, seed=seed)
        else:
            reads = tuple(columns) if columns is not None else model_columns(model, given, apart, groups)
            for name in reads:
                one_of("columns", name, given.frame.columns, what="a column of X")

            def built(described: Sequence[str]) -> tuple[AuditData, Any]:
                section["features"] = list(described)
                made = _build_data(table, section)
                told: dict[str, Any] = {"classes": classes, "output": output, "higher_is": higher_is}
                return made, in_memory_model(model, given, made, reads, **told)

            data, asked = built(features if features is not None else reads)
            if columns is None and features is None and not says_what_it_reads(model):
                ignored = ignored_columns(asked, data, [name for name in groups if name in reads])
                if ignored:  # handed over, but no feature: moving people along them would change nothing
                    data, asked = built([name for name in reads if name not in ignored])
            subject = _subject(data, asked, threshold, made, seed)
            about = {"in_memory": {"kind": name_of(model), "columns": list(reads)}}
        progress(_READY, "the model is ready")
        requests = _requests(audits, subject, words={data.kinds[name] for name in data.features} == {"text"})
        results, not_run = _carried_out(
            requests, subject, seed, part(progress, _READY, 1.0), told=audits is not None
        )
        hidden = None
        if search:
            results, hidden = with_search(results, subject, seed, carry_out)
        return Findings(
            VERSION,
            {
                "data": plain_data(_without_none(section), "data"),
                "model": plain_data(about, "model"),
                "threshold": plain_data({"threshold": subject.threshold}, "")["threshold"],
                "seed": seed,
                "audits": [{each.name: each.options} for each in results],
                **({} if search else {"search": "off"}),
            },
            data_facts(data, subject),
            plain_data(model_facts(subject), "model"),
            results,
            search=hidden,
            subject=subject,
            not_run=not_run,
        )


def _model_file(path: Any, columns: Any, classes: Any, output: Any, made: Made) -> ModelSpec:
    """Return a model's file as a spec names it; its format may say in which order it reads what."""
    said = {"columns": columns, "classes": classes, "output": output, "made": made}
    return ModelSpec(path=str(path), **{name: each for name, each in said.items() if each is not None})


def _is_amount(values: pd.Series, favorable: Any) -> bool:
    """Whether y is a number that is taken as it is: one end of it is said to be good."""
    numeric = pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype)
    return numeric and isinstance(favorable, str) and favorable in _ENDS


def _check_favorable(values: pd.Series, favorable: Any) -> None:
    """Raise `InputError` where it is missing, or is one value of a number that has too many to be classes."""
    levels = values.drop_duplicates().tolist()
    if len(levels) > MAX_CLASSES and pd.api.types.is_numeric_dtype(values.dtype):
        given = {} if favorable is None else {"value": favorable}
        raise InputError(
            "favorable",
            f"must give the value of y from which it is good for the person, because y has {len(levels):,} "
            "values",
            **given,
            advice=f"such as favorable={{'at_least': {values.median():.3g}}}, or 'high' to use y as it is",
        )
    if favorable is None:
        good = guess_good_answer(levels, str(values.name)).value
        raise InputError(
            "favorable", f"is missing: which value of y is good for the person? y holds {choices(levels)}",
            advice=f"write favorable={'VALUE' if good is None else quoted(good)}",
        )  # fmt: skip


def _build_data(table: JoinedTable, section: Mapping[str, Any]) -> AuditData:
    return build_data(table.frame(), data_spec(_without_none(section)))


def _without_none(section: Mapping[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in section.items() if each is not None}


def _subject(data: AuditData, model: Any, threshold: Any, made: Made, seed: int) -> Subject:
    kind: Any = {"labels": "label", "scores": "number"}.get(model.source.output, "probability")
    higher: Any = "unfavorable" if getattr(model, "sign", 1.0) < 0 else "favorable"
    notes = list(model.notes)
    by_class = threshold is None and len(model.classes or ()) > 2
    if data.numeric is not None:
        kind, threshold = "number", 0.5
        higher = "favorable" if data.numeric.favorable == "high" else "unfavorable"
    elif data.cut is not None:
        kind = "number"
        threshold, higher = cut_threshold(threshold, data.cut)
        notes.append(f"Decisions are favorable where the number predicted is {data.cut.side}.")
    elif threshold is None:
        if kind == "number" and not model.zero:
            raise InputError(
                "threshold", f"is missing: {model.name} gives numbers, and it is unclear from which value "
                "a decision is favorable",
                advice="write threshold=0.5 if they are probabilities, or the number that decides",
            )  # fmt: skip
        threshold = 0.0 if kind == "number" else 0.5
        if kind == "number":
            notes.append("Decisions are favorable on that side of 0; threshold=… says otherwise.")
    return subject_of(
        data,
        model,
        threshold=check_threshold(threshold, data.groups, kind),
        score_kind=kind,
        higher_is=higher,
        made=made,
        notes=tuple(notes),
        seed=seed,
        by_class=by_class,
    )


def _requests(audits: Asked, subject: Subject, *, words: bool) -> list[Any]:
    """Return the audits asked for, checked, each with its place."""
    usual = usual_audits(subject.data, words=words, anew=subject.model.invents)
    if audits is None or audits == "all":
        named: list[tuple[str, Any]] = list(usual.items())
    elif isinstance(audits, str):
        named = [(audits, None)]
    elif isinstance(audits, Mapping):
        named = list(audits.items())
    elif isinstance(audits, (list, tuple)):
        named = []
        for each in audits:
            named += list(each.items()) if isinstance(each, Mapping) else [(each, None)]
    else:
        raise InputError("audits", "must be names, or a mapping of name to options", audits)
    if not named:
        raise InputError("audits", "must name at least one audit", advice=f"choose {choices(AUDITS)}")
    found = []
    for name, options in named:
        if name not in AUDITS and (meant := AUDITS.meant(name)):
            raise InputError("audits", "must be the name of an audit", name, f"write {meant!r}")
        name = one_of("audits", AUDITS.now(name), AUDITS, what="the name of an audit")
        chosen = usual.get(name, {}) if options is None else options
        found.append(audit_request(name, chosen, f"audits[{name!r}]"))
    return found


def _carried_out(
    requests: Sequence[Any], subject: Subject, seed: int, progress: Progress, *, told: bool
) -> tuple[tuple[AuditResult, ...], dict[str, str]]:
    """Run the audits; one that nobody `told` us to run may be refused by the data."""
    results, not_run = [], {}
    for place, request in enumerate(requests):
        stretch = part(progress, place / len(requests), (place + 1) / len(requests))
        stretch(0.0, f"running {request.name}")
        try:
            results.append(carry_out(request, place, subject, seed, stretch))
        except InputError as error:
            if told:
                raise
            not_run[request.name] = _as_argument_message(str(error))
    if not results:
        raise InputError(
            "audits",
            "cannot run on these data: " + "; ".join(f"{name}: {why}" for name, why in not_run.items()),
        )
    return tuple(results), not_run


_KEYS = {
    "data.label.column": "y",
    "data.label.": "favorable.",
    "data.label": "y",
    "model.path": "model",
    "model.predictions.score": "scores",
    "model.predictions.label": "predictions",
    "model.predictions.higher_is": "higher_is",
    "data.": "",
    "model.": "",
}
_KEY = re.compile(r"(?<!['\w])(" + "|".join(re.escape(key) for key in _KEYS) + ")")
_COLUMNS = re.compile(r"add under model, (.*?)columns: ")
_PLACE = re.compile(r"audits\[\d+\]\.(\w+)")
_FILTER = re.compile(r", for example with data\.keep: \[.*?\]")  # the rows of X are the caller's to choose
_WEIGHTS = re.compile(r"weights: \{column: (\w+), kind: counts\}, or kind: sampling")


def _as_argument_message(sentence: str) -> str:
    """Return a sentence about a spec's keys as one about the arguments of `audit`."""
    sentence = _WEIGHTS.sub(r"weights={'column': \1, 'kind': 'counts'}, or 'kind': 'sampling'", sentence)
    sentence = _COLUMNS.sub(r"give \1columns=", _FILTER.sub("", sentence))
    return _PLACE.sub(r"audits['\1']", _KEY.sub(lambda found: _KEYS[found[0]], in_python(sentence)))


@contextlib.contextmanager
def _in_words_of_python() -> Iterator[None]:
    try:
        yield
    except InputError as error:
        error.where, error.advice = _as_argument_message(error.where), _as_argument_message(error.advice)
        error.args = (_as_argument_message(str(error)),)
        raise
