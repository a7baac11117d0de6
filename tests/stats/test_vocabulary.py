"""The words of a data set reach what is said of it, and only of it."""

from __future__ import annotations

from audits.data.spec_parser import data_spec
from audits.stats.text import people_in, so_many
from audits.stats.vocabulary import speaking
from tests.refused import refused


def test_words_reach_sentences_in_their_block_alone() -> None:
    groups = {"sex": {"female": "women"}, "origin": {"Velian": "Velian"}}
    words = data_spec({"words": {"people": "applicants", "person": "applicant", "groups": groups}}).words
    assert words is not None
    before = people_in("female & Velian")
    with speaking(words):
        assert people_in("female & Velian") == "Velian women"
        assert so_many(1, "female") == "1 woman"
        assert so_many(1, "Velian") == "1 Velian applicant"
        assert people_in("tall") == "tall applicants", "a value without words of its own keeps its name"
    assert people_in("female & Velian") == before


def test_a_bare_yes_of_yaml_is_the_key_and_an_unknown_word_is_refused_by_name() -> None:
    bare = data_spec({"words": {True: "hired", False: "turned down"}})
    assert bare.words == data_spec({"words": {"yes": "hired", "no": "turned down"}}).words
    with refused("data.words.peple"):
        data_spec({"words": {"peple": "applicants"}})
