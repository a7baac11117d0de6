"""Which column was decided, and which answer is good for the person: proposed by name and content, or asked.

A wrong proposal is worse than a question: where two columns are as likely, or nothing says which answer is
good, nothing is proposed. Names are understood in English, German, French and Spanish.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from audits.data.preprocessing.column_names import column_role, named_protected, names_group, words_of_name
from audits.data.values import text_of

MAX_ANSWERS = 20
_LIKELY, _APART = 3.0, 1.0


def _any_of(words: str) -> str:
    return "(?:" + "|".join(words.split()) + ")"


_STRONG = re.compile(
    _any_of(
        r"""decisions? decided outcome label target truth y result bail sentence disposition verdict
        ruling determination action \w*entscheid\w* ergebnis résultat resultat décision resultado decisión
        desenlace"""
    )
)
_STATUS = "insured employed qualified eligible graduated"
_WEAK = re.compile(_any_of(f"class status credit risk income response {_STATUS}"))
# beginnings of words, as one has many forms: approved, approval; bewilligt, Bewilligung; refusé, refusée
_GOOD_NAMES = _any_of(
    r"""approv accept admit admission hire\b hired hiring recruit appoint elected call(?:ed|s)?\b callback
    offer invit interviewed shortlist select grant allow permitted award pass(?:ed)?\b pf\b promot tenured
    progressed advanced repaid paid\b surviv parole released reinstated renewed funded retained waitlisted
    licensed certified upheld sustained achieved attained enrolled transplanted cured recovered success
    won\b favou?rable reply replied responded \w*bewillig \w*genehmig angenommen annahme eingestellt
    einstellung zugelassen zulassung bestanden \w*zusage beförder befoerder zurückgezahlt rückmeldung
    einladung eingeladen gewährt aufgenommen ausgewählt verlängert übernommen embauch recrut admis octroy
    accordé réussi reçue? promu attribué convoqu retenue? sélectionn approuv obtenue? rappel aprobad
    aceptad contratad admitid concedid promovid ascendid ascenso otorgad adjudicad seleccionad invitad
    becad"""
)
_BAD_NAMES = _any_of(
    r"""deny deni reject refus declin default delinquen recid reoffend churn attrition fraud toxic injur
    arrest convict readmi search frisk force detain charged fired layoff laid\b dismiss terminat violation
    citation cited ticketed fined deceased died dead death fail complain expel expulsion suspend
    suspension evict remov exclu banned block flagged struck penal sanction disciplin deport revo[ck]
    cancel incarcerat jailed imprison foreclos bankrupt relaps dropout overdue arrears ineligible
    errors?\b wrong guilty mis(?:identif|match|classif|diagnos) abgelehn \w*ablehn \w*absage abgesagt
    \w*ausfall \w*kündig gekündigt entlass betrug durchgefallen verweiger gesperrt sperre ausgeschlossen
    verhaft verurteil rückfall gemahnt mahnung verstorben rejet défaut licenci récidiv expuls échou échec
    redoubl condamn arrêté décéd décès impayé renvoy rechaz impago moros despid despedid denegad reincid
    desahuci suspendid reprobad detenid condenad fallecid"""
)
_NEGATED = re.compile(r"(?:un|dis|mis|non|not|in|nicht|no)[ _-]?(.+)")
_EVENT = re.compile(
    r"\w{3,}(?:ed|[ts]ion|ung|ée?|[ai]d[oa])|\w{2,}(?:found|taken|given|sent|chosen|withdrawn)"
)
"""Verbs in the past, and nouns made of verbs: what was done to people, where no more is known of the word."""
_HISTORY = re.compile(
    _any_of(
        """self prior priors previous(?:ly)? prev past ever history hist former(?:ly)? vorher frühere?r?
        précédente?s? anterior(?:es)?"""
    )
)
_AMOUNTS = re.compile(
    _any_of("num number count days weeks months years date time type reason amount applied fecha datum")
)
_LATER = re.compile(
    _any_of("within after later followup days? weeks? months? years? jahre? monate? mois años?")
)
"""In the name of an outcome: what happened in a time that was watched, which nobody decided."""
_STATES = re.compile(
    r"\w*" + _any_of("married employed disabled divorced separated retired owned skilled educated trained")
)
_PLACES = re.compile(_any_of("icu hospital ward prison jail custody er ed emergency klinik hôpital cárcel"))
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
_LOW_IS_GOOD = re.compile(
    _any_of(
        """risks? deciles? hazards? severity days? weeks? months? waits? waited waiting delays?
        delayed absences? absent loss(?:es)? debts? arrears charges premiums? prices? fees? costs? rent fines?
        penalt(?:y|ies) bail sentences? interest apr errors? complaints? force wartezeit schulden
        kosten strafe miete riesgo deuda multas? días risque dette amende loyer attente"""
    )
)
_HIGH_IS_GOOD = re.compile(
    _any_of(
        r"""wages? salar(?:y|ies) pay earnings incomes? bonus gpa grades? points marks? exams? tests?
        math\w* reading ratings? refunds? benefits? lohn gehalt note punkte salaire sueldo salario nota
        prime bourse beca"""
    )
)
"""Words of a number's name by which more of it is bad, or good, for the person."""
YES = frozenset({"yes", "y", "ja", "j", "oui", "si", "sí", "true", "t", "1", "1.0"})
_SEX = re.compile("sex|gender|geschlecht|sexe|genre|sexo|género|genero")
_WOMEN = re.compile("f|fem|female|w|wom[ae]n|weiblich|frau(en)?|femmes?|féminin|mujer(es)?|femenino")
_MEN = re.compile("m|male|m[ae]n|männlich|mann|männer|hommes?|masculin|h|hombres?|masculino|varón")
_HELD = re.compile("disabilit(y|ies)|handicap|impairments?|children|dependents|insurance|degree|diploma")
_NO = frozenset({"no", "n", "nein", "non", "false", "f", "0", "0.0"})
_PLAIN = YES | _NO
_POSITIVE = re.compile(rf"{_GOOD_NAMES}\w*|{_any_of(_STATUS)}|good|positive|gut|bon|bueno")
_NEGATIVE = re.compile(rf"{_BAD_NAMES}\w*|bad|negative|schlecht|mauvais|malo")
_NOT = frozenset({"not", "no", "never", "nicht", "nie", "non", "pas", "kein", "keine", "sin"})
_CONSEQUENCE = re.compile(
    _any_of(
        r"""truth default\w* delinquen\w* recid\w* reoffend\w* churn\w* attrition fraud\w* toxic\w*
        injur\w* readmi\w* deceased died death survived repaid paid graduated income risk gpa wages?
        salary earnings relaps\w* recovered dropout bankrupt\w* ausfall betrug zurückgezahlt rückfall
        einkommen défaut fraude récidive impago reincidencia"""
    )
)
_SOUNDS, _HAPPENS = 2.0, 1.5


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


