"""A spec guessed from a table: what its columns' names and values suggest, each guess in a sentence.

The order is that of the questions on *Data & model*: what was decided, and which answer is good; who is
compared; what happened in truth. A column of decisions is audited as it is, without a model and a truth; what
happened to people is what a model learns. A guess is a start for the user to correct, so all are told: by
``describe``, as comments by ``init``, and by ``run FILE.csv`` before it runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from audits.checks import choices
from audits.data import AuditData, Table, build_data, data_spec, describe, read_table
from audits.data.preprocessing.column_names import column_role as stored_label
from audits.data.quality.checks import examine, second_header
from audits.data.quality.findings import Finding
from audits.data.quality.row_units import count_column, shared_id, times_as_wide
from audits.data.role_guesses import (
    MAX_ANSWERS,
    guess_good_answer,
    guess_good_end,
    guess_verb,
    is_amount,
    is_consequence,
)
from audits.data.values import text_of
from audits.errors import InputError, distribution_name, how_to_install, is_installed
from audits.runs.registry import AUDITS, usual_audits
from audits.stats.text import count
from audits.text import join_names

_MAX_GROUPS = 20
_FEW, _FEW_STEPS = 12, 5  # values, of a number and of one that is named like an amount


@dataclass(frozen=True)
class RoleAnswers:
    """What is known of a table and need not be guessed; None or empty where it is to be.

    Attributes
    ----------
    decision : str or None
        The column that was decided.
    truth : str or None
        The column of what happened in truth; with no `decision` a model learns it.
    good : sequence of str
        The values that are good for the person, as text.
    by : sequence of str
        The columns by which people are compared.
    """

    decision: str | None = None
    truth: str | None = None
    good: Sequence[str] = ()
    by: Sequence[str] = ()


@dataclass(frozen=True)
class Proposal:
    """A guessed spec.

    Attributes
    ----------
    spec : dict
        Plain data, as a spec file holds it; the table's path is left to whoever asked.
    guesses : mapping of str to str
        What was guessed, in a sentence, by the key of the spec that it set.
    allowed : mapping of str to tuple of str
        Audits that these columns and the packages installed here allow with the predictions ``stored`` in
        them, and with a ``model``.
    lacking : mapping of str to str
        Audits that these columns allow and a missing package forbids, each with that package.
    """

    spec: dict[str, Any]
    guesses: dict[str, str]
    allowed: dict[str, tuple[str, ...]]
    lacking: dict[str, str]


def read_past_header(path: Path) -> tuple[Table, dict[str, Any]]:
    """Read a table, past a first row that is no header; return it with the `read` section that does so."""
    table = read_table(path)
    for finding in second_header(table, data_spec({})):
        read = dict(finding.mends[0].put["read"])
        return read_table(path, options=data_spec({"read": read}).read), read
    return table, {}


def table_findings(table: Table, section: Mapping[str, Any], predictions: str | None = None) -> list[Finding]:
    """Return what is likely wrong with a table, as far as its `data` section says what it holds."""
    spec = data_spec(section)
    return examine(table, spec, _try_build(table, section), predictions=predictions)


def propose(
    table: Table, described: dict[str, Any] | None = None, *, answers: RoleAnswers | None = None
) -> Proposal:
    """Guess decision or label, good answer, groups, what a row is, model and audits of a table.

    Parameters
    ----------
    described : dict, optional
        What `audits.data.describe` says of it, where that is at hand.
    answers : RoleAnswers, optional
        What is known and not guessed.

    Raises
    ------
    InputError
        If no column looks like a protected attribute, or none like a decision, a label or stored predictions,
        or nothing says which answer is good: says which answer to give. If an answer names no column.
    """
    described = describe(table) if described is None else described
    answers = RoleAnswers() if answers is None else answers
    columns = {column["name"]: column for column in described["columns"]}
    _check(answers, columns)
    guesses: dict[str, str] = {}
    amount = _amount(described, columns, answers)
    label, stored = (None, {}) if amount is not None else _decided(described, columns, answers)
    data = _outcome(table, amount, label, stored, answers, guesses)
    taken = {label, amount, *stored}
    data["protected"], guesses["data.protected"] = _groups(described, columns, taken, answers)
    bins = {name: _edges(table.frame[name]) for name in data["protected"] if _many(columns[name])}
    if bins:
        data["bins"] = bins
        guesses["data.bins"] = (
            f"{join_names(bins, quoted=True)} cut into three ranges with about equally many people."
        )
    for key, value, told in _units(table, {*taken, *data["protected"]}):
        data[key], guesses[f"data.{key}"] = value, told
    built = _try_build(table, data)
    spec: dict[str, Any] = {"data": data, "seed": 0}
    if amount is not None:
        spec["model"] = {"predictions": {"score": amount}}
        guesses["model"] = f"No model is audited, but {amount!r} itself: what people got."
    else:
        spec["model"], guesses["model"] = _model(stored, label, built)
        spec["threshold"] = 0.5
        if score := spec["model"].get("predictions", {}).get("score"):
            spec["threshold"], told = _from_where(table.frame[score])
            guesses["model"] += f" They are favorable {told}."
    if built is not None:
        for column in spec["model"].get("predictions", {}).values():
            built = built.without_feature(column)
    usual = usual_audits(built) if built is not None else {}
    if AUDITS.first in usual and len(data["protected"]) > 1:  # intersections cost all others power
        usual[AUDITS.first] = {**usual[AUDITS.first], "by": list(data["protected"])}
    allowed, lacking = _allowed(usual, built)
    kind = "stored" if "predictions" in spec["model"] else "model"
    if left_out := {name: package for name, package in lacking.items() if name in allowed[kind]}:
        guesses["audits"] = missing_packages_text(left_out)
    allowed = {kind: tuple(name for name in names if name not in lacking) for kind, names in allowed.items()}
    spec["audits"] = [{name: usual[name]} if usual.get(name) else name for name in allowed[kind]]
    return Proposal(spec, guesses, allowed, lacking)


def _outcome(
    table: Table,
    amount: str | None,
    label: str | None,
    stored: Mapping[str, str],
    answers: RoleAnswers,
    guesses: dict[str, str],
) -> dict[str, Any]:
    """Return what the data section says of decision and truth; each guess is added to `guesses`."""
    if amount is not None:
        guesses["data.label"] = f"The outcome is assumed to be the number {amount!r}, audited as it is."
        good = guess_good_end(amount) or "high"
        guesses["data.favorable"] = f"{good.capitalize()} numbers are assumed to be good for the person."
        words = {"words": {"verb": verb}} if (verb := guess_verb(amount)) else {}
        return {"label": amount, "outcome": "numeric", "favorable": good, **words}
    data: dict[str, Any] = {}
    if label is not None:
        data["label"] = label
        guesses["data.label"] = (
            f"The true outcome is in {label!r}, as asked."
            if label == answers.truth
            else f"The true outcome is assumed to be in {label!r}."
        )
    source = label or next((name for name, kind in stored.items() if kind == "label"), None)
    if answers.decision is not None:
        source = answers.decision
    if source is not None:
        data["favorable"], guesses["data.favorable"] = _favorable(table.frame[source], source, answers.good)
    if label is not None and source not in (None, label):
        _check_truth(table.frame[label], label, data["favorable"])
    for name in stored:
        if without := int(table.frame[name].isna().sum()):
            data["keep"] = [*data.get("keep", []), {"column": name, "not_missing": True}]
            guesses["data.keep"] = f"{without:,} rows without a value in {name!r} are left out."
    return data


def _check_truth(column: pd.Series, name: str, favorable: Any) -> None:
    """Refuse a truth that has none of the values that are good as a decision: no audit could compare them."""
    values = [text_of(value) for value in sorted(column.dropna().unique().tolist(), key=str)]
    good = [text_of(value) for value in (favorable if isinstance(favorable, list) else [favorable])]
    if not set(good) & set(values):
        raise InputError(
            "--truth", f"must have the value that is good as a decision, {' or '.join(good)}, but has "
            f"{choices(values[:_FEW])}", name,
            advice="write both with the same values, or leave --truth out",
        )  # fmt: skip


def _allowed(
    usual: Mapping[str, Any], built: AuditData | None
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return the audits that columns allow, with stored predictions and with a model, and what they lack."""
    allowed = {
        "stored": tuple(name for name in usual if not AUDITS[name].asks_anew),
        "model": tuple(usual) if built is not None and built.features else (),
    }
    named = {name for names in allowed.values() for name in names}
    return allowed, {name: package for name in usual if name in named and (package := AUDITS[name].lacks)}


