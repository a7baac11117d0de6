# %% [markdown]
# # Where a gap comes from
#
# A bank's own scores approve one ethnicity less often. Is it one combination of sex and ethnicity, and
# does the gap remain like for like?

# %%
from functools import partial

import pandas as pd

import evenhand
from audits.data.samples import write_samples

write_samples("loans", "samples", overwrite=True)
people = pd.read_csv("samples/loans.csv")
reads = ["income", "employment_years", "debt", "savings", "amount", "region", "housing", "credit_history"]
audit = partial(
    evenhand.audit,
    None,  # the scores that come with the data stand for the model
    people,
    "repaid",
    scores="model_score",
    favorable=1,
    protected=["sex", "ethnicity"],
    features=reads,
    threshold=0.8,
)
results = audit(audits={"groups": {"by": ["ethnicity"]}})
print(results["groups"].finding)

# %% [markdown]
# Search all combinations of sex and ethnicity. The result is corrected for how many there are.

# %%
sets = audit(audits={"rule_sets": {"protected": ["sex", "ethnicity"], "permutations": 199}})
print(sets["rule_sets"].finding)

# %%
sets.figures["rule_sets/leaderboard"]

# %% [markdown]
# What is left of the gap among applicants from the same region, or with the same credit history?
# An explanation is not a justification: a region can stand in for an ethnicity.

# %%
why = audit(audits={"explain": {"source": {"ethnicity": "Velian"}, "target": {"ethnicity": "Ostrian"}}})
print(why["explain"].finding)
