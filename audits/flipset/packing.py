"""From matched people and counted flips to the result, its words, and its tables with a row a person."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse

from audits.flipset.chance import Chance
from audits.flipset.comparing.flipped import marginals, report, similarity
from audits.flipset.comparing.otherwise import (
    agreement,
    causal_match,
    class_changes,
    disagreeing_value,
    same_values,
    score_change,
)
from audits.flipset.counterparts.checking import tie_range
from audits.flipset.counterparts.inventing import Inventor
from audits.flipset.counterparts.matching import FlipLinks, Flips, Matched, count_flips
from audits.flipset.counterparts.people import Compared, Encoded
from audits.flipset.judging import Judgement, by_chance
from audits.flipset.parts import Causal, FlipsetPart, Reverse, Stratum, Validation
from audits.flipset.result import FlipsetResult
from audits.flipset.words import (
    again_words,
    disagreeing,
    distrust,
    finding,
    tie_words,
    unmatched_words,
    warnings_for,
)
from audits.results import Optimum
from audits.stats import Estimate, wilson
from audits.transport import paired_cost

__all__ = [
    "Counted",
    "arrows",
    "boundary",
    "causal_part",
    "flipset_part",
    "pack",
    "people_tables",
    "strata_parts",
    "tables",
]

Side = Literal["positive", "negative"]
SIDES: tuple[Side, Side] = ("positive", "negative")


@dataclass(frozen=True, eq=False)
class Counted:
    """Everybody's counterparts, the flips they make, and how many chance alone gives."""

    compared: Compared
    matched: list[Matched]
    flips: Flips
    chance: Chance | None


def flipset_part(found: Counted, name: Side, rng: np.random.Generator) -> FlipsetPart:
    """Describe one flipset: its size, who is in it, and how they differ from their counterparts."""
    links: list[FlipLinks] = getattr(found.flips, f"{name}_links")
    part = _described(found, name, slice(None), links, found.compared.options.level, rng)
    n = float(found.compared.sizes[found.flips.source].sum())
    chance = by_chance(found.chance, 0 if name == "positive" else 1, n, found.compared.options.level)
    return replace(part, expected_by_chance=chance)


def _described(
    found: Counted, name: Side, rows: slice, links: list[FlipLinks], level: float, rng: np.random.Generator
) -> FlipsetPart:
    """Describe the flipset among some of the source people, `rows` of them."""
    compared, source = found.compared, found.flips.source[rows]
    encoded, ours = compared.encoded, compared.sizes[source]
    flipped = getattr(found.flips, name)[rows] * ours
    size = float(flipped.sum())
    within, differs_in = similarity(links, encoded.axes, encoded.scaled)
    return FlipsetPart(
        size=size,
        share=given_matching(size, float(ours.sum()), level),
        expected_by_chance=None,
        transparency=report(links, encoded.axes, rng, draws=compared.options.bootstrap, level=level),
        marginals=marginals(compared.raw.iloc[source], encoded.scaled, flipped, ours, rng),
        within_caliper=within,
        differs_in=differs_in,
    )


def strata_parts(found: Counted, rng: np.random.Generator) -> list[dict[str, FlipsetPart]]:
    """Describe both flipsets within each stratum, corrected for how many there are; empty for one."""
    many = len(found.matched)
    if many < 2:
        return []
    ends = np.cumsum([0, *(len(part.source) for part in found.matched)])
    level = found.compared.options.level / many
    parts: list[dict[str, FlipsetPart]] = []
    for k, (start, stop) in enumerate(itertools.pairwise(ends)):
        parts.append({})
        for name in SIDES:
            links = [getattr(found.flips, f"{name}_links")[k]]
            part = _described(found, name, slice(start, stop), links, level, rng)
            corrected = tuple(
                item
                if item.adjusted_p is None
                else replace(item, adjusted_p=min(1.0, many * item.adjusted_p))
                for item in part.marginals
            )
            parts[-1][name] = replace(part, marginals=corrected)
    return parts


def given_matching(size: float, n: float, level: float) -> Estimate:
    """Share of source people, with the range that drawing other people of them gives, counterparts kept."""
    share = wilson(size, n, level=level)
    return replace(share, method=f"{share.method}, given this matching")


