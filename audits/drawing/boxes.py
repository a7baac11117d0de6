"""Boxes of quantiles that a result holds: the same drawing wherever people are spread."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

BOXES = "box: middle half; line: median;<br>dashes: mean; ends: 5 and 95%"
"""What the parts of a box mean, for its legend."""


def quantile_boxes(
    names: Sequence[str],
    quantiles: Sequence[Sequence[float]],
    means: Sequence[float | None],
    color: str,
    *,
    said: bool = True,
    people: Sequence[str] = (),
) -> go.Box:
    """Return a lying box for each name, from its quantiles at 5, 25, 50, 75 and 95%, and its mean.

    Parameters
    ----------
    said : bool
        Whether the legend says what the parts of a box mean: once a figure.
    people : sequence of str
        Whom each box stands for (`audits.drawing.selected.people_id`).
    """
    low, q1, median, q3, high = (list(each) for each in zip(*quantiles, strict=True))
    return go.Box(
        y=list(names),
        orientation="h",
        lowerfence=low,
        q1=q1,
        median=median,
        q3=q3,
        upperfence=high,
        mean=list(means),
        marker={"color": color},
        name=BOXES,
        showlegend=said,
        meta=list(people) or None,
    )
