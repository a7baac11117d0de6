"""What the server sees to by itself."""

from __future__ import annotations

import gc
import weakref

import pandas as pd

from app.serving.tending import forget_views


def _gone(frame: pd.DataFrame) -> int:
    """Views that pandas remembers of a frame although they are gone."""
    held = [each for owner in gc.get_referents(*frame._mgr.blocks) for each in gc.get_referents(owner)]
    return sum(
        isinstance(each, weakref.ref) and each() is None
        for remembered in held
        if isinstance(remembered, list)
        for each in remembered
    )


def test_views_of_a_remembered_frame_are_forgotten_when_they_are_gone():
    frame = pd.DataFrame({"score": [0.1, 0.9], "kind": ["x", "y"]})
    kept = frame["score"]
    for _ in range(200):
        frame["score"]
    assert _gone(frame) >= 200
    forget_views()
    assert _gone(frame) == 0
    kept.iloc[0] = 0.5  # whoever is left still shares nothing that he changes
    assert frame["score"].tolist() == [0.1, 0.9]
