"""The paper's case studies in small; benchmarks/papers/fliptest.py runs them in full beside its figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from audits.data import public_section
from audits.runs.executors.inline import InlineExecutor
from benchmarks.papers.fliptest import compas, control, lipton
from tests.flipset.conftest import audited

WOMEN, MEN = {"gender": "female"}, {"gender": "male"}


@pytest.fixture(scope="module")
def hiring():
    return lipton(1_000)


def test_lipton_in_both_directions_with_the_papers_model(hiring):
    """NUMBERS of the exact coupling; the way back holds the same pairs seen from there (Appendix D)."""
    forward = audited(hiring, source=WOMEN, target=MEN, permutations=0)
    backward = audited(hiring, source=MEN, target=WOMEN, permutations=0)
    assert (round(forward.positive.size), round(forward.negative.size)) == (157, 136)
    assert (round(backward.negative.size), round(backward.positive.size)) == (157, 136)


def test_lipton_by_the_entropic_map_is_that_of_the_exact_coupling(hiring):
    """Section 5.3: the favoured women have longer hair than their counterparts, the others less work."""
    result = audited(hiring, source=WOMEN, target=MEN, transport="entropic", permutations=0)
    assert result.validation.trusted
    assert result.positive.size == pytest.approx(157, abs=15)
    assert result.negative.size == pytest.approx(136, abs=15)
    favoured = {item.feature: item.standardized_difference for item in result.positive.transparency}
    held_back = {item.feature: item.standardized_difference for item in result.negative.transparency}
    assert favoured["hair_length"] > abs(favoured["work_years"])
    assert held_back["work_years"] < -abs(held_back["hair_length"])


def test_means_of_counterparts_are_caught(hiring):
    """Means lie nearer the middle than people do, so fewer pass the model's cut either way: Appendix D's
    check of the two directions is there to see that.
    """
    result = audited(
        hiring,
        source=WOMEN,
        target=MEN,
        transport="entropic",
        map={"projection": "barycentre"},
        permutations=0,
    )
    assert not result.validation.trusted
    assert "the two directions disagree" in result.warnings[0]


def test_control_flips_few_people_by_a_map_and_more_by_exact_matching():
    """Appendix B: the model knows nothing of the groups, so all flips are the map's own doing."""
    subject = control(1_000, trained=800)
    groups = {"source": {"group": "a"}, "target": {"group": "b"}, "permutations": 0}
    smooth = audited(subject, transport="linear", **groups)
    exact = audited(subject, **groups)
    assert max(smooth.positive.share.value, smooth.negative.share.value) < 0.03
    assert exact.positive.size + exact.negative.size > 2 * (smooth.positive.size + smooth.negative.size)
    moved = {axis: abs(value) for axis, value in smooth.validation.ks.items()}
    assert max(moved.values()) < 0.1


def test_compas_within_the_label_as_recomputed_from_outside(shared_data):
    """81 of 477 people who did not reoffend (17 %) and 134 of 500 who did (27 %) are held back by race."""
    features = ["age", "priors_count", "juv_fel_count", "c_charge_degree"]
    section = {**public_section("compas", shared_data), "features": features, "test_size": 0.3}
    section["path"] = str(Path(section["path"]).resolve())
    asked = {
        "source": {"race": "African-American"},
        "target": {"race": "Caucasian"},
        "condition_on": "label",
        "permutations": 0,
        "bootstrap": 100,
    }
    spec = {"data": section, "model": {"train": "logistic"}, "audits": [{"flipset": asked}]}
    found = InlineExecutor().submit(spec, Path()).result().audits[0].result
    told = {item.value: item.negative_size / item.n_source for item in found.strata}
    # 81 of 477 and 134 of 500 as recomputed from outside, on other people held out
    assert told == pytest.approx({"favorable label": 81 / 477, "unfavorable label": 134 / 500}, abs=0.03)
    assert found.negative.size / found.n_source == pytest.approx(215 / 977, abs=0.03)


def test_compas_maps_agree_with_the_exact_coupling(shared_data):
    """The paper has no figures for COMPAS; three methods that err differently should say about the same."""
    subject = compas()
    groups = {"source": {"race": "African-American"}, "target": {"race": "Caucasian"}, "permutations": 0}
    exact = audited(subject, max_people=800, **groups)
    for kind in ("linear", "entropic"):
        found = audited(subject, transport=kind, **groups)
        assert found.validation.trusted
        assert found.positive.share.value < 0.03
        assert found.negative.share.value == pytest.approx(exact.negative.share.value, abs=0.06)
