"""Every interval and p-value of a result, whole audits: is the mean over studies in, and is chance rare?

The other modules simulate what verdicts follow from, of which the truth is known beforehand. This one walks
through results and takes whatever has ends or is called a p-value, so that nothing shown is left out by
forgetting it; the truth is the mean over all worlds of a round, each by its people. What is no interval for
such a mean (the largest of many, a range that chance gives) is simulated by itself or is none: `NOT_MEANS`.
tests/test_calibration_page.py holds that every field of every result is simulated somewhere.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from audits.checks import build
from audits.data import DataSpec, FeatureSpace, build_data
from audits.models import Subject
from audits.runs.execute import carry_out
from audits.runs.registry import AUDITS
from audits.runs.spec import AuditRequest
from audits.stats import EVIDENCE, NO_MATERIAL, Estimate, Judgment
from benchmarks.calibration import LEVEL, NOT_MEANS, Facts, Row, alarm, audited, decided

_NAMES = (
    "attribute", "group", "rule_set", "method", "feature", "column", "name", "columns", "value", "level",
    "alpha", "added", "role",
)  # fmt: skip


def leaves(part: Any, path: tuple[str, ...] = (), key: tuple[Any, ...] = ()) -> Iterator[tuple]:
    """Yield (path, key, Estimate or p-value): fields on the way, and which of several it is."""
    if isinstance(part, Estimate):
        yield ".".join(path), key, part
    elif isinstance(part, Judgment):
        if path != ("judged",):  # the whole audit's is of whatever was found worst
            yield ".".join(path), key, part.interval
    elif dataclasses.is_dataclass(part) and not isinstance(part, type):
        own = tuple(str(getattr(part, name)) for name in _NAMES if hasattr(part, name))
        for each in dataclasses.fields(part):
            value, here = getattr(part, each.name), (*path, each.name)
            if is_p(each.name) and isinstance(value, float):
                yield ".".join(here), (*key, *own), value
            elif not isinstance(value, pd.DataFrame):
                yield from leaves(value, here, (*key, *own))
    elif isinstance(part, Mapping):
        for name, value in part.items():
            yield from leaves(value, path, (*key, str(name)))
    elif isinstance(part, (tuple, list)):
        for place, value in enumerate(part):
            told = not isinstance(value, Estimate) and any(hasattr(value, name) for name in _NAMES)
            yield from leaves(value, path, key if told else (*key, place))


def is_p(name: str) -> bool:
    """Whether a field is a p-value by its name."""
    return "p_value" in name or name.endswith("_p")


def measured(audit: str, setting: str, results: list[Any], *, alike: bool) -> Iterator[Row]:
    """Rows of a round of worlds: each interval by its path, and where groups are `alike` each p-value."""
    found: dict[str, dict[tuple, list]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        for path, key, leaf in leaves(result):
            found[path][key].append(leaf)
    for path, by_key in sorted(found.items()):
        if path in NOT_MEANS.get(audit, {}):
            continue
        if is_p(path.rpartition(".")[2]):
            if alike:  # of several in one result the smallest would have to be corrected: each for itself
                shares = [np.mean([p <= LEVEL for p in ps]) for ps in by_key.values()]
                hits = round(float(np.mean(shares)) * len(results))
                yield Row(audit, f"`{path}`", setting, "false alarms", LEVEL, hits, len(results))
            continue
        # what is stated in few worlds has no mean of its own to hold
        held = [_held(stated) for stated in by_key.values() if 3 * len(stated) >= len(results)]
        held = [each for each in held if each is not None]
        if held:
            hits = round(sum(h for h, _ in held) / sum(n for _, n in held) * len(results))
            yield Row(audit, f"`{path}`", setting, "coverage", 1 - LEVEL, hits, len(results))


def _held(stated: list[Estimate]) -> tuple[int, int] | None:
    """In how many of the worlds that state it an interval holds the mean, and how many those are."""
    known = [each for each in stated if None not in (each.value, each.low, each.high) and each.n > 0]
    if 2 * len(known) < len(stated) or len(known) < 2:
        return None
    truth = float(np.average([each.value for each in known], weights=[each.n for each in known]))
    near = 1e-9 * max(abs(truth), 1.0)
    return sum(each.low - near <= truth <= each.high + near for each in known), len(known)


def people(n: int, apart: float, rng: np.random.Generator, *, persons: int = 1) -> pd.DataFrame:
    """Draw rows: two features, a group that lies `apart` in one, a site; `persons` rows of each person."""
    own = np.repeat(np.arange(-(-n // persons)), persons)[:n]
    k = int(own.max()) + 1
    group, site = rng.random(k) < 0.5, rng.random(k) < 0.5

    def feature() -> np.ndarray:
        """Three fifths of the variance are the person's, where persons come again."""
        mine = rng.normal(size=k)[own]
        return np.sqrt(0.6) * mine + np.sqrt(0.4) * rng.normal(size=n) if persons > 1 else mine

    x, z = feature(), feature()
    x = x - apart * group[own]
    frame = pd.DataFrame({"x": x, "z": z})
    frame["group"], frame["site"] = np.where(group, "a", "b")[own], np.where(site, "s", "t")[own]
    frame["label"] = (rng.random(n) < 1 / (1 + np.exp(-x - 0.5 * z))).astype(int)
    frame["x there"], frame["z there"] = x + apart, z
    if persons > 1:
        frame["who"] = own
    return frame


