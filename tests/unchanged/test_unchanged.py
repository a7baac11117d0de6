"""Every number and every word of the recorded runs comes out again, but for what is listed in `CHANGED`.

The specs in ``specs`` ask together for every audit, map, kind of model and way to state the data. What they
found is recorded in ``results`` (see record.py); here each is run again and compared key by key.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import pytest

from tests.conftest import SHARED
from tests.unchanged.running import NAMES, RECORDED, needs_shared, recorded, run

_ONE_INTERVAL = "a verdict follows from one interval, corrected for how many were looked at"
_BOUNDED = "the distance's interval is the norm of the resampled error, which covers where distances are 0"
_STUDENT = "groups' differences count by how rare they are among so few people, against everybody else's"
_HIGHEST = "ratios are to whichever group truly has the highest rate, and hold for all groups together"
_PROBABLE = "groups may be known only by each person's probability"
_MODELS = "the step stated is chosen among several models: intervals are guarded, and hold for all of them"

_ABOVE_CHANCE = (
    "a flipset's verdict follows from what lies above chance, and from people alike in the features"
)
_DRAWN = "chance is measured by other draws, which come before these"

_GIVEN = "the intervals hold given this matching, and say so"
_STRATA = "flipsets are described within each stratum, too"
_AGAIN = "people can be matched again, with others, other seeds and other maps"
_PUSHED = "counterparts are to be decided as their group is (Proposition 2)"
_ERRORS = "rule sets can be looked for by how the model errs, too"
_WAYS = "recourse can look for several ways for a person, and for one action for a group"
_NUMERIC = "numeric features with missing values stay numeric, with a bar apart for these"
_HALVES = "the fair metric is learned on the other half; searches without gradient go further"
_NETWORK = "beside a logistic regression the protected-status model is a network"
_JUDGED = "the verdict follows from one stated interval, and the sentence states it"
_LEARNED = {  # specs, and places among their audits, of loss ratios by a learned metric or without a gradient
    "hiring-black-box": (0,),
    "hiring-expert": (3,),
    "law-school-network": (2,),
    "people-classes": (2,),
    "people-fair": (1,),
    "people-linear-number": (0,),
    "people-number": (1,),
    "people-sensr": (1,),
    "people-weights": (2,),
    "shared-communities": (1,),
    "shared-compas": (2,),
    "shared-german": (2,),
}
_PAIRS = {  # and of sensitivities of a logistic regression
    "law-school-counterfactuals": (1, 2),
    "people-weights": (6,),
    "shared-communities": (3,),
    "shared-compas": (4,),
}
_TIED = "on the way to a counterpart a category, half-way between two, stays today's: the way is another one"
_EXACT_SLOPES = "an ONNX file of standard layers is the network it is: exact slopes in place of differences"
_BINARY = "outcomes of two values are warned of: rows of the matrix are equal by construction"
_TURNED = "metrics can be turned, of any model"
_CONTEXT = "groups narrowed by a context stand beside the others of the same one"
_EXCHANGED = "rule sets of texts are tested on texts with the terms exchanged in"
_FIGURE_5 = "individual bias is told as a distribution, too"
_LITERAL = "people in between can be scored as Eq. 15 is written"
_FIGURES_456 = "the match set states both its sides, its twin's decisions and what the twin does to groups"
_RECOURSE = (
    "results/audits/*/by_alpha/*",
    "results/audits/*/changes/*",
    "*-recourse/*",
)

CHANGED: dict[str, str] = {
    **{
        f"{spec}/{part}": _TIED
        for spec in ("loans-onnx", "people-weights", "shared-german")
        for part in _RECOURSE
    },
    "people-weights/results/audits/*/by_group/*": _TIED,
    "shared-german/results/audits/*/by_group/*": _TIED,
    "shared-german/results/audits/*/gap/*": _TIED,
    "hiring-black-box/results/audits/*": _EXACT_SLOPES,
    "hiring-black-box/*-sensitivity/*": _EXACT_SLOPES,
    "*/results/audits/*/warnings/*": _BINARY,
    "*/options/noise_people": _ABOVE_CHANCE,
    "*/flipset/noise_people": _ABOVE_CHANCE,
    "*-flipset/arrows/*": _DRAWN,
    "*-flipset/boundary/*": _DRAWN,
    "arrest-counts/results/data/notes/*": "weights that look like sampling weights are asked about",
    "loans-onnx/results/model/notes/*": "empty cells reach a brought model as they stand, and what it does "
    "is said",
    "admissions-explain/results/audits/*/values/*/value": "ranges have ends that hold exactly their people",
    "*/results/audits/*/headline": "every result has a first sentence for everybody",
    "*/results/model/rule": "favorable, spelled one way",
    "*/results/model/notes/*": "likewise",
    "*/results/audits/*/outcome": "likewise",
    "*/results/schema": "2: verdicts follow from one stated interval; records state the schema",
    "*/flipset/seconds": _ABOVE_CHANCE,
    "*/options/seconds": _ABOVE_CHANCE,
    "*/above_chance": _ABOVE_CHANCE,
    "*/expected_by_chance/*": _ABOVE_CHANCE,
    "*/noise/*": _ABOVE_CHANCE,
    "*/positive/share/method": "shares are stated given the matching",
    "*/negative/share/method": "likewise",
    "*/results/audits/*/net/*": "one interval of the net difference, no longer shared with the test of flips",
    "*/results/audits/*/strata/*/net/*": "likewise",
    "*/strata/*/adjusted_p": "strata that differ are named",
    "*/results/audits/*/disagreement": "differences of shares are said in points, and groups as elsewhere",
    "*/strata/*/positive": _STRATA,
    "*/strata/*/negative": _STRATA,
    "*-flipset/people/columns/within": _STRATA,
    "*/marginals/*/missing": _NUMERIC,
    **{
        f"{spec}/results/audits/1/marginals/*": _NUMERIC
        for spec in ("loans-onnx", "people-classes", "people-risk", "people-weights")
    },
    "loans-barycentre/results/audits/*/groups/*/everybody": "every group is held against everybody, too",
    "loans-barycentre/results/audits/*/transparency": "features of those who flip beside their counterparts",
    "*/options/misspecified": _TURNED,
    "*/results/audits/*/misspecified": _TURNED,
    "shared-compas/results/audits/3/*": _CONTEXT,
    "*/rule_sets/columns/context_*": _CONTEXT,
    **{
        f"{spec}/{part}": "with a context, what differs from the others of the same one ranks first"
        for spec, place in (("arrest-counts", 2), ("loans-thresholds", 2), ("loans-thresholds", 3))
        for part in (f"results/audits/{place}/leaderboard/*", f"tables/{place}-rule_sets/rule_sets/*")
    },
    "*/leaderboard/*/within": _CONTEXT,
    "*/leaderboard/*/favorable_context": _CONTEXT,
    "*/results/audits/*/exchanged": _EXCHANGED,
    **{f"people-text/results/audits/{place}/finding": _EXCHANGED for place in range(3)},
    "shared-sentences/results/audits/0/finding": _EXCHANGED,
    "*/by_role/*/quantiles": _FIGURE_5,
    "*/against/constraint": "a reference can be held to Zafar's constraint",
    "*/options/interpolation": _LITERAL,
    "*/recourse/interpolation": _LITERAL,
    "*/match_set/sides": _FIGURES_456,
    "*/match_set/metrics": _FIGURES_456,
    "*-sensitivity/people/columns/*_decision": _FIGURES_456,
    "*/results/audits/*/again": _AGAIN,
    "*/options/repeat*": _AGAIN,
    "*/flipset/repeat*": _AGAIN,
    "*/validation/rates": _PUSHED,
    "*/validation/checks/*": _PUSHED,
    "*/transparency/*/mean_difference/low": _DRAWN,
    "*/transparency/*/mean_difference/high": _DRAWN,
    "*/marginals/*/adjusted_p": _DRAWN,
    **{f"{spec}/results/audits/{k}/*": _HALVES for spec, places in _LEARNED.items() for k in places},
    **{f"{spec}/*-loss_ratio/*": _HALVES for spec in _LEARNED},
    **{f"{spec}/results/audits/{k}/*": _NETWORK for spec, places in _PAIRS.items() for k in places},
    **{f"{spec}/*-sensitivity/*": _NETWORK for spec in _PAIRS if spec != "shared-communities"},
    "hiring-expert/results/audits/0/verdict": _JUDGED,
    "hiring-expert/results/audits/0/finding": _JUDGED,
    "hiring-expert/results/audits/0/interval*": _JUDGED,
    "hiring-expert/results/audits/0/material": _JUDGED,
    "hiring-expert/results/audits/0/reason": _JUDGED,
    "hiring-expert/results/audits/0/words*": _JUDGED,
    "hiring-expert/results/audits/0/metric*": _JUDGED,
    "hiring-expert/results/audits/0/search*": _JUDGED,
    "hiring-expert/results/audits/1/verdict": _JUDGED,
    "hiring-expert/results/audits/1/finding": _JUDGED,
    "hiring-expert/results/audits/1/interval*": _JUDGED,
    "hiring-expert/results/audits/1/material": _JUDGED,
    "hiring-expert/results/audits/1/reason": _JUDGED,
    "hiring-expert/results/audits/1/words*": _JUDGED,
    "hiring-expert/results/audits/1/metric*": _JUDGED,
    "hiring-expert/results/audits/1/search*": _JUDGED,
    "hiring-expert/results/audits/2/verdict": _JUDGED,
    "hiring-expert/results/audits/2/finding": _JUDGED,
    "hiring-expert/results/audits/2/interval*": _JUDGED,
    "hiring-expert/results/audits/2/material": _JUDGED,
    "hiring-expert/results/audits/2/reason": _JUDGED,
    "hiring-expert/results/audits/2/words*": _JUDGED,
    "hiring-expert/results/audits/2/metric*": _JUDGED,
    "hiring-expert/results/audits/2/search*": _JUDGED,
    "hiring-expert/results/audits/4/verdict": _JUDGED,
    "hiring-expert/results/audits/4/finding": _JUDGED,
    "hiring-expert/results/audits/4/interval*": _JUDGED,
    "hiring-expert/results/audits/4/material": _JUDGED,
    "hiring-expert/results/audits/4/reason": _JUDGED,
    "hiring-expert/results/audits/4/words*": _JUDGED,
    "hiring-expert/results/audits/4/metric*": _JUDGED,
    "hiring-expert/results/audits/4/search*": _JUDGED,
    "hiring-expert/results/audits/5/verdict": _JUDGED,
    "hiring-expert/results/audits/5/finding": _JUDGED,
    "hiring-expert/results/audits/5/interval*": _JUDGED,
    "hiring-expert/results/audits/5/material": _JUDGED,
    "hiring-expert/results/audits/5/reason": _JUDGED,
    "hiring-expert/results/audits/5/words*": _JUDGED,
    "hiring-expert/results/audits/5/metric*": _JUDGED,
    "hiring-expert/results/audits/5/search*": _JUDGED,
    "hiring-black-box/results/audits/1/verdict": _JUDGED,
    "hiring-black-box/results/audits/1/finding": _JUDGED,
    "hiring-black-box/results/audits/1/interval*": _JUDGED,
    "hiring-black-box/results/audits/1/p_value": _JUDGED,
    "hiring-black-box/results/audits/1/material": _JUDGED,
    "hiring-black-box/results/audits/1/reason": _JUDGED,
    "hiring-black-box/results/audits/1/warnings*": _JUDGED,
    "hiring-black-box/results/audits/1/groups/*/ratio/*": _JUDGED,
    "law-school-network/results/audits/0/finding": _JUDGED,
    "law-school-network/results/audits/0/interval*": _JUDGED,
    "law-school-network/results/audits/0/p_value": _JUDGED,
    "law-school-network/results/audits/0/material": _JUDGED,
    "law-school-network/results/audits/0/reason": _JUDGED,
    "law-school-network/results/audits/0/groups/*/ratio/*": _JUDGED,
    "law-school-network/results/audits/1/verdict": _JUDGED,
    "law-school-network/results/audits/1/finding": _JUDGED,
    "law-school-network/results/audits/1/interval*": _JUDGED,
    "law-school-network/results/audits/1/p_value": _JUDGED,
    "law-school-network/results/audits/1/people_needed": _JUDGED,
    "law-school-network/results/audits/1/material": _JUDGED,
    "law-school-network/results/audits/1/reason": _JUDGED,
    "law-school-network/results/audits/1/groups/*/ratio/*": _JUDGED,
    "loans-forest/results/audits/1/finding": _JUDGED,
    "loans-forest/results/audits/1/interval*": _JUDGED,
    "loans-forest/results/audits/1/p_value": _JUDGED,
    "loans-forest/results/audits/1/people_needed": _JUDGED,
    "loans-forest/results/audits/1/material": _JUDGED,
    "loans-forest/results/audits/1/reason": _JUDGED,
    "loans-forest/results/audits/1/groups/*/ratio/*": _JUDGED,
    "shared-law-school/results/audits/2/finding": _JUDGED,
    "shared-law-school/results/audits/2/interval*": _JUDGED,
    "shared-law-school/results/audits/2/p_value": _JUDGED,
    "shared-law-school/results/audits/2/material": _JUDGED,
    "shared-law-school/results/audits/2/reason": _JUDGED,
    "shared-law-school/results/audits/2/groups/*/ratio/*": _JUDGED,
    "*/wasserstein/low": _BOUNDED,
    "*/wasserstein/high": _BOUNDED,
    "*/wasserstein/method": _BOUNDED,
    "*/wasserstein_orders/*": _BOUNDED,
    "*/bias/*/difference": _ONE_INTERVAL,
    "*/bias/*/adjusted_p": _STUDENT,
    "*/by_group/*/burden/*": _ONE_INTERVAL,
    "*/by_group/*/burden_difference/*": _ONE_INTERVAL,
    "*/by_group/*/burden_judged": _ONE_INTERVAL,
    "*/by_group/*/accepted_judged": _ONE_INTERVAL,
    "*/burden_p_value": "of mean burdens, corrected for groups and for the shares looked at beside them",
    "*/never": "those whom no step helps are counted, beside whom any accepted person's values would",
    "*/never_but_reachable": "likewise",
    "*/values_tried": "likewise",
    "*/by_any_accepted": "likewise",
    "*/results/model/quality/made": "whether the people audited were in the model's training is now said",
    "*/audits/*/verdict": _ONE_INTERVAL,
    "*/audits/*/finding": _ONE_INTERVAL,
    "*/audits/*/material": _ONE_INTERVAL,
    "*/audits/*/interval": _ONE_INTERVAL,
    "*/audits/*/p_value": _ONE_INTERVAL,
    "*/audits/*/people_needed": _ONE_INTERVAL,
    "*/audits/*/reason": _ONE_INTERVAL,
    "*/audits/*/verdict_across": _ONE_INTERVAL,
    "*/impact_ratio/*": _HIGHEST,
    "*/demographic_parity_ratio/*": _HIGHEST,
    "*/options/by_probability": _PROBABLE,
    "*/groups/by_probability": _PROBABLE,
    "*/groups/proxy_error": _PROBABLE,
    "*/options/proxy_error": _PROBABLE,
    "*/audits/*/probable": _PROBABLE,
    "*/transparency/*/method": _GIVEN,
    "*/agreement/method": _GIVEN,
    "*/unsupported/method": "it holds given which values hold people enough to be compared, and says so",
    "*/table/*/bootstrap/impact_ratio": "stated just where luck made one rate the highest, it missed",
    "*/table/*/added": "metrics that others add stand beside ours",
    "*/table/*/pooled": "small groups are also drawn to groups like them, beside the raw rates",
    "*/audits/*/shrunken": "the first score without the luck of being picked has an interval",
    "*/options/measures": _ERRORS,
    "*/rule_sets/measures": _ERRORS,
    "*/audits/*/measures": _ERRORS,
    "*/leaderboard/*/contributions": "what each condition adds to a difference is stated",
    **{
        f"*/{where}/{name}": _WAYS
        for where in ("options", "recourse")
        for name in ("ways", "ways_people", "refits", "noise", "follows")
    },
    "*/audits/*/ways_summary": _WAYS,
    "*/audits/*/group_actions": _WAYS,
    "*/steps/*/difference/low": _MODELS,
    "*/steps/*/difference/high": _MODELS,
    "*/steps/*/difference/method": _MODELS,
}
"""Intended changes since the recording: a pattern of paths, and the reason.