def causal_part(found: Counted, rng: np.random.Generator) -> Causal | None:
    """Count the flipsets of the true counterfactuals, where columns of the data hold them."""
    compared = found.compared
    columns = compared.options.counterfactuals
    if not columns:
        return None
    lives = causal_match(Inventor(compared), found.matched, columns)
    others = Counted(compared, lives, count_flips(compared, lives), None)
    return Causal(
        flipset_part(others, "positive", rng),
        flipset_part(others, "negative", rng),
        agreement(found.flips, others.flips, compared.sizes, compared.options.level),
    )


def tables(found: Counted, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
    """Return the result's tables, one row a person beside the plain numbers."""
    compared = found.compared
    written = people_tables(compared, found.matched, found.flips)
    written["arrows"] = arrows(compared, written["people"], written["invented"], rng)
    written["boundary"] = boundary(compared, written["arrows"])
    written["classes"] = class_changes(compared, found.matched)
    return written


def pack(
    found: Counted,
    judgement: Judgement,
    checked: Validation,
    described: dict[str, Any],
    written: dict[str, Any],
) -> FlipsetResult:
    """Put the result together, with its finding and warnings in words.

    Parameters
    ----------
    described : dict
        ``positive``, ``negative`` and ``causal``; ``strata``: both flipsets of each; ``again``.
    written : dict
        The tables.
    """
    compared, flips, options = found.compared, found.flips, found.compared.options
    sizes, decisions, chosen = compared.sizes, compared.decisions, compared.chosen
    ours, theirs = sizes[flips.source], sizes[flips.target]
    n, m = float(ours.sum()), float(theirs.sum())
    positive, negative = described["positive"], described["negative"]
    larger = positive if positive.size > negative.size else negative
    ties = tie_range(compared, found.matched)
    alike = same_values(compared, flips)
    apart = disagreeing_value(alike, judgement.net, larger)
    unmatched = None
    if options.transport == "unbalanced":
        unmatched = wilson(float((1 - flips.found) @ ours), n, level=options.level)
    return FlipsetResult(
        options=dataclasses.asdict(options),
        source=chosen.source,
        target=chosen.target,
        outcome=compared.subject.outcome,
        judged=judgement.judged,
        finding=finding(compared, n, positive, negative, judgement),
        warnings=(
            *distrust(checked),
            *chosen.warnings,
            *tie_words(ties, options.transport),
            *again_words(described["again"]),
            *unmatched_words(unmatched, chosen.source, n),
            *warnings_for(judgement, options, n, decisions[flips.source], decisions[flips.target]),
        ),
        n_source=n,
        n_target=m,
        rows={
            "audited": compared.subject.data.n,
            "used": len(flips.source) + len(flips.target),
            "left_out": chosen.left_out,
        },
        net=judgement.net,
        source_rate=wilson(float(ours @ decisions[flips.source]), n, level=options.level),
        target_rate=wilson(float(theirs @ decisions[flips.target]), m, level=options.level),
        noise=judgement.noise,
        above_chance=judgement.above,
        strata=_strata(judgement, described.pop("strata")),
        reverse=_reverse(flips, theirs, m, options.level) if options.reverse else None,
        validation=checked,
        certificate=_certificate(found.matched, n),
        features=compared.encoded.columns,
        same_values=alike,
        disagreement=None
        if apart is None
        else disagreeing(apart, judgement.net, chosen.source, chosen.target),
        tie_range=ties,
        score_change=score_change(compared, found.matched),
        training=_training(found.matched),
        unmatched=unmatched,
        levels=judgement.levels,
        not_compared=chosen.not_compared,
        **described,
        **written,
    )


def _strata(judgement: Judgement, parts: list[dict[str, FlipsetPart]]) -> tuple[Stratum, ...]:
    if not parts:
        return judgement.strata
    return tuple(
        replace(item, positive=both["positive"], negative=both["negative"])
        for item, both in zip(judgement.strata, parts, strict=True)
    )


def _training(matched: list[Matched]) -> tuple[dict[str, str | float | None], ...]:
    curves = ((name, points) for item in matched for name, points in item.curves.items())
    return tuple({"map": name, **point._asdict()} for name, points in curves for point in points)


def _reverse(flips: Flips, theirs: np.ndarray, m: float, level: float) -> Reverse | None:
    if flips.back_positive is None or flips.back_negative is None:
        return None
    positive, negative = float(flips.back_positive @ theirs), float(flips.back_negative @ theirs)
    return Reverse(
        n=m,
        positive=given_matching(positive, m, level),
        negative=given_matching(negative, m, level),
        positive_size=positive,
        negative_size=negative,
    )


def _certificate(matched: list[Matched], n: float) -> Optimum:
    share = [float(item.source_size.sum()) / n for item in matched]
    slack = [item.slack for item in matched if item.slack is not None]
    return Optimum(
        cost=sum(w * item.cost for w, item in zip(share, matched, strict=True)),
        slack=sum(w * gap for w, gap in zip(share, slack, strict=True)) if slack else None,
        method=", ".join(sorted({item.method for item in matched})),
    )


def people_tables(compared: Compared, matched: list[Matched], flips: Flips) -> dict[str, pd.DataFrame]:
    """Return ``people``, ``counterparts``, ``links`` and ``invented`` of `FlipsetResult`."""
    subject, sizes = compared.subject, compared.sizes
    cost, weights = compared.options.cost, compared.encoded.weights
    rows = subject.data.frame.index
    source_atom, target_atom, links, mains, invented = [], [], [], [], []
    first_source = first_target = 0
    for part in matched:
        found = sparse.coo_array(part.there.shares)
        row, column = found.coords
        distance = paired_cost(part.x[row], part.there.points[column], cost, weights)
        people = part.there.invented
        shift = first_target if people is None else first_source
        links.append(
            pd.DataFrame(
                {
                    "source_atom": row + first_source,
                    "target_atom": column + shift,
                    "share": found.data,
                    "distance": distance,
                }
            )
        )
        source_atom.append(part.source_atom + first_source)
        target_atom.append(part.target_atom + first_target)
        if people is None:
            near = _nearest(part, row, column, found.data, distance)
            near["row"] = rows[near["position"].to_numpy()].to_numpy()
            near["score"] = subject.scores[near["position"].to_numpy()]
            mains.append(near)
        else:
            invented.append(people.frame)
            mains.append(_invented(part, people.scores, distance))
        first_source += len(part.x)
        first_target += len(part.y)
    nearest = pd.concat(mains, ignore_index=True)
    scores, decisions = subject.scores, subject.decisions
    frame = pd.DataFrame(
        {
            "decision": decisions[flips.source],
            "score": scores[flips.source],
            "positive": flips.positive,
            "negative": flips.negative,
            "counterparts_favorable": flips.reach,
            "counterpart": nearest["row"].to_numpy(),
            "counterpart_share": nearest["share"].to_numpy(),
            "counterpart_score": nearest["score"].to_numpy(),
            "distance": nearest["distance"].to_numpy(),
            "found": flips.found,
            "people": sizes[flips.source],
            "atom": np.concatenate(source_atom),
        },
        index=rows[flips.source],
    )
    if len(matched) > 1:
        frame["within"] = np.repeat([part.value for part in matched], [len(part.source) for part in matched])
    nobody = np.full(len(flips.target), np.nan)
    counterparts = pd.DataFrame(
        {
            "decision": decisions[flips.target],
            "score": scores[flips.target],
            "positive": nobody if flips.back_positive is None else flips.back_positive,
            "negative": nobody if flips.back_negative is None else flips.back_negative,
            "people": sizes[flips.target],
            "atom": np.concatenate(target_atom),
        },
        index=rows[flips.target],
    )
    return {
        "people": frame,
        "counterparts": counterparts,
        "links": pd.concat(links, ignore_index=True),
        "invented": pd.concat(invented, ignore_index=True) if invented else pd.DataFrame(),
    }


def _invented(part: Matched, scores: np.ndarray, distance: np.ndarray) -> pd.DataFrame:
    """Per source person the invented counterpart, who is no row of the data."""
    return pd.DataFrame(
        {
            "row": pd.Series([None] * len(part.source), dtype=object),
            "share": 1.0,
            "score": scores[part.source_atom],
            "distance": distance[part.source_atom],
        }
    )


def _nearest(
    part: Matched, row: np.ndarray, column: np.ndarray, share: np.ndarray, distance: np.ndarray
) -> pd.DataFrame:
    """Per source person the main counterpart: the largest share, then the least distance.

    Among target people alike, each source person is given another one, in turn.
    """
    order = np.lexsort((column, distance, -share, row))
    first = order[np.unique(row[order], return_index=True)[1]]  # (K,) link of each source atom
    members = np.argsort(part.target_atom, kind="stable")
    start = np.searchsorted(part.target_atom[members], np.arange(len(part.y)))
    alike = np.bincount(part.target_atom, minlength=len(part.y))
    turn = _turns(part.source_atom)
    atom = column[first][part.source_atom]
    return pd.DataFrame(
        {
            "position": part.target[members[start[atom] + turn % alike[atom]]],
            "share": share[first][part.source_atom],
            "distance": distance[first][part.source_atom],
        }
    )


def _turns(atom: np.ndarray) -> np.ndarray:
    """How many earlier people share the person's atom, (n,)."""
    order = np.argsort(atom, kind="stable")
    sorted_atom = atom[order]
    starts = np.searchsorted(sorted_atom, sorted_atom)
    turns = np.empty(len(atom), dtype=np.int64)
    turns[order] = np.arange(len(atom)) - starts
    return turns


_MOST_ARROWS = 150
_GRID = 61


def arrows(
    compared: Compared, people: pd.DataFrame, invented: pd.DataFrame, rng: np.random.Generator
) -> pd.DataFrame:
    """Up to 150 people and their main counterparts: columns ``x, y, to x, to y, flip``, by row number.

    Parameters
    ----------
    people, invented : DataFrames
        As in `FlipsetResult`.

    Returns
    -------
    DataFrame
        Empty unless people are matched on exactly two features, both with a scale. ``flip`` is "positive",
        "negative" or "none": the way in which at least half of the person's counterparts differ.
    """
    encoded, raw = compared.encoded, compared.raw
    if not _flat(encoded):
        return pd.DataFrame()
    here = raw.loc[people.index]
    there = raw.loc[people["counterpart"]] if invented.empty else invented.loc[people["atom"]]
    table = pd.DataFrame(
        {
            "x": _numbers(here[encoded.columns[0]]),
            "y": _numbers(here[encoded.columns[1]]),
            "to x": _numbers(there[encoded.columns[0]]),
            "to y": _numbers(there[encoded.columns[1]]),
            "flip": np.select(
                [people["positive"] >= 0.5, people["negative"] >= 0.5], ["positive", "negative"], "none"
            ),
        },
        index=people.index,
    ).dropna()
    if len(table) > _MOST_ARROWS:
        table = table.iloc[np.sort(rng.choice(len(table), _MOST_ARROWS, replace=False))]
    return table


def boundary(compared: Compared, shown: pd.DataFrame) -> pd.DataFrame:
    """Decisions on a grid around the people `shown`: columns ``x, y, favorable``.

    Empty unless the model decides on invented people, reads those two features alone, and has one threshold
    for everyone: only then does the picture tell the decision.
    """
    subject, encoded = compared.subject, compared.encoded
    reads = set(subject.model.columns) == set(encoded.columns)
    if shown.empty or not (subject.model.invents and reads and isinstance(subject.threshold, (int, float))):
        return pd.DataFrame()
    ends = [
        (min(shown[a].min(), shown[b].min()), max(shown[a].max(), shown[b].max()))
        for a, b in (("x", "to x"), ("y", "to y"))
    ]
    x, y = (np.linspace(low, high, _GRID) for low, high in ends)
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(x, y)])
    kinds = subject.data.frame.dtypes
    frame = pd.DataFrame({name: grid[:, k] for k, name in enumerate(encoded.columns)})
    for name in encoded.columns:
        if pd.api.types.is_integer_dtype(kinds[name]):
            frame[name] = frame[name].round().astype(kinds[name])
    decided = subject.decide(subject.favorable_score(frame), subject.data.groups.iloc[:1])
    return pd.DataFrame({"x": grid[:, 0], "y": grid[:, 1], "favorable": decided})


def _flat(encoded: Encoded) -> bool:
    return len(encoded.columns) == 2 and all(encoded.scaled[name] for name in encoded.columns)


def _numbers(values: pd.Series) -> np.ndarray:
    if pd.api.types.is_datetime64_any_dtype(values):
        return np.full(len(values), np.nan)  # a calendar has no place on these axes
    return pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
