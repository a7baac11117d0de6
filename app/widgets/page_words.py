"""Messages name the keys of a spec; a page says what stands above the control instead."""

from __future__ import annotations

import re

__all__ = ["page_words"]

_SAID = {
    "data.label": "The label",
    "data.favorable": "What is good for the person",
    "data.protected": "The protected attributes",
    "data.features": "The features",
    "data.keep": "The row filters",
    "data.among": "Who is audited",
    "data.missing": "What is done about missing values",
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
}
_KEY = re.compile(
    r"(?P<second>\bcompare\.)?(?P<key>\b(?:data|read|model)\.[a-z_]+)(?:\[\d+\])?(?:\.(?P<of>\w+)(?=[ :,]))?"
)
_OPTION = re.compile(r"\baudits\[\d+\]\.[a-z_]+(?:\.(?P<option>[a-z_]+))?(?:\.\w+)*")


_NAMES = re.compile(
    r"\b(max_people|give_protected|status_model|match_set|smooth_noise|test_size|free_features)\b|`(\w+)`"
)
_OF_THE_PAPER = re.compile(r" \((?:the paper's )?\w+_thr\)")


def page_words(sentence: str) -> str:
    """Return a message with the names of controls instead of keys of the spec.

    Examples
    --------
    >>> page_words("data.favorable is missing; say it.")
    'What is good for the person is missing; say it.'
    >>> page_words("'age' makes 60 groups, one a number; data.bins would cut it into fewer.")
    "'age' makes 60 groups, one a number; the cuts of a protected attribute would cut it into fewer."
    >>> page_words("compare.model.path is missing.")
    'Of the second model the model file is missing.'
    >>> page_words("audits[0].recourse.max_change must be above 0, got -1.")
    'The choice “max change” must be above 0, got -1.'
    >>> page_words("Margin at which sampling stops (error_thr); as many as `seconds` allow.")
    'Margin at which sampling stops; as many as “seconds” allow.'
    """

    def said(found: re.Match[str]) -> str:
        words = _SAID.get(found["key"])
        if words is None:
            return found[0]
        of = f" “{found['of']}”" if found["of"] else ""
        if found["second"]:
            words = f"Of the second model {words[0].lower()}{words[1:]}"
        return _cased(words, found) + of

    def option(found: re.Match[str]) -> str:
        words = (
            "This audit" if found["option"] is None else f"The choice “{found['option'].replace('_', ' ')}”"
        )
        return _cased(words, found)

    plain = _OF_THE_PAPER.sub("", _KEY.sub(said, _OPTION.sub(option, sentence)))
    return _NAMES.sub(lambda found: f"“{(found[1] or found[2]).replace('_', ' ')}”", plain)


def _cased(words: str, found: re.Match[str]) -> str:
    """Begin with a capital where a sentence begins."""
    before = found.string[: found.start()].rstrip()
    return words if not before or before[-1] in ".:!?" else words[0].lower() + words[1:]
