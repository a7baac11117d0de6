"""People of whom an attribute is missing lead no finding while a group with a name differs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec
from audits.models import make_subject, model_spec
from audits.runs.registry import AUDITS
from audits.stats import EVIDENCE


@pytest.mark.parametrize(("audit", "options"), [("rule_sets", {}), ("barycenter", {"permutations": 99})])
def test_a_group_with_a_name_leads(audit, options):
    rng = np.random.default_rng(0)
    race = rng.choice(["a", "b", "c", "?"], 1200, p=[0.4, 0.3, 0.15, 0.15])
    chance = np.select([race == "?", race == "b"], [0.1, 0.45], 0.65)
    table = pd.DataFrame({"race": np.where(race == "?", None, race), "x": rng.normal(size=1200)})
    table["ok"] = np.where(rng.random(1200) < chance, "yes", "no")
    data = build_data(table, data_spec({"favorable": "yes", "protected": ["race"], "features": ["x"]}))
    subject = make_subject(data, model_spec({"predictions": {"label": "ok"}}))
    record = AUDITS[audit]
    result = record.run(subject, record.options(**options), rng=np.random.default_rng(0))
    assert result.verdict == EVIDENCE
    assert "(missing)" not in getattr(result, "rests_on", result.judged.decided_by)
