"""Bundled results of the examples are those of the code beside them."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from app import examples, jobs
from app.drafts import drafts
from app.glance.runs import usual_options
from app.tour.story import tell, tour_specs
from app.workspaces.workspace import Workspace
from audits.checks import build
from audits.data.samples import CATALOG
from audits.results import numbers
from audits.runs.executors.inline import InlineExecutor
from audits.runs.result import RunResult
from audits.runs.spec import parse_spec
from audits.stats.vocabulary import DataWords, speaking


def example(space: Workspace, name: str):
    draft = drafts.from_sample(space, CATALOG[name])
    data, _ = jobs.data(space, draft["spec"]).result()
    return draft, data


@pytest.mark.parametrize("name", list(CATALOG))
def test_an_example_arrives_with_the_numbers_of_a_run_made_now(space, monkeypatch, name: str) -> None:
    draft, data = example(space, name)
    asked = usual_options(draft, data)
    spec = drafts.audit_spec(draft, "groups", asked["groups"])
    with monkeypatch.context() as patch:
        patch.setattr(examples, "VERSION", "9")
        assert not jobs.arrives_computed(space, spec), "what is of another version is run instead"
    assert jobs.arrives_computed(space, spec), "bundle it: python -m benchmarks.examples"
    bundled = jobs.result(space, spec).to_json()
    made = InlineExecutor().submit(spec, space.folder).result().to_json()
    for part in ("audits", "data"):
        ours, theirs = dict(numbers(bundled[part])), dict(numbers(made[part]))
        assert ours.keys() == theirs.keys()
        assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-9), "python -m benchmarks.examples"
    assert [each["badge"] for each in bundled["audits"]] == [each["badge"] for each in made["audits"]]
    asked_for = set()
    for audit, options in asked.items():
        parsed = parse_spec(drafts.audit_spec(draft, audit, options), space.folder)
        asked_for.add(examples.result_file(parsed, parsed.digests()).name)
    ours = {file.name for file in examples.RESULTS.glob("*.zip") if of_example(file, name)}
    assert ours <= asked_for, "what is bundled is asked for"
    if name == "loans":
        assert all(jobs.arrives_computed(space, each) for each in tour_specs(draft, data).values())


def of_example(file: Path, name: str) -> bool:
    with zipfile.ZipFile(file) as archive:
        return name in json.loads(archive.read("results.json"))["spec"]["data"]["path"]


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """The four results of the demo, as they are bundled, and its numbers."""
    found = {}
    for file in examples.RESULTS.glob("*.zip"):
        if of_example(file, "loans"):
            folder = tmp_path_factory.mktemp("result")
            shutil.unpack_archive(file, folder)
            result = RunResult.load(folder).audits[0]
            found[result.name] = result.result
    with speaking(build(DataWords, CATALOG["loans"].spec["data"]["words"], "data.words")):
        names = ("groups", "rule_sets", "flipset", "attribute_swap")
        return tell(*(found[name] for name in names)), found


def test_every_number_of_the_demo_follows_from_data_and_model_alone(story) -> None:
    told, found = story
    spec = CATALOG["loans"].spec
    frame = pd.read_csv(drafts.SAMPLES / "loans.csv")
    approved = frame["model_score"] >= spec["threshold"]
    women = frame["sex"] == "female"
    inside = women & (frame["ethnicity"] == "Velian") & (frame["age"] < 30)
    assert told.group == "Velian women under 30"
    assert [(each.yes, each.of) for each in told.sexes.values()] == [
        (approved[women].sum(), women.sum()),
        (approved[~women].sum(), (~women).sum()),
    ]
    assert [each.percent for each in told.sexes.values()] == ["71%", "74%"]
    assert (told.focus.yes, told.focus.of) == (approved[inside].sum(), inside.sum()) == (56, 124)
    assert (told.rest.yes, told.rest.of) == (approved[~inside].sum(), (~inside).sum())
    assert told.declined == (~approved).sum()
    assert told.repaid == frame.loc[inside & ~approved, "repaid"].sum()
    truth = pd.read_csv(drafts.SAMPLES / "loans_truth.csv")
    assert told.gained == truth["refused_by_penalty"].sum() == 33
    assert told.swapped.yes == (truth["score_without_penalty"] >= spec["threshold"]).sum()
    assert told.lost == 0
    flipset = found["flipset"]
    assert told.flips == (flipset.people["negative"] * flipset.people["people"]).sum().round()
    assert told.by_chance == round(flipset.negative.expected_by_chance.value)
    her, match = told.pair
    assert inside[her - 1]
    assert not approved[her - 1]
    assert approved[match - 1]
    assert frame["sex"][match - 1] == "male"
    rows = found["rule_sets"]
    assert told.looked_at == rows.n_frequent
    assert told.first == (round(rows.leaderboard[0].n_in) == 124)
    assert told.confirmed == rows.leaderboard[0].confirmed
