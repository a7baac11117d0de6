"""The data doctor: what is likely wrong is found, and its mend mends it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec, read_table
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


def section(**more):
    return {"label": "paid", "favorable": "yes", "protected": ["sex"], **more}


def found(folder, frame, *, predictions=None, text=None, **more):
    """Write a table, examine it, and return findings by kind, with what builds it after a mend."""
    path = folder / "people.csv"
    if text is None:
        frame.to_csv(path, index=False)
    else:
        path.write_text(text, encoding="utf-8")
    told = section(**more)

    def look(given):
        spec = data_spec(given)
        table = read_table(path, options=spec.read)
        try:
            data = build_data(table, spec)
        except InputError:
            data = None
        return {each.kind: each for each in examine(table, spec, data, predictions=predictions)}, data

    def after(mend):
        before = look(told)[1]
        changed = {**told, **mend.put, "recode": {**told.get("recode", {}), **mend.recode}}
        if mend.leave_out:
            changed["features"] = [name for name in before.features if name not in mend.leave_out]
        if mend.unprotect:
            changed["protected"] = [name for name in told["protected"] if name not in mend.unprotect]
        return look(changed)

    return look(told)[0], after


def test_nothing_is_found_in_a_table_of_people(tmp_path):
    assert found(tmp_path, people())[0] == {}


def _row_numbers(frame):
    return frame.assign(nr=np.arange(7, N + 7))


def _twice(frame):
    return frame.assign(gender=frame["sex"].map({"female": 0, "male": 1}))


def _leak(frame):
    rng = np.random.default_rng(2)
    told = np.where(rng.random(N) < 0.97, frame["paid"] == "yes", rng.random(N) < 0.5)
    return frame.assign(bar1=np.where(told, 5.0, 1.0) + frame["skill"] / 10)


def _proxy(frame):
    rng = np.random.default_rng(1)
    told = frame["sex"].where(rng.random(N) < 0.95, "female").map({"female": "wife", "male": "husband"})
    return frame.assign(relationship=told)


def _spelled(frame):
    return frame.assign(town=frame["town"].mask(frame.index % 7 == 0, "a"))


def _infinite(frame):
    return frame.assign(skill=frame["skill"].mask(frame.index == 3, 1e308))


def _worded(frame):
    skill = frame["skill"].astype(str).mask(frame.index == 3, "inf").mask(frame.index == 9, "-inf")
    return frame.assign(skill=skill.mask(frame.index == 5, "none yet"))


def _impossible(frame):
    return frame.assign(age=(40 + 9 * frame["skill"]).round().mask(frame.index == 5, -66))


def _marked(frame):
    return frame.assign(income=(3000 + 100 * frame["skill"]).round().mask(frame.index < 9, -999))


def _repeated(frame):
    return pd.concat([frame, frame.iloc[: N // 2]])


def _coded(frame):
    return frame.assign(education=np.arange(N) % 4 + 1)


def test_a_feature_that_names_people_is_found_and_left_out(tmp_path):
    frame = people().assign(code=[f"K{each}" for each in np.random.default_rng(0).integers(10**9, size=N)])
    seen, after = found(tmp_path, frame, features=["skill", "town", "code"])
    left, data = after(seen["identifiers"].mends[0])
    assert "identifiers" not in left
    assert data.features == ("skill", "town")


@pytest.mark.parametrize(
    ("kind", "wrong", "columns"),
    [
        ("row numbers", _row_numbers, ["nr"]),
        ("same attribute", _twice, ["gender"]),
        ("gives the label away", _leak, ["bar1"]),
        ("proxies of sex", _proxy, ["relationship"]),
        ("spellings", _spelled, ["town"]),
        ("infinite", _infinite, ["skill"]),
        ("words among numbers", _worded, ["skill", "'inf'", "'none yet'"]),
        ("impossible", _impossible, ["age"]),
        ("impossible", _marked, ["income"]),
        ("equal rows", _repeated, []),
        ("codes", _coded, ["education"]),
    ],
)
def test_what_is_wrong_is_found_named_and_mended(kind, wrong, columns, tmp_path):
    seen, after = found(tmp_path, wrong(people()))
    assert list(seen) == [kind]
    assert all(name in seen[kind].said for name in columns)
    left, data = after(seen[kind].mends[0])
    assert kind not in left
    assert data is not None


def test_words_among_numbers_become_missing_ones(tmp_path):
    seen, after = found(
        tmp_path, _worded(people()).assign(town=lambda each: each["town"].mask(each.index == 1))
    )
    mend = seen["words among numbers"].mends[0]
    data = after(mend)[1]
    assert data.kinds["skill"] == "continuous"
    assert data.frame["skill"].isna().sum() == 3
    assert data.frame["town"].isna().sum() == 1


def test_a_code_with_zeros_before_it_is_no_number(tmp_path):
    codes = [f"{k % 90:05d}" for k in range(N)]
    assert found(tmp_path, people().assign(zip=["abroad", *codes[1:]]))[0] == {}


def test_what_was_protected_twice_is_no_feature_after_its_mend(tmp_path):
    seen, after = found(tmp_path, _twice(people()), protected=["sex", "gender"])
    left, data = after(seen["same attribute"].mends[0])
    assert left == {}
    assert data.protected == ("sex",)
    assert "gender" not in data.features


def test_every_column_that_tells_the_label_is_named_the_strongest_first(tmp_path):
    frame = _leak(people()).assign(dropout=lambda each: (each["paid"] == "no").astype(int))
    said = found(tmp_path, frame)[0]["gives the label away"].said
    assert said.index("dropout (1.00)") < said.index("bar1")


def test_a_stored_decision_in_other_words_is_found_and_left_out(tmp_path):
    frame = people().assign(decided=lambda each: (each["skill"] > 0).astype(int))
    frame["risk"] = np.where(frame["decided"] == 1, "low", np.where(frame.index % 3, "medium", "high"))
    frame["skill"] += np.random.default_rng(5).normal(size=len(frame))
    seen, after = found(tmp_path, frame, predictions="decided")
    assert seen["gives the decision away"].mends[0].leave_out == ("risk",)
    assert "gives the decision away" not in after(seen["gives the decision away"].mends[0])[0]


def test_equal_rows_are_left_out_and_counted(tmp_path):
    seen, after = found(tmp_path, _repeated(people()))
    data = after(seen["equal rows"].mends[0])[1]
    assert data.n == len(people().drop_duplicates())
    assert data.excluded["it repeats another row in every column"] == data.rows_read - data.n


def test_a_second_header_becomes_the_names(tmp_path):
    rows = "\n".join(f"{i % 50},{i % 7},{i % 2}" for i in range(60))
    text = f"X1,X2,Y\nLIMIT,PAY,default\n{rows}\n"
    seen, after = found(tmp_path, None, text=text, label=None, favorable=None, protected=[])
    _, data = after(seen["second header"].mends[0])
    assert list(data.frame.columns) == ["LIMIT", "PAY", "default"]


@pytest.mark.parametrize(
    ("written", "decimal", "first"),
    [("1.234,5 €", ",", 1234.5), ("$1,234.5", ".", 1234.5), ("31,20 €", ",", 31.2), ("1'200", ".", 1200.0)],
)
def test_numbers_in_another_writing_are_read_as_numbers(written, decimal, first, tmp_path):
    lines = [f'"{written}",{i % 2}' for i in range(30)] + [f'"{written.replace("1", "2")}",1'] * 3
    seen, after = found(
        tmp_path, None, text="pay,paid\n" + "\n".join(lines), label=None, favorable=None, protected=[]
    )
    mend = next(each for each in seen["written numbers"].mends if each.put["read"]["decimal"] == decimal)
    _, data = after(mend)
    assert data.frame["pay"].iloc[0] == first


def test_a_sheet_is_chosen(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"note": ["read me", "and me"], "of": [1, 2]}).to_excel(
            book, sheet_name="About", index=False
        )
        people(n=50).to_excel(book, sheet_name="People", index=False)
    spec = data_spec({})
    seen = examine(read_table(path), spec)
    assert [mend.button for mend in seen[0].mends] == ["Read People", "About is right"]
    read = data_spec(dict(seen[0].mends[0].put)).read
    assert list(read_table(path, options=read).frame.columns) == list(people().columns)
    with refused("read.sheet", "book.xlsx", "'Peple'", "'People'"):
        read_table(path, options=data_spec({"read": {"sheet": "Peple"}}).read)


@pytest.mark.parametrize("rows", [1, 3])
def test_a_sheet_that_is_no_table_is_passed_over(rows, tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"a": ["All cases of 2024"] * rows}).to_excel(
            book, sheet_name="Cover", index=False, header=False
        )
        people(n=50).to_excel(book, sheet_name="People", index=False, startrow=3)
        book.sheets["People"]["A1"] = "All cases"
    table = read_table(path)
    assert list(table.frame.columns) == list(people().columns)
    assert table.report.files[0].sheets == ("People",)


def test_a_sheet_beyond_a_limit_is_not_offered_and_refuses_nothing(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        people(n=50).to_excel(book, sheet_name="People", index=False)
        wide = pd.DataFrame([range(2_100)] * 2)
        wide.to_excel(book, sheet_name="Wide", index=False)
    table = read_table(path)
    assert len(table.frame) == 50
    assert table.report.files[0].sheets == ("People",)


def test_a_label_equal_to_the_predictions_and_fractional_weights(tmp_path):
    frame = people().assign(prediction=lambda each: each["paid"], w=lambda each: each["skill"].abs() + 0.3)
    seen, after = found(tmp_path, frame, predictions="prediction", weights="w")
    assert "fractional weights" in seen
    for mend in seen["fractional weights"].mends:
        mended = after(mend)[0]
        assert "label equals predictions" in mended
        assert "fractional weights" not in mended


def test_what_was_mended_is_a_note_of_the_data(tmp_path):
    frame = people()
    spec = data_spec(section(mended=["Left out nr: it numbers the rows."]))
    assert "Left out nr: it numbers the rows." in build_data(frame, spec).notes


def test_a_model_better_than_is_likely_has_the_columns_named_that_alone_tell_the_outcome(tmp_path):
    frame = people()
    y = frame["paid"] == "yes"
    frame["result"] = np.where(y, 1, 0)
    frame["letter"] = np.where(np.random.default_rng(1).random(N) < 0.9, y, ~y).astype(int)
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    spec = data_spec(section())
    table = read_table(path, options=spec.read)
    data = build_data(table, spec)
    kinds = {each.kind: each for each in examine(table, spec, data, unlikely="right about all 400 people")}
    card = kinds["unlikely performance"]
    assert "right about all 400 people" in card.said
    assert card.said.index("result (1.00)") < card.said.index("letter (0."), "the strongest first"
    assert [mend.leave_out for mend in card.mends][:3] == [("result",), ("letter",), ("result", "letter")]
    assert "gives the label away" not in kinds, "one card says it"
    frame = frame.drop(columns=["result", "letter"])
    frame.to_csv(path, index=False)
    table = read_table(path, options=spec.read)
    (card,) = examine(table, spec, build_data(table, spec), unlikely="right about all 400 people")
    assert not card.mends


def _stands_for_unknown(values, n=N):
    return np.where(np.arange(n) % 25 == 0, values, np.arange(n) % 60)


@pytest.mark.parametrize("mark", [666, 999, 999999.4, 1e6, -1])
def test_codes_for_what_is_not_known_are_shown_as_they_stand(mark, tmp_path):
    seen, after = found(tmp_path, people().assign(points=_stands_for_unknown(mark)))
    card = seen["impossible"]
    assert f" {mark:.10g} " in card.said
    assert card.mends[0].recode == {"points": {"map": {f"{mark:.10g}": None}}}
    left, data = after(card.mends[0])
    assert "impossible" not in left
    assert data.frame["points"].isna().sum() == N // 25


def test_large_and_repeated_numbers_that_may_be_are_left_alone(tmp_path):
    rng = np.random.default_rng(4)
    frame = people().assign(
        income=np.exp(rng.normal(10, 1.2, N)).round(2),
        minutes=rng.integers(0, 1200, N),
        gain=rng.integers(0, 9, N),
    )
    assert "impossible" not in found(tmp_path, frame)[0]


def test_columns_that_are_missing_together_are_no_proxies(tmp_path):
    gone = np.random.default_rng(1).random(N) < 0.3
    frame = people().assign(race=lambda each: np.where(np.arange(N) % 2, "a", "b"), letter="x")
    frame.loc[gone, ["race", "letter"]] = np.nan
    frame["letter"] = frame["letter"].where(np.arange(N) % 3 > 0, "y").mask(gone)
    assert not [
        kind for kind in found(tmp_path, frame, protected=["race"])[0] if "prox" in kind or "same" in kind
    ]


def test_a_number_whose_cut_is_the_outcome_is_named_with_its_cut(tmp_path):
    points = np.random.default_rng(3).integers(0, 100, N)
    frame = people().assign(points=points, paid=np.where(points >= 60, "yes", "no"))
    assert "60" in found(tmp_path, frame)[0]["gives the label away"].said


def test_what_may_itself_be_the_outcome_is_dropped_with_nothing_else(tmp_path):
    frame = people().assign(approved=lambda each: each["paid"], code=lambda each: each["paid"] == "yes")
    card = found(tmp_path, frame)[0]["gives the label away"]
    assert [mend.leave_out for mend in card.mends] == [("code",), ("approved",)]
