"""The bundled example sets: what each is, in plain words, and the spec that audits it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from audits.data.samples import admissions, arrests, hiring, law_school, loans
from audits.data.samples.sample import ExampleSet, csv_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CATALOGUE"]


def _hiring() -> dict[str, bytes]:
    people = hiring.generate(1_000)
    model = hiring.onnx_model(people, hiring.PUBLISHED[1_000])
    return {"hiring.csv": csv_bytes(people, 6), "hiring.onnx": model}


def _arrests() -> dict[str, bytes]:
    return {"arrests.csv": csv_bytes(arrests.generate(2_000))}


def _law_school() -> dict[str, bytes]:
    drawn = law_school.generate(3_000)
    truth = drawn.counterfactuals
    people = drawn.applicants.join(truth[list(law_school.OTHER_LIVES.values())])
    return {"law_school.csv": csv_bytes(people, 4), "law_school_truth.csv": csv_bytes(truth, 4)}


def _admissions() -> dict[str, bytes]:
    return {"admissions.csv": csv_bytes(admissions.generate(200, years=5, rule=0.25), 4)}


def _loans() -> dict[str, bytes]:
    drawn = loans.generate(5_000)
    truth = drawn.truth.loc[drawn.truth["planted"], list(loans.TRUTH_COLUMNS)]
    return {
        "loans.csv": csv_bytes(drawn.applications, 6),
        "loans_truth.csv": csv_bytes(truth, 6),
        "loans.onnx": loans.onnx_model(),
    }


_HIRING = ExampleSet(
    name="hiring",
    title="Hiring: equal rates that hide unequal treatment",
    sentence=(
        "A model hires about as many women as men, yet it lifts long-haired women and holds back women with "
        "short hair: 2,000 invented applicants."
    ),
    made=(
        "1,000 men and 1,000 women drawn from the published distributions with NumPy's legacy generator "
        "(seed 0 for work experience, seed 1 for the rest), in the published order."
    ),
    columns={"hiring.csv": hiring.COLUMNS},
    model=(
        "`hiring.onnx`: 1.2956 · work + 1.0862 · hair > 0.8668 on standardised features, trained by "
        "FlipTest's authors to equalise hiring rates. It reads work_years and hair_length as they stand and "
        "gives a chance of hiring; above 0.5 means hired."
    ),
    source=(
        "Lipton, Chouldechova and McAuley, NeurIPS 2018, section 4.1; Black, Yeom and Fredrikson "
        "(FlipTest), FAT* 2020, section 5.3."
    ),
    known_truth=(
        "281 women and 260 men are hired. Exact transport from women to men (squared L1) costs 4.860449 and "
        "finds 157 women who are hired while their counterpart is not, by −0.3518 standard deviations of "
        "work and +1.9419 of hair on average, and 136 the other way, by −1.7308 and +0.3458. By "
        "construction qualification depends on work experience alone."
    ),
    spec_text="""\
# Equal rates, unequal treatment: would this woman have been hired as a man?
data:
  path: hiring.csv
  label: qualified
  favorable: 1
  protected: [gender]
  features: [work_years, hair_length]
  words:
    {people: applicants, person: applicant, "yes": hired, "no": turned down, truth_yes: qualified,
     truth_no: not qualified, groups: {gender: {female: women, male: men}}}
model:
  path: hiring.onnx
threshold: 0.5
seed: 0
audits:
  - flipset: {source: {gender: female}, target: {gender: male}, transport: exact, cost: l1_squared}
""",
    build=_hiring,
    models=("hiring.onnx",),
)

_ARRESTS = ExampleSet(
    name="arrests",
    title="Arrests: a rating built on a count that differs by group",
    sentence=(
        "A rating that only counts earlier arrests falls harder on the group that is arrested more often: "
        "4,000 invented people, with the exact answer known."
    ),
    made=(
        "2,000 people of each group, seed 0. Arrests are Geometric(1/4) − 1 in the north (the paper's S) "
        "and Geometric(1/2) − 1 in the south (its S')."
    ),
    columns={"arrests.csv": arrests.COLUMNS},
    model=(
        "The stored column high_risk: 0 arrests means low risk, 2 or more high risk, and at exactly 1 a "
        "fair coin was thrown once. Low risk is the favorable decision."
    ),
    source="Black, Yeom and Fredrikson (FlipTest), FAT* 2020, section 5.5.",
    known_truth=(
        "In theory 65.625 % of the north and 37.5 % of the south are rated high risk. Exact transport from "
        "north to south flips 28.125 % of the north to low risk and nobody to high risk; those who flip "
        "have 1.6458 more arrests than their counterparts on average. In this file 1,326 and 739 of 2,000 "
        "are rated high risk: a net flipset of 587, 29.35 %."
    ),
    spec_text="""\
