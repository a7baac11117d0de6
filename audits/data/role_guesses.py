"""Which column was decided, and which answer is good for the person: proposed by name and content, or asked.

A wrong proposal is worse than a question: where two columns are as likely, or nothing says which answer is
good, nothing is proposed. Names are understood in English, German, French and Spanish.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audits.data.preprocessing.column_names import named_protected, stored
from audits.data.values import text_of

__all__ = [
    "GoodAnswer",
    "OutcomeGuess",
    "guess_good_answer",
    "guess_outcome",
    "guess_verb",
    "is_amount",
    "is_consequence",
    "words_of_name",
]

MAX_ANSWERS = 20
_LIKELY, _APART = 3.0, 1.0

_NEUTRAL = (
    r"decisions?|decided|outcome|label|target|truth|y|class|result|response|status|credit|risk|income|bail|sentence"
    r"|entscheid\w*|ergebnis|résultat|resultat|décision|resultado|decisión|desenlace"
)
_GOOD_NAMES = (
    r"approv\w*|accept\w*|admit\w*|admission|hired?|hiring|employed|call(?:ed)?|callbacks?|offer(?:ed)?|grant(?:ed)?"
    r"|pass(?:ed)?|pf|promoted|selected|awarded|repaid|paid|survived|eligible|parole[d]?|released|shortlisted|funded"
    r"|graduated|qualified|insured|retained|waitlisted|success\w*|won"
    r"|bewilligt|angenommen|eingestellt|einstellung|zugelassen|zulassung|bestanden|zusage|befördert|zurückgezahlt"
    r"|accepté\w*|embauché\w*|embauche|admis\w*|octroyé\w*|accordé\w*|réussi\w*|reçue?|promu\w*"
    r"|aprobad\w*|aceptad\w*|contratad\w*|admitid\w*|concedid\w*|promovid\w*"
)
_BAD_NAMES = (
    r"den(?:y|ied)|denials?|reject\w*|refus\w*|declined?|default\w*|delinquent|recid\w*|reoffend\w*|churn\w*|attrition"
    r"|fraud\w*|toxic\w*|injur\w*|arrest\w*|convict\w*|readmit\w*|readmission|search\w*|frisk\w*|force|detained|charged"
    r"|fired|dismissed|terminated|violation|citation|cited|deceased|died|death|failed|fail|complaint|expelled"
    r"|abgelehnt|ablehnung|ausfall|kündigung|entlassen|betrug|refusée?|rejeté\w*|défaut|licencié\w*|fraude"
    r"|rechazad\w*|impago|despedid\w*|denegad\w*"
)
_STRONG = re.compile(f"{_NEUTRAL}|{_GOOD_NAMES}|{_BAD_NAMES}")
_GOOD_NAME, _BAD_NAME = re.compile(_GOOD_NAMES), re.compile(_BAD_NAMES)
_NUMERIC = re.compile(
    r"wages?|salar(?:y|ies)|pay|earnings|income|score|gpa|lohn|gehalt|salaire|salario|sueldo|días|days|loss|charges"
)
_VERBS = (
    (
        re.compile(r"wages?|salar(?:y|ies)|pay|earnings|incomes?|bonus|lohn|gehalt|salaire|salario|sueldo"),
        "earn",
    ),
    (re.compile(r"premiums?|prices?|fees?|costs?|charges|rent"), "pay"),
    (re.compile(r"wait(?:ed|ing)?"), "wait"),
    (re.compile(r"loss(?:es)?"), "lose"),
)
"""What people do with a number, by its name."""
_YES = frozenset({"yes", "y", "ja", "oui", "si", "sí", "true", "t", "1", "1.0"})
_NO = frozenset({"no", "n", "nein", "non", "false", "f", "0", "0.0"})
_PLAIN = _YES | _NO
_POSITIVE = re.compile(
    rf"{_GOOD_NAMES}|granted|good|positive|>50k\.?|fully paid|call(?:ed)? back|gut|bon|bueno|offer made"
)
_NEGATIVE = re.compile(
    rf"{_BAD_NAMES}|bad|negative|<=50k\.?|ineligible|unqualified|failure|charged off|no offer"
    r"|not (?:hired|approved|admitted)|durchgefallen|schlecht|échoué|mauvais|malo"
)
_CONSEQUENCE = re.compile(
    r"truth|default\w*|delinquent|recid\w*|reoffend\w*|churn\w*|attrition|fraud\w*|toxic\w*|injur\w*|readmit\w*"
    r"|readmission|deceased|died|death|survived|repaid|paid|graduated|income|risk|gpa|wages?|salary|earnings"
    r"|ausfall|betrug|zurückgezahlt|rückfall|einkommen|défaut|fraude|récidive|impago|fraude|reincidencia"
)
_SOUNDS = 2.0


@dataclass(frozen=True)
class GoodAnswer:
    """The value that is good for the person, None where it must be asked, and why, in a sentence."""

    value: Any
    why: str


@dataclass(frozen=True)
class OutcomeGuess:
    """The column that was decided.

    Attributes
    ----------
    column : str or None
        None where it must be asked.
    candidates : tuple of str
        Columns that may be it, the likeliest first.
    why : str
        What speaks for the column, or why it is asked.
    """

    column: str | None
    candidates: tuple[str, ...]
    why: str


def words_of_name(name: str) -> list[str]:
    """Return the words of a column's name.

    Examples
    --------
    >>> words_of_name("is_recid2"), words_of_name("loanStatus"), words_of_name("default.payment")
    (['is', 'recid'], ['loan', 'status'], ['default', 'payment'])
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.split(r"[\W\d_]+", spaced) if word]


