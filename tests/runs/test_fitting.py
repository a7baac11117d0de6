"""An audit that would not fit says so before it runs, on the command line as on a page."""

from __future__ import annotations

import pytest

from audits.errors import InputError
from audits.records import Size
from audits.runs.execute import execute
from audits.runs.executors import capacity as fitting
from audits.runs.registry import AUDITS
from audits.runs.spec import audit_request, parse_spec

_NEEDED = {
    "flipset": {"source": {"sex": "f"}, "target": {"sex": "m"}},
    "explain": {"source": {"sex": "f"}, "target": {"sex": "m"}},
    "outcome_transport": {"by": ["sex"], "against": "label"},
    "recourse": {"actionable": ["a"]},
    "loss_ratio": {"sensitive": ["sex"]},
    "sensitivity": {"protected": "sex"},
}


@pytest.mark.parametrize("name", list(AUDITS))
def test_every_audit_expects_more_of_more_people_and_is_refused_before_it_runs(name):
    options = audit_request(name, _NEEDED.get(name), name).options
    few, many = (Size(rows, 50, "logistic", {"sex": {"f": rows, "m": rows}}) for rows in (1_000, 4_000_000))
    needs = [AUDITS[name].expected_bytes(options, size) for size in (few, many)]
    assert needs[0] < 6e8 < 4e9 < needs[1]
    fitting.check_needs(needs[0], 10.0, few, name, 1e9, 3600.0)
    with pytest.raises(InputError, match=rf"{name} would take about .* GB of memory for 4,000,000 people"):
        fitting.check_needs(needs[1], 10.0, many, name, 1e9, 3600.0)
    with pytest.raises(InputError, match=r"would take about 600 minutes .*; a run has 60"):
        fitting.check_needs(needs[0], 36_000.0, few, name, 1e9, 3600.0)


def test_a_matching_that_is_asked_for_in_full_is_refused():
    asked = {"source": {"sex": "f"}, "target": {"sex": "m"}, "max_people": 900_000}
    size = Size(2_000_000, 20, None, {"sex": {"f": 1_000_000, "m": 1_000_000}})
    needs = AUDITS["flipset"].expected_bytes(audit_request("flipset", asked, "flipset").options, size)
    assert needs > 1.5e10


def test_a_run_is_refused_where_its_process_has_not_the_memory(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("sex,a,y\n" + "f,1,0\nm,2,1\nf,3,1\nm,1,0\n" * 20)
    data = {"path": "t.csv", "label": "y", "favorable": 1, "protected": ["sex"]}
    spec = parse_spec(
        {"data": data, "model": {"predictions": {"label": "y"}}, "audits": ["groups"]}, tmp_path
    )
    assert execute(spec).audits[0].result.table
    monkeypatch.setattr(fitting, "memory_left", lambda: 10_000_000)
    with pytest.raises(InputError, match=r"audits\[0\].groups would take about .* a run has 10 MB"):
        execute(spec)
