"""What the data call the favored takes the place of a plain word, of two words, too."""

from __future__ import annotations

import pandas as pd

from audits.recourse.sections import HEADS, with_headings
from audits.recourse.text import yes_word
from audits.stats.vocabulary import DataWords, speaking


def test_a_decision_of_two_words_is_named_as_the_data_name_it() -> None:
    table = pd.DataFrame(columns=list(HEADS))
    plain = list(with_headings(table))
    with speaking(DataWords(yes="rated low risk", no="rated high risk")):
        assert yes_word() == "rated low risk"
        own = [head.replace(yes_word(), "accepted") for head in with_headings(table)]
        assert own == plain
        assert list(with_headings(table)) != plain
