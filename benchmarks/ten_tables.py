"""Ten tables as strangers bring them, of which it is known who is treated worse, and a large one.

They are hard as public tables are: counts instead of people, four applications to one advert, a second
header, 666 for what is not known, another language, a decision without a model, an outcome to be learned, few
people, and no difference at all. None is bundled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

Columns = dict[str, np.ndarray]
Draw = Callable[[np.random.Generator], Columns | pd.DataFrame]
_NONE, _OPEN = "No material difference", "Can't tell yet"


@dataclass(frozen=True)
class Known:
    """A table, and what is known of it.

    `outcome` is the column that was decided or that happened, and `good` the answer that is good for the
    person; `group` are words of the headline that name who is worse off, empty where nobody is, and `badge`
    is what *At a glance* must state first. `by` says who is compared, `truth` which column holds what
    happened in truth, with its good value; `header` is a line above the names.
    """

    draw: Draw
    outcome: str
    good: str
    group: str
    by: tuple[str, ...]
    badge: str = "Difference found"
    truth: Mapping[str, str] = field(default_factory=dict)
    header: str = ""


TABLES: dict[str, Known] = {}
LARGE: dict[str, Known] = {}


def _known(
    name: str, *told: str | tuple[str, ...], of: dict[str, Known] = TABLES, **more: object
) -> Callable:
    """Keep what draws a table under its name, with what is known of it."""

    def keep(draw: Draw) -> None:
        of[name] = Known(draw, *told, **more)

    return keep


def write_table(name: str, folder: Path) -> Path:
    """Write a table, always the same; return its file."""
    tables, path = TABLES | LARGE, folder / f"{name}.csv"
    rows = pd.DataFrame(tables[name].draw(np.random.default_rng([35, list(tables).index(name)])))
    header = tables[name].header
    path.write_text(f"{header}\n" * bool(header) + rows.to_csv(index=False), encoding="utf-8")
    return path


def _drawn(rng: np.random.Generator, rates: np.ndarray, words: tuple[str, str] = ("no", "yes")) -> np.ndarray:
    return np.array(words)[(rng.random(len(rates)) < rates).astype(int)]


@_known("mortgages", "denied", "no", "black", ("race", "sex"))
def _(rng: np.random.Generator) -> Columns:
    race = rng.choice(["asian", "black", "white"], 2_400, p=[0.12, 0.2, 0.68])
    return {
        "rownames": np.arange(101, 2_501),
        "race": race,
        "sex": rng.choice(["female", "male"], 2_400),
        "payment_to_income": rng.normal(0.33, 0.1, 2_400).round(3),
        "self_employed": _drawn(rng, np.full(2_400, 0.12)),
        "denied": _drawn(rng, np.where(race == "black", 0.32, 0.12)),
    }


@_known("admissions", "Decision", "Admitted", "women", ("Gender",))
def _(rng: np.random.Generator) -> pd.DataFrame:
    rows = product(("Female", "Male"), ("law", "medicine", "arts", "physics"), ("Admitted", "Rejected"))
    frame = pd.DataFrame(rows, columns=["Gender", "School", "Decision"])
    rate = np.where(frame["Gender"] == "Female", 0.34, 0.5)
    return frame.assign(Freq=rng.poisson(600 * np.where(frame["Decision"] == "Admitted", rate, 1 - rate)))


@_known("adverts", "callback", "yes", "black", ("race",))
def _(rng: np.random.Generator) -> Columns:
    pay = np.repeat(rng.normal(0, 0.8, 700), 4)
    black = np.tile([False, True, False, True], 700)
    return {
        "adid": np.repeat(np.arange(1, 701), 4),
        "firstname": np.tile(["Molly", "Aisha", "Brett", "Rasheed"], 700),
        "race": np.where(black, "black", "white"),
        "experience": rng.integers(1, 20, 2_800),
        "callback": _drawn(rng, expit(pay - 0.2 - 1.0 * black)),
    }


@_known("rearrests", "rearrested_within_two_years", "0", "black", ("race",))
def _(rng: np.random.Generator) -> Columns:
    race = rng.choice(["black", "white"], 3_000)
    priors = rng.poisson(np.where(race == "black", 3.2, 1.6))
    return {
        "race": race,
        "age": rng.integers(18, 66, 3_000),
        "priors": priors,
        "degree": rng.choice(["felony", "misdemeanor"], 3_000),
        "rearrested_within_two_years": _drawn(rng, expit(0.5 * priors - 1.4), ("0", "1")),
    }


@_known(
    *("bewerbungen", "eingestellt", "ja", "women", ("Geschlecht",)),
    header="Spalte 1,Spalte 2,Spalte 3,Spalte 4",
)
def _(rng: np.random.Generator) -> Columns:
    sex = rng.choice(["weiblich", "männlich"], 900)
    return {
        "Geschlecht": sex,
        "Berufsjahre": rng.integers(0, 30, 900),
        "Punkte": rng.normal(60, 12, 900).round(1),
        "eingestellt": _drawn(rng, np.where(sex == "weiblich", 0.24, 0.45), ("nein", "ja")),
    }


@_known("loans-and-truth", "decision", "granted", "immigrant", ("origin",), truth={"paid_back": "1"})
def _(rng: np.random.Generator) -> Columns:
    origin = rng.choice(["native", "immigrant"], 4_000, p=[0.6, 0.4])
    repays = rng.random(4_000) < 0.7
    chance = np.where(repays, np.where(origin == "immigrant", 0.6, 0.82), 0.25)
    return {
        "client_id": np.arange(70_001, 74_001),
        "origin": origin,
        "amount": np.exp(rng.normal(8.5, 0.5, 4_000)).round(),
        "decision": _drawn(rng, chance, ("declined", "granted")),
        "paid_back": np.where(repays, "1", "0"),
    }


@_known("visas", "granted", "Y", "Orsic", ("religion",))
def _(rng: np.random.Generator) -> Columns:
    religion = rng.choice(["Orsic", "Tamen", "none"], 1_600, p=[0.3, 0.4, 0.3])
    income = rng.normal(40, 9, 1_600).round(1)
    income[rng.random(1_600) < 0.03] = 999_999.4
    return {
        "religion": religion,
        "income": income,
        "children": np.where(rng.random(1_600) < 0.04, 666, rng.integers(0, 5, 1_600)),
        "granted": _drawn(rng, np.where(religion == "Orsic", 0.38, 0.6), ("N", "Y")),
    }


@_known("lottery", "selected", "1", "", ("gender",), _NONE)
def _(rng: np.random.Generator) -> Columns:
    return {
        "ticket": np.arange(5_000, 13_000),
        "gender": rng.choice(["f", "m"], 8_000),
        "distance": rng.gamma(2, 3, 8_000).round(1),
        "selected": _drawn(rng, np.full(8_000, 0.5), ("0", "1")),
    }


@_known("logements", "logement_attribué", "oui", "étrangère", ("origine",))
def _(rng: np.random.Generator) -> Columns:
    origine = rng.choice(["étrangère", "française"], 1_800, p=[0.35, 0.65])
    return {
        "numero": np.arange(1, 1_801),
        "origine": origine,
        "enfants": rng.integers(0, 5, 1_800),
        "revenu": rng.normal(1900, 400, 1_800).round(),
        "logement_attribué": _drawn(rng, np.where(origine == "étrangère", 0.3, 0.5), ("non", "oui")),
    }


@_known("few", "shortlisted", "yes", "", ("applicant_sex",), _OPEN)
def _(rng: np.random.Generator) -> Columns:
    return {
        "applicant_sex": np.where(np.arange(90) % 2, "F", "M"),
        "years": rng.integers(0, 20, 90),
        "shortlisted": _drawn(rng, np.full(90, 0.4), ("no", "yes")),
    }


@_known("large", "approved", "yes", "women", ("sex",), of=LARGE)
def _(rng: np.random.Generator) -> Columns:
    sex = rng.choice(["female", "male"], 200_000)
    columns = {"sex": sex, "race": rng.choice(["a", "b", "c"], 200_000), "age": rng.integers(18, 80, 200_000)}
    columns |= {f"x{k}": rng.normal(size=200_000).round(3) for k in range(25)}
    columns |= {f"kind{k}": rng.choice(["low", "middle", "high"], 200_000) for k in range(12)}
    return columns | {"approved": _drawn(rng, np.where(sex == "female", 0.4, 0.5))}
