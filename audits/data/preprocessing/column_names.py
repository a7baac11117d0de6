"""What the name of a column says it is: a group, a label, a stored prediction.

Names are a start for the user to correct. Two things are decided by them alone, because a mistake there
would be silent: a column named like a stored prediction or a true label is never a feature unless told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

_PROTECTED = re.compile(
    r"race|racial|ethnic|ethnicity|sex|gender|age|religion|religious|marital|marriage|disability|disabled"
    r"|nationality|citizen|citizenship|foreign|foreigner|native|national|origin|pregnant|pregnancy|veteran"
    r"|colou?r|caste|orientation|male|female|woman|women|black|white|asian|hispanic|hispan|latino|latina"
    r"|minority|married|unmarried|immigrant|migrant|continent|birthplace|skin|dialect|tribe|creed|faith|accent"
    r"|geschlecht|alter|ethnie|herkunft|origen|familienstand|behinderung|nationalität|staatsangehörigkeit"
    r"|migrationshintergrund|männlich|weiblich|sexe|genre|âge|origine|ethnie|handicap|nationalité|sexo|género"
    r"|edad|raza|etnia|discapacidad|nacionalidad"
)
_LANGUAGE = re.compile(
    r"(?:first|home|primary|main|mother|spoken|preferred)[ _-]?(?:language|tongue)|muttersprache"
    r"|langue[ _-]?maternelle|lengua[ _-]?materna"
)
_PEOPLE = re.compile(
    r"(?:fe)?males?|(?:wo)?m[ae]n|boys?|girls?|non[- ]?binary|blacks?|whites?|asians?|hispanics?|latin[oax]s?"
    r"|caucasians?|african[- ]americans?|native[- ]americans?|christians?|muslims?|jew(?:s|ish)|hindus?"
    r"|buddhists?|catholics?|protestants?|männlich|weiblich|frau(?:en)?|mann|männer|divers|hommes?|femmes?"
    r"|hombres?|mujer(?:es)?|varón"
)
_AGE = re.compile("ages?|alter|âge|edad")
Stored = Literal["label", "prediction", "score"]
_STORED: dict[Stored, re.Pattern[str]] = {
    "label": re.compile("y|ytrue|labels?|target|truth|groundtruth|truelabel|actual"),
    "prediction": re.compile("ypred|yhat|preds?|predictions?|predicted(label|class)?|labelpred|predlabel"),
    "score": re.compile("yprob|yproba|yscore|ypredprob|ypredproba|probs?|proba|probability|scores?"
                        "|predicted(score|probability)|predictionscore|pred(score|proba|prob)|modelscore"),
}  # fmt: skip
_ONE_OF = re.compile(r"(.+?)[ _.-]((model[ _.-]?)?[ab]|v\d+|old|new|current|baseline|champion|challenger)")
"""Which of several models predicted what a column stores: not a number, as of tests that a person took."""


def column_role(name: str) -> Stored | None:
    """Return what a column stores by its whole name: the true label, a predicted one, or a score.

    Examples
    --------
    >>> [column_role(name) for name in ("y_true", "y_pred", "Y Prob", "score", "credit_score", "years")]
    ['label', 'prediction', 'score', 'score', None, None]
    >>> [column_role(name) for name in ("score_a", "pred.new", "score_1", "y_a", "blood_b")]
    ['score', 'prediction', None, None, None]
    """
    one = _ONE_OF.fullmatch(name.lower())
    squeezed = re.sub(r"[^a-z0-9]", "", one[1] if one else name.lower())
    found = next((kind for kind, names in _STORED.items() if names.fullmatch(squeezed)), None)
    return None if one and found == "label" else found


def named_protected(name: str) -> bool:
    """Whether a word of the name is one of a group that people belong to, or all of it is "group"."""
    if name.lower().startswith("non") and _has_word(name[3:], _PROTECTED):
        return True
    if _LANGUAGE.search(name.lower()):
        return True
    return _has_word(name, _PROTECTED) or name.strip().lower() in {"group", "groups"}


def names_group(values: Sequence[object]) -> bool:
    """Whether two of a column's values name groups of people, whatever the column is called.

    Examples
    --------
    >>> names_group(["black", "white"]), names_group(["White Hispanic", "red"]), names_group(["no", "yes"])
    (True, False, False)
    """
    return sum(bool(_PEOPLE.fullmatch(str(value).strip().lower())) for value in values) >= 2


def named_age(name: str) -> bool:
    """Whether a word of the name is "age": of its groups alone any number of values can be cut."""
    return _has_word(name, _AGE)


def _has_word(name: str, words: re.Pattern[str]) -> bool:
    return any(map(words.fullmatch, words_of_name(name)))


def words_of_name(name: str) -> list[str]:
    """Return the words of a column's name.

    Examples
    --------
    >>> words_of_name("is_recid2"), words_of_name("loanStatus"), words_of_name("default.payment")
    (['is', 'recid'], ['loan', 'status'], ['default', 'payment'])
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.split(r"[\W\d_]+", spaced) if word]
