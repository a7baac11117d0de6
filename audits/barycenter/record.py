"""The record of `barycenter`: what everything else knows of it."""

from __future__ import annotations

from audits.barycenter.options import BarycenterOptions, memory, seconds
from audits.records import Audit, OnPages

AUDIT = Audit(
    name="barycenter",
    title="All groups",
    question="Would these people's counterparts in all other groups have got another decision?",
    then=("flipset", "explain"),
    limits=(
        "A counterpart is a statistical match. It does not show how the same person would have lived in "
        "another group. Flips show who gets another decision than similar people in other groups. They do "
        "not show why, or that it is unjustified."
    ),
    options=BarycenterOptions,
    result="audits.barycenter.result:BarycenterResult",
    runs="audits.barycenter.audit:barycenter",
    decisions_alone=lambda *_: True,
    compares=lambda _, subject: subject.unseen_fills,
    keys="audits.barycenter:keys.json",
    distances=True,
    needs=("ot",),
    presents="audits.barycenter.sections:section",
    says="audits.barycenter.text:headline",
    paired="audits.comparison.barycenter:compare",
    seconds=seconds,
    memory=memory,
    pages=OnPages(
        does="Compare with matches in every group",
        labels={
            "by": "Groups by",
            "fewest": "Smallest group",
            "weights": "Weight of a group",
            "rounds": "Maximum rounds of moving the barycenter",
        },
        former_choices={
            f"all-{name}": f"with-{name}"
            for name in ("weights", "fewest", "rounds", "level", "material", "permutations", "seconds")
        },
        former=("barycentre",),
        selected={
            "only_self": "favored only as themselves, at least in part",
            "only_counterpart": "favored only as their counterparts, at least in part",
        },
    ),
)
