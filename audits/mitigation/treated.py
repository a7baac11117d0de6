"""The rule set that a mitigation treats: found on training rows, met again in others, and more of its people.

Tables and texts differ in who is in a group and in how a new sample is made; the rest is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from audits.data import AuditData
from audits.data.frames import with_columns
from audits.errors import InputError
from audits.mitigation.options import MitigationOptions
from audits.models import Subject
from audits.subgroups.attributes import Attribute, rule_words
from audits.subgroups.binning import number_edges, read_attributes
from audits.subgroups.cells import Cells, count_cells, memberships
from audits.subgroups.options import RuleOptions
from audits.subgroups.perturbation import perturb, perturbable
from audits.subgroups.phrases import group_of
from audits.subgroups.scores import differences
from audits.subgroups.search import FrequentRuleSets, Search
from audits.subgroups.texts import TERMS, Vocabulary, any_terms, mine_texts, text_attributes

_BINNED = {"continuous", "integer", "datetime"}


@dataclass(frozen=True, eq=False)
class TreatedRuleSet:
    """The rule set under treatment.

    Attributes
    ----------
    rules : int array (1, m)
        On the training rows.
    admitted : dict
        Levels by attribute: what is the same in other rows.
    words, people : str
        Its rules, and its people as a noun phrase.
    direction : {"advantaged", "harmed"}
    inside : bool array (n,)
        Training rows that belong to it.
    """

    rules: np.ndarray
    admitted: dict[str, tuple[str, ...]]
    words: str
    people: str
    direction: str
    inside: np.ndarray


def group_kind(subject: Subject, options: MitigationOptions) -> GroupKind:
    """Return how groups are made: a model of words is treated for terms, any other for attributes.

    Raises
    ------
    InputError
        If the options ask for texts of a model that reads none.
    """
    if subject.train == "text":
        return TextGroups(subject.model.columns[0], options)
    if options.text is not None:
        raise InputError(
            "mitigation.text",
            "needs a model of words",
            options.text,
            "train one here with model: {train: text}, or leave it out",
        )
    return TableGroups(subject, options)


def find_worst(groups: GroupKind, subject: Subject, options: MitigationOptions) -> TreatedRuleSet:
    """Return the rule set of the training rows with the largest score.

    Raises
    ------
    InputError
        If no rule set is as frequent as the support.
    """
    cells = groups.counted(subject)
    attributes = cells.attributes
    rules, gaps = groups.compared(cells)
    if not len(gaps):
        raise InputError(
            "mitigation.support",
            "is too large: no group has this share of people in it and as many outside",
            options.support,
            _would_do(groups, cells),
        )
    inside = memberships(cells, rules[:1])[0][cells.row_cell]
    words = rule_words(attributes, rules[:1])[0]
    used = [(item, rule) for item, rule in zip(attributes, rules[0], strict=True) if rule >= 0]
    admitted = {
        item.name: tuple(np.array(item.levels, dtype=object)[item.rules[rule]]) for item, rule in used
    }
    told = [
        {"attribute": item.name, "words": item.words[rule], "values": admitted[item.name]}
        for item, rule in used
    ]
    direction = "advantaged" if gaps[0] > 0 else "harmed"
    return TreatedRuleSet(rules[:1], admitted, words, group_of(told), direction, inside)


def _would_do(groups: GroupKind, cells: Cells) -> str:
    """Say which support a group of one rule has, in and out; of texts the terms' own shares say nothing."""
    if isinstance(groups, TableGroups):
        search = Search(cells, support=1e-12, depth=1)
        search.run(10**9)
        n = search.found().n
        share = float(np.minimum(n, cells.total - n).max() / cells.total) if len(n) else 0.0
        if share > 0:
            return f"a share of {np.floor(share * 1e4) / 1e4:g} would do"
    return "lower it"


def _count(attributes: tuple[Attribute, ...], subject: Subject) -> Cells:
    return count_cells(attributes, subject.decisions, subject.data.weights)