A path is the spec's name and the keys down to the value, joined by slashes, such as
``hiring-flipsets/results/audits/1/verdict``; ``*`` stands for anything, slashes included. A key that is there
only before or only after is a change at its own path, and stands for all that lies below it.
"""

EXACT = 1e-9
"""On a machine that rounds as the recording one did: room for the same sum in another order."""

ELSEWHERE = 1e-6
"""On any other: optimisers stop, and flows and trainings go on, from numbers rounded otherwise."""

NOT_ELSEWHERE = {
    "*/results/model/sha256": "a digest of trained weights to the last bit",
    "hiring-trained-maps/*": "training a GAN in single precision magnifies rounding to the third digit",
    "people-sensr/*": "so does training against an adversary",
    "*-loss_ratio/moves/*": "the people with the largest ratios: of near ties, rounding picks others",
    "*/worst/*": "likewise",
    "*/loading": "of features that the metric hardly looks at, a quotient of rounding errors",
    "*/mean_absolute_move": "likewise",
    "*atom/sha256": "vectors of probabilities are numbered in their order",
    "*/links/columns/share/mean_by_place": "likewise",
}
"""What is held only on a machine that rounds as the recording one did: pattern of paths, and the reason."""

_MOST_SHOWN = 60
_ABSENT = object()


@dataclass(frozen=True)
class Difference:
    """A value that is not as it was recorded."""

    path: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.path}\n    before: {_short(self.before)}\n    after:  {_short(self.after)}"


def differences(before: Any, after: Any, path: str, tolerance: float) -> Iterator[Difference]:
    """Yield all that differs between two documents, at the innermost path where it shows."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            parts = before.get(key, _ABSENT), after.get(key, _ABSENT)
            yield from differences(*parts, f"{path}/{key}", tolerance)
    elif isinstance(before, list) and isinstance(after, list):
        for place in range(max(len(before), len(after))):
            parts = (side[place] if place < len(side) else _ABSENT for side in (before, after))
            yield from differences(*parts, f"{path}/{place}", tolerance)
    elif not _same(before, after, tolerance):
        yield Difference(path, before, after)