# One number decides, and it is distributed differently in the two groups.
data:
  path: arrests.csv
  favorable: 0
  protected: [group]
  features: [prior_arrests]
  words:
    {"yes": rated low risk, "no": rated high risk,
     groups: {group: {north: in the north, south: in the south}}}
model:
  predictions: {label: high_risk}
threshold: 0.5
seed: 0
audits:
  - flipset: {source: {group: north}, target: {group: south}, transport: exact, cost: l1_squared}
""",
    build=_arrests,
)

_LAW_SCHOOL = ExampleSet(
    name="law_school",
    title="Law school: what would the grades have been?",
    sentence=(
        "A model that predicts the upper half of a law class, trained on grades that race itself shifts; "
        "3,000 invented applicants, each with the grades they would have had with the other race."
    ),
    made=(
        "3,000 applicants from the causal model below, seed 0. K is a person's knowledge, standard normal. "
        "GPA = 3.20 + 0.14·K − 0.39·black + 0.13·female + 0.37·noise; LSAT is Poisson with rate exp(3.63 + "
        "0.068·K − 0.24·black − 0.014·female); FYA = 0.22 + 0.33·K − 1.04·black − 0.016·female + noise. The "
        "weights are ours: rounded fits to the public law school data. A quarter of the applicants are "
        "black (6.6 % there)."
    ),
    columns={
        "law_school.csv": law_school.COLUMNS
        | {name: law_school.TRUTH_COLUMNS[name] for name in law_school.OTHER_LIVES.values()},
        "law_school_truth.csv": law_school.TRUTH_COLUMNS,
    },
    model=(
        "None in the file: the spec trains a logistic regression on lsat, gpa, race and sex to predict a "
        "first-year average of at least 0, which about half of the class reaches."
    ),
    source=(
        "Kusner, Loftus, Russell and Silva, NeurIPS 2017, section 5; Black, Yeom and Fredrikson (FlipTest), "
        "FAT* 2020, section 5.4."
    ),
    known_truth=(
        "law_school_truth.csv has, row by row, the same person's grades with the other race: same "
        "knowledge, same noise, same quantile of the Poisson. Changing black to white adds exactly 0.39 to "
        "GPA and 1.04 to FYA and multiplies the LSAT's rate by exp(0.24) = 1.27. The model sees none of it. "
        "The two grades it reads are in law_school.csv too, so that the flipset audit can show the flipsets "
        "of those other lives beside transport's."
    ),
    spec_text="""\
# Transport's counterparts and sensitivity, held against true counterfactuals: columns of the data.
data:
  path: law_school.csv
  label: {column: fya, at_least: 0.0}
  protected: [race, sex]
  features: [lsat, gpa, race, sex]   # this model is given race and sex
  words:
    {people: applicants, person: applicant, "yes": predicted in the top half,
     "no": predicted in the bottom half, truth_yes: in the top half, truth_no: in the bottom half,
     groups: {race: {black: Black, white: white}, sex: {female: women, male: men}}}
model:
  train: logistic
threshold: 0.5
seed: 0
audits:
  - flipset:
      source: {race: black}
      target: {race: white}
      transport: exact
      cost: l1_squared
      counterfactuals: {lsat: lsat_other_race, gpa: gpa_other_race}
  - sensitivity:
      protected: race
      counterfactuals: {lsat: lsat_other_race, gpa: gpa_other_race}
""",
    build=_law_school,
)

_ADMISSIONS = ExampleSet(
    name="admissions",
    title="Admissions: two schools, one rate, two rules",
    sentence=(
        "A college takes a quarter of each school: by lot from the expensive one, only the best of the "
        "other. Rates are equal and the treatment is not: 2,000 invented applicants."
    ),
    made=(
        "200 applicants of each school in each of 5 years, seed 0, rule 25 %. Grades are 4·Beta(9, 3) in "
        "both schools (ours: the paper names no distribution)."
    ),
    columns={"admissions.csv": admissions.COLUMNS},
    model=(
        "The stored column admitted. In School A everyone has the same chance of 0.25; in School B the best "
        "50 of 200 of the year are in and nobody else."
    ),
    source=(
        "Kwegyir-Aggrey, Santorella and Brown, “Everything is relative: understanding fairness with optimal "
        "transport”, 2021, section 4.1."
    ),
    known_truth=(
        "Both schools have a rate of 25 % in theory (School B exactly, School A by lot: 247 of 1,000 here), "
        "so disparate impact is about 1. Exact transport by grade puts 18.75 % of School A into each "
        "flipset in theory, whatever the grades. The Wasserstein distance between the outcomes is "
        "2·√2·0.25·0.75 = 0.5303, and shrinks with the rule: 0.2546 at 10 %, 0.7071 at 50 %."
    ),
    spec_text="""\