def guess_verb(name: str) -> str:
    """Return what people do with a number of that name; empty where the name does not say.

    Examples
    --------
    >>> guess_verb("hourly_wage"), guess_verb("premium"), guess_verb("days_waited"), guess_verb("gpa")
    ('earn', 'pay', 'wait', '')
    """
    words = words_of_name(name)
    return next((verb for pattern, verb in _VERBS if any(pattern.fullmatch(word) for word in words)), "")


def is_amount(name: str) -> bool:
    """Return whether a name is that of a number which is decided or comes out: pay, days, loss.

    Examples
    --------
    >>> is_amount("hourly_wage"), is_amount("age")
    (True, False)
    """
    return any(_NUMERIC.fullmatch(word) for word in words_of_name(name))


def guess_outcome(columns: Sequence[Mapping[str, Any]], *, rows: int) -> OutcomeGuess:
    """Propose the column that holds the outcome.

    Parameters
    ----------
    columns : sequence of mapping
        As `audits.data.describe` lists them: name, kind, distinct, examples.
    rows : int
        Rows of the table.

    Examples
    --------
    >>> columns = [{"name": "deny", "kind": "boolean", "distinct": 2, "examples": ["no", "yes"]},
    ...            {"name": "phist", "kind": "boolean", "distinct": 2, "examples": ["no", "yes"]}]
    >>> guess_outcome(columns, rows=100).column
    'deny'
    """
    scores = {
        str(column["name"]): _likelihood(column, rows, last=place == len(columns) - 1)
        for place, column in enumerate(columns)
    }
    ranked = sorted(
        (name for name, score in scores.items() if score > 0), key=scores.__getitem__, reverse=True
    )
    likely = [name for name in ranked if scores[name] >= _LIKELY]
    if not likely:
        numbers = [str(each["name"]) for each in columns if _is_numeric_outcome(each)]
        why = "no column is named like a decision or an outcome"
        if numbers:
            why = f"{numbers[0]!r} is a number: say from which value on it is good"
        return OutcomeGuess(None, tuple([*numbers, *ranked][:5]), why)
    best = likely[0]
    if len(likely) > 1 and scores[best] - scores[likely[1]] < _APART:
        return OutcomeGuess(None, tuple(ranked[:5]), f"{best!r} and {likely[1]!r} are as likely")
    return OutcomeGuess(
        best, tuple(ranked[:5]), f"The outcome is taken to be {best!r}, by its name and values."
    )


