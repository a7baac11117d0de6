"""What every test shares: one thread, where the shared data lies, and a server's home that stays up."""

from __future__ import annotations

import os

# runs hold themselves at one thread; what a test computes around them would else spin on the other's core
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import email  # noqa: E402
import gc  # noqa: E402
import importlib.metadata  # noqa: E402
import math  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402

import hypothesis  # noqa: E402
import pytest  # noqa: E402

from tests.nothing_skipped import (  # noqa: E402
    asked_for_all,
    pytest_make_collect_report,  # noqa: F401  (a hook)
    pytest_runtest_makereport,  # noqa: F401  (a hook)
)

if TYPE_CHECKING:
    from app.workspaces.workspace import Workspace

# how long an example takes is the machine's doing
hypothesis.settings.register_profile("evenhand", deadline=None)
hypothesis.settings.load_profile("evenhand")

LONG = (
    *("security/", "test_wheel.py", "app/", "cli/", "monitor/", "runs/", "golden/", "unchanged/"),
    *("test_one_statement.py", "reports/", "test_snippets.py"),
)
"""Folders and files of long tests: `make test` begins with them, and no worker is left with one."""

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """Look for garbage once, not again and again among half a million objects that stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()
        gc.set_threshold(20_000, 20, 20)  # a 20th less processor time than after every 700 objects


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long files: one that waits for a browser, two that compute, and so on."""
    if not asked_for_all():
        return
    path = {item.nodeid: item.nodeid.partition("::")[0].removeprefix("tests/") for item in items}
    files = list(dict.fromkeys(path.values()))
    waits = [file for file in files if file.startswith("browser/")]
    long = list(dict.fromkeys(file for start in LONG for file in files if file.startswith(start)))
    place = {file: 2 * k for k, file in enumerate(waits)} | {file: k + 0.5 for k, file in enumerate(long)}
    items.sort(key=lambda item: place.get(path[item.nodeid], math.inf))


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
        from app.tables.client import READERS
        from app.widgets import waiting

        # each `AppTest` reads what every installed package says of itself: a quarter second of processor time
        monkeypatch.setattr(importlib.metadata.Distribution, "metadata", property(_metadata))
        monkeypatch.setattr(waiting, "_PATIENCE_SECONDS", 45.0)
        assert READERS().wait_warm(60.0)


_said: dict[Any, Any] = {}


def _metadata(package: importlib.metadata.Distribution) -> Any:
    """Return what an installed package says of itself, read once."""
    where = getattr(package, "_path", package)
    if where not in _said:
        told = package.read_text("METADATA") or package.read_text("PKG-INFO") or ""
        _said[where] = email.message_from_string(told)
    return _said[where]


@pytest.fixture(scope="session")
def serve_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[pytest.MonkeyPatch], None]]:
    """Return what has pages find a server that is up: one home with its database, and warm workers.

    To load what runs need takes a worker longer than most runs of tests. Whoever closes them, or needs a
    home of its own, leaves the next page to start them again.
    """
    from app import jobs

    home, served = tmp_path_factory.mktemp("served"), [None]

    def serve(patch: pytest.MonkeyPatch) -> None:
        patch.setenv("EVENHAND_HOME", str(home))
        if jobs._executor is None or jobs._executor is not served[0]:
            jobs.close()
            served[0] = jobs.executor()

    yield serve
    jobs.close()


@pytest.fixture
def own_worker() -> Iterator[None]:
    """Have runs carried out by a worker that starts as the test has set its variables.

    The workers of other tests stay up meanwhile, and are there again afterwards.
    """
    from app import jobs

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "_executor", None)
        patch.setenv("EVENHAND_WORKERS", "1")
        yield
        jobs.close()


@pytest.fixture
def space(
    serve_pages: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Workspace]:
    """Return a workspace of its own, which sees nothing of other tests' workspaces."""
    from app import jobs
    from app.workspaces.workspace import Workspace, issue_token

    serve_pages(monkeypatch)
    made = Workspace(issue_token())
    yield made
    for run in jobs.executor().going_on(made.token):
        run.cancel()
    jobs.forget(made)
