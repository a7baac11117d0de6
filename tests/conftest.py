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
def _warm_readers(request):
    """Serve pages once what reads tables has loaded its libraries, as on a server that is up."""
    if hasattr(request.module, "AppTest"):
        from app.readers import READERS

        assert READERS().wait_warm(60.0)