def guess_verb(name: str) -> str:
    """Return what people do with a number of that name; empty where the name says none or two.

    Examples
    --------
    >>> guess_verb("hourly_wage"), guess_verb("premium"), guess_verb("days_waited"), guess_verb("gpa")
    ('earn', 'pay', 'wait', '')
    >>> guess_verb("loss_of_income")
    ''
    """
    words = words_of_name(name)
    found = [verb for pattern, verb in _VERBS if any(pattern.fullmatch(word) for word in words)]
    return found[0] if len(found) == 1 else ""


def guess_good_end(name: str) -> Literal["high", "low"] | None:
    """Return which end of a number of that name is good for the person; None where the name does not say.

    Examples
    --------
    >>> guess_good_end("hourly_wage"), guess_good_end("days_waited"), guess_good_end("decile_score")
    ('high', 'low', 'low')
    >>> guess_good_end("score"), guess_good_end("loss_of_pay")
    (None, None)
    """
    words = words_of_name(name)
    low, high = (any(each.fullmatch(word) for word in words) for each in (_LOW_IS_GOOD, _HIGH_IS_GOOD))
    if low == high:
        return None
    return "low" if low else "high"


def guess_group_words(name: str, values: Sequence[Any]) -> dict[str, str]:
    """Return what people of each value of a column are called, where it is their sex or what they have.

    Examples
    --------
    >>> guess_group_words("has_disability", ["0", "1"]), guess_group_words("veteran", ["no", "yes"])
    ({'0': 'without disability', '1': 'with disability'}, {})
    >>> guess_group_words("no_degree", ["0", "1"])
    {}
    >>> guess_group_words("applicant_sex", ["F", "M"]), guess_group_words("status", ["M", "F"])
    ({'F': 'women', 'M': 'men'}, {})
    >>> guess_group_words("Geschlecht", ["weiblich", "männlich", "divers"])
    {'weiblich': 'women', 'männlich': 'men'}
    """
    words, plain = words_of_name(name), [str(value).strip().lower() for value in values]
    have = " ".join(word for word in words if word not in {"has", "have"})
    if _HELD.fullmatch(have) and set(plain) <= _PLAIN and len(plain) == 2 and len(YES & set(plain)) == 1:
        said = ["with" if each in YES else "without" for each in plain]
        return {str(value): f"{each} {have}" for value, each in zip(values, said, strict=True)}
    if not any(_SEX.fullmatch(word) for word in words):
        return {}
    named = {
        str(value): "women" if _WOMEN.fullmatch(str(value).strip().lower()) else "men"
        for value in values
        if _WOMEN.fullmatch(str(value).strip().lower()) or _MEN.fullmatch(str(value).strip().lower())
    }
    return named if len(named) == 2 and set(named.values()) == {"women", "men"} else {}


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
        why = "no column name suggests a decision or an outcome"
        if numbers:
            why = f"{numbers[0]!r} is a number; give the value from which it is good"
        return OutcomeGuess(None, tuple([*numbers, *ranked][:5]), why)
    best = likely[0]
    close = [name for name in likely if scores[best] - scores[name] <= _APART]
    decided = [name for name in close if not is_consequence(name)]
    if len(close) > 1 and len(decided) == 1:  # the others are what happened in truth
        [best] = decided
    elif len(close) > 1:
        return OutcomeGuess(None, tuple(ranked[:5]), f"{best!r} and {likely[1]!r} are equally likely")
    return OutcomeGuess(
        best, tuple(ranked[:5]), f"The outcome seems to be {best!r}, judging by its name and values."
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
    bad_name, good_name = _direction(name) < 0, _direction(name) > 0
    if any(_PLACES.fullmatch(word) for word in words):
        return GoodAnswer(None, f"it is unclear whether {name!r} is good for the person")
    plain = {*good, *bad} <= _PLAIN
    if plain and bad_name != good_name and len(good) == len(bad) == 1:
        text = bad[0] if bad_name else good[0]
        sort = "a bad" if bad_name else "a good"
        return GoodAnswer(
            told[text], f"{name!r} sounds like {sort} outcome, so {told[text]!r} is assumed to be good."
        )
    neutral = good_name or any(_STRONG.fullmatch(word) or _WEAK.fullmatch(word) for word in words)
    if len(good) == 1 and not (plain and (bad_name or not neutral or good[0] in {"0", "1", "0.0", "1.0"})):
        return GoodAnswer(told[good[0]], f"{told[good[0]]!r} is assumed to be good for the person.")
    if len(values) == 2 and len(bad) == 1 and not plain:
        other = next(value for text, value in told.items() if text != bad[0])
        return GoodAnswer(other, f"{other!r} is assumed to be good for the person.")
    if words == ["y", "true"] and set(told) == {"0", "1"}:  # as scikit-learn's users write results
        return GoodAnswer(
            told["1"], f"1 is assumed to be good for the person, as {name!r} is usually written."
        )
    return GoodAnswer(None, f"it is unclear which value of {name!r} is good for the person")


def is_consequence(name: str) -> bool:
    """Whether a column's name tells what happened to people, which a model may predict, and nobody decided.

    Examples
    --------
    >>> is_consequence("two_year_recid"), is_consequence("y_true"), is_consequence("hired")
    (True, True, False)
    """
    words = words_of_name(name)
    return (
        column_role(name) == "label"
        or any(_CONSEQUENCE.fullmatch(word) for word in words)
        or any(map(_LATER.fullmatch, words))
    )


def names_outcome(name: str) -> bool:
    """Whether a column's name is one of a decision or an outcome.

    Examples
    --------
    >>> names_outcome("loan_approved"), names_outcome("final_grade")
    (True, False)
    """
    return any(_STRONG.fullmatch(word) or _of_word(word) for word in words_of_name(name))


def says_which(value: str) -> bool:
    """Whether a value itself says that it is good or bad for people, as a plain yes or no does not.

    Examples
    --------
    >>> says_which("Granted"), says_which("yes"), says_which("A14")
    (True, False, False)
    """
    return _direction(value.strip().lower()) != 0


def is_group(column: Mapping[str, Any]) -> bool:
    """Whether a column's name, or its values, tell groups of people apart.

    Examples
    --------
    >>> is_group({"name": "victim", "kind": "categorical", "examples": ["black", "white"]})
    True
    """
    return named_protected(str(column["name"])) or names_group(column["examples"])


def _is_good(text: str) -> bool:
    return text in YES or text.startswith(">") or _direction(text) > 0


def _is_bad(text: str) -> bool:
    return text in _NO or text.startswith("<") or _direction(text) < 0


def _direction(text: str) -> int:
    """Return 1 for words that are good for a person, -1 for bad ones, 0 where they say neither, or both."""
    words = words_of_name(text)
    said = {_of_word(word) for word in words} - {0}
    if len(said) != 1:
        return 0
    return -said.pop() if _NOT & set(words) else said.pop()


def _of_word(word: str) -> int:
    if _NEGATIVE.fullmatch(word):
        return -1
    if _POSITIVE.fullmatch(word):
        return 1
    negated = _NEGATED.fullmatch(word)
    if negated and _POSITIVE.fullmatch(negated[1]):
        return -1
    return -1 if word.startswith("re") and _NEGATIVE.fullmatch(word[2:]) else 0  # rearrested


def _likelihood(column: Mapping[str, Any], rows: int, *, last: bool) -> float:
    """Score how much speaks for a column; 0 where something speaks against it."""
    name, kind, distinct = str(column["name"]), column["kind"], column["distinct"]
    kept, words = column_role(name), words_of_name(name)
    if kept in {"prediction", "score"} or kind in {"identifier", "text", "datetime"}:
        return 0.0
    if not 2 <= distinct <= MAX_ANSWERS or (distinct > 2 and distinct > rows / 2):
        return 0.0
    if is_group(column) or (kind == "continuous" and distinct > 2):
        return 0.0
    two = distinct == 2
    against = [_HISTORY, _STATES, *([] if two else [_AMOUNTS])]
    if any(pattern.fullmatch(word) for pattern in against for word in words):
        return 0.0
    texts = {str(each).strip().lower() for each in column["examples"]}
    answers = {text for text in texts if _is_good(text) or _is_bad(text)}
    weak = any(_WEAK.fullmatch(word) for word in words)
    named = any(_STRONG.fullmatch(word) or (not weak and _of_word(word)) for word in words)
    score = 3.0 * named + 1.0 * (weak and not named) + 1.0 * two + 2.0 * (kept == "label") + 0.5 * last
    if answers - _PLAIN and two:
        return score + _SOUNDS  # good or bad, approved or denied: values of a decision
    if len(answers) == 2:
        event = not named and any(_EVENT.fullmatch(word) for word in words)
        return score + 0.5 + _HAPPENS * event
    return score - 1.0 if named and not two and kept != "label" and not answers else score  # sort of sentence


def _is_numeric_outcome(column: Mapping[str, Any]) -> bool:
    words = words_of_name(str(column["name"]))
    return (
        column["kind"] in {"continuous", "integer"}
        and column["distinct"] > MAX_ANSWERS
        and any(_NUMERIC.fullmatch(word) for word in words)
    )