def guess_good_answer(values: Sequence[Any], name: str) -> GoodAnswer:
    """Propose the value that is good for the person.

    Examples
    --------
    >>> guess_good_answer(["no", "yes"], "deny").value, guess_good_answer([0, 1], "hired").value
    ('no', 1)
    >>> guess_good_answer([0, 1], "target").value is None
    True
    """
    told = {text_of(value).strip().lower(): value for value in values}
    good = [text for text in told if _is_good(text)]
    bad = [text for text in told if _is_bad(text)]
    words = words_of_name(name)
    bad_name = any(_BAD_NAME.fullmatch(word) for word in words)
    good_name = any(_GOOD_NAME.fullmatch(word) for word in words)
    plain = {*good, *bad} <= _PLAIN
    if plain and bad_name != good_name and len(good) == len(bad) == 1:
        text = bad[0] if bad_name else good[0]
        sort = "a bad" if bad_name else "a good"
        return GoodAnswer(
            told[text], f"{name!r} sounds like {sort} outcome, so {told[text]!r} is taken to be good."
        )
    if len(good) == 1 and not (plain and (bad_name or _numeric(good[0]))):
        return GoodAnswer(told[good[0]], f"{told[good[0]]!r} is taken to be good for the person.")
    if len(values) == 2 and len(bad) == 1 and not plain:
        other = next(value for text, value in told.items() if text != bad[0])
        return GoodAnswer(other, f"{other!r} is taken to be good for the person.")
    if words == ["y", "true"] and set(told) == {"0", "1"}:  # as scikit-learn's users write results
        return GoodAnswer(told["1"], f"1 is taken to be good for the person, as {name!r} is usually written.")
    return GoodAnswer(None, f"nothing says which value of {name!r} is good for the person")


def is_consequence(name: str) -> bool:
    """Whether a column's name tells what happened to people, which a model may predict, and nobody decided.

    Examples
    --------
    >>> is_consequence("two_year_recid"), is_consequence("hired")
    (True, False)
    """
    return any(_CONSEQUENCE.fullmatch(word) for word in words_of_name(name))


def _is_good(text: str) -> bool:
    return text in _YES or _POSITIVE.fullmatch(text) is not None


def _is_bad(text: str) -> bool:
    return text in _NO or _NEGATIVE.fullmatch(text) is not None


def _numeric(text: str) -> bool:
    return text in {"0", "1", "0.0", "1.0"}


def _likelihood(column: Mapping[str, Any], rows: int, *, last: bool) -> float:
    """Score how much speaks for a column; 0 where something speaks against it."""
    name, kind, distinct = str(column["name"]), column["kind"], column["distinct"]
    kept = stored(name)
    if kept in {"prediction", "score"} or kind in {"identifier", "text", "datetime"}:
        return 0.0
    if not 2 <= distinct <= MAX_ANSWERS or (distinct > 2 and distinct > rows / 2):
        return 0.0
    if named_protected(name) or (kind == "continuous" and distinct > 2):
        return 0.0
    two = distinct == 2
    texts = {str(each).strip().lower() for each in column["examples"]}
    answers = {text for text in texts if _is_good(text) or _is_bad(text)}
    named = any(_STRONG.fullmatch(word) for word in words_of_name(name))
    score = 3.0 * named + 1.0 * two + 2.0 * (kept == "label") + 0.5 * last
    if answers - _PLAIN and two:
        score += _SOUNDS  # good or bad, approved or denied: values of a decision
    elif len(answers) == 2:
        score += 0.5
    elif named and not two and kept != "label" and not answers:
        score -= 1.0  # a history of credit, a sort of sentence
    return score


def _is_numeric_outcome(column: Mapping[str, Any]) -> bool:
    words = words_of_name(str(column["name"]))
    return (
        column["kind"] in {"continuous", "integer"}
        and column["distinct"] > MAX_ANSWERS
        and any(_NUMERIC.fullmatch(word) for word in words)
    )
