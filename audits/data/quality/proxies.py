"""What one column tells of another: of the label, of a protected attribute, of a prediction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from audits.data.audit_data import AuditData
from audits.data.preprocessing.filters import EVERYONE_ELSE
from audits.data.preprocessing.leakage import telling_features, telling_words
from audits.data.quality.findings import Finding, Mend, leave_out, quote_names
from audits.data.role_guesses import names_outcome
from audits.data.spec import DataSpec
from audits.data.values import MISSING, as_text, holds_numbers, text_of
from audits.stats.ranks import outscoring
from audits.text import join_names

_MAX_ROWS = 20_000  # looked at


_MAX_LEVELS = 50


_GIVES_AWAY = 0.95  # AUC of one column for the label from which it is asked whether it is the label


_CUT_VALUES = 5  # different values that a number needs to be cut


_HELPS = 0.8  # the same, once a model was found better than is likely


_STANDS_IN = 0.8  # AUC of one column for a protected value from which it can be read instead of it


_MIN = 30  # people of either side


_KNOWN = 0.1  # share of rows in which both of two columns must be known


_ALIKE = 0.999  # share of rows in which two columns agree that say the same


def same_attribute(data: AuditData) -> list[Finding]:
    """Find columns that say the same as a protected attribute, or as each other."""
    looked = list(dict.fromkeys([*data.protected, *data.features]))
    frame = _some(data.frame)
    codes = {}
    for name in looked:
        found, levels = pd.factorize(frame[name])  # that two are missing together says nothing
        if 2 <= len(levels) <= _MAX_LEVELS:
            codes[name] = found
    same: dict[str, list[str]] = {}
    taken: set[str] = set()
    for first, second in combinations(codes, 2):
        if first not in taken and second not in taken and _one_to_one(codes[first], codes[second]):
            same.setdefault(first, []).append(second)
            taken.add(second)
    findings = []
    for first, others in same.items():
        kept = tuple(name for name in others if name in data.features)
        twice = tuple(name for name in others if name in data.protected)
        if not kept and not twice:
            continue
        said = f"{quote_names([first, *others])} hold the same information under different names."
        if first in data.protected and kept:
            said += f" A model that reads {join_names(kept)} also reads {first}."
        findings.append(
            Finding(
                "same attribute",
                said,
                (Mend(f"Keep {first} only", leave_out=(*kept, *twice), unprotect=twice),),
            )
        )
    return findings


def _one_to_one(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether codes, -1 for missing ones, tell the same people apart wherever both are known."""
    known = (first >= 0) & (second >= 0)
    first, second = first[known], second[known]
    if known.sum() < max(_MIN, _KNOWN * len(known)) or first.max() == 0 or second.max() == 0:
        return False
    table = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(table, (first, second), 1)
    if table.shape[0] != table.shape[1]:
        return False
    return bool(min(table.max(axis=0).sum(), table.max(axis=1).sum()) >= _ALIKE * len(first))


def label_is_prediction(data: AuditData, spec: DataSpec, predictions: str | None) -> list[Finding]:
    """Find stored predictions that are a copy of the label."""
    label = spec.label_column
    if predictions is None or label is None or predictions not in data.frame or label not in data.frame:
        return []
    if predictions != label and not (as_text(data.frame[predictions]) == as_text(data.frame[label])).all():
        return []
    said = (
        f"The predictions in {predictions!r} equal the label {label!r} for everyone, so one is a copy "
        "of the other."
    )
    return [
        Finding(
            "label equals predictions",
            said,
            (Mend("Audit the predictions without a label", {"label": None}),),
        )
    ]


def missing_decisions(frame: pd.DataFrame, spec: DataSpec, predictions: str | None) -> list[Finding]:
    """Find people for whom a column of decisions holds none."""
    if predictions is None or predictions not in frame or predictions in spec.recode:
        return []
    keep = [*spec.to_dict().get("keep", []), {"column": predictions, "not_missing": True}]
    without = int(frame[predictions].isna().sum())
    if not without or keep[-1] in keep[:-1]:
        return []
    said = f"{without:,} of {len(frame):,} rows have no decision in {predictions!r}."
    return [Finding("undecided", said, (Mend("Keep the others", {"keep": keep}),))]


def tells_decision(data: AuditData, predictions: str | None) -> list[Finding]:
    """Find features each of which tells a stored decision of two values."""
    if predictions is None or predictions not in data.frame:
        return []
    decided, values = pd.factorize(as_text(data.frame[predictions]))
    if len(values) != 2:
        return []
    known = decided >= 0
    counts = None if data.weights is None else data.weights[known]
    names = tuple(telling_features(data.frame[known], data.features, decided[known] == 0, counts))
    if not names:
        return []
    said = (
        f"{telling_words(names, f'the decision in {predictions!r}')}. Leave out what is that decision in "
        "other words: it would explain every difference."
    )
    return [Finding("gives the decision away", said, (Mend(leave_out(names), leave_out=names),))]