def subject(frame: pd.DataFrame, **data: Any) -> Subject:
    """People decided by a fixed weighted sum of their features."""
    from tests.outcome_transport.subjects import Linear

    spec = DataSpec(
        label="label", favorable=1, protected=("group", "site"), features=("x", "z"),
        roles={"actionable": ("x", "z"), "mutable": (), "immutable": ()}, **data,
    )  # fmt: skip
    built = build_data(frame, spec)
    return Subject(built, Linear(x=1.0, z=0.5), 0.5, FeatureSpace.fit(built), score_kind="probability")


def _counts(audit: str, asked: dict[str, Any], number: int) -> Facts:
    """Whether an audit finds evidence in a table of counts in which no group differs."""
    rng = np.random.default_rng([number, 32])
    each = (-1.0, 0.1, 1.2), (-0.5, 0.7, 1.4), "ab", "st", (0, 1)
    frame = pd.DataFrame(itertools.product(*each), columns=["x", "z", "group", "site", "label"])
    sizes = np.clip(rng.lognormal(3, 1.5, 9), 1, 400).repeat(8)  # in every group and with either label alike
    frame["n"] = np.clip(rng.poisson(sizes), 1, 500)
    yield alarm(EVIDENCE, audited(audit, subject(frame, weights="n"), number, **asked).verdict == EVIDENCE)


def _session(number: int) -> Facts:
    """Whether a session in a notebook shows any evidence where no group differs."""
    import audits

    frame = people(400, 0.0, np.random.default_rng([number, 33]))
    frame["decided"] = (frame["x"] > 0).astype(int)
    told = audits.audit(
        None, frame[["x", "z", "decided", "group", "site"]], predictions="decided", favorable=1,
        protected=["group", "site"], features=["x", "z"],
        audits=["groups", {"rule_sets": {"permutations": 99, "samples": 0}}, {"groups": {"by": ["site"]}}],
    )  # fmt: skip
    yield alarm("any evidence of `verdicts`", bool((told.verdicts["verdict"] == EVIDENCE).any()))


def _persons(audit: str, asked: dict[str, Any], n: int, number: int) -> Facts:
    """Whether an audit finds evidence among groups alike where five rows are of one person."""
    rng = np.random.default_rng([number, n, 19])
    rows = subject(people(n, 0.0, rng, persons=5), person="who")
    if not AUDITS[audit].designs:
        rows = rows.one_row_each(rng)
    yield alarm(EVIDENCE, audited(audit, rows, number, **asked).verdict == EVIDENCE)


def _missing(gap: float, third: bool, keep: bool, number: int) -> Facts:
    """Whether a run of groups is misled where decisions are missing, filtered out or not."""
    rng = np.random.default_rng([number, 34])
    ours = rng.random(2_000) < 0.5
    favored = (rng.random(2_000) < np.where(ours, 0.6 - gap, 0.6)).astype(float)
    gone = rng.random(2_000) < (np.where(ours & (favored == 0), 1 / 3, 0.0) if third else 0.03)
    frame = pd.DataFrame({"x": rng.normal(size=2_000), "group": np.where(ours, "a", "b")})
    frame["decided"] = pd.Series(favored).mask(gone)
    told: dict[str, Any] = {"label": "decided", "favorable": 1, "protected": ["group"], "features": ["x"]}
    told |= {"keep": [{"column": "decided", "not_missing": True}]} if keep else {}
    asked = AuditRequest("groups", build(AUDITS["groups"].options, {"bootstrap": 0}, "groups"))
    verdict = carry_out(asked, 0, decided(frame, "decided", **told), number).result.verdict
    wrong = NO_MATERIAL if gap else EVIDENCE
    yield alarm(wrong, verdict == wrong)


def _round(
    audit: str, setting: str, given: tuple[str, dict[str, Any], int, float], numbers: range
) -> Iterator[Row]:
    """Rows of a round of worlds: audits of so many people, of whom one group lies `apart`."""
    _, asked, n, apart = given
    results = []
    for number in numbers:
        frame = people(n, apart, np.random.default_rng([number, n, 11]))
        results.append(audited(audit, subject(frame), number, **asked))
    yield from measured(audit, setting, results, alike=apart == 0)
