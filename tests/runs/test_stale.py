"""What a killed process left unfinished."""

from __future__ import annotations

import os

from audits.runs.storage.artefacts import take_stale


def test_what_another_process_finished_meanwhile_is_no_error(tmp_path):
    gone, old, fresh = (tmp_path / name for name in ("gone", "old", "fresh"))
    for folder in (old, fresh):
        folder.mkdir()
    os.utime(old, (0, 0))
    take_stale([gone, old, fresh], 60)
    assert not old.exists()
    assert fresh.exists()
