"""A new table's questions: decisions without a model come first, and each answer stands in the draft."""

from __future__ import annotations

import io
import time
from typing import Any

import numpy as np
import pandas as pd

from app.data_model.questions import FIRST_QUESTION, asked_anew
from app.drafts import drafts
from tests.app.test_pages import boxes, carry_out, prepared, texts, visit

CALLS = "advert,sex,skill,call,kept\n" + "".join(
    f"{k // 4},{'fm'[k % 2]},{k % 7},{('no', 'yes')[k % 3 == 0]},{k % 5 % 2}\n" for k in range(240)
)
COUNTS = "Admit,Gender,Dept,Freq\n" + "".join(
    f"{admit},{sex},{dept},{20 + 3 * k}\n"
    for k, (admit, sex, dept) in enumerate(
        (a, s, d) for a in ("Admitted", "Rejected") for s in ("Female", "Male") for d in "ABC"
    )
)


def new(space: Any, content: str) -> Any:
    path = space.add_file("people.csv", io.BytesIO(content.encode()))
    space.save_draft(drafts.from_files([path], "upload") | {"question": FIRST_QUESTION})
    return visit(space)


def spec(space: Any) -> dict[str, Any]:
    found: dict[str, Any] = space.draft()["spec"]
    return found


def answer(at: Any) -> Any:
    at.button(key="answer").click().run()
    assert not at.exception
    return at


def test_decisions_in_a_column_need_no_model_and_may_meet_the_truth(space) -> None:
    at = new(space, CALLS)
    assert not [each for each in at.button if each.key == "answer"], "first, what a row is"
    at.button(key="mend-rows-that-belong-together-0").click().run()
    assert spec(space)["data"]["person"] == "advert"
    assert spec(space)["model"] == {"predictions": {"label": "call"}}
    assert spec(space)["data"]["favorable"] == "yes"
    at = answer(at)
    assert spec(space)["data"]["protected"] == ["sex"]
    at = answer(at)
    truth = next(box for box in at.selectbox if str(box.key).startswith("label-"))
    truth.set_value("kept").run()
    good = next(box for box in at.selectbox if str(box.key).startswith("truth-"))
    good.set_value("1").run()
    assert spec(space)["data"]["recode"] == {"kept": {"map": {"1": "yes", "0": "no"}}}
    at = answer(at)
    measure = next(box for box in at.radio if str(box.key).startswith("measure-"))
    measure.set_value("equal_errors").run()
    assert spec(space)["measure"] == "equal_errors"
    at = answer(answer(at))
    assert "question" not in space.draft()
    assert spec(space)["data"]["words"]["yes"] == "called back"
    assert spec(space)["data"]["words"]["groups"] == {"sex": {"f": "women", "m": "men"}}
    assert any("240 applicants" in each and "33% called back" in each for each in texts(at))


def test_a_count_table_counts_people_after_one_click(space) -> None:
    at = new(space, COUNTS)
    at.button(key="mend-count-table-0").click().run()
    assert spec(space)["data"]["weights"] == {"column": "Freq", "kind": "counts"}
    for _ in range(4):
        at = answer(at)
    assert any("438 applicants" in each for each in texts(at))


def test_what_happened_is_learned_and_can_be_called_a_decision(space) -> None:
    at = new(space, CALLS.replace("call", "default").replace("advert", "hours"))
    assert spec(space)["model"] == {"train": "logistic"}
    assert (spec(space)["data"]["label"], spec(space)["data"]["favorable"]) == ("default", "no")
    way = next(each for each in at.segmented_control if str(each.key).startswith("way-"))
    way.set_value("label").run()
    assert not at.exception
    assert spec(space)["model"] == {"predictions": {"label": "default"}}
    assert "label" not in spec(space)["data"]
    assert spec(space)["data"]["favorable"] == "no"
    assert not any("“default”" in each.value for each in at.caption), "what was proposed is not chosen"