# Equal rates by two different rules: who is in while the counterpart of equal rank is out?
data:
  path: admissions.csv
  favorable: 1
  protected: [school]
  features: [gpa]
  words:
    {people: applicants, person: applicant, "yes": admitted, "no": rejected,
     groups: {school: {A: at school A, B: at school B}}}
model:
  predictions: {label: admitted}
threshold: 0.5
seed: 0
audits:
  - flipset: {source: {school: A}, target: {school: B}, transport: exact, cost: l1_squared}
""",
    build=_admissions,
)

_LOANS = ExampleSet(
    name="loans",
    title="Loans: a small group that every single number misses",
    sentence=(
        "A lender's model looks even-handed by sex, by ethnicity and by age, and treats one intersection of "
        "the three much worse: 5,000 invented applications with some blanks."
    ),
    made=(
        "5,000 applications, seed 0; all names are invented. Finances and housing follow age, region "
        "follows ethnicity, repayment follows finances, housing, purpose, credit history and age, never sex "
        "or ethnicity. Blank at random: income 2 %, employment_years 3 %, savings 5 %, housing 2 % (here "
        "99, 153, 242 and 107 values)."
    ),
    columns={"loans.csv": loans.COLUMNS, "loans_truth.csv": loans.TRUTH_COLUMNS},
    model=(
        "`loans.onnx`: the true log-odds of repayment, less 0.7 for Velian women under 30. It reads twelve "
        "raw columns, takes blanks, and approves from a score of 0.75. The column model_score holds the "
        "same scores."
    ),
    source="Ours.",
    known_truth=(
        "One thing is wrong with the model: the 0.7 it takes off Velian women under 30. In the population "
        "it approves 46.4 % of them instead of 74.2 %, and no single sex, ethnicity or age band lies more "
        "than 4 points from the overall rate. In this file they are 124 people, of whom 56 are approved "
        "instead of 89: 33 are refused by the penalty alone, and 84 % of the 124 repay (79 % of all). "
        "loans_truth.csv lists the 124 with their score as it is and as it would be."
    ),
    spec_text="""\
# Where single attributes show little: young Velian women against young Velian men, then women against men.
data:
  path: loans.csv
  label: repaid
  favorable: 1
  protected: [sex, ethnicity, age]
  features:   # what the model reads, protected attributes included
    [age, sex, ethnicity, income, employment_years, debt, savings, amount, purpose, housing, dependants,
     credit_history]
  roles: {actionable: [employment_years, debt, savings, amount], immutable: [age, sex, ethnicity]}
  bins: {age: [18, 30, 45, 60, 76]}
  missing: category
  words:
    {people: applicants, person: applicant, "yes": approved, "no": declined, truth_yes: repaid,
     truth_no: defaulted,
     groups: {sex: {female: women, male: men},
              ethnicity: {Velian: Velian, Ostrian: Ostrian, Tamar: Tamar, Norrin: Norrin},
              age: {18 to under 30: under 30, 30 to under 45: aged 30 to 44, 45 to under 60: aged 45 to 59,
                    60 to 76: aged 60 or more}}}
model:
  path: loans.onnx   # or predictions: {score: model_score}
threshold: 0.75
seed: 0
audits:
  - flipset:
      source: {sex: female, ethnicity: Velian, age: "[18, 30)"}
      target: {sex: male, ethnicity: Velian, age: "[18, 30)"}
      transport: exact
      cost: l1_squared
  - flipset: {source: {sex: female}, target: {sex: male}, transport: exact, cost: l1_squared}
  - rule_sets: {protected: [sex, ethnicity, age], support: 0.02}
""",
    build=_loans,
    models=("loans.onnx",),
)

CATALOGUE: Mapping[str, ExampleSet] = MappingProxyType(
    {sample.name: sample for sample in (_HIRING, _LOANS, _LAW_SCHOOL, _ARRESTS, _ADMISSIONS)}
)
"""The example sets by name, in the order in which to offer them."""