def is_new(one: Difference) -> bool:
    """Tell whether a difference is a key that was not there before."""
    return one.before is _ABSENT


def _same(before: Any, after: Any, tolerance: float) -> bool:
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (before, after)]
    if all(numbers):
        return math.isclose(before, after, rel_tol=tolerance, abs_tol=tolerance)
    return type(before) is type(after) and before == after


def _short(value: Any) -> str:
    text = "absent" if value is _ABSENT else repr(value)
    return text if len(text) <= 300 else f"{text[:300]} … ({len(text):,} characters)"


def _matches(path: str, patterns: Any) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)


@functools.cache
def every(name: str) -> tuple[bool, tuple[Difference, ...]]:
    """Run a spec; whether this machine rounds as the recording one did, and all differences; runs once."""
    before, after = recorded(name), run(name)
    alike = before.pop("arithmetic") == after.pop("arithmetic")
    return alike, tuple(differences(before, after, name, EXACT if alike else ELSEWHERE))


def found(name: str) -> tuple[Difference, ...]:
    """Return how a spec's run differs from what was recorded, as far as this machine can tell."""
    alike, pairs = every(name)
    return tuple(one for one in pairs if alike or not _matches(one.path, NOT_ELSEWHERE))


def _cases() -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.shared] if needs_shared(name) else []) for name in NAMES]


