"""Rule sets of texts: presence of identity terms, and texts with the terms exchanged (sections 4.1, 4.3).

A rule says that a text holds a term; a rule set has at most one term of a category. A rule set is frequent
when enough texts hold some term of each of its categories (Eq. 3): a text with another term of the category
becomes a sample by exchanging it.

Departures from the paper: terms are found as whole words, longest first ("african american" is not
"african"),
in any case, in the plural too, and keep case and plural when exchanged; all terms of a category in a text are
exchanged for the one, so that the sample satisfies the rule set and nothing else of that category. The rest
of the texts, for the share outside, are drawn once for all rule sets, with every term exchanged at random.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audits.checks import one_of
from audits.data import AuditData
from audits.errors import InputError
from audits.models import Subject
from audits.progress import Progress, silent
from audits.rulesets.attributes import Attribute
from audits.rulesets.cells import Cells
from audits.rulesets.mining import Mined, candidates, merge_alike
from audits.rulesets.options import RuleSetsOptions
from audits.rulesets.sampling import Sampled
from audits.rulesets.scoring import margin, people_for_margin
from audits.rulesets.sums import GroupSums

__all__ = ["TERMS", "Vocabulary", "any_rule", "mine_texts", "sample_texts", "text_attributes"]

TERMS: dict[str, tuple[str, ...]] = {
    "gender": (
        "lesbian", "gay", "bisexual", "transgender", "trans", "queer", "lgbt", "lgbtq", "homosexual",
        "straight",
        "heterosexual", "male", "female", "nonbinary",
    ),
    "race": (
        "african", "african american", "black", "white", "european", "hispanic", "latino", "latina", "latinx",
        "mexican", "canadian", "american", "asian", "indian", "middle eastern", "chinese", "japanese",
    ),
    "religion": (
        "christian", "muslim", "jewish", "buddhist", "catholic", "protestant", "sikh", "taoist", "atheist",
    ),
    "age": ("old", "older", "young", "younger", "teenage", "millennial", "middle aged", "elderly"),
}  # fmt: skip
"""The 48 identity terms of Table 1 in their 4 categories."""

FEWEST_TEXTS = 20
"""Texts that must hold the very terms of a rule set for it to be tested: a handful differ by luck."""

_NONE = "(none)"
_MOST_RULE_SETS = 200_000
_OUTSIDE = 4
_ROUNDS = 5


class Vocabulary:
    """Terms by category: finds them in texts and exchanges them.

    Parameters
    ----------
    terms : mapping of str to sequence of str
        Category to its terms; a term belongs to one category.

    Examples
    --------
    >>> words = Vocabulary({"gender": ["gay", "lesbian"], "religion": ["muslim"]})
    >>> words.found("Gays and MUSLIMS; gayest")
    (frozenset({'gay'}), frozenset({'muslim'}))
    >>> words.exchanged("Gays and MUSLIMS", {0: "lesbian"})
    'Lesbians and MUSLIMS'
    """

    def __init__(self, terms: Mapping[str, Sequence[str]]) -> None:
        self.categories = tuple(terms)
        self.terms = tuple(tuple(_plain(term) for term in group) for group in terms.values())
        every = [term for group in self.terms for term in group]
        if not every or not all(self.terms):
            raise InputError("rule_sets.terms", "must give every category at least one term", dict(terms))
        twice = {term for term in every if every.count(term) > 1}
        if twice or "" in every:
            raise InputError(
                "rule_sets.terms", "must name every term once and none empty", sorted(twice) or ""
            )
        self._category = {term: place for place, group in enumerate(self.terms) for term in group}
        longest_first = sorted(every, key=len, reverse=True)
        words = "|".join(r"[\s-]+".join(map(re.escape, term.split())) for term in longest_first)
        self._pattern = re.compile(rf"(?<!\w)({words})(e?s)?(?!\w)", re.IGNORECASE)

    def found(self, text: str) -> tuple[frozenset[str], ...]:
        """Return the terms of each category that a text holds."""
        held: list[set[str]] = [set() for _ in self.categories]
        for match in self._pattern.finditer(text):
            term = _plain(match[1])
            held[self._category[term]].add(term)
        return tuple(frozenset(group) for group in held)

    def exchanged(self, text: str, chosen: Mapping[int, str]) -> str:
        """Return the text with every term of the categories in `chosen` exchanged for the one chosen."""

        def other(match: re.Match[str]) -> str:
            term = chosen.get(self._category[_plain(match[1])])
            return match[0] if term is None else _as(match[1], term) + (match[2] or "")

        return self._pattern.sub(other, text)


def text_attributes(data: AuditData, column: str, vocabulary: Vocabulary) -> tuple[Attribute, ...]:
    """Return one attribute a category: its levels are the sets of terms that occur, its rules the terms.

    Raises
    ------
    InputError
        If the column is unknown or is not text, or no text holds any term.
    """
    one_of("rule_sets.text", column, data.frame.columns, what="a column of the data")
    if pd.api.types.is_numeric_dtype(data.frame[column]):
        raise InputError("rule_sets.text", "must be a column of text, but it holds numbers", column)
    codes, texts = pd.factorize(data.frame[column].fillna("").astype(str))
    held = [vocabulary.found(text) for text in texts]
    attributes = []
    for place, (name, terms) in enumerate(zip(vocabulary.categories, vocabulary.terms, strict=True)):
        sets = [" + ".join(sorted(groups[place])) for groups in held]
        level, found = pd.factorize(np.array(sets, dtype=object), sort=True)
        rules = np.array([[term in words.split(" + ") for words in found] for term in terms], dtype=bool)
        words = tuple(f"“{term}”" for term in terms)
        levels = tuple(words or _NONE for words in found)
        attributes.append(Attribute(name, levels, level[codes], rules, words, np.ones(len(terms), dtype=int)))
    if not any(attribute.rules.any() for attribute in attributes):
        raise InputError(
            "rule_sets.text",
            f"must hold some of the {len(vocabulary._category)} terms, but no text does",
            column,
        )
    return tuple(attributes)


def any_rule(attribute: Attribute) -> np.ndarray:
    """Return which levels some rule admits, bool (L,)."""
    return np.asarray(attribute.rules.any(axis=0))


def mine_texts(cells: Cells, attributes: Sequence[Attribute], options: RuleSetsOptions) -> Mined:
    """Return the frequent rule sets that at least 20 texts satisfy, those of the same texts merged.

    `n_frequent` counts all that are frequent by Eq. 3, whether or not texts hold the very terms.
    """
    depth = len(attributes) if options.depth is None else min(options.depth, len(attributes))
    least = options.support * cells.total * (1 - 1e-12)
    any_term = [any_rule(attribute)[cells.codes[:, place]] for place, attribute in enumerate(attributes)]
    parts, frequent = [], 0
    for size in range(1, depth + 1):
        for chosen in itertools.combinations(range(len(attributes)), size):
            if cells.n[np.logical_and.reduce([any_term[place] for place in chosen])].sum() < least:
                continue
            counts = [len(attributes[place].rules) for place in chosen]
            frequent += int(np.prod(counts))
            if frequent > _MOST_RULE_SETS:
                raise InputError(
                    "rule_sets.terms",
                    f"make more than {_MOST_RULE_SETS:,} rule sets",
                    advice="limit the depth or the terms",
                )
            rules = np.full((int(np.prod(counts)), len(attributes)), -1, dtype=np.int16)
            rules[:, chosen] = np.indices(counts).reshape(len(counts), -1).T
            parts.append(rules)
    total = candidates(attributes, depth)
    if not parts:
        return Mined(np.empty((0, len(attributes)), np.int16), *(np.empty(0),) * 3, total, total, 0, True)
    rules = np.concatenate(parts)
    sums = GroupSums(cells, attributes, rules).of(cells.marked())
    held = (sums[:, 0] >= FEWEST_TEXTS) & (sums[:, 0] < cells.total)
    rules, sums, same = merge_alike(rules[held], sums[held], attributes)
    return Mined(rules, sums[:, 0], sums[:, 1], same, total, total, frequent, True)


@dataclass(frozen=True, eq=False)
class _Texts:
    """What sampling needs: the texts, and which rows hold a term of each category."""

    column: str
    vocabulary: Vocabulary
    rows: np.ndarray  # (n,) of str
    any_term: np.ndarray  # (n, categories)


def sample_texts(
    subject: Subject,
    vocabulary: Vocabulary,
    groups: GroupSums,
    options: RuleSetsOptions,
    *,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Sampled | None:
    """Exchange terms in texts until every rule set's sampled score is precise enough (Algorithm 2).

    Returns
    -------
    Sampled or None
        None where the model cannot score new texts.
    """
    if not subject.model.invents or options.samples == 0:
        return None
    cells, attributes = groups.cells, groups.attributes
    any_term = np.column_stack(
        [any_rule(item)[cells.codes[cells.row_cell, k]] for k, item in enumerate(attributes)]
    )
    texts = _Texts(
        str(options.text),
        vocabulary,
        subject.data.frame[options.text].fillna("").astype(str).to_numpy(dtype=object),
        any_term,
    )
    count = len(groups.rules)
    outside = _outside(subject, texts, groups, options, rng)
    drawn, good = np.zeros(count), np.zeros(count)
    room = max(options.max_samples, count)
    wanted = np.full(count, float(min(options.samples, room // count)))
    for round_ in range(_ROUNDS):
        progress(
            round_ / _ROUNDS,
            f"Scoring {int((wanted - drawn).clip(min=0).sum()):,} texts with exchanged terms",
        )
        more = np.maximum(wanted - drawn, 0).astype(np.int64)
        good += _inside(subject, texts, groups, more, rng)
        drawn += more
        share, rest, n_rest = good / drawn, outside[0] / outside[1], outside[1]
        width = margin(share, drawn, rest, n_rest, options.confidence)
        wide = width > options.error
        enough = people_for_margin(share, rest, options.error, options.confidence) * 1.02
        wanted = np.where(wide, np.maximum(enough, drawn + 1), drawn)
        if not wide.any() or wanted.sum() > room:
            break
    people = int(drawn.sum() + outside[2])
    return Sampled(share, rest, drawn, n_rest, width, None, (texts.column,), bool(not wide.any()), people)


def _inside(
    subject: Subject, texts: _Texts, groups: GroupSums, more: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Favourable ones among `more` (S,) further texts of each rule set."""
    good = np.zeros(len(groups.rules))
    used = groups.rules >= 0
    for chosen in np.unique(used, axis=0):
        sets = np.flatnonzero((used == chosen).all(1) & (more > 0))
        seeds = np.flatnonzero(texts.any_term[:, chosen].all(1))
        if not sets.size:
            continue
        which = np.repeat(sets, more[sets])
        rows = seeds[rng.integers(len(seeds), size=len(which))]
        # the same seed for the same rule set gives the same text: build and score it once
        pairs, back = np.unique(np.column_stack([which, rows]), axis=0, return_inverse=True)
        made = [
            texts.vocabulary.exchanged(
                texts.rows[row],
                {
                    int(place): texts.vocabulary.terms[place][groups.rules[number, place]]
                    for place in np.flatnonzero(chosen)
                },
            )
            for number, row in pairs
        ]
        decided = _decide(subject, texts.column, made, pairs[:, 1])[back.reshape(-1)]
        good += np.bincount(which, decided, minlength=len(good))
    return good


