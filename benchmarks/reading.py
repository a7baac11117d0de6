"""Reading Adult (48,842 rows) against pandas.read_csv in the same process; prints ratios.

`pandas.read_csv` is told what the file is (names, separator, markers); `read_table` finds it, checks
row lengths, counts missing markers and hashes the bytes. Best of several runs each, taken in turn.

Usage: python -m benchmarks.reading [ROUNDS]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from audits.data import FeatureSpace, data_spec, load_data, public_section, read_table

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def with_pandas() -> pd.DataFrame:
    options = {"header": None, "skipinitialspace": True, "na_values": "?"}
    parts = [
        pd.read_csv(SHARED / "adult.data", **options),
        pd.read_csv(SHARED / "adult.test", skiprows=1, **options),
    ]
    return pd.concat(parts, ignore_index=True)


def main(rounds: int) -> None:
    if not SHARED.is_dir():
        sys.exit(f"the shared data is not beside the checkout ({SHARED})")
    files = [SHARED / "adult.data", SHARED / "adult.test"]
    spec = data_spec(public_section("adult", SHARED))
    data = load_data(spec)
    space = FeatureSpace.fit(data)
    points = space.encode(data.frame)
    works: dict[str, Callable[[], object]] = {
        "pandas.read_csv, told everything": with_pandas,
        "read_table, finding everything": lambda: read_table(files),
        "load_data (read, recode, groups, digest)": lambda: load_data(spec),
        "FeatureSpace.fit": lambda: FeatureSpace.fit(data),
        "FeatureSpace.encode": lambda: space.encode(data.frame),
        "FeatureSpace.decode": lambda: space.decode(points),
    }
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            best[name] = min(best[name], seconds(work))
    base = best["pandas.read_csv, told everything"]
    for name, found in best.items():
        print(f"{name:42s} {found:7.3f} s   {found / base:5.2f} x pandas.read_csv")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
