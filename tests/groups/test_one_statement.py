"""Badge, sentence, first figure and JSON of a comparison of groups state one interval, on every example."""

from __future__ import annotations

import pytest

from audits.data.samples import CATALOGUE
from audits.groups.figures.deciding import deciding, title
from audits.groups.figures.ranked import ranked_groups
from audits.runs.executors.inline import InlineExecutor
from audits.stats.badges import interval_text
from audits.stats.vocabulary import speaking


@pytest.mark.parametrize("name", list(CATALOGUE))
def test_one_interval_everywhere(name: str) -> None:
    from app.drafts.drafts import SAMPLES

    spec = CATALOGUE[name].spec
    names = spec["data"]["protected"]
    spec["audits"] = [{"groups": {"by": [*names, names] if len(names) > 1 else list(names)}}]
    run = InlineExecutor().submit(spec, SAMPLES).result()
    audit = run.audits[0]
    result, told = audit.result, run.to_json()["audits"][0]
    interval = result.judged.interval
    stated = {"value": interval.value, "low": interval.low, "high": interval.high}
    assert {key: told["interval"][key] for key in stated} == stated
    assert told["decided_by"] == result.judged.decided_by
    with speaking(audit.words):
        mark = deciding(result).data[0]
        assert mark.meta == stated
        assert list(mark.x) == pytest.approx([100 * interval.low, 100 * interval.value, 100 * interval.high])
        shares = [f"{100 * row.metric(rate).value:.0f}%" for row, rate in _pair(result)]
        assert all(share in title(result) for share in shares)
        assert interval_text(result.judged).startswith(f"{100 * interval.value:.2g}".replace("-", "−")[:2])
        found = ranked_groups(result)
        assert found is not None
        assert result.verdict != "evidence of a difference" or found.focus is not None


def _pair(result):
    from audits.groups.judging import most_telling

    row, reference, rate = most_telling(result.table)
    return (row, rate), (reference, rate)
