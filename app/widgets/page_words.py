"""Messages name the keys of a spec; a page says what stands above the control instead."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import partial
from typing import get_args

from audits.data.io.tables import ReadOptions
from audits.data.kinds import Role
from audits.data.spec import DataSpec
from audits.models.spec import ModelSpec
from audits.runs.registry import AUDITS

_SAID = {
    "data.label": "The label",
    "data.favorable": "What is good for the person",
    "data.protected": "The protected attributes",
    "data.features": "The features",
    "data.keep": "The row filters",
    "data.among": "Who is audited",
    "data.missing": "The treatment of missing values",
    "data.bins": "The cuts of a protected attribute",
    "data.kinds": "The kind of a column",
    "data.roles": "The role of a column",
    "data.orders": "The order of values",
    "data.weights": "The weights",
    "data.person": "Who rows are of",
    "data.labels": "The names for values",
    "data.units": "The unit",
    "data.recode": "What was made of a column",
    "data.path": "The file",
    "data.test_size": "The share held out",
    "read.separator": "The separator",
    "read.header": "The header",
    "read.encoding": "The encoding",
    "read.missing": "The missing markers",
    "read.skip_rows": "The lines to skip",
    "read.names": "The column names",
    "read.decimal": "The decimal mark",
    "read.sheet": "The sheet",
    "model.predictions": "The column of predictions",
    "model.path": "The model file",
    "model.endpoint": "The endpoint",
    "model.train": "The model to train",
    "model.classes": "The choice “Classes in order”",
    "model.columns": "The choice “Columns in order”",
    "model.output": "The choice “Scores are”",
    "model.predict": "The choice “Model output”",
}
_PHRASES = {
    re.compile(r"needs at least two groups with people in them(?=\.)"): (
        "needs at least two groups with people in them; choose another attribute, or audit more people"
    ),
    re.compile(r"\buse in or not_in\b"): "use “is one of” or “is none of”",
    re.compile(r", for example with keep: \{[^}]*\}"): " by “Keep only rows where … is not missing”",
    re.compile(r": compare: \{model: …\}"): "",
    re.compile(r"\buse predictions: \{label: …\} for"): "choose “A column of decisions” for",
    re.compile(r"\buse predictions: \{score: …\} for"): "choose “A score” for",
    re.compile(r"\brecode the column with data\.recode"): "give the column the label's values in the file",
    re.compile(r" with data\.recode"): " in the file",
    re.compile(r" as a column: \{score: column\}"): " as a column",
    re.compile(r" as a column with against: \{label: column\}"): " as a column of labels",
    re.compile(
        r"\bcut a number: label: \{[^}]*\}"
    ): "choose a column of numbers, and the value from which it is favorable",
    re.compile(r"\bcut it: leave out outcome and write label: \{[^}]*\}"): (
        "on Data & model choose “A score” with a threshold instead of an amount"
    ),
    re.compile(r"\bwrite label: \{[^}]*\}"): "choose a column of numbers, and the value from which it is "
    "favorable",
    re.compile(r"\bsay weights: \{[^}]*\}"): "choose “Sampling weights”",
    re.compile(r"\bwrite weights: \{[^}]*\} or weights: \{[^}]*\}"): "choose what they are",
    re.compile(r"\btrain one here with model: \{train: text\}"): "train one here that reads words",
    re.compile(r"\bset data\.kinds: \{COLUMN: text\}"): "choose text as its kind",
    re.compile(r"\bsay which columns? feeds? (?:each|which input): add under model, columns: \{.*\}"): (
        "name the columns of the data as the model's inputs are named"
    ),
    re.compile(r"\badd under model, in the order it was trained on: columns: \[[^\]]*\]"): (
        "enter under “Columns in order” what it was trained on"
    ),
    re.compile(r"\bmodel\.predictions\.(?:score|label)\b"): "The column of predictions",
    re.compile(r"\bcompare\.(?:model\b(?!\.)|treated(?:\.also)?)"): "the second model",
}
_AUDITS = "|".join(AUDITS)
_NAMED_AUDIT = re.compile(rf"\b(?:{'|'.join(name for name in AUDITS if '_' in name)})\b")
_AN_OPTION = re.compile(
    rf"\b(?:audits\[\d+\]\.)?(?P<option>(?:{_AUDITS}|roles)\.[a-z_]+)"
    r"(?:\.(?P<of>\w+)|\[[^\]]*\])*(?=[ :,;.)]|$)"
)
_AN_AUDIT = re.compile(
    rf"\baudits\[\d+\]\.(?:{_AUDITS})\b(?:: )?(?!\.)|^(?:{_AUDITS})(?= (?:has|must|needs|would) )"
)
_LABELS = {f"roles.{role}": role for role in get_args(Role)}
for _audit in AUDITS.having("pages"):
    _LABELS |= {f"{_audit.name}.{each.name}": _audit.label(each.name) for each in fields(_audit.options)}
    _LABELS |= {option: label for option, label in _audit.pages.labels.items() if "." in option}
_PRIVATE = 0xE000  # where Unicode has no letters
_ALONE = {name: audit.name for audit in AUDITS.having("pages") for name in audit.pages.alone}
_BARE = re.compile(rf"^(?P<option>{'|'.join(_ALONE)})(?= (?:must|makes|is|has|needs|cannot|leaves)\b)")
_KEYS = {"data": DataSpec, "read": ReadOptions, "model": ModelSpec}
_OF_KEYS = "|".join(
    f"{name}\\.(?:{'|'.join(each.name for each in fields(of))})" for name, of in _KEYS.items()
)
_KEY = re.compile(
    rf"(?<![\w./])(?P<second>compare\.)?(?P<key>(?:{_OF_KEYS})\b)"
    r"(?:\[\d+\])?(?:\.(?P<of>\w+)(?=[ :,]))?"
)
_LITERAL = re.compile(
    r"`[^`]*[^\w`][^`]*`|(?<!\w)'[^']*'(?!\w)|“[^”]*”|\b\w+(?:\.\w+)*\([^)]*\)|\b\w+://\S+|\S*/\S*\.\w+"
)
"""Code, names and values of the data, and addresses: these are said as they stand."""
_THRESHOLD = re.compile(r"\bthreshold\.(\w+)")
_FIRST = re.compile(
    r"^(?:the|this|line|column|bins|row|features|threshold|seed|protected|data|model|name)\b(?![.\[])"
)
_MODEL = re.compile(r"^model(?= (?:must|is|needs|has|cannot)\b)")
_NAMES = re.compile(
    r"\b(max_people|give_protected|status_model|match_set|smooth_noise|test_size|free_features|higher_is"
    r"|at_least|at_most|condition_on|feature_weights|rows_under|step_size)\b|`(\w+)`"
)
_OF_THE_PAPER = re.compile(r" \((?:the paper's )?\w+_thr\)")


def page_words(sentence: str) -> str:
    """Return a message with the names of controls instead of keys of the spec.

    Examples
    --------
    >>> page_words("data.favorable is missing; say it.")
    'What is good for the person is missing; say it.'
    >>> page_words("'age' makes 60 groups, one per number; data.bins would cut it into fewer.")
    "'age' makes 60 groups, one per number; the cuts of a protected attribute would cut it into fewer."
    >>> page_words("compare.model.path is missing.")
    "The second model's file is missing."
    >>> page_words("audits[0].recourse.refits must be above 0, got -1.")
    'The choice “Retrained models” must be above 0, got -1.'
    >>> page_words("audits[0].groups.by needs two groups."), page_words("audits[0].flipset: model is gone.")
    ('The choice “Compare by” needs two groups.', 'The model is gone.')
    >>> page_words("It is numeric; cut it: leave out outcome and write label: {column: days, at_most: …}.")
    'It is numeric; on Data & model choose “A score” with a threshold instead of an amount.'
    >>> page_words("sensitive must leave at least one direction that matters.")
    'The choice “Attributes” must leave at least one direction that matters.'
    >>> page_words("barycenter has no feature left to match people on.")
    'This audit has no feature left to match people on.'
    >>> page_words("Save it with skops.io.dump(model, 'x.skops'), not as model.pkl.")
    "Save it with skops.io.dump(model, 'x.skops'), not as model.pkl."
    >>> page_words("Margin at which sampling stops (error_thr); as many as `seconds` allow.")
    'Margin at which sampling stops; as many as “seconds” allow.'
    >>> page_words("Threshold: order statistics 95%.")
    'Threshold: order statistics 95%.'
    """

    def said(found: re.Match[str]) -> str:
        words = _SAID.get(found["key"]) or f"The choice “{found['key'].partition('.')[2].replace('_', ' ')}”"
        of = f" “{found['of']}”" if found["of"] else ""
        if found["second"]:
            words = f"The second model's {words.removeprefix('The ').replace('model file', 'file')}"
        return _match_case(words, found) + of

    def option(found: re.Match[str]) -> str:
        told = found["option"]
        name = told if "." in told else f"{_ALONE[told]}.{told}"
        if name not in _LABELS:
            return found[0]  # a file, say
        of = f" of “{found['of']}”" if found.groupdict().get("of") else ""
        return _match_case(f"The choice “{_LABELS[name]}”", found) + of

    literal: list[str] = []

    def keep(found: re.Match[str]) -> str:
        literal.append(found[0])
        return chr(_PRIVATE + len(literal) - 1)

    plain = _LITERAL.sub(keep, _OF_THE_PAPER.sub("", sentence))
    for phrase, words in _PHRASES.items():
        plain = phrase.sub(partial(_match_case, words), plain)
    plain = _BARE.sub(option, _AN_OPTION.sub(option, plain))
    plain = _AN_AUDIT.sub(
        lambda found: "" if found[0].endswith(": ") else _match_case("This audit", found),
        _KEY.sub(said, plain),
    )
    plain = _THRESHOLD.sub(lambda found: f"the threshold by “{found[1]}”", plain)
    plain = _NAMED_AUDIT.sub(lambda found: f"“{AUDITS[found[0]].title}”", plain)
    plain = _FIRST.sub(lambda found: found[0].capitalize(), _MODEL.sub("the model", plain))
    plain = _NAMES.sub(lambda found: f"“{(found[1] or found[2]).replace('_', ' ')}”", plain)
    return "".join(_said(each, literal) for each in plain)


def _said(letter: str, literal: list[str]) -> str:
    place = ord(letter) - _PRIVATE
    return literal[place] if 0 <= place < len(literal) else letter


def _match_case(words: str, found: re.Match[str]) -> str:
    """Begin with a capital where a sentence begins."""
    before = found.string[: found.start()].rstrip()
    return words if not before or before[-1] in ".:!?" else words[:1].lower() + words[1:]