def _largest_first(mined: FrequentRuleSets, cells: Cells, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Order by difference; a handful outside differ by luck and are left out."""
    gaps = differences(mined.n, mined.favorable, cells.total, float(cells.favorable.sum()))
    # a group and the rest of everyone score alike: the smaller comes first
    order = np.lexsort((mined.n, -np.abs(gaps).round(12)))
    order = order[(cells.total - mined.n >= least)[order]]
    return mined.rules[order], gaps[order]


def _same_bins(subject: Subject, options: MitigationOptions) -> dict[str, int | tuple[float, ...]]:
    """Edges from training and held-out people together, so that a group is the same in both."""
    data, found = subject.data, {}
    parts = [data.frame] if subject.training is None else [data.frame, subject.training.frame]
    for name in data.protected if options.protected is None else options.protected:
        if name in data.bins or name not in data.frame or data.kinds.get(name) not in _BINNED:
            continue
        if data.kinds[name] == "datetime":
            raise InputError(
                "mitigation.protected",
                "must not name dates, whose bins differ between training and held-out people",
                name,
                "leave it out",
            )
        values = np.concatenate([part[name].to_numpy(dtype=float, na_value=np.nan) for part in parts])
        known = values[np.isfinite(values)]
        few = len(np.unique(known)) <= options.bins
        whole = data.kinds[name] == "integer"
        found[name] = options.bins if few else tuple(number_edges(known, options.bins, "width", whole=whole))
    return found


class TableGroups:
    """People grouped by protected attributes; a new sample is a person changed a little."""

    noun = "people"

    def __init__(self, subject: Subject, options: MitigationOptions) -> None:
        self.options = RuleOptions(
            protected=options.protected,
            support=options.support,
            bins=_same_bins(subject, options),
            depth=options.depth,
        )

    def counted(self, subject: Subject) -> Cells:
        """Count decisions per cell."""
        return _count(read_attributes(subject.data, self.options)[0], subject)

    def compared(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        """Return rule sets with the support on both sides."""
        search = Search(cells, support=self.options.support, depth=self.options.depth)
        search.run(2_000_000)
        return _largest_first(search.found(), cells, search.least)

    def members(self, group: TreatedRuleSet, cells: Cells) -> np.ndarray:
        """Return which cells belong to the group: levels are compared by name."""
        inside = np.ones(len(cells.n), dtype=bool)
        for place, attribute in enumerate(cells.attributes):
            if attribute.name in group.admitted:
                levels = np.array(attribute.levels, dtype=object)
                inside &= np.isin(levels, group.admitted[attribute.name])[cells.codes[:, place]]
        return inside

    def draw(
        self, subject: Subject, group: TreatedRuleSet, wanted: int, rng: np.random.Generator
    ) -> tuple[pd.DataFrame, np.ndarray]:
        """Return perturbed people of the group."""
        columns = perturbable(subject, read_attributes(subject.data, self.options)[0])
        if not columns:
            raise InputError(
                "data.features",
                "must hold a column that no rule uses, to perturb",
                list(subject.data.features),
            )
        rows = rng.choice(subject.data.n, wanted, p=_shares(subject.data, group.inside))
        return perturb(subject, rows, columns, rng), rows


def _shares(data: AuditData, inside: np.ndarray) -> np.ndarray:
    """Return each row's share of the people `inside` (n,)."""
    people = np.where(inside, data.row_weights, 0.0)
    return people / people.sum()


class TextGroups:
    """Texts grouped by their identity terms; a new sample is a text with terms exchanged."""

    noun = "texts"

    def __init__(self, column: str, options: MitigationOptions) -> None:
        self.column = column
        self.vocabulary = Vocabulary(TERMS if options.terms is None else options.terms)
        self.options = RuleOptions(text=column, support=options.support, depth=options.depth)

    def counted(self, subject: Subject) -> Cells:
        """Count decisions per combination of terms."""
        return _count(text_attributes(subject.data, self.column, self.vocabulary), subject)

    def compared(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        """Return rule sets that enough texts hold."""
        return _largest_first(mine_texts(cells, self.options), cells, 1.0)

    def members(self, group: TreatedRuleSet, cells: Cells) -> np.ndarray:
        """Return which cells belong to the group: terms have the same place in all rows."""
        return np.asarray(memberships(cells, group.rules)[0])

    def draw(
        self, subject: Subject, group: TreatedRuleSet, wanted: int, rng: np.random.Generator
    ) -> tuple[pd.DataFrame, np.ndarray]:
        """Return texts with some term of each category of the group, exchanged for the group's."""
        cells = self.counted(subject)
        used = np.flatnonzero(group.rules[0] >= 0)
        some = np.asarray(any_terms(cells)[:, used].all(axis=1))
        chosen = {int(place): self.vocabulary.terms[place][group.rules[0, place]] for place in used}
        rows = rng.choice(subject.data.n, wanted, p=_shares(subject.data, some[cells.row_cell]))
        frame = subject.data.frame.iloc[rows].reset_index(drop=True)
        held = frame[self.column].fillna("").astype(str)
        texts = [self.vocabulary.exchanged(text, chosen) for text in held]
        return with_columns(frame, {self.column: pd.Series(texts, index=frame.index, dtype="str")}), rows


GroupKind = TableGroups | TextGroups
"""Rule sets of a subject: of its people, or of its texts."""
