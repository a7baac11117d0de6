"""The tables of monitors, as `audits.runs.storage.database` makes them."""

from __future__ import annotations

import sqlalchemy as sa

_COLUMNS = {
    "monitors": "id owner name note token_sha256 created keep_days keep_people webhook bundle weights chart "
    "batches people flagged chart_value settings",
    "monitor_bundles": "monitor bundle weights",
    "monitor_batches": "monitor place received stated source idempotency_key sha256 first_person people "
    "flagged unseen mean chart_high chart_value sensitivities counted",
    "monitor_flags": "monitor person batch received client_id sensitivity score contributions",
    "monitor_cases": "monitor place kind about severity sentence person last_person batch times raised "
    "latest ended owner acknowledged snoozed resolved note told",
    "monitor_states": "monitor tally streams",
    "monitor_buckets": "monitor first_person began received first_batch batches people flagged total "
    "chart_high chart_value",
    "monitor_people": "monitor person received",
    "monitor_predictions": "monitor person client_id received score decision counted protected outcome "
    "features",
    "monitor_messages": "id monitor place way address body state tries made due outcome",
    "monitor_tokens": "id monitor name sha256 scope created expires",
}
MONITORS, BUNDLES, BATCHES, FLAGS, CASES, STATES, BUCKETS, PEOPLE, PREDICTIONS, MESSAGES, TOKENS = (
    sa.table(name, *map(sa.column, columns.split())) for name, columns in _COLUMNS.items()
)

WAITS = sa.and_(CASES.c.acknowledged.is_(None), CASES.c.resolved.is_(None))
"""Of an alarm: nobody has looked at it."""
LASTS = sa.and_(CASES.c.ended.is_(None), CASES.c.resolved.is_(None))
"""Of an alarm: its condition lasts."""
