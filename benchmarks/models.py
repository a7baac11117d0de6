"""Models brought along against their own libraries, and audits of them against each other.

Three tables. Files of every format: difference from the library that wrote them, load time, rows a second,
slopes. S and T of a network in torch and of its ONNX file. What the search without gradient finds of the
exact mean ratio, for ten models of made-up people and ten on five tables.

Run with ``python -m benchmarks.models`` beside the shared data.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from audits.data import AuditData, DataSpec, ReadOptions, build_data, data_spec, read_table
from audits.models import ModelSpec, make_subject, model_spec
from benchmarks.loss_ratio_worlds import found_by_search, subject_of
from benchmarks.loss_ratio_worlds import people as made_up

ADULT = Path(__file__).parents[2] / "shared" / "data" / "adult.data"
NAMES = (
    *("age", "workclass", "fnlwgt", "education", "education_num", "marital", "occupation", "relationship"),
    *("race", "sex", "gain", "loss", "hours", "country", "income"),
)
NUMBERS = ["age", "education_num", "hours"]
WORDS = ["workclass", "occupation", "sex"]
READ = [*NUMBERS, *WORDS]


def people() -> tuple[pd.DataFrame, AuditData]:
    """Return the rows as a modeller reads them, and as an audit does."""
    raw = pd.read_csv(ADULT, names=list(NAMES), skipinitialspace=True)
    table = read_table(ADULT, options=ReadOptions(names=NAMES))
    spec = DataSpec(label="income", favorable=(">50K",), protected=("race",), features=tuple(READ))
    return raw, build_data(table, spec)


Made = tuple[str, Path, np.ndarray]


def pipelines(raw: pd.DataFrame, folder: Path) -> Iterator[Made]:
    """Fit scikit-learn pipelines, and save them as ONNX and skops."""
    import skops.io
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    types = [(name, FloatTensorType([None, 1])) for name in NUMBERS]
    types += [(name, StringTensorType([None, 1])) for name in WORDS]
    networks = {
        "logistic regression": LogisticRegression(max_iter=300),
        "network": MLPClassifier((50,), max_iter=5, random_state=0),
    }
    for kind, estimator in networks.items():
        encode = make_column_transformer(
            (OneHotEncoder(sparse_output=False), WORDS), (StandardScaler(), NUMBERS)
        )
        own = make_pipeline(encode, estimator).fit(raw[READ], raw["income"])
        chances = own.predict_proba(raw[READ])[:, 1]
        stem = kind.replace(" ", "-")
        graph = to_onnx(own, initial_types=types, options={"zipmap": False})
        (folder / f"{stem}.onnx").write_bytes(graph.SerializeToString())
        yield f"ONNX, {kind}", folder / f"{stem}.onnx", chances
        skops.io.dump(own, folder / f"{stem}.skops")
        yield f"skops, {kind}", folder / f"{stem}.skops", chances


def boosters(raw: pd.DataFrame, folder: Path) -> Iterator[Made]:
    """Fit gradient boosting with categories by three libraries, and save it in their own formats."""
    import catboost
    import lightgbm
    import xgboost

    y = (raw["income"] == ">50K").astype(int)
    x = raw[READ].astype(dict.fromkeys(WORDS, "category"))
    trees = xgboost.XGBClassifier(n_estimators=100, enable_categorical=True, n_jobs=1).fit(x, y)
    for ending in ("json", "ubj"):
        trees.save_model(folder / f"m.{ending}")
        yield f"XGBoost .{ending}", folder / f"m.{ending}", trees.predict_proba(x)[:, 1]
    light = lightgbm.LGBMClassifier(n_estimators=100, verbose=-1, n_jobs=1).fit(x, y)
    light.booster_.save_model(folder / "m.txt")
    yield "LightGBM .txt", folder / "m.txt", light.predict_proba(x)[:, 1]
    cats = catboost.CatBoostClassifier(
        iterations=100, verbose=0, allow_writing_files=False, cat_features=WORDS, thread_count=1
    )
    cats.fit(raw[READ], raw["income"]).save_model(folder / "m.cbm")
    yield "CatBoost .cbm", folder / "m.cbm", cats.predict_proba(raw[READ])[:, 1]


def timed(action: Callable[[], object]) -> float:
    """Return the seconds that an action takes, the second time it is done."""
    action()
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def measure(data: AuditData, name: str, path: Path, chances: np.ndarray) -> dict[str, object]:
    """Return the row of one file."""
    spec = ModelSpec(path=str(path))
    small = data.take(np.arange(10))
    subject = make_subject(data, spec, threshold=0.5)
    scoring = timed(lambda: subject.favorable_score(data.frame))
    exact = subject.differentiable
    return {
        "format": name,
        "largest difference": float(np.abs(subject.scores - chances).max()),
        "load (ms)": round(1000 * timed(lambda: make_subject(small, spec))),
        "rows a second": round(data.n / scoring),
        "slope, largest difference": np.nan if exact is None else slope_difference(subject, exact),
    }


def slope_difference(subject: object, exact: object) -> float:
    """Return how far exact slopes of the log-odds by a year of age are from differences of scores."""
    import torch

    from audits.models.networks.gradients import logits_over

    some = subject.data.take(np.arange(500))  # type: ignore[attr-defined]
    space = subject.space  # type: ignore[attr-defined]
    z = torch.tensor(space.encode(some.frame), requires_grad=True)
    logits_over(exact, space, some.frame)(z).sum().backward()  # type: ignore[arg-type]
    slope = z.grad.numpy()[:, space.blocks["age"].start] / space.scale["age"][1]  # type: ignore[union-attr]
    step = 0.5
    odds = []
    for moved in (some.frame["age"] + step, some.frame["age"] - step):
        score = subject.favorable_score(some.frame.assign(age=moved))  # type: ignore[attr-defined]
        odds.append(np.log(score / (1 - score)))
    return float(np.quantile(np.abs((odds[0] - odds[1]) / (2 * step) - slope), 0.95))


def statistics(raw: pd.DataFrame, folder: Path) -> list[dict[str, object]]:
    """Return S and T of a network audited as torch has it, and as the ONNX file exported from it."""
    import torch

    import audits
    from audits.loss_ratio import LossRatioOptions, loss_ratio

    raw = raw.iloc[:2000]
    x = raw[NUMBERS].to_numpy("float32")
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 20), torch.nn.ReLU(), torch.nn.Linear(20, 1)
    )
    y = torch.from_numpy((raw["income"] == ">50K").to_numpy("float32"))
    steps = torch.optim.Adam(network.parameters(), 0.01)
    for _ in range(200):
        steps.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(network(torch.from_numpy(x))[:, 0], y)
        loss.backward()
        steps.step()
    network = torch.nn.Sequential(network, torch.nn.Sigmoid()).eval()
    example = (torch.from_numpy(x[:2]),)
    any_number = {"dynamic_shapes": ({0: torch.export.Dim("people")},), "verbose": False}
    torch.onnx.export(network, example, folder / "n.onnx", dynamo=True, external_data=False, **any_number)
    raw[[*NUMBERS, "sex", "income"]].to_csv(folder / "n.csv", index=False)
    section = {"label": "income", "favorable": ">50K", "protected": ["sex"], "features": NUMBERS}
    data = build_data(read_table(folder / "n.csv"), data_spec(section))
    file = make_subject(data, ModelSpec(path=str(folder / "n.onnx"), columns=tuple(NUMBERS)))
    memory = audits.audit(
        network, raw[NUMBERS], raw["income"], favorable=">50K", protected={"sex": raw["sex"]},
        audits={"groups": {"bootstrap": 0}},
    ).subject  # fmt: skip
    rows: list[dict[str, object]] = []
    for name, subject in (("torch module", memory), ("its ONNX file", file)):
        found = loss_ratio(subject, LossRatioOptions(), rng=0)
        rows.append({"network": name, "S": found.statistic.value, "T": found.lower_bound})
    return rows


TABLES: dict[str, tuple[Path, dict[str, object]]] = {
    "Adult": (ADULT, {"label": "income", "favorable": ">50K", "protected": ["sex"],
                      "features": [*NUMBERS, "workclass", "occupation", "relationship"]}),
    "COMPAS": (ADULT.parent / "compas.csv",
               {"label": "two_year_recid", "favorable": 0, "protected": ["race"],
                "features": ["age", "priors_count", "juv_fel_count", "c_charge_degree"]}),
    "German credit": (ADULT.parent / "german.csv",
                      {"label": "credit", "favorable": 1, "protected": ["age"], "bins": {"age": [18, 25, 80]},
                       "features": ["month", "credit_history", "credit_amount", "savings", "housing"]}),
    "law school": (ADULT.parent / "law_school.csv",
                   {"label": {"column": "ZFYA", "at_least": 0}, "protected": ["race"],
                    "features": ["LSAT", "UGPA", "region_first"]}),
    "hiring": (Path(__file__).parents[1] / "sample_data" / "hiring.csv",
               {"label": "qualified", "favorable": 1, "protected": ["gender"],
                "features": ["work_years", "hair_length"]}),
}  # fmt: skip


def searches(people: int = 200) -> Iterator[dict[str, object]]:
    """Yield the mean ratio by exact gradients and by scores of the same model alone."""
    for name, (path, section) in TABLES.items():
        options = ReadOptions(names=NAMES) if path == ADULT else None
        data = build_data(read_table(path, options=options), data_spec(section))
        drawn = np.random.default_rng(0).choice(data.n, min(data.n, 4 * people), replace=False)
        for kind in ("logistic", "mlp"):
            subject = make_subject(
                data.take(np.sort(drawn)), model_spec({"train": kind}), test_size=0.5, seed=0
            )
            yield searched(name, kind, found_by_search(subject, max_people=people))


def made_up_searches() -> Iterator[dict[str, object]]:
    """The same of ten models of made-up people, in whose first feature the attribute leaves its trace."""
    for seed, kind in product(range(5), ("logistic", "mlp")):
        told = {"sex": 0.5}
        frame = made_up(600, 3 + seed, told, np.random.default_rng(seed), trace=1.0 + seed / 4)
        if seed % 2:  # a category that the attribute leaves its trace in
            drawn = np.random.default_rng(seed).random(len(frame)) < 0.3 + 0.3 * (frame["sex"] == "a")
            frame["job"] = np.where(drawn, "cook", "judge")
        yield searched(f"{3 + seed} features", kind, found_by_search(subject_of(frame, told, kind, seed)))


def searched(people: str, kind: str, ratios: tuple[float, float]) -> dict[str, object]:
    """Return a row of the table of searches."""
    exact, found = ratios
    return {"people": people, "model": kind, "exact": exact, "found": found, "found / exact": found / exact}


def main() -> None:
    """Print the tables."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        raw, data = people()
        rows = [measure(data, *each) for way in (pipelines, boosters) for each in way(raw, folder)]
        print(f"{data.n:,} people, {len(READ)} columns")
        show(rows, 2)
        show(statistics(raw, folder), 7)
    for found in (made_up_searches(), searches()):
        table = show(list(found), 3)
        print(f"median {table['found / exact'].median():.3f}")


def show(rows: list[dict[str, object]], digits: int) -> pd.DataFrame:
    """Print rows as a table, and return it."""
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format=lambda value: f"{value:.{digits}g}"), end="\n\n")
    return table


if __name__ == "__main__":
    main()
