"""Tables as strangers bring them, drawn by a seed: does `init` write a spec that runs, or say what it needs?

Run with ``python -m benchmarks.varied_tables DIR [--first N] [--tables N]``: writes tables into DIR, has each
guessed by ``init`` and run by ``run``, and prints a line for each. Languages, outcomes, ids, dates, free
text, counts, codes for what is missing, second headers, separators and decimals vary with the seed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

__all__ = ["varied_table"]

_WORDS = {
    "en": ("sex", "female male", "age", "income", "region", "approved +denied -promoted +", "no yes"),
    "de": ("Geschlecht", "weiblich männlich", "Alter", "Gehalt", "Region",
           "eingestellt +abgelehnt -bewilligt +", "nein ja"),
    "fr": ("sexe", "femme homme", "âge", "revenu", "région", "embauché +refusé -admis +", "non oui"),
    "es": ("sexo", "mujer hombre", "edad", "ingresos", "región",
           "contratado +rechazado -admitido +", "no sí"),
}  # fmt: skip
_OUTCOME = re.compile(r"(\w+) ([+-])")


def varied_table(seed: int, folder: Path) -> Path:
    """Write the table of a seed; return its file."""
    rng = np.random.default_rng([35, seed])
    sex, values, age, income, region, outcomes, answers = _WORDS[str(rng.choice(list(_WORDS)))]
    outcome, sign = rng.choice(_OUTCOME.findall(outcomes))
    n = int(rng.choice([60, 150, 400]))
    group = rng.integers(0, 2, n)
    skill = rng.normal(size=n)
    good = skill + 0.5 * group + rng.normal(size=n) > 0.2
    told = {"words": answers.split(), "numbers": ("0", "1"), "truth": ("FALSE", "TRUE")}[
        str(rng.choice(["words", "numbers", "truth"]))
    ]
    frame = pd.DataFrame({sex: np.array(values.split())[group]})
    if rng.random() < 0.4:
        frame.insert(0, "rownames", np.arange(101, 101 + n))
    if rng.random() < 0.7:
        frame[age] = rng.integers(18, 80, n)
    if rng.random() < 0.6:
        frame[income] = np.exp(8 + 0.4 * skill).round(2)
    if rng.random() < 0.5:
        frame[region] = rng.choice(["A", "B", "C", "D"], n)
    if rng.random() < 0.3:
        frame["applied"] = (
            pd.Timestamp("2023-01-05") + pd.to_timedelta(rng.integers(0, 700, n), unit="D")
        ).strftime("%Y-%m-%d")
    if rng.random() < 0.3:
        words = ["late", "strong", "weak", "team", "sales", "letter", "good", "missing", "reference", "phone"]
        frame["note"] = [" ".join(rng.choice(words, 7)) for _ in range(n)]
    if rng.random() < 0.3:
        frame["points"] = np.where(rng.random(n) < 0.05, rng.choice([999, 666]), (50 + 12 * skill).round())
    if rng.random() < 0.2:
        frame["empty"] = np.nan
    if rng.random() < 0.2:
        frame["constant"] = "x"
    if rng.random() < 0.2:
        frame["case id"] = np.repeat(np.arange(n // 2), 2)[:n]
    place = len(frame.columns) if rng.random() < 0.6 else int(rng.integers(1, len(frame.columns) + 1))
    frame.insert(place, outcome, np.array(told)[(good == (sign == "+")).astype(int)])
    if rng.random() < 0.4:
        holes = frame.columns[int(rng.integers(len(frame.columns)))]
        frame[holes] = frame[holes].mask(rng.random(n) < 0.08)
    if rng.random() < 0.2:  # a cross table instead
        frame = frame[[sex, outcome]].assign(**{region: rng.choice(["A", "B"], n)}).dropna()
        frame = frame.value_counts().rename("Freq").reset_index()
    return _write(frame, folder / f"table-{seed:02}", rng)


def _write(frame: pd.DataFrame, place: Path, rng: np.random.Generator) -> Path:
    way = str(rng.choice(["csv", "csv", "semicolons", "tsv", "xlsx", "header"]))
    if way == "xlsx":
        frame.to_excel(path := place.with_suffix(".xlsx"), index=False)
        return path
    path = place.with_suffix(".tsv" if way == "tsv" else ".csv")
    separator, decimal = {"semicolons": (";", ","), "tsv": ("\t", ".")}.get(way, (",", "."))
    text = frame.to_csv(None, index=False, sep=separator, decimal=decimal)
    if way == "header":
        text = ",".join(f"V{k}" for k in range(len(frame.columns))) + "\n" + text
    path.write_text(text, encoding="utf-8")
    return path


def _tried(path: Path) -> tuple[str, float]:
    """Return what became of a table, and the seconds of its run."""
    spec = path.with_name(f"{path.name}.yaml")
    begun = time.monotonic()
    out = str(path.with_name(f"{path.stem}-results"))
    for command in (["init", str(path), "--out", str(spec), "--force"], ["run", str(spec), "--out", out]):
        words = [sys.executable, "-m", "audits", *command]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{command[0]} says {done.stderr.strip()[-400:]}", time.monotonic() - begun
    return "runs", time.monotonic() - begun


def main() -> None:
    """Draw, guess and run."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--first", type=int, default=0)
    asked.add_argument("--tables", type=int, default=25)
    given = asked.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for seed in range(given.first, given.first + given.tables):
        path = varied_table(seed, given.folder)
        said, seconds = _tried(path)
        print(f"{path.name}: {said} ({seconds:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