def test_a_pay_gap_is_found_in_its_unit_without_a_cut(space) -> None:
    rng = np.random.default_rng(4)
    sex, schooling = rng.choice(["female", "male"], 1200), rng.integers(8, 19, 1200)
    wage = np.exp(1.8 + 0.06 * schooling - 0.2 * (sex == "female") + rng.normal(0, 0.3, 1200)).round(2)
    people = pd.DataFrame({"sex": sex, "schooling": schooling, "wage": wage}).to_csv(index=False)
    at = new(space, people)
    data = spec(space)["data"]
    assert (data["label"], data["outcome"], data["favorable"]) == ("wage", "numeric", "high")
    way = next(each for each in at.segmented_control if str(each.key).startswith("way-"))
    way.set_value("path").run()
    assert "label" not in spec(space)["data"], "nobody said that the model is about pay"
    at = new(space, people)
    for name, verb in (("schooling", None), ("wage", "earn")):
        at = at.selectbox(key=f"amount-{space.draft()['id']}").set_value(name).run()
        assert (spec(space)["data"].get("words") or {}).get("verb") == verb
    assert spec(space)["model"] == {"predictions": {"score": "wage"}}
    unit = next(box for box in at.text_input if str(box.key).startswith("amount-unit-"))
    at = answer(answer(answer(unit.set_value("$ an hour").run())))
    assert "question" not in space.draft()
    assert not boxes(until_tried(at))
    assert spec(space)["data"]["words"]["groups"] == {"sex": {"female": "women", "male": "men"}}
    run = carry_out(space, prepared(at.switch_page("views/groups.py").run()))
    judged = run.result().audits[0].result.judged
    assert judged.interval.high < -1, "dollars an hour, not a share"
    assert "$" in at.container(key="finding").text[0].value


def test_what_no_name_says_is_asked_or_can_be_skipped(space) -> None:
    rows = "".join(f"{'fm'[k % 2]},{20 + k % 40},{k / 7:.2f}\n" for k in range(120))
    at = new(space, "sex,age,loss_of_income\n" + rows)
    assert spec(space)["data"]["label"] == "loss_of_income"
    assert "favorable" not in spec(space)["data"]
    assert at.button(key="answer").disabled
    end = next(box for box in at.selectbox if str(box.key).startswith("amount-good-"))
    end.set_value("low").run()
    assert spec(space)["data"]["favorable"] == "low"
    assert not at.button(key="answer").disabled
    at = new(space, "sex,hired,admitted,skill\n" + "f,yes,no,1\nm,no,yes,2\nf,no,no,3\nm,yes,yes,4\n" * 20)
    assert spec(space)["model"] == {"predictions": {}}, "two columns sound like the decision"
    assert at.button(key="answer").disabled
    at.button(key="skip-questions").click().run()
    assert not at.exception
    assert len(at.tabs) == 5, "the page of a table whose questions are answered"


def test_names_given_later_and_one_way_of_writing_come_before_the_decision(space) -> None:
    """As the two files of Adult are: without names, and ">50K." in the second counted as unfavorable."""
    rows = "".join(
        f"{'fm'[k % 2]},{20 + k % 40},{('<=50K', '>50K')[k % 3 == 0]}{'.' * (k % 5 == 0)}\n"
        for k in range(240)
    )
    at = new(space, rows)
    at.button(key="leave-spellings").click().run()
    read = {"header": False, "names": ["sex", "age", "income"]}
    space.save_draft(asked_anew(drafts.with_data(space.draft(), read=read)))
    at = visit(space)
    at.button(key="mend-spellings-0").click().run()
    assert (spec(space)["data"]["label"], spec(space)["data"]["favorable"]) == ("income", ">50K")
    good = next(box for box in at.multiselect if str(box.key).startswith("favorable-"))
    assert set(good.options) == {"<=50K", ">50K"}


def until_tried(at: Any) -> Any:
    """Draw the page until the trial of the first audits is over; what refuses to run is then in a box."""
    for _ in range(240):
        at.run()
        assert not at.exception
        if not any(box.key == "trying" for box in at.container):
            break
        time.sleep(0.5)
    return at


def test_a_cell_that_stops_every_audit_is_named_once_and_mended_by_a_button(space) -> None:
    rows = CALLS.replace("advert", "hours").replace("call", "default").splitlines()
    rows[3] = rows[3].replace(",2,", ",999999.4,", 1)
    at = answer(new(space, "\n".join(rows)))
    while "question" in space.draft():
        at = answer(at)
    [refusal] = [each for each in boxes(until_tried(at)) if "999999.4" in each]
    assert "skill" in refusal
    at.button(key="mend-first-impossible-0").click().run()
    assert spec(space)["data"]["recode"]["skill"]["map"] == {"999999.4": None}
    assert not boxes(until_tried(at))
    assert not at.button(key="next").disabled


def test_many_different_numbers_are_cut_where_people_are_compared_by_them(space) -> None:
    rows = "".join(
        f"{20 + k % 40},{k % 12},{1_234_567 * k - 9_000_000.25},a,{('no', 'yes')[k % 3 == 0]}\n"
        for k in range(240)
    )
    at = answer(new(space, "age,tenure,balance,town,hired\n" + rows))
    compared = next(box for box in at.multiselect if str(box.key).startswith("compared-"))
    assert "town" not in compared.options, "one value makes no groups"
    compared.set_value(["age", "tenure", "balance"]).run()
    assert spec(space)["data"]["bins"] == {  # 12 values are groups as they are
        "age": [20, 39, 59],
        "balance": [-9_000_000.25, 137_913_472.75, 286_061_512.75],  # everyone to the last digit
    }
