"""The data doctor: what is likely wrong is found, and its mend mends it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec, read_table
from audits.data.preprocessing.leakage import telling_features
from audits.data.quality.checks import examine
from audits.errors import InputError
from tests.refused import refused

N = 400


def people(seed=0, n=N):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["female", "male"], n)
    skill = rng.normal(size=n).round(2)
    paid = np.where(skill + rng.normal(size=n) > 0, "yes", "no")
    town = rng.choice(["A", "B", "C"], n)
    return pd.DataFrame({"sex": sex, "skill": skill, "town": town, "paid": paid})


def found(folder, frame, *, predictions=None, text=None, **more):
    """Write a table, examine it, and return findings by kind, with what builds it after a mend."""
    path = folder / "people.csv"
    path.write_text(frame.to_csv(index=False) if text is None else text, encoding="utf-8")
    told = {"label": "paid", "favorable": "yes", "protected": ["sex"]} if text is None else {"protected": []}
    told |= more

    def look(given):
        spec = data_spec(given)
        table = read_table(path, options=spec.read)
        try:
            data = build_data(table, spec)
        except InputError:
            data = None
        return {each.kind: each for each in examine(table, spec, data, predictions=predictions)}, data

    def after(mend):
        changed = {**told, **mend.put, "recode": {**told.get("recode", {}), **mend.recode}}
        if mend.leave_out:
            changed["features"] = [name for name in look(told)[1].features if name not in mend.leave_out]
        if mend.unprotect:
            changed["protected"] = [name for name in told["protected"] if name not in mend.unprotect]
        return look(changed)

    return look(told)[0], after


def _leak(frame):
    rng = np.random.default_rng(2)
    told = np.where(rng.random(N) < 0.97, frame["paid"] == "yes", rng.random(N) < 0.5)
    return np.where(told, 5.0, 1.0) + frame["skill"] / 10


TWICE = {"gender": lambda frame: frame["sex"].map({"female": 0, "male": 1})}


def test_nothing_is_found_in_a_table_of_people_with_codes_and_with_numbers_that_may_be(tmp_path):
    rng = np.random.default_rng(4)
    frame = people().assign(zip=["abroad", *(f"{k % 90:05d}" for k in range(1, N))])  # a code is no number
    assert found(tmp_path, frame)[0] == {}
    large = {"income": np.exp(rng.normal(10, 1.2, N)).round(2), "minutes": rng.integers(0, 1200, N)}
    large["minutes"][::10] = 500
    assert "impossible" not in found(tmp_path, people().assign(**large, gain=rng.integers(0, 9, N)))[0]


def test_a_feature_that_names_people_is_found_and_left_out(tmp_path):
    frame = people().assign(code=[f"K{each}" for each in np.random.default_rng(0).integers(10**9, size=N)])
    seen, after = found(tmp_path, frame, features=["skill", "town", "code"])
    assert after(seen["identifiers"].mends[0])[1].features == ("skill", "town")


def test_words_among_numbers_become_missing_ones(tmp_path):
    frame = people().astype({"skill": str})
    frame.loc[[3, 9, 5], "skill"] = ["inf", "-inf", "none yet"]
    frame.loc[1, "town"] = np.nan
    seen, after = found(tmp_path, frame)
    assert list(seen) == ["words among numbers"]
    assert all(word in seen["words among numbers"].said for word in ("skill", "'inf'", "'none yet'"))
    data = after(seen["words among numbers"].mends[0])[1]
    assert data.kinds["skill"] == "continuous"
    assert data.frame[["skill", "town"]].isna().sum().tolist() == [3, 1]


def test_what_was_protected_twice_is_no_feature_after_its_mend(tmp_path):
    seen, after = found(tmp_path, people().assign(**TWICE), protected=["sex", "gender"])
    left, data = after(seen["same attribute"].mends[0])
    assert left == {}
    assert data.protected == ("sex",)
    assert "gender" not in data.features


def test_every_column_that_tells_the_label_is_named_the_strongest_first_with_its_cut(tmp_path):
    points = np.random.default_rng(3).integers(0, 100, N)
    frame = people().assign(points=points, paid=np.where(points >= 60, "yes", "no"))
    frame = frame.assign(bar1=_leak, dropout=lambda each: (each["paid"] == "no").astype(int))
    said = found(tmp_path, frame)[0]["gives the label away"].said
    assert said.index("dropout (1.00)") < said.index("bar1")
    assert "60" in said


def test_a_stored_decision_in_other_words_is_found_and_left_out(tmp_path):
    frame = people().assign(decided=lambda each: (each["skill"] > 0).astype(int))
    frame["risk"] = np.where(frame["decided"] == 1, "low", np.where(frame.index % 3, "medium", "high"))
    frame["skill"] += np.random.default_rng(5).normal(size=len(frame))
    seen, after = found(tmp_path, frame, predictions="decided")
    assert seen["gives the decision away"].mends[0].leave_out == ("risk",)
    assert "gives the decision away" not in after(seen["gives the decision away"].mends[0])[0]


def test_equal_rows_are_left_out_and_counted(tmp_path):
    seen, after = found(tmp_path, pd.concat([people(), people().iloc[: N // 2]]))
    assert list(seen) == ["equal rows"]
    data = after(seen["equal rows"].mends[0])[1]
    assert data.n == len(people().drop_duplicates())
    assert data.excluded["it repeats another row in every column"] == data.rows_read - data.n


def test_a_second_header_becomes_the_names(tmp_path):
    rows = "\n".join(f"{i % 50},{i % 7},{i % 2}" for i in range(60))
    seen, after = found(tmp_path, None, text=f"X1,X2,Y\nLIMIT,PAY,default\n{rows}\n")
    _, data = after(seen["second header"].mends[0])
    assert list(data.frame.columns) == ["LIMIT", "PAY", "default"]


@pytest.mark.parametrize(
    ("written", "decimal", "first"),
    [("1.234,5 €", ",", 1234.5), ("$1,234.5", ".", 1234.5), ("1'200", ".", 1200)],
)
def test_numbers_in_another_writing_are_read_as_numbers(written, decimal, first, tmp_path):
    lines = [f'"{written}",{i % 2}' for i in range(30)] + [f'"{written.replace("1", "2")}",1'] * 3
    seen, after = found(tmp_path, None, text="pay,paid\n" + "\n".join(lines))
    mend = next(each for each in seen["written numbers"].mends if each.put["read"]["decimal"] == decimal)
    assert after(mend)[1].frame["pay"].iloc[0] == first


def test_a_sheet_is_chosen_among_those_that_may_be_the_table(tmp_path):
    """A cover with no table, and a sheet beyond a limit, are passed over and refuse nothing."""
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        told = {"excel_writer": book, "index": False}
        pd.DataFrame({"All cases of 2024": ["..."] * 2}).to_excel(sheet_name="Cover", **told)
        pd.DataFrame({"note": ["read me", "and me"], "of": [1, 2]}).to_excel(sheet_name="About", **told)
        people(n=50).to_excel(sheet_name="People", startrow=3, **told)
        book.sheets["People"]["A1"] = "All cases"
        pd.DataFrame([range(2_100)] * 2).to_excel(sheet_name="Wide", **told)
    table = read_table(path)
    assert table.report.files[0].sheets == ("About", "People")
    seen = examine(table, data_spec({}))
    assert [mend.button for mend in seen[0].mends] == ["Read People", "About is right"]
    read = data_spec(dict(seen[0].mends[0].put)).read
    assert list(read_table(path, options=read).frame.columns) == list(people().columns)
    with refused("read.sheet", "book.xlsx", "'Peple'", "'People'"):
        read_table(path, options=data_spec({"read": {"sheet": "Peple"}}).read)


def test_a_label_equal_to_the_predictions_and_fractional_weights(tmp_path):
    frame = people().assign(prediction=lambda each: each["paid"], w=lambda each: each["skill"].abs() + 0.3)
    seen, after = found(tmp_path, frame, predictions="prediction", weights="w")
    assert "fractional weights" in seen
    for mend in seen["fractional weights"].mends:
        mended = after(mend)[0]
        assert "label equals predictions" in mended
        assert "fractional weights" not in mended


def test_a_model_better_than_is_likely_has_the_columns_named_that_alone_tell_the_outcome(tmp_path):
    y = people()["paid"] == "yes"
    letter = np.where(np.random.default_rng(1).random(N) < 0.9, y, ~y).astype(int)
    spec = data_spec({"label": "paid", "favorable": "yes", "protected": ["sex"]})
    cards = []
    for told in ({"result": y.astype(int), "letter": letter}, {}):
        people().assign(**told).to_csv(tmp_path / "people.csv", index=False)
        table = read_table(tmp_path / "people.csv", options=spec.read)
        cards.append(examine(table, spec, build_data(table, spec), unlikely="right about all 400 people"))
    (card,) = cards[0]  # one card says it, and none "gives the label away"
    assert card.kind == "unlikely performance"
    assert "right about all 400 people" in card.said
    assert card.said.index("result (1.00)") < card.said.index("letter (0."), "the strongest first"
    assert [mend.leave_out for mend in card.mends][:3] == [("result",), ("letter",), ("result", "letter")]
    assert not cards[1][0].mends


@pytest.mark.parametrize("mark", [666, 999999.4, -1])
def test_codes_for_what_is_not_known_are_shown_as_they_stand(mark, tmp_path):
    points = np.where(np.arange(N) % 25 == 0, mark, np.arange(N) % 60)
    seen, after = found(tmp_path, people().assign(points=points))
    card = seen["impossible"]
    assert f" {mark:.10g} " in card.said
    assert card.mends[0].recode == {"points": {"map": {f"{mark:.10g}": None}}}
    left, data = after(card.mends[0])
    assert "impossible" not in left
    assert data.frame["points"].isna().sum() == N // 25


def test_columns_that_are_missing_together_are_no_proxies(tmp_path):
    gone = np.random.default_rng(1).random(N) < 0.3
    halves, thirds = np.where(np.arange(N) % 2, "a", "b"), np.where(np.arange(N) % 3, "x", "y")
    frame = people().assign(race=halves, letter=thirds)
    frame.loc[gone, ["race", "letter"]] = np.nan
    kinds = found(tmp_path, frame, protected=["race"])[0]
    assert not [kind for kind in kinds if "prox" in kind or "same" in kind]


def test_what_may_itself_be_the_outcome_is_dropped_with_nothing_else(tmp_path):
    frame = people().assign(approved=lambda each: each["paid"], code=lambda each: each["paid"] == "yes")
    card = found(tmp_path, frame)[0]["gives the label away"]
    assert [mend.leave_out for mend in card.mends] == [("code",), ("approved",)]


def test_levels_cuts_dates_and_what_is_missing_tell_the_label():
    each = np.arange(200)
    y, start = each < 100, pd.Timestamp("2024-01-01")
    frame = pd.DataFrame({"action": np.where(y, np.resize(["granted", "bought"], 200), "rejected")})
    frame = frame.assign(one=1.0, half=np.where(each % 2, np.nan, each))
    frame["one wrong"] = frame["action"].mask(each == 3, "rejected")
    frame["two wrong"] = frame["action"].mask(each < 2, "rejected")
    frame = frame.assign(up=each, down=-each, bent=np.abs(each - 100))
    frame = frame.assign(day=np.where(y, None, "2024-01-01"), number=np.where(y, np.nan, 1.0))
    frame["decided"] = start + pd.to_timedelta(np.where(y, 0, 90) + each % 60, "D")
    frame["born"] = start + pd.to_timedelta(each * 7 % 400, "D")
    told = ["action", "one wrong", "up", "down", "day", "number", "decided"]
    assert telling_features(frame, list(frame), y) == told


def test_values_that_nobody_shares_tell_nothing():
    """40 people, 40 numbers and names: each value's own label is no sign of anything."""
    rng = np.random.default_rng(0)
    y = rng.random(40) < 0.5
    frame = pd.DataFrame({"number": rng.normal(size=40), "name": [f"n{k}" for k in range(40)]})
    assert telling_features(frame, list(frame), y) == []
    frame["cut"] = np.where(y, 100.0, 0.0) + frame["number"]
    assert telling_features(frame, list(frame), y) == ["cut"]
    assert telling_features(frame[:18], list(frame), y[:18]) == []  # few rows say nothing


def test_looking_at_a_part_first_finds_the_same_features():
    rng = np.random.default_rng(3)
    n = 100_003
    y = rng.random(n) < 0.02
    errs = rng.choice(np.flatnonzero(y), 19, replace=False)  # 1 % of the rarer label's rows are about 20
    told = y.astype(float)
    told[errs] = 0.0
    more = told.copy()
    more[rng.choice(np.flatnonzero(y), 200, replace=False)] = 0.0
    frame = pd.DataFrame({"told": told, "not quite": more, "noise": rng.normal(size=n)})
    frame = frame.assign(cut=y + rng.random(n) / 2, word=np.where(told == 1, "yes", "no"))
    assert telling_features(frame, list(frame.columns), y) == ["told", "cut", "word"]
