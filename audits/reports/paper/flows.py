"""Flows between two sets of groups, and nested groups as rings."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

from reportlab.graphics.shapes import Path, Rect, Wedge
from reportlab.lib.colors import white

from audits.drawing.style import ACCENT
from audits.reports.paper.ink import AXIS, Paper, colour_of, plain
from audits.reports.paper.traces import colour_at

__all__ = ["draw_rings", "draw_sankey"]

_BLOCK, _LEAST_GAP = 8.0, 3.0
_SMALLEST = 14.0  # degrees of a ring's part that still holds its name


def draw_sankey(paper: Paper, trace: dict[str, Any], width: float, height: float) -> None:
    """Draw flows from the left to the right, as wide as their mass."""
    node, link = trace["node"], trace["link"]
    labels = [plain(label) for label in node["label"]]
    flows = list(zip(link["source"], link["target"], map(float, link["value"]), strict=True))
    colours = list(link["color"])
    left = list(dict.fromkeys(source for source, _, _ in flows))
    right = list(dict.fromkeys(target for _, target, _ in flows))
    room = 0.3 * width
    edges = (
        max((min(paper.width(labels[k]), room) for k in left), default=0.0) + 4,
        width - max((min(paper.width(labels[k]), room) for k in right), default=0.0) - 4,
    )
    total = sum(value for _, _, value in flows) or 1.0
    gap = max(_LEAST_GAP, min(10.0, 0.25 * height / max(len(left), len(right))))
    scale = (height - gap * (max(len(left), len(right)) - 1)) / total
    tops: list[dict[int, float]] = []
    for side, names in ((0, sorted(left)), (1, sorted(right))):
        top, own = height, {}
        for k in names:
            mass = sum(value for flow in flows if flow[side] == k for value in flow[2:])
            own[k] = top
            at = edges[0] if side == 0 else edges[1] - _BLOCK
            colour = colour_of(str(node["color"][k]))
            tall = max(mass * scale, 0.5)
            paper.drawing.add(Rect(at, top - tall, _BLOCK, tall, fillColor=colour, strokeColor=None))
            words = paper.fitted(labels[k], room)
            middle = top - tall / 2 - 2.3
            if side == 0:
                paper.text(at - 3, middle, words, anchor="end")
            else:
                paper.text(at + _BLOCK + 3, middle, words)
            top -= tall + gap
        tops.append(own)
    order = sorted(range(len(flows)), key=lambda k: flows[k][:2])
    for k in order:
        source, target, value = flows[k]
        a, b, tall = tops[0][source], tops[1][target], value * scale
        tops[0][source], tops[1][target] = a - tall, b - tall
        _band(paper, (edges[0] + _BLOCK, a), (edges[1] - _BLOCK, b), tall, str(colours[k]))


def _band(
    paper: Paper, start: tuple[float, float], end: tuple[float, float], tall: float, colour: str
) -> None:
    (x0, y0), (x1, y1) = start, end
    half = (x0 + x1) / 2
    band = Path(fillColor=colour_of(colour), strokeColor=None, strokeWidth=0)
    band.moveTo(x0, y0)
    band.curveTo(half, y0, half, y1, x1, y1)
    band.lineTo(x1, y1 - tall)
    band.curveTo(half, y1 - tall, half, y0 - tall, x0, y0 - tall)
    band.closePath()
    paper.drawing.add(band)


def draw_rings(paper: Paper, trace: dict[str, Any], width: float, height: float) -> None:
    """Draw nested groups as rings around the whole, each part as wide as its people."""
    ids = [str(item) for item in (trace["ids"] if trace.get("ids") is not None else trace["labels"])]
    parents = [str(item or "") for item in trace["parents"]]
    values = [float(value) for value in trace["values"]]
    children = defaultdict(list)
    for place, parent in enumerate(parents):
        children[parent].append(place)
    # several at the top leave a hole in the middle, one fills it
    first = int(len(children[""]) > 1)
    depth = first + _depth(children, ids, "")
    radius = height / 2
    step = radius / max(depth, 1)
    marker = trace.get("marker") or {}
    labels = [plain(label) for label in trace["labels"]]
    middle = (width / 2, height / 2)

    def ring(parent: str, level: int, start: float, extent: float, whole: float) -> None:
        at = start
        for place in children[parent]:
            part = extent * values[place] / whole if whole > 0 else 0.0
            inner, outer = step * level, step * (level + 1)
            colour = colour_at(marker, place, ACCENT)
            if part > 0.05:
                paper.drawing.add(
                    Wedge(
                        *middle, outer, at, at + min(part, 359.99), radius1=inner or None,
                        fillColor=colour, strokeColor=white, strokeWidth=0.5,
                    )
                )  # fmt: skip
            if part > _SMALLEST:
                _name(paper, middle, (inner + outer) / 2, at + part / 2, labels[place], step, level)
            if ids[place] != parent:
                ring(ids[place], level + 1, at, part, values[place])
            at += part

    ring("", first, 90.0, 360.0, sum(values[place] for place in children[""]))


def _depth(children: dict[str, list[int]], ids: list[str], parent: str) -> int:
    return max((1 + _depth(children, ids, ids[k]) for k in children.get(parent, ())), default=0)


def _name(
    paper: Paper, middle: tuple[float, float], radius: float, angle: float, text: str, room: float, level: int
) -> None:
    if level == 0:
        paper.text(middle[0], middle[1] - 2, paper.fitted(text, 1.8 * room, AXIS), anchor="middle")
        return
    radian = math.radians(angle)
    turned = angle % 360
    turned = turned - 180 if 90 < turned < 270 else turned
    x, y = middle[0] + radius * math.cos(radian), middle[1] + radius * math.sin(radian)
    words = paper.fitted(text, room - 4, AXIS - 0.5)
    sink = math.radians(turned - 90)
    paper.text(
        x + 2 * math.cos(sink), y + 2 * math.sin(sink), words, size=AXIS - 0.5, anchor="middle", turned=turned
    )