def telling(data: AuditData, unlikely: str) -> list[Finding]:
    """Find features from each of which the label can be told, the strongest first."""
    if data.y is None:
        return []
    frame, y = _some(data.frame), _some(pd.Series(data.y)).to_numpy(dtype=bool)
    strong = _rank_by_auc(_levels(frame, data.features), y, _HELPS if unlikely else _GIVES_AWAY)
    shown = [f"{name} ({auc:.2f})" for name, auc in strong]
    names = [name for name, _ in strong]
    if unlikely:
        return [_too_good(unlikely, names, shown)]
    if not strong:
        return []
    said = (
        f"{join_names(shown)} {'nearly predicts' if len(names) == 1 else 'each nearly predict'} the outcome "
        "(1 is certain, 0.5 a guess). Leave out anything known only afterwards."
    )
    cuts = {name: told for name in names if (told := _cut_of(frame[name], y)) is not None}
    said += "".join(f" A good outcome is {name} {told}." for name, told in cuts.items())
    itself = [name for name in names if names_outcome(name)]
    if itself:
        said += f" {join_names(itself)} may itself be the outcome: then choose it."
    apart = ([name for name in names if name not in itself], itself)  # the outcome goes by its own button
    return [
        Finding(
            "gives the label away",
            said,
            tuple(Mend(leave_out(each), leave_out=tuple(each)) for each in apart if each),
        )
    ]


def _cut_of(column: pd.Series, y: np.ndarray) -> str | None:
    """Return from where on a number alone decides the outcome, in words; None where it does not."""
    if not holds_numbers(column):
        return None
    good, bad = column[y].dropna(), column[~y].dropna()
    if good.nunique() + bad.nunique() < _CUT_VALUES or good.empty or bad.empty:
        return None
    if good.min() > bad.max():
        return f"from {text_of(good.min())} on"
    return f"up to {text_of(good.max())}" if good.max() < bad.min() else None


def _too_good(unlikely: str, names: Sequence[str], shown: Sequence[str]) -> Finding:
    """Say that a model did better than is likely, and which columns may be why."""
    said = f"The model is {unlikely}. Few models are that good, and fairness results based on it say little."
    if not names:
        said += " No single column predicts the outcome; several together may."
        return Finding("unlikely performance", said)
    said += (
        f" Alone, {join_names(shown)} {'tells' if len(names) == 1 else 'tell'} the outcome best (1 is "
        "certain, 0.5 a guess). Leave out anything known only afterwards."
    )
    mends = [Mend(leave_out([name]), leave_out=(name,)) for name in names[:3]]
    if len(names) > 1:
        mends.append(Mend(leave_out(names), leave_out=tuple(names)))
    return Finding("unlikely performance", said, tuple(mends))


def find_proxies(data: AuditData) -> list[Finding]:
    """Find features from which a protected value can be read, the strongest first."""
    found = []
    frame, groups = _some(data.frame), _some(data.groups)
    codes = {name: pd.factorize(frame[name])[0] for name in data.features}
    levels = _levels(frame, data.features)
    for attribute in data.protected:
        column = groups[attribute].to_numpy(dtype=str)
        if EVERYONE_ELSE in column:  # a group made of columns can be read from them
            continue
        here = column != MISSING  # who is missing there is often missing elsewhere, too
        values, counts = np.unique(column[here], return_counts=True)
        own = pd.factorize(pd.Series(column).where(here))[0]
        features = [
            name
            for name in levels
            if name not in data.protected
            and not (codes[name].max() == own.max() and _one_to_one(own, codes[name]))
        ]
        known = {name: levels[name][here] for name in features}
        best: dict[str, tuple[float, str]] = {}
        for value in values[np.argsort(-counts)][:6]:
            for name, auc in _rank_by_auc(known, column[here] == value, _STANDS_IN):
                if auc > best.get(name, (0.0, ""))[0]:
                    best[name] = (auc, str(value))
        if not best:
            continue
        names = sorted(best, key=lambda name: -best[name][0])
        auc, value = best[names[0]]
        more = f"; so {'does' if len(names) == 2 else 'do'} {join_names(names[1:])}" if len(names) > 1 else ""
        said = (
            f"{names[0]!r} is a proxy for {attribute!r}: on its own it tells {value} from the others in "
            f"{100 * auc:.0f} of 100 pairs{more}. If it stays in, a model can use it instead."
        )
        found.append(
            Finding(f"proxies of {attribute}", said, (Mend(leave_out(names), leave_out=tuple(names)),))
        )
    return found


def _levels(frame: pd.DataFrame, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Return codes of each column (n,): numbers of many values are cut, texts of many left out."""
    found = {}
    for name in names:
        column = frame[name]
        codes, values = pd.factorize(column, use_na_sentinel=False)
        if len(values) > _MAX_LEVELS:
            if not pd.api.types.is_numeric_dtype(column.dtype):
                continue
            edges = np.unique(np.nanquantile(column.to_numpy(dtype=float), np.linspace(0, 1, _MAX_LEVELS)))
            codes = np.where(column.isna(), 0, 1 + np.searchsorted(edges, column.to_numpy(dtype=float)))
        found[name] = codes
    return found


def _rank_by_auc(levels: Mapping[str, np.ndarray], y: np.ndarray, least: float) -> list[tuple[str, float]]:
    if min(y.sum(), (~y).sum()) < _MIN:
        return []
    told = [(name, auc) for name, codes in levels.items() if (auc := _auc(codes, y)) >= least]
    return sorted(told, key=lambda each: -each[1])


def _auc(codes: np.ndarray, y: np.ndarray) -> float:
    """Return how well one column tells `y`: the rates of its values in every other row, tried on the rest."""
    n = int(codes.max()) + 1
    learn = np.arange(len(y)) % 2 == 0
    good = np.bincount(codes[learn & y], minlength=n)
    rate = (good + y.mean()) / (np.bincount(codes[learn], minlength=n) + 1.0)
    tried = [np.bincount(codes[~learn & side], minlength=n) for side in (y, ~y)]
    area = outscoring(np.tile(rate, 2), np.repeat([True, False], n), np.concatenate(tried))
    return 0.5 if area is None else area


def _some(frame: Any) -> Any:
    step = -(-len(frame) // _MAX_ROWS)
    return frame.iloc[::step]
