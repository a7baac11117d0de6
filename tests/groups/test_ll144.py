"""Local Law 144 tables: the rules' own examples, small categories, and the columns that are chosen."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, build_data
from audits.data.spec import Weights
from audits.groups import bias_tables, groups
from audits.models import make_subject, model_spec
from tests.refused import refused


def audit(frame: pd.DataFrame, protected=("ethnicity", "gender"), **data: object):
    spec = DataSpec(protected=protected, features=("x",), **data)
    model = model_spec({"predictions": {"score": "score"}})
    return groups(make_subject(build_data(frame.assign(x=0.0), spec), model, threshold=0.5))


def test_a_table_is_compact_in_a_notebook_and_nothing_in_it_runs():
    frame = pd.DataFrame({"gender": ["<script>x</script>", "m", "unknown"] * 4, "score": [0.9, 0.6, 0.2] * 4})
    [table] = bias_tables(audit(frame, protected=("gender",)))
    assert repr(table) == "<BiasTable by gender: 2 categories, 4 people of unknown category>"
    assert "<script>" not in table._repr_html_()
    assert "&lt;script&gt;" in table._repr_html_()


def test_the_columns_can_be_chosen_and_wrong_ones_are_told():
    sex, trace = ("applicant_sex",), ("trace_code",)
    frame = pd.DataFrame({sex[0]: ["f", "m"] * 20, trace[0]: ["x", "y", "y", "x"] * 10})
    frame["score"] = np.linspace(0, 1, 40)
    assert bias_tables(audit(frame, protected=trace)) == (), "its name says neither"
    result = audit(frame, protected=(*sex, *trace))
    for race, attributes in (
        ({}, [sex]),
        ({"race": "trace_code"}, [sex, trace, (*sex, *trace)]),
        ({"race": "applicant_sex"}, [sex]),
    ):
        assert [table.attributes for table in bias_tables(result, **race)] == attributes
    with refused("sex", "'age'"):
        bias_tables(result, sex="age")
    with refused("race", "'trace_code'"):
        bias_tables(result, sex="trace_code", race="trace_code")


@pytest.mark.parametrize(
    "design", [{"person": "id"}, {"weights": Weights("w", kind="sampling", cluster="id")}]
)
def test_rows_that_are_not_one_person_each_have_the_intervals_of_the_audit(design):
    rng = np.random.default_rng(3)
    each = pd.DataFrame({"gender": ["f", "m", "x"] * 20, "id": range(60), "y": rng.random(60) < 0.5})
    rows = each.loc[each.index.repeat(5)].assign(w=rng.integers(1, 4, 300)).reset_index(drop=True)
    rows["score"] = np.where(rng.random(300) < 0.2, rng.random(300) < 0.5, rows["y"]).astype(float)
    result = audit(rows, protected=("gender",), **design)
    shown = bias_tables(result)[0].rows.set_index("category")
    for row in result.table:
        for name, found in (("selection rate", row.selection_rate), ("impact ratio", row.impact_ratio)):
            line = shown.loc[row.group, [f"{name} low", f"{name} high"]].tolist()
            assert line == pytest.approx([found.low, found.high])


# 6 RCNY § 5-301 (b): people, selected and the ratio printed; then of scores, above the median for selected
_EXAMPLES = {
    ("Male", "Hispanic or Latino"): ((205, 90, 0.841), (16, 12, 1.0)),
    ("Female", "Hispanic or Latino"): ((190, 82, 0.827), (12, 6, 0.67)),
    ("Male", "White"): ((412, 215, 1.0), (20, 7, 0.47)),
    ("Male", "Black or African American"): ((226, 95, 0.806), (20, 10, 0.67)),
    ("Male", "Native Hawaiian or Pacific Islander"): ((87, 37, 0.815), (4, 3, 1.0)),
    ("Male", "Asian"): ((321, 167, 0.997), (12, 7, 0.78)),
    ("Male", "Native American or Alaska Native"): ((24, 11, 0.878), (8, 5, 0.83)),
    ("Male", "Two or More Races"): ((115, 52, 0.866), (12, 6, 0.67)),
    ("Female", "White"): ((385, 197, 0.981), (20, 8, 0.53)),
    ("Female", "Black or African American"): ((164, 75, 0.876), (12, 6, 0.67)),
    ("Female", "Native Hawaiian or Pacific Islander"): ((32, 15, 0.898), (4, 2, 0.67)),
    ("Female", "Asian"): ((295, 135, 0.877), (12, 3, 0.33)),
    ("Female", "Native American or Alaska Native"): ((17, 7, 0.789), (8, 5, 0.83)),
    ("Female", "Two or More Races"): ((98, 44, 0.86), (8, 4, 0.67)),
}
_SELECTED, _SCORED = ({name: each[k] for name, each in _EXAMPLES.items()} for k in (0, 1))


def applicants(counts: dict[tuple[str, str], tuple[int, int, float]], unknown: int) -> pd.DataFrame:
    """People with a score above the median where selected, else below it; those unknown in the middle."""
    rows = [
        (sex, race, 0.9 if k < chosen else 0.1)
        for (sex, race), (n, chosen, _) in counts.items()
        for k in range(n)
    ]
    return pd.DataFrame([*rows, *[("unknown", "White", 0.4)] * unknown], columns=["sex", "race", "score"])


@pytest.mark.parametrize(
    ("counts", "unknown", "part", "places"),
    [(_SELECTED, 250, "impact ratio", 3), (_SCORED, 15, "scoring impact ratio", 2)],
)
def test_the_example_of_the_rules(counts, unknown, part, places):
    result = audit(applicants(counts, unknown), protected=("sex", "race"))
    sex, race, both = bias_tables(result, exclude_under=0)
    assert (sex.unknown, both.unknown) == (unknown, unknown)
    shown = both.rows.set_index("category")[part]
    for (one, other), (*_, printed) in counts.items():
        assert shown[f"{one} & {other}"] == pytest.approx(printed, abs=0.51 * 10**-places)
    by_sex = sex.rows.set_index("category")
    assert by_sex[part]["Female"] == pytest.approx({3: 0.979, 2: 0.82}[places], abs=0.51 * 10**-places)
    if part == "impact ratio":
        assert by_sex[["people", "selected"]].to_numpy().tolist() == [[1390, 667], [1181, 555]]
        by_race = race.rows.set_index("category")
        assert by_race["people"]["Black or African American"] == 390
    else:
        assert both.rows["scored above median"].sum() == 84, "half of those of known category, as printed"


def test_small_categories_are_left_out_only_as_far_as_asked():
    result = audit(applicants(_SELECTED, 250), protected=("sex", "race"))
    *_, usual = bias_tables(result)
    left_out = usual.rows.set_index("category")["impact ratio"].isna()
    assert set(left_out.index[left_out]) == {
        f"{sex} & {race}" for (sex, race), (n, *_) in _SELECTED.items() if n < 0.02 * 2821
    }
    *_, every = bias_tables(result, exclude_under=0)
    assert every.rows["impact ratio"].notna().all()
    assert every.rows["under 2%"].equals(usual.rows["under 2%"])
    with refused("the share under which categories are left out"):
        bias_tables(result, exclude_under=2)
    nobody = pd.DataFrame({"gender": ["f", "m"] * 10, "score": [0.1] * 20})
    assert bias_tables(audit(nobody, protected=("gender",)))[0].rows["impact ratio"].isna().all()
