"""Ten tables as strangers bring them, of which it is known who is treated worse; none is bundled.

Each is drawn by `TABLES[name].draw(rng)`. They are hard as public tables are: counts instead of people, four
applications to one advert, a second header, 666 for what is not known, another language, a decision without a
model, an outcome to be learned, few people, and no difference at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

Columns = dict[str, np.ndarray]


@dataclass(frozen=True)
class Known:
    """A table, and what is known of it.

    `outcome` is the column that was decided or that happened, and `good` the answer that is good for the
    person; `group` are words of the headline that name who is worse off, empty where nobody is, and `badge`
    is what *At a glance* must state first. `by` says who is compared, `truth` which column holds what
    happened in truth, with its good value; `header` is a line above the names.
    """

    draw: Callable[[np.random.Generator], Columns | pd.DataFrame]
    outcome: str
    good: str
    group: str
    badge: str
    by: tuple[str, ...]
    truth: Mapping[str, str] = field(default_factory=dict)
    header: str = ""


def write_table(name: str, folder: Path) -> Path:
    """Write a table, always the same; return its file."""
    known = TABLES[name]
    rows = pd.DataFrame(known.draw(np.random.default_rng([35, list(TABLES).index(name)])))
    path = folder / f"{name}.csv"
    text = rows.to_csv(index=False)
    path.write_text(f"{known.header}\n{text}" if known.header else text, encoding="utf-8")
    return path


def _drawn(rng: np.random.Generator, rates: object, words: tuple[str, str] = ("no", "yes")) -> np.ndarray:
    return np.array(words)[(rng.random(len(np.asarray(rates))) < rates).astype(int)]


def _mortgages(rng: np.random.Generator) -> Columns:
    n = 2_400
    race = rng.choice(["asian", "black", "white"], n, p=[0.12, 0.2, 0.68])
    return {
        "rownames": np.arange(101, 101 + n),
        "race": race,
        "sex": rng.choice(["female", "male"], n),
        "payment_to_income": rng.normal(0.33, 0.1, n).round(3),
        "self_employed": _drawn(rng, np.full(n, 0.12)),
        "denied": _drawn(rng, np.where(race == "black", 0.32, 0.12)),
    }


def _admissions(rng: np.random.Generator) -> pd.DataFrame:
    schools = ("law", "medicine", "arts", "physics")
    rows = product(("Female", "Male"), schools, ("Admitted", "Rejected"))
    frame = pd.DataFrame(rows, columns=["Gender", "School", "Decision"])
    women, yes = frame["Gender"] == "Female", frame["Decision"] == "Admitted"
    rate = np.where(women, 0.34, 0.5)
    return frame.assign(Freq=rng.poisson(600 * np.where(yes, rate, 1 - rate)))


def _adverts(rng: np.random.Generator) -> Columns:
    adverts = 700
    pay = np.repeat(rng.normal(0, 0.8, adverts), 4)
    name = np.tile(["Molly", "Aisha", "Brett", "Rasheed"], adverts)
    black = np.isin(name, ["Aisha", "Rasheed"])
    chance = 1 / (1 + np.exp(-(pay - 0.2 - 1.0 * black)))
    return {
        "adid": np.repeat(np.arange(1, adverts + 1), 4),
        "firstname": name,
        "race": np.where(black, "black", "white"),
        "experience": rng.integers(1, 20, 4 * adverts),
        "callback": _drawn(rng, chance),
    }


def _rearrests(rng: np.random.Generator) -> Columns:
    n = 3_000
    race = rng.choice(["black", "white"], n)
    priors = rng.poisson(np.where(race == "black", 3.2, 1.6))
    chance = 1 / (1 + np.exp(-(0.5 * priors - 1.4)))
    return {
        "race": race,
        "age": rng.integers(18, 66, n),
        "priors": priors,
        "degree": rng.choice(["felony", "misdemeanor"], n),
        "rearrested_within_two_years": _drawn(rng, chance, ("0", "1")),
    }


def _hires(rng: np.random.Generator) -> Columns:
    n = 900
    sex = rng.choice(["weiblich", "männlich"], n)
    return {
        "Geschlecht": sex,
        "Berufsjahre": rng.integers(0, 30, n),
        "Punkte": rng.normal(60, 12, n).round(1),
        "eingestellt": _drawn(rng, np.where(sex == "weiblich", 0.24, 0.45), ("nein", "ja")),
    }


def _loans(rng: np.random.Generator) -> Columns:
    n = 4_000
    origin = rng.choice(["native", "immigrant"], n, p=[0.6, 0.4])
    repays = rng.random(n) < 0.7
    chance = np.where(repays, np.where(origin == "immigrant", 0.6, 0.82), 0.25)
    return {
        "client_id": np.arange(70_001, 70_001 + n),
        "origin": origin,
        "amount": np.exp(rng.normal(8.5, 0.5, n)).round(),
        "decision": _drawn(rng, chance, ("declined", "granted")),
        "paid_back": np.where(repays, "1", "0"),
    }


def _visas(rng: np.random.Generator) -> Columns:
    n = 1_600
    religion = rng.choice(["Orsic", "Tamen", "none"], n, p=[0.3, 0.4, 0.3])
    income = rng.normal(40, 9, n).round(1)
    income[rng.random(n) < 0.03] = 999_999.4
    return {
        "religion": religion,
        "income": income,
        "children": np.where(rng.random(n) < 0.04, 666, rng.integers(0, 5, n)),
        "granted": _drawn(rng, np.where(religion == "Orsic", 0.38, 0.6), ("N", "Y")),
    }


def _lottery(rng: np.random.Generator) -> Columns:
    n = 8_000
    return {
        "ticket": np.arange(n) + 5_000,
        "gender": rng.choice(["f", "m"], n),
        "distance": rng.gamma(2, 3, n).round(1),
        "selected": _drawn(rng, np.full(n, 0.5), ("0", "1")),
    }


def _logements(rng: np.random.Generator) -> Columns:
    n = 1_800
    origine = rng.choice(["étrangère", "française"], n, p=[0.35, 0.65])
    return {
        "numero": np.arange(1, n + 1),
        "origine": origine,
        "enfants": rng.integers(0, 5, n),
        "revenu": rng.normal(1900, 400, n).round(),
        "logement_attribué": _drawn(rng, np.where(origine == "étrangère", 0.3, 0.5), ("non", "oui")),
    }


def _few(rng: np.random.Generator) -> Columns:
    n = 90
    return {
        "applicant_sex": np.where(np.arange(n) % 2, "F", "M"),
        "years": rng.integers(0, 20, n),
        "shortlisted": _drawn(rng, np.full(n, 0.4), ("no", "yes")),
    }


_DIFFERENCE, _NONE, _OPEN = "Difference found", "No material difference", "Can't tell yet"
TABLES = {
    "mortgages": Known(_mortgages, "denied", "no", "black", _DIFFERENCE, ("race", "sex")),
    "admissions": Known(_admissions, "Decision", "Admitted", "women", _DIFFERENCE, ("Gender",)),
    "adverts": Known(_adverts, "callback", "yes", "black", _DIFFERENCE, ("race",)),
    "rearrests": Known(_rearrests, "rearrested_within_two_years", "0", "black", _DIFFERENCE, ("race",)),
    "bewerbungen": Known(
        *(_hires, "eingestellt", "ja", "women", _DIFFERENCE, ("Geschlecht",)),
        header="Spalte 1,Spalte 2,Spalte 3,Spalte 4",
    ),
    "loans-and-truth": Known(
        _loans, "decision", "granted", "immigrant", _DIFFERENCE, ("origin",), truth={"paid_back": "1"}
    ),
    "visas": Known(_visas, "granted", "Y", "Orsic", _DIFFERENCE, ("religion",)),
    "lottery": Known(_lottery, "selected", "1", "", _NONE, ("gender",)),
    "logements": Known(_logements, "logement_attribué", "oui", "étrangère", _DIFFERENCE, ("origine",)),
    "few": Known(_few, "shortlisted", "yes", "", _OPEN, ("applicant_sex",)),
}