def _outside(
    subject: Subject, texts: _Texts, groups: GroupSums, options: RuleSetsOptions, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, int]:
    """Favourable and all texts outside each rule set, (S,) each, of one pool; and the size of the pool."""
    data = subject.data
    size = _OUTSIDE * options.samples
    weights = None if data.weights is None else data.weights / data.weights.sum()
    rows = rng.choice(data.n, size, p=weights)
    drawn = np.column_stack([rng.integers(len(terms), size=size) for terms in texts.vocabulary.terms])
    drawn[~texts.any_term[rows]] = -1
    made = [
        texts.vocabulary.exchanged(
            texts.rows[row],
            {place: texts.vocabulary.terms[place][term] for place, term in enumerate(terms) if term >= 0},
        )
        for row, terms in zip(rows, drawn, strict=True)
    ]
    decided = _decide(subject, texts.column, made, rows)
    patterns, which = np.unique(drawn, axis=0, return_inverse=True)
    n = np.bincount(which.reshape(-1), minlength=len(patterns)).astype(float)
    good = np.bincount(which.reshape(-1), decided, minlength=len(patterns))
    own = [
        Attribute(
            item.name,
            item.words,
            np.empty(0, int),
            np.eye(len(item.words), len(item.words) + 1, dtype=bool),
            item.words,
            item.length,
        )
        for item in groups.attributes
    ]
    codes = np.where(patterns >= 0, patterns, [len(item.words) for item in own])
    cells = Cells(codes.astype(np.int64), n, good, np.empty(0, dtype=np.int64))
    inside = GroupSums(cells, own, groups.rules).of(np.column_stack([n, good]))
    return good.sum() - inside[:, 1], np.maximum(n.sum() - inside[:, 0], 1.0), size


def _decide(subject: Subject, column: str, made: list[str], rows: np.ndarray) -> np.ndarray:
    """Decisions on the rows with their text exchanged; equal texts of a text-only model are scored once."""
    if set(subject.model.columns) == {column} and isinstance(subject.threshold, float | int):
        codes, texts = pd.factorize(np.array(made, dtype=object))
        frame = pd.DataFrame({column: texts})
        return subject.decide(subject.favorable_score(frame), frame)[codes]
    frame = subject.data.frame.iloc[rows].reset_index(drop=True)
    frame[column] = made
    return subject.decide(
        subject.favorable_score(frame), subject.data.groups.iloc[rows].reset_index(drop=True)
    )


def _plain(term: str) -> str:
    return re.sub(r"[\s-]+", " ", term.strip().lower())


def _as(model: str, term: str) -> str:
    """Give a term the capitals of the one it is exchanged for."""
    if len(model) > 1 and model.isupper():
        return term.upper()
    return term[:1].upper() + term[1:] if model[:1].isupper() else term
