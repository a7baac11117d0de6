"""Loan applications to an invented lender, with one planted harm that no single attribute shows.

Ours: every name, share and weight is invented, the ethnicities too, so that the planted harm points at no
real people. What is true of the table is in sample_data/README.md. Repayment is known for refused
applications too, as no real file has it, and follows the values before blanking; the model fills a blank
number with `Term.missing` and gives a blank housing no points.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from audits.checks import generator
from benchmarks.samples.onnx_graph import Graph

THRESHOLD = 0.75
"""Score from which the lender approves."""

BLANK = {"income": 0.02, "employment_years": 0.03, "savings": 0.05, "housing": 0.02}
"""Chance that a value is left blank, independent of everything."""

_YOUNG = 30
_PURPOSES = ("car", "home improvement", "education", "debt consolidation", "business")
_ETHNICITIES = {"Ostrian": 0.55, "Velian": 0.22, "Tamar": 0.15, "Norrin": 0.08}
_REGIONS = ("coast", "hills", "plain", "city")
_REGION_SHARES = {  # of coast, hills, plain, city
    "Ostrian": (0.30, 0.20, 0.25, 0.25),
    "Velian": (0.10, 0.15, 0.25, 0.50),
    "Tamar": (0.45, 0.10, 0.15, 0.30),
    "Norrin": (0.15, 0.45, 0.25, 0.15),
}


class Term(NamedTuple):
    """One number's points: ``weight * log(1 + value / unit)``, with `missing` for a blank value."""

    weight: float
    unit: float
    missing: float


# log-odds of repayment; the deployed model uses the same, less what it takes off
_BASE, _UNDER_30 = -0.15, 0.2
_NUMBERS = {
    "income": Term(1.9, 20_000, 33_000),
    "employment_years": Term(0.35, 2, 5),
    "debt": Term(-0.75, 5_000, 5_000),
    "savings": Term(0.30, 1_000, 2_000),
    "amount": Term(-0.75, 5_000, 9_000),
    "dependants": Term(-0.15, 1, 1),
}
_CATEGORIES = {
    "purpose": dict(zip(_PURPOSES, (0.1, 0.25, 0.0, -0.3, -0.2), strict=True)),
    "housing": {"owner": 0.3, "mortgage": 0.2, "rent": 0.0, "with family": 0.0},
    "credit_history": {"clean": 0.7, "none": 0.1, "late payments": -0.9},
}
HARMED = {"sex": "female", "ethnicity": "Velian"}
"""Whom the model harms, those of them who are under 30."""
PENALTY = 0.7
"""What it takes off their log-odds."""


