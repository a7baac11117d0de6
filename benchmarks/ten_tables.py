"""Ten tables as strangers bring them, and a large one, drawn as ten_tables.yaml says; none is bundled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from scipy.special import expit


@dataclass(frozen=True)
class Known:
    """A table, and what is known of it: what each is says ten_tables.yaml."""

    rows: int
    columns: Mapping[str, Mapping[str, Any]]
    outcome: str
    good: str
    by: Sequence[str]
    group: str = ""
    badge: str = "Difference found"
    truth: Mapping[str, str] = field(default_factory=dict)
    header: str = ""


_TOLD = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
ALL = {name: Known(**told) for name, told in _TOLD.items()}
TABLES = {name: known for name, known in ALL.items() if name != "large"}


def write_table(name: str, folder: Path) -> Path:
    """Write a table, always the same; return its file."""
    known, rng = ALL[name], np.random.default_rng([35, list(ALL).index(name)])
    made: dict[str, np.ndarray] = {}
    for column, how in known.columns.items():
        names = [f"{column}{k}" for k in range(how["times"])] if "times" in how else [column]
        made |= {each: _column(how, known.rows, made, rng) for each in names}
    shown = pd.DataFrame({column: values for column, values in made.items() if column[0] != "_"})
    path = folder / f"{name}.csv"
    path.write_text(f"{known.header}\n" * bool(known.header) + shown.to_csv(index=False), encoding="utf-8")
    return path


def _column(
    how: Mapping[str, Any], rows: int, made: Mapping[str, np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    """Draw a column, (rows,)."""
    [kind] = how.keys() - {"words", "plus", "p", "digits", "coded", "repeat", "times"}
    given, repeat = how[kind], how.get("repeat", 1)
    n = rows // repeat
    if kind == "arange":
        values = np.arange(given, given + n)
    elif kind == "tile":
        values = np.resize(given, n)
    elif kind in {"rate", "logit"}:
        chance = _value(given, made) + sum(by * made[name] for name, by in how.get("plus", {}).items())
        good = rng.random(n) < (chance if kind == "rate" else expit(chance))
        values = np.array(how.get("words", ["no", "yes"]))[good.astype(int)]
    else:
        shares = {"p": how["p"]} if "p" in how else {}
        values = getattr(rng, kind)(*(_value(each, made) for each in given), size=n, **shares)
    values = values.round(how["digits"]) if "digits" in how else values
    if "coded" in how:
        share, code = how["coded"]
        values = np.where(rng.random(n) < share, code, values)
    return np.repeat(values, repeat)


def _value(given: Any, made: Mapping[str, np.ndarray]) -> Any:
    """Return a number as it is, or numbers (n,) by another column: ``{column: {value: number or more}}``."""
    if not isinstance(given, dict):
        return given
    [(column, by)] = given.items()
    return np.select([made[column] == value for value in by], [_value(each, made) for each in by.values()])
