"""The record of `outcome_transport`: what everything else knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from audits.outcome_transport.options import OutcomeTransportOptions, Policy
from audits.records import Audit, OnPages, Size

if TYPE_CHECKING:
    from audits.data import AuditData

_MAX_BLURRED = 20_000  # people whom the audit couples so
_RESAMPLED = 3_000  # people from whom on resampling takes no longer


def _reads_no_label(options: OutcomeTransportOptions, data: AuditData) -> bool:
    """Groups are compared, or a policy that says something of everyone: no column with gaps."""
    against = options.against
    if options.split_by == "label" or options.source is not None or not isinstance(against, Policy):
        return options.split_by != "label" and options.source is not None
    column = against.score or (None if against.train else against.label)
    frame = data.everyone.frame
    return column is None or (column in frame and bool(frame[column].notna().all()))


def _seconds(options: OutcomeTransportOptions, size: Size) -> float:
    """Measured on two cores: all distances between people, and what resampling takes beside them.

    Of outcomes with few different values there are few distances, and resampling does not grow with people;
    the range over all optimal couplings does, and is most of what 50,000 people take.
    """
    people = min(size.rows, options.max_people)
    if _simple(options):
        return size.start_seconds + 1.2e-3 * min(people, _RESAMPLED) + 6e-9 * people**2
    return 2.0 + size.start_seconds + min(40.0, 1.2e-6 * people**2) + 4e-9 * people**2


def _simple(options: OutcomeTransportOptions) -> bool:
    return options.matching in {"automatic", "exact"} or options.outcome not in {"probability", "score"}


def _memory(options: OutcomeTransportOptions, size: Size) -> float:
    """A blurred coupling of numbers holds every pair of people; of decisions there are few different ones."""
    if _simple(options):
        return 0.0
    return 16.0 * min(size.rows, options.max_people, _MAX_BLURRED) ** 2


def _usual(data: AuditData) -> dict[str, Any] | None:
    """The model beside the labels."""
    if not data.protected or data.y is None:
        return None
    return {"by": list(data.protected[:1]), "against": "label"}


AUDIT = Audit(
    name="outcome_transport",
    title="Transport flows",
    question="Which subgroup's outcomes are mapped to which, and how different are these people?",
    also_called="transport wasserstein optimaltransport flows ot",
    then=("recourse", "groups"),
    limits=(
        "Who is mapped to whom compares outcomes, not causes. Many couplings cost equally little, so read "
        "the numbers of one together with the range over all of them. Bias is large where people with the "
        "same outcome differ, whatever the reason."
    ),
    options=OutcomeTransportOptions,
    result="audits.outcome_transport.result:OutcomeTransportResult",
    runs="audits.outcome_transport.audit:outcome_transport",
    paired="audits.comparison.outcome_transport:compare",
    keys="audits.outcome_transport:keys.json",
    says="audits.outcome_transport.text:headline",
    needs=("ot",),
    units={"interval": "cost"},
    presents="audits.outcome_transport.sections:section",
    seconds=_seconds,
    memory=_memory,
    usual=_usual,
    decisions_alone=_reads_no_label,
    compares=lambda options, subject: subject.unseen_fills if options.source is None else (),
    pages=OnPages(
        does="See whose outcomes become whose",
        labels={
            "by": "Subgroups by",
            "outcome": "Outcomes are compared as",
            "against": "The other model",
            "features": "Distance over features that are",
            "distance": "Distance between people",
            "split_by": "Subgroups also by",
            "cost": "Cost between outcomes",
            "matching": "Coupling",
            "share": "Share matched",
            "price": "Price of leaving someone unmatched",
            "epsilon": "Blur",
            "draws": "Bootstrap draws",
            "max_people": "People of each side at most",
        },
        former=("transport_flows",),
    ),
)