def _check(answers: RoleAnswers, columns: Mapping[str, Any]) -> None:
    asked = {"--decision": (answers.decision,), "--truth": (answers.truth,), "--by": answers.by}
    for option, names in asked.items():
        for name in names:
            if name is not None and name not in columns:
                raise InputError(option, f"must be one of {choices(columns)}", name)


def _amount(described: Mapping[str, Any], columns: Mapping[str, Any], answers: RoleAnswers) -> str | None:
    """Return the column of numbers that is the outcome itself; None where there is a decision or a label."""
    if answers.truth is not None or answers.good:
        return None
    if answers.decision is not None:
        decided = columns[answers.decision]
        return answers.decision if _many(decided) or _is_amount(decided) else None
    suggested = described["suggested"]
    if suggested["label"] or suggested["predictions"] or not suggested["perhaps"]:
        return None
    first: str = suggested["perhaps"][0]
    return first if _is_amount(columns[first]) else None


def _decided(
    described: Mapping[str, Any], columns: Mapping[str, Any], answers: RoleAnswers
) -> tuple[str | None, dict[str, str]]:
    """Return the label, and stored predictions with their sort: a decision is one, what happened a label."""
    suggested = described["suggested"]
    if answers.decision is not None:
        return answers.truth, {answers.decision: "label"}
    stored: dict[str, str] = suggested["predictions"]
    label = answers.truth or next(iter(suggested["label"]), None)
    if label is None and not stored:
        raise InputError(
            "data.label", f"cannot be guessed: {suggested['why']}",
            advice="add --decision COLUMN, or --truth COLUMN for a model to learn, and --good VALUE; of "
            f"{choices(suggested['perhaps'] or columns)}",
        )  # fmt: skip
    if label is None or stored or answers.truth or is_consequence(label):
        return label, stored
    return None, {label: "label"}


