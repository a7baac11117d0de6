# %% [markdown]
# # A first audit, from a fitted model to a finding
#
# A model decides who is invited to an interview. It reads years of work and, oddly, hair length. Does
# it treat women and men alike?

# %%
from functools import partial

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import evenhand
from audits.data.samples import write_samples

write_samples("hiring", "samples", overwrite=True)
people = pd.read_csv("samples/hiring.csv")
people.head()

# %% [markdown]
# The model never sees gender. It is fitted on half of the people and audited on the other half.

# %%
read = ["work_years", "hair_length"]
fitted_on, audited = train_test_split(people, test_size=0.5, random_state=0)
model = LogisticRegression().fit(fitted_on[read], fitted_on["qualified"])
audited = audited.reset_index(drop=True)

# %% [markdown]
# One call runs the audits that need no further choice. Each ends in one of three verdicts: *evidence of
# a difference*, *no material difference*, or *insufficient evidence*.

# %%
audit = partial(
    evenhand.audit,
    model,
    audited,
    "qualified",
    favorable=1,
    protected="gender",
    features=read,
    made="held_out",
)
results = audit(audits="groups")
results

# %%
print(results["groups"].finding)

# %%
results.figures["groups/rates_gender"]

# %% [markdown]
# Rates may differ because the people differ. So match each woman with the man most similar to her:
# who gets another decision?

# %%
matched = {"source": {"gender": "female"}, "target": {"gender": "male"}, "seconds": 2.0}
pairs = audit(audits={"flipset": matched})
print(pairs["flipset"].finding)

# %%
pairs["flipset"].transparency_frame("negative")

# %% [markdown]
# An audit finds differences and associations. It does not prove discrimination or cause. The report
# has all numbers, with their intervals and methods.

# %%
results.report("report.html")
