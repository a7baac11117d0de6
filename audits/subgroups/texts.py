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
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from audits.checks import one_of
from audits.data import AuditData
from audits.errors import InputError
from audits.subgroups.attributes import Attribute
from audits.subgroups.cells import Cells
from audits.subgroups.options import RuleOptions
from audits.subgroups.search import FrequentRuleSets, candidates, merge_same_people
from audits.subgroups.sums import GroupSums

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

MIN_TEXTS = 20
"""Texts that must contain the exact terms of a rule set for it to be tested: a handful differ by luck."""

_NONE = "(none)"
_MAX_RULE_SETS = 200_000


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
                "rule_sets.terms", "must name every term once, and no term may be empty", sorted(twice) or ""
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

    def with_terms(self, text: str, places: Iterable[int], terms: Iterable[int]) -> str:
        """Return the text with the terms of the categories at `places` exchanged for these of their terms.

        A term below 0 leaves its category as it is.
        """
        pairs = zip(places, terms, strict=True)
        return self.exchanged(text, {place: self.terms[place][term] for place, term in pairs if term >= 0})


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
    codes, texts = pd.factorize(texts_of(data, column))
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


def any_terms(cells: Cells) -> np.ndarray:
    """Return which cells hold some term of each category, bool (C, categories)."""
    held = [
        np.asarray(item.rules.any(axis=0))[codes]
        for item, codes in zip(cells.attributes, cells.codes.T, strict=True)
    ]
    return np.column_stack(held)


def texts_of(data: AuditData, column: str) -> np.ndarray:
    """Return the text of every row, (n,) of str; empty where there is none."""
    return data.frame[column].fillna("").astype(str).to_numpy(dtype=object)


def category_shares(cells: Cells, depth: int | None = None) -> dict[tuple[int, ...], float]:
    """Return the share of texts that hold some term of each of some categories (Eq. 3), by their places."""
    any_term, count = any_terms(cells), len(cells.attributes)
    most = count if depth is None else min(depth, count)
    return {
        chosen: float(cells.n[any_term[:, chosen].all(axis=1)].sum() / cells.total)
        for size in range(1, most + 1)
        for chosen in itertools.combinations(range(count), size)
    }


def reach(shares: Mapping[tuple[int, ...], float], rules: np.ndarray) -> np.ndarray:
    """Support of each rule set of texts by Eq. 3, (S,): of its categories, whatever the term."""
    patterns, place = np.unique(rules >= 0, axis=0, return_inverse=True)
    own = [shares[tuple(int(k) for k in np.flatnonzero(pattern))] for pattern in patterns]
    return np.array(own, dtype=float)[place.reshape(-1)]


def mine_texts(cells: Cells, options: RuleOptions) -> FrequentRuleSets:
    """Return the frequent rule sets that at least 20 texts satisfy, those of the same texts merged.

    `n_frequent` counts all that are frequent by Eq. 3, whether or not texts hold the very terms.
    """
    attributes = cells.attributes
    depth = len(attributes) if options.depth is None else min(options.depth, len(attributes))
    parts, frequent = [], 0
    for chosen, share in category_shares(cells, depth).items():
        if share >= options.support * (1 - 1e-12):
            counts = [len(attributes[place].rules) for place in chosen]
            frequent += int(np.prod(counts))
            if frequent > _MAX_RULE_SETS:
                raise InputError(
                    "rule_sets.terms",
                    f"make more than {_MAX_RULE_SETS:,} rule sets",
                    advice="limit the depth or the terms",
                )
            rules = np.full((int(np.prod(counts)), len(attributes)), -1, dtype=np.int16)
            rules[:, chosen] = np.indices(counts).reshape(len(counts), -1).T
            parts.append(rules)
    total = candidates(attributes, depth)
    if not parts:
        return FrequentRuleSets(
            np.empty((0, len(attributes)), np.int16), *(np.empty(0),) * 3, total, total, 0, True
        )
    rules = np.concatenate(parts)
    sums = GroupSums(cells, rules).of(cells.marked())
    held = (sums[:, 0] >= MIN_TEXTS) & (sums[:, 0] < cells.total)
    rules, sums, same = merge_same_people(rules[held], sums[held], attributes)
    return FrequentRuleSets(rules, sums[:, 0], sums[:, 1], same, total, total, frequent, True)


def _plain(term: str) -> str:
    return re.sub(r"[\s-]+", " ", term.strip().lower())


def _as(model: str, term: str) -> str:
    """Give a term the capitals of the one it is exchanged for."""
    if len(model) > 1 and model.isupper():
        return term.upper()
    return term[:1].upper() + term[1:] if model[:1].isupper() else term