def _groups(
    described: Mapping[str, Any], columns: Mapping[str, Any], decided: set[str | None], answers: RoleAnswers
) -> tuple[list[str], str]:
    if answers.by:
        return list(answers.by), f"Groups are compared by {join_names(answers.by, quoted=True)}, as asked."
    protected = [
        name
        for name in described["suggested"]["protected"]
        if _as_groups(columns[name]) and name not in decided
    ]
    if not protected:
        raise InputError(
            "data.protected",
            "cannot be guessed: no column name suggests a group that people belong to with 2 to "
            f"{_MAX_GROUPS} values",
            advice=f"add --by COLUMN, of {choices(columns)}",
        )  # fmt: skip
    return (
        protected,
        f"Groups are compared by {join_names(protected, quoted=True)}, as names and values suggest.",
    )


def _units(table: Table, others: set[str | None]) -> list[tuple[str, Any, str]]:
    """Return the keys that say what a row is: several people who are alike, or one of several together."""
    counted = count_column(table.frame)
    if counted is not None and counted not in others:
        people = count(float(table.frame[counted].sum()))
        told = f"{len(table.frame):,} rows stand for {people} people, by {counted!r}."
        return [("weights", {"column": counted, "kind": "counts"}, told)]
    shared = shared_id(table.frame)
    if shared is not None and shared not in others:
        wide = times_as_wide(table.frame[shared].value_counts())
        told = (
            f"Rows of one {shared!r} are assumed to belong together: they are not independent evidence, "
            f"and intervals are up to {wide:.2g} times as wide."
        )
        return [("person", shared, told)]
    return []


def _try_build(table: Table, data: Mapping[str, Any]) -> AuditData | None:
    try:
        return build_data(table, data_spec(data))
    except InputError:
        return None


def _as_groups(column: dict[str, Any]) -> bool:
    few = 2 <= column["distinct"] + bool(column["missing"]) <= _MAX_GROUPS
    return few or column["kind"] in {"integer", "continuous"}


def _is_amount(column: dict[str, Any]) -> bool:
    """Whether a column of numbers is named like an amount: pay, days, loss; or a score of some steps."""
    return _many(column, _FEW_STEPS) and is_amount(column["name"])


def _many(column: dict[str, Any], few: int = _FEW) -> bool:
    return column["kind"] in {"integer", "continuous"} and column["distinct"] > few


