"""Rule sets of texts: terms found and exchanged as written, and a planted reaction to terms found."""

from __future__ import annotations

import numpy as np
import onnx
import pandas as pd
import pytest
from onnx import TensorProto, helper, numpy_helper

from audits.data import DataSpec, build_data
from audits.drawing.style import alt_text
from audits.models import make_subject, model_spec
from audits.results import load_result, plain, save_result
from audits.rule_sets import RuleSetsOptions, RuleSetsResult, rule_sets
from audits.rule_sets.figures import leaderboard as figures
from audits.rule_sets.perturbation.terms import exchanged_frame
from audits.subgroups.texts import TERMS, Vocabulary
from tests.refused import refused

FAST = {"permutations": 99}


def test_table_1_has_48_terms_in_4_categories():
    assert [len(terms) for terms in TERMS.values()] == [14, 17, 9, 8]
    assert len(Vocabulary(TERMS).categories) == 4


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I am an African-American woman", {"african american"}),
        ("African coffee, american cars", {"african", "american"}),
        ("middle  aged and elderly", {"middle aged", "elderly"}),
        ("Two gays, three Jewish lesbians", {"gay", "jewish", "lesbian"}),
        ("gayest manhole transient blackboard oldest", set()),
        ("LGBTQ is not LGBT", {"lgbtq", "lgbt"}),
        ("(straight)", {"straight"}),
        ("", set()),
    ],
)
def test_terms_are_whole_words_longest_first_in_any_case(text, found):
    held = Vocabulary(TERMS).found(text)
    assert set().union(*held) == found


@pytest.mark.parametrize(
    ("text", "term", "made"),
    [
        ("I am a lesbian", "gay", "I am a gay"),
        ("LESBIANS and Queers", "gay", "GAYS and Gays"),
        ("a male muslim", "female", "a female muslim"),
        ("Homosexual, straight; trans.", "gay", "Gay, gay; gay."),
        ("no term at all", "gay", "no term at all"),
    ],
)
def test_exchange_keeps_case_and_plural_and_other_categories(text, term, made):
    assert Vocabulary(TERMS).exchanged(text, {0: term}) == made


def corpus(n: int, seed: int = 0) -> pd.DataFrame:
    """Texts of which some with "gay" are labeled toxic that are not toxic in any other way."""
    rng = np.random.default_rng(seed)
    gender, religion = rng.choice(["gay", "male", "female"], n), rng.choice(["muslim", "jewish", ""], n)
    mood = rng.choice(["nice", "kind", "awful", "bad"], n)
    words = enumerate(zip(gender, religion, mood, strict=True))
    text = [f"my {a} {b} friend is {c} today {k % 97}" for k, (a, b, c) in words]
    toxic = np.isin(mood, ["awful", "bad"]) | ((gender == "gay") & (rng.random(n) < 0.7))
    source = rng.choice(["x", "y"], n)
    return pd.DataFrame({"text": text, "verdict": np.where(toxic, "toxic", "fine"), "source": source})


def subject(frame: pd.DataFrame, **model: str):
    spec = DataSpec(
        label="verdict", favorable="fine", protected=("source",), features=("text",), kinds={"text": "text"}
    )
    return make_subject(build_data(frame, spec), model_spec(model or {"train": "text"}))


def test_planted_reaction_to_a_term_is_found_on_data_and_on_exchanged_texts():
    result = rule_sets(subject(corpus(1500)), RuleSetsOptions(text="text", support=0.05, **FAST))
    assert result.n_candidates == 15 * 18 * 10 * 9 - 1
    # gender alone, religion alone and both are frequent: 14 + 9 + 14 * 9 rule sets by Eq. 3
    assert result.n_frequent == 14 + 9 + 14 * 9
    assert result.verdict == "evidence of a difference"
    row = result.leaderboard[0]
    assert "“gay”" in row.rule_set
    assert row.direction == "harmed"
    assert row.sampled.favorable_out - row.sampled.favorable_in > 0.2
    assert result.sampling["reached"]


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"text": "txt"}, "rule_sets.text"),
        ({"text": "text", "terms": {"color": ("mauve",)}}, "rule_sets.text"),
        ({"text": "text", "terms": {"a": ("x",), "b": ("X",)}}, "rule_sets.terms"),
        ({"text": "text", "terms": {"a": ()}}, "rule_sets.terms"),
        ({"text": "text", "support": 1.0, "terms": {"mood": ("nice",)}}, "rule_sets.support"),
    ],
)
def test_bad_text_options(options, where):
    with refused(where):
        rule_sets(subject(corpus(600)), RuleSetsOptions(**FAST, **options))


def word_model(path):
    """Save a model by which texts with "gay" (plural too, any case) are toxic with 0.8, others with 0.1."""
    nodes = [
        helper.make_node("RegexFullMatch", ["text"], ["held"], pattern=r"(?is).*\bgays?\b.*"),
        helper.make_node("Where", ["held", "high", "low"], ["score"]),
    ]
    given = [numpy_helper.from_array(np.array(v, np.float32), k) for k, v in (("low", 0.1), ("high", 0.8))]
    ends = [("text", TensorProto.STRING), ("score", TensorProto.FLOAT)]
    read, told = ([helper.make_tensor_value_info(name, kind, [None, 1])] for name, kind in ends)
    graph = helper.make_graph(nodes, "words", read, told, given)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return path


def test_every_pair_is_tested_on_texts_with_its_terms_exchanged_in(tmp_path):
    """Pairs that a handful of texts hold; against exchanging every term in every text, one at a time."""
    frame = corpus(1500)
    audited = subject(frame, path=str(word_model(tmp_path / "words.onnx")))
    result = rule_sets(audited, RuleSetsOptions(text="text", support=0.05, samples=100, permutations=199))
    found = result.exchanged
    # 14 + 9 + 14 * 9 are frequent by Eq. 3, of which texts hold few; all are tested
    assert (found.tested, found.untested) == (14 + 9 + 14 * 9, 0)
    assert result.n_distinct < 20
    words = Vocabulary(TERMS)
    gay = [row for row in found.rows if "“gay”" in row.rule_set]
    assert len(gay) == 1 + 9
    for row in gay:
        assert row.verdict == "evidence of a difference"
        assert row.favorable_in == 0.0
        assert row.difference.high < -0.5
    others = [row for row in found.rows if row not in gay]
    assert {row.verdict for row in others} == {"no material difference", "insufficient evidence"}
    # that no text of few changes clears nobody: others of the same terms may
    assert all(row.texts > 60 for row in others if row.verdict == "no material difference")
    assert all(row.difference.low < row.difference.value < row.difference.high for row in others)
    assert found.evident == 10
    # no text of the data holds "gay" with a religion that does not occur in them
    rare = next(row for row in gay if "“taoist”" in row.rule_set)
    assert rare.held == 0
    # the slow way: one rule set, every text with terms of both kinds, every combination
    both = frame["text"][[all(words.found(text)[place] for place in (0, 2)) for text in frame["text"]]]
    others = [(a, b) for a in words.terms[0] for b in words.terms[2] if (a, b) != ("gay", "taoist")]
    texts = [words.exchanged(text, {0: a, 2: b}) for text in both.iloc[:3] for a, b in others]
    fine = audited.favorable_score(pd.DataFrame({"text": texts})) >= 0.5
    assert rare.favorable_out == pytest.approx(fine.mean())
    save_result(result, tmp_path, "rule_sets")
    assert plain(load_result(RuleSetsResult, tmp_path, "rule_sets")) == plain(result)
    assert "10 of 149" in alt_text(figures.exchanged_terms(result))
    assert len(exchanged_frame(found)) == 149