@pytest.mark.parametrize("name", _cases())
def test_a_run_finds_what_it_found_before(name: str, request: pytest.FixtureRequest):
    if needs_shared(name):
        request.getfixturevalue("shared_data")
    unexpected = [one for one in found(name) if not _matches(one.path, CHANGED)]
    more = f"\n… and {len(unexpected) - _MOST_SHOWN:,} more" if len(unexpected) > _MOST_SHOWN else ""
    listed = "\n".join(map(str, unexpected[:_MOST_SHOWN]))
    assert not unexpected, f"{len(unexpected):,} values are not as they were recorded:\n{listed}{more}"


def test_every_intended_change_is_one():
    """A pattern that matches no difference hides nothing yet and could hide a mistake later."""
    if not CHANGED:
        return
    if not SHARED.is_dir():
        pytest.skip("some changes may show on the shared data only, which is not beside the checkout")
    paths = [one.path for name in NAMES for one in every(name)[1]]
    unused = [pattern for pattern in CHANGED if not any(fnmatchcase(path, pattern) for path in paths)]
    assert not unused, f"no difference matches {unused}: take them out of CHANGED"


def test_every_spec_is_recorded_and_nothing_else():
    assert sorted(path.name.removesuffix(".json.gz") for path in RECORDED.iterdir()) == NAMES


def test_every_audit_is_asked_for():
    from audits.runs.registry import AUDITS

    asked = {audit["audit"] for name in NAMES for audit in recorded(name)["results"]["audits"]}
    assert asked == set(AUDITS.ours), "add it to a spec, and record that"


def test_differences_show_where_they_are():
    """The comparison itself: kinds, lengths, keys and rounding."""
    before = {"a": [1, 2.0, "x"], "gone": 1, "n": 1e-12, "yes": True, "none": None}
    after = {"a": [1.0, 2.1], "new": {"b": 2}, "n": 0.0, "yes": 1, "none": None}
    paths = [one.path for one in differences(before, after, "spec", EXACT)]
    assert paths == ["spec/a/1", "spec/a/2", "spec/gone", "spec/yes", "spec/new"]