def _edges(column: pd.Series) -> list[float]:
    values = column.dropna().to_numpy(dtype=float)
    inner = np.unique(np.round(np.quantile(values, [1 / 3, 2 / 3]), 2))
    edges = np.unique([np.floor(values.min()), *inner, np.ceil(values.max())])
    return [int(edge) if edge == int(edge) else float(edge) for edge in edges]


def _favorable(column: pd.Series, name: str, good: Sequence[str]) -> tuple[Any, str]:
    """Return the value that is good for the person, and why; InputError where nothing says so."""
    values = sorted(column.dropna().unique().tolist(), key=str)
    if good:
        known = {text_of(value): value for value in values}
        for text in good:
            if text not in known:
                raise InputError("--good", f"must be one of {choices(list(known)[:_FEW])}", text)
        chosen = [known[text] for text in good]
        told = f"What is good for the person in {name!r}, as asked: {join_names(good, quoted=True)}."
        return chosen[0] if len(chosen) == 1 else chosen, told
    if len(values) > MAX_ANSWERS:
        raise InputError(
            "data.favorable", f"cannot be guessed: {name!r} has {len(values):,} values",
            advice=f"write label: {{column: {name}, at_least: NUMBER}} in a spec",
        )  # fmt: skip
    answer = guess_good_answer(values, name)
    if answer.value is None:
        raise InputError(
            "data.favorable", f"cannot be guessed: {answer.why}",
            advice=f"add --good VALUE, of {choices(values[:_FEW])}",
        )  # fmt: skip
    return answer.value, f"Of its values {choices(values[:_FEW])}, {answer.why}"


def _from_where(scores: pd.Series) -> tuple[float, str]:
    """Return the score from which on a decision is likely favorable, and the guess in words."""
    values = scores.dropna().to_numpy(dtype=float)
    if not len(values) or (values.min() >= 0 and values.max() <= 1):
        return 0.5, "from 0.5 on"
    middle = float(np.median(values))
    return middle, f"from their median on, {middle:g}, because no cut-off is known"


def _model(stored: dict[str, str], label: str | None, built: AuditData | None) -> tuple[dict[str, Any], str]:
    scores = [name for name, kind in stored.items() if kind == "score"]
    labels = [name for name, kind in stored.items() if kind == "label"]
    if labels and stored_label(labels[0]) != "prediction":
        needed = "No model" if label else "Neither a model nor a true outcome"
        return {"predictions": {"label": labels[0]}}, (
            f"{labels[0]!r} is audited as it was decided. {needed} is needed."
        )
    if labels:
        return {"predictions": {"label": labels[0]}}, f"The predictions are in {labels[0]!r}."
    if scores:
        return (
            {"predictions": {"score": scores[0]}},
            f"The predictions are the scores in {scores[0]!r}, with higher better for the person.",
        )
    names = [] if built is None else list(built.features)
    if not names:
        return {"predictions": {"label": label}}, (
            "No column holds predictions, and none describes people besides label and groups for a model "
            f"to read, so {label!r} itself is audited as the decision."
        )
    model, why = usual_model(label)
    if "train" in model:
        why += f" It reads {join_names(names, quoted=True)}."
    return model, why


def usual_model(label: Any) -> tuple[dict[str, Any], str]:
    """Return the `model` of a spec where nothing predicts, and why: one trained here, or the label itself.

    A label that is made of a column by a rule can only be learned.
    """
    if isinstance(label, str) and not is_installed("sklearn"):
        return {"predictions": {"label": label}}, (
            f"No column holds predictions, and training a model needs {distribution_name('sklearn')} "
            f"({how_to_install('sklearn')}): {label!r} itself is audited as the decision."
        )
    return {
        "train": "logistic"
    }, "A logistic regression is trained on 70% of the people and audited on the rest."


def missing_packages_text(left_out: Mapping[str, str]) -> str:
    """Say which audits need what is not installed, and how to have it."""
    told = []
    for package in dict.fromkeys(left_out.values()):
        names = [name for name, needed in left_out.items() if needed == package]
        needs = f"{join_names(names, most=99, quoted=True)} {'needs' if len(names) == 1 else 'need'}"
        told.append(f"{needs} {distribution_name(package)} ({how_to_install(package)})")
    return f"Left out, because a package is not installed here: {'; '.join(told)}."
