"""What every test shares: where the shared data lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.nothing_skipped import pytest_make_collect_report, pytest_runtest_makereport  # noqa: F401  (hooks)

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real data beside the checkout, or say that it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"the shared data is not beside the checkout ({SHARED}); tests on real data did not run")
    return SHARED


@pytest.fixture(autouse=True)
def _warm_readers(request, monkeypatch):
    """Serve pages as a server that is up does: what reads tables has loaded its libraries.

    Pages then wait for prepared data instead of showing that they wait: `AppTest` has no clock that would
    look again each second, and a busy machine prepares slowly.
    """
    if hasattr(request.module, "AppTest") or hasattr(request.module, "visit"):
        from app.readers import READERS
        from app.widgets import waiting

        monkeypatch.setattr(waiting, "_PATIENCE_SECONDS", 45.0)
        assert READERS().wait_warm(60.0)
