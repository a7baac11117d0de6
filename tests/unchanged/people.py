"""The small invented tables behind some of the specs: run this file to write them into ``data`` again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

PEOPLE = 600
HERE = Path(__file__).resolve().parent


def people() -> pd.DataFrame:
    """People with every kind of column: categories, counts, gaps, codes, dates, texts, three outcomes."""
    rng = np.random.default_rng(7)
    town = rng.choice(["north", "south", "east"], PEOPLE, p=[0.45, 0.35, 0.2])
    sex = rng.choice([1, 2], PEOPLE)
    age = rng.integers(18, 70, PEOPLE)
    skill = (rng.normal(0, 1, PEOPLE) + 0.7 * (town == "north") + 0.01 * (age - 40)).round(3)
    hours = rng.integers(4, 60, PEOPLE).astype(float)
    trade = rng.choice(["baker", "clerk", "driver", "nurse"], PEOPLE).astype(object)
    trade[rng.random(PEOPLE) < 0.06] = None
    worth = skill + 0.02 * hours + 0.3 * (trade == "nurse") + rng.normal(0, 0.8, PEOPLE)
    hours[rng.random(PEOPLE) < 0.05] = np.nan
    risk = (10 / (1 + np.exp(worth + 0.4 * (sex == 1) + rng.normal(0, 0.7, PEOPLE)))).round(1)
    mood = rng.choice(["kind", "nice", "rude", "awful"], PEOPLE)
    who = rng.choice(["woman", "man", "muslim", "elderly person", "neighbour"], PEOPLE)
    said = [
        f"this {one} is {how} on day {day % 13}" for day, (one, how) in enumerate(zip(who, mood, strict=True))
    ]
    toxic = np.isin(mood, ["rude", "awful"]) | ((who == "muslim") & (rng.random(PEOPLE) < 0.5))
    joined = pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 3000, PEOPLE), unit="D")
    return pd.DataFrame(
        {
            "person": [f"P{number:04}" for number in range(PEOPLE)],
            "town": town,
            "sex": sex,
            "age": age,
            "skill": skill,
            "hours": hours,
            "trade": trade,
            "joined": joined.strftime("%Y-%m-%d"),
            "persons": rng.integers(1, 5, PEOPLE),
            "said": said,
            "toxic": np.where(toxic, "yes", "no"),
            "grade": np.select([worth < 0, worth < 1.2], ["low", "middle"], "high"),
            "pay": (20 + 6 * worth).round(2),
            "paid": (worth > 0.6).astype(int),
            "risk": risk,
            "guess": (skill + rng.normal(0, 1, PEOPLE) > 0.3).astype(int),
        }
    )


def arrest_counts(arrests: Path) -> pd.DataFrame:
    """The bundled arrests as a table of counts."""
    rows = pd.read_csv(arrests)
    return rows.groupby(list(rows.columns)).size().rename("people").reset_index()


if __name__ == "__main__":
    samples = HERE.parents[1] / "sample_data"
    people().to_csv(HERE / "data" / "people.csv", index=False, lineterminator="\n")
    counts = arrest_counts(samples / "arrests.csv")
    counts.to_csv(HERE / "data" / "arrest_counts.csv", index=False, lineterminator="\n")