def generate(
    n: int = 5_000, *, rng: np.random.Generator | int | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw `n` applications, let the model score them and see who repays; `rng` may be a seed.

    Beside them are returned, of those whom the model harms, its scores as they are and would be.
    """
    rng = generator(rng)
    people = _people(n, rng)
    complete = people.assign(**_finances(people["age"], rng))
    repaid = rng.random(n) < _chance(_log_odds(complete))
    table = complete.copy()
    for column, share in BLANK.items():
        table[column] = table[column].mask(rng.random(n) < share)
    table.insert(0, "application_id", [f"L{number:06d}" for number in range(1, n + 1)])
    fair, harmed = _log_odds(table), _harmed(table)
    given = _chance(fair - PENALTY * harmed)
    truth = table[["application_id"]].assign(model_score=given, score_without_penalty=_chance(fair))
    truth["refused_by_penalty"] = ((_chance(fair) >= THRESHOLD) & (given < THRESHOLD)).astype(int)
    return table.assign(repaid=repaid.astype(int), model_score=given), truth[harmed]


def onnx_model() -> bytes:
    """Return the deployed model as an ONNX file that reads the raw columns."""
    graph = Graph("loans")
    terms: list[str | float] = [_BASE]
    for column, term in _NUMBERS.items():
        raw = graph.number(column)
        value = graph.op("Where", graph.op("IsNaN", raw), term.missing, raw)
        logarithm = graph.op("Log", graph.op("Add", graph.op("Mul", value, 1 / term.unit), 1.0))
        terms.append(graph.op("Mul", logarithm, term.weight))
    terms += [graph.lookup(column, points) for column, points in _CATEGORIES.items()]
    young = graph.op("Cast", graph.op("Less", graph.number("age"), float(_YOUNG)), to=1)
    terms.append(graph.op("Mul", young, _UNDER_30))
    woman, velian = (graph.lookup(column, {value: 1.0}) for column, value in HARMED.items())
    harmed = graph.op("Mul", graph.op("Mul", young, woman), velian)
    terms.append(graph.op("Mul", harmed, -PENALTY))
    return graph.to_bytes(graph.op("Sigmoid", graph.add(terms), name="chance_of_repayment"))


def _log_odds(table: pd.DataFrame) -> np.ndarray:
    total = _BASE + _UNDER_30 * (table["age"] < _YOUNG)
    for column, term in _NUMBERS.items():
        total = total + term.weight * np.log1p(table[column].fillna(term.missing) / term.unit)
    for column, points in _CATEGORIES.items():
        total = total + table[column].map(points).fillna(0.0)
    return total.to_numpy(float)


def _harmed(table: pd.DataFrame) -> np.ndarray:
    return ((table[list(HARMED)] == HARMED).all(axis=1) & (table["age"] < _YOUNG)).to_numpy(bool)


def _chance(log_odds: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-log_odds))


def _people(n: int, rng: np.random.Generator) -> pd.DataFrame:
    age = 18 + np.floor(58 * rng.beta(1.7, 2.5, n)).astype(int)
    ethnicity = rng.choice(list(_ETHNICITIES), n, p=list(_ETHNICITIES.values()))
    shares = np.array([_REGION_SHARES[name] for name in ethnicity]).cumsum(axis=1)
    place = (rng.random((n, 1)) > shares[:, :-1]).sum(axis=1)
    sex = rng.choice(["female", "male"], n)
    return pd.DataFrame({"age": age, "sex": sex, "ethnicity": ethnicity, "region": np.array(_REGIONS)[place]})


def _finances(age: pd.Series, rng: np.random.Generator) -> dict[str, Any]:
    """Draw money, years and categories that grow with age."""
    n, grown = len(age), np.minimum(age, 50) - 40  # earnings stop growing at 50
    # the older the applicant, the likelier a home of your own and a credit history
    settled = np.clip((age - 18) / 40, 0, 1)
    income, years = rng.standard_normal(n), rng.gamma(1.5, 4.0, n)
    debt, savings, amount = rng.standard_normal(n), rng.standard_normal(n), rng.standard_normal(n)
    purpose, home = rng.choice(_PURPOSES, n, p=[0.35, 0.2, 0.1, 0.2, 0.15]), rng.random(n)
    dependants, past, none = rng.poisson(1.0, n), rng.random(n), 0.3 * (1 - settled)
    homes = [home < 0.5 * settled**2, home < settled, home < 0.9]
    return {
        "income": _money(34_000 * np.exp(0.004 * grown + 0.4 * income)),
        "employment_years": np.minimum(np.floor(years), age - 18).astype(int),
        "debt": _money(5_000 * np.exp(0.036 * grown + 0.9 * debt)),
        "savings": _money(2_500 * np.exp(0.015 * grown + 1.2 * savings)),
        "amount": _money(np.clip(9_000 * np.exp(0.6 * amount), 1_000, 60_000)),
        "purpose": purpose,
        "housing": np.select(homes, ["owner", "mortgage", "rent"], "with family"),
        "dependants": np.minimum(dependants, np.where(age < 25, 1, 5)),
        "credit_history": np.select([past < none, past < none + 0.15], ["none", "late payments"], "clean"),
    }


def _money(values: pd.Series | np.ndarray) -> np.ndarray:
    return (np.round(np.asarray(values) / 100) * 100).astype(int)
