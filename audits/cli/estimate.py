"""``run --estimate``: about how long a spec takes, in words."""

from __future__ import annotations

from pathlib import Path

from audits.cli.specs import read_spec
from audits.cli.text import wrap
from audits.runs.executors.threads import fixed_threads
from audits.runs.plans.estimate import estimate

_HOW = {
    "held": "all {rows:,} rows are held in memory",
    "drawn": "{drawn:,} of {rows:,} rows are sampled at random",
    "counted": "{rows:,} rows are counted batch by batch",
}


def cost_estimate(path: Path) -> str:
    """Return what a run of the spec at `path` takes, in words.

    Raises
    ------
    InputError
        As `audits.runs.plans.estimate.estimate`.
    """
    spec = read_spec(path)
    with fixed_threads():
        found = estimate(spec)
    how = _HOW[found.how].format(rows=found.rows, drawn=spec.drawn or 0)
    lines = [
        wrap(
            f"Roughly {_time(found.seconds)} on one core and {found.memory / 1e9:.1f} GB of memory: {how}, "
            f"audits are of {found.people:,} people."
        )
    ]
    return "\n".join([*lines, *(f"  {name}: {_time(seconds)}" for name, seconds in found.steps.items())])


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
