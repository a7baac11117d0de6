"""A spec guessed from a table: what its columns' names and values suggest, each guess in a sentence.

A guess is a start for the user to correct, so all of them are told: by ``describe``, as comments by ``init``,
and by ``run FILE.csv`` before it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audits.checks import choices
from audits.data import AuditData, Table, build_data, data_spec, describe
from audits.data.role_guesses import guess_good_answer, guess_verb, is_amount
from audits.errors import InputError, called, how_to_install, installed
from audits.runs.registry import AUDITS, usual_audits

__all__ = ["Proposal", "propose", "told_lacking", "usual_model"]

_MOST_GROUPS = 20
_FEW = 12


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


def propose(table: Table, described: dict[str, Any] | None = None) -> Proposal:
    """Guess label, favourable value, groups, model and audits of a table.

    Parameters
    ----------
    described : dict, optional
        What `audits.data.describe` says of it, where that is at hand.

    Raises
    ------
    InputError
        If no column looks like a protected attribute, or none like a label or stored prediction: says which
        key to write.
    """
    described = describe(table) if described is None else described
    suggested = described["suggested"]
    columns = {column["name"]: column for column in described["columns"]}
    guesses: dict[str, str] = {}
    protected = [name for name in suggested["protected"] if _as_groups(columns[name])]
    if not protected:
        raise InputError(
            "data.protected",
            "cannot be guessed: no column is named like a group that people belong to, or none of these has "
            f"2 to {_MOST_GROUPS} values",
            advice=f"write protected: [COLUMN], of {choices(columns)}",
        )  # fmt: skip
    data: dict[str, Any] = {}
    label = next(iter(suggested["label"]), None)
    stored = suggested["predictions"]
    amount = None
    if label is None and not stored and suggested["perhaps"]:
        first = suggested["perhaps"][0]
        amount = first if _is_amount(columns[first]) else None
    if label is None and not stored and amount is None:
        raise InputError(
            "data.label", f"cannot be guessed: {suggested['why']}",
            advice=f"write label: COLUMN and favorable: VALUE, of {choices(suggested['perhaps'] or columns)}",
        )  # fmt: skip
    by_label = [name for name, kind in stored.items() if kind == "label"]
    if label is not None:
        data["label"] = label
        guesses["data.label"] = f"The label is taken to be {label!r}."
    if amount is not None:
        data |= {"label": amount, "outcome": "numeric", "favorable": "high"}
        guesses["data.label"] = f"The outcome is taken to be the number {amount!r}, audited as it is."
        guesses["data.favorable"] = "High numbers are taken to be good for the person."
        if verb := guess_verb(amount):
            data["words"] = {"verb": verb}
    elif label is not None or by_label:
        source = label if label is not None else by_label[0]
        data["favorable"], guesses["data.favorable"] = _favorable(table.frame[source], source)
    data["protected"] = protected
    guesses["data.protected"] = f"Groups are compared by {_listed(protected)}, as the names suggest."
    bins = {name: _edges(table.frame[name]) for name in protected if _many(columns[name])}
    if bins:
        data["bins"] = bins
        guesses["data.bins"] = f"{_listed(list(bins))} cut into three ranges of about as many people."
    built = _built(table, data)
    if amount is None:
        model, guesses["model"] = _model(stored, label, built)
    else:
        model = {"predictions": {"score": amount}}
        guesses["model"] = f"No model is audited, but {amount!r} itself: what people got."
    threshold = 0.5
    if amount is None and (score := model.get("predictions", {}).get("score")):
        threshold, told = _from_where(table.frame[score])
        guesses["model"] += f" They are favorable {told}."
    usual = usual_audits(built) if built is not None else {}
    found = {
        "stored": tuple(name for name in usual if not AUDITS[name].asks_anew),
        "model": tuple(usual) if built is not None and built.features else (),
    }
    lacking = {
        name: package
        for name in usual
        if name in {*found["stored"], *found["model"]} and (package := AUDITS[name].lacks) is not None
    }
    kind = "stored" if "predictions" in model else "model"
    if left_out := {name: package for name, package in lacking.items() if name in found[kind]}:
        guesses["audits"] = told_lacking(left_out)
    allowed = {kind: tuple(name for name in names if name not in lacking) for kind, names in found.items()}
    spec = {"data": data, "model": model, "seed": 0}
    if amount is None:
        spec["threshold"] = threshold
    spec["audits"] = [{name: usual[name]} if usual.get(name) else name for name in allowed[kind]]
    return Proposal(spec, guesses, allowed, lacking)


def _built(table: Table, data: dict[str, Any]) -> AuditData | None:
    try:
        return build_data(table, data_spec(data))
    except InputError:
        return None


def _as_groups(column: dict[str, Any]) -> bool:
    few = 2 <= column["distinct"] + bool(column["missing"]) <= _MOST_GROUPS
    return few or column["kind"] in {"integer", "continuous"}


def _is_amount(column: dict[str, Any]) -> bool:
    """Whether a column holds many numbers, and is named like an amount: pay, days, loss."""
    return _many(column) and is_amount(column["name"])


def _many(column: dict[str, Any]) -> bool:
    return column["kind"] in {"integer", "continuous"} and column["distinct"] > _FEW


def _edges(column: pd.Series) -> list[float]:
    values = column.dropna().to_numpy(dtype=float)
    inner = np.unique(np.round(np.quantile(values, [1 / 3, 2 / 3]), 2))
    edges = np.unique([np.floor(values.min()), *inner, np.ceil(values.max())])
    return [int(edge) if edge == int(edge) else float(edge) for edge in edges]


def _favorable(column: pd.Series, name: str) -> tuple[Any, str]:
    """Return the value that is good for the person, and why; InputError where nothing says so."""
    values = sorted(column.dropna().unique().tolist(), key=str)
    answer = guess_good_answer(values, name)
    if answer.value is None:
        raise InputError(
            "data.favorable", f"cannot be guessed: {answer.why}",
            advice=f"write label: {name} and favorable: VALUE, of {choices(values[:_FEW])}",
        )  # fmt: skip
    return answer.value, f"Of its values {choices(values[:_FEW])}, {answer.why}"


def _from_where(scores: pd.Series) -> tuple[float, str]:
    """Return the score from which on a decision is likely favorable, and the guess in words."""
    values = scores.dropna().to_numpy(dtype=float)
    if not len(values) or (values.min() >= 0 and values.max() <= 1):
        return 0.5, "from 0.5 on"
    middle = float(np.median(values))
    return middle, f"from their median on, {middle:g}, for nothing says from where"


def _model(stored: dict[str, str], label: str | None, built: AuditData | None) -> tuple[dict[str, Any], str]:
    scores = [name for name, kind in stored.items() if kind == "score"]
    labels = [name for name, kind in stored.items() if kind == "label"]
    if labels:
        return {"predictions": {"label": labels[0]}}, f"The predictions are those in {labels[0]!r}."
    if scores:
        return (
            {"predictions": {"score": scores[0]}},
            f"The predictions are the scores in {scores[0]!r}, higher being better for the person.",
        )
    names = [] if built is None else list(built.features)
    if not names:
        return {"predictions": {"label": label}}, (
            "No column holds predictions, and none describes people beside label and groups, for a model to "
            f"read: {label!r} itself is audited as the decision."
        )
    model, why = usual_model(label)
    if "train" in model:
        why += f" It reads {_listed(names[:6])}{' and others' if len(names) > 6 else ''}."
    return model, why


def usual_model(label: Any) -> tuple[dict[str, Any], str]:
    """Return the `model` of a spec where nothing predicts, and why: one trained here, or the label itself.

    A label that is made of a column by a rule can only be learned.
    """
    if isinstance(label, str) and not installed("sklearn"):
        return {"predictions": {"label": label}}, (
            f"No column holds predictions, and a model is trained only with {called('sklearn')} "
            f"({how_to_install('sklearn')}): {label!r} itself is audited as the decision."
        )
    return {
        "train": "logistic"
    }, "A logistic regression is trained on 70% of the people and audited on the rest."


def told_lacking(left_out: Mapping[str, str]) -> str:
    """Say which audits need what is not installed, and how to have it."""
    told = []
    for package in dict.fromkeys(left_out.values()):
        names = [name for name, needed in left_out.items() if needed == package]
        needs = "needs" if len(names) == 1 else "need"
        told.append(f"{_listed(names)} {needs} {called(package)} ({how_to_install(package)})")
    return f"Left out is what needs a package that is not installed here: {'; '.join(told)}."


def _listed(names: list[str]) -> str:
    shown = [repr(name) for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
