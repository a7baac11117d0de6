"""A pytest plugin: the fixture ``audits``, whose ``check`` runs a spec beside the test file.

Installed with Evenhand (entry-point group ``pytest11``)::

    def test_the_model_passes(audits):
        audits.check("audit.yaml")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from audits.runs.result import RunResult


@dataclass(frozen=True, eq=False)
class Checking:
    """What the fixture gives: `check`, with paths from the test file's folder."""

    request: pytest.FixtureRequest

    def check(
        self,
        spec: Any,
        rules: str | Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
        *,
        baseline: str | Path | None = None,
        fail_on: str | Mapping[str, Any] | None = None,
        **audited: Any,
    ) -> RunResult:
        """Fail the test if results, or those of a spec or a model, do not pass, as `evenhand.check` does.

        With a model, `audited` holds what ``evenhand.audit`` takes beside it: ``X=X, y=y, favorable=1, …``.

        Each audit's finding goes to the test's properties, which pytest's JUnit file holds.

        Raises
        ------
        GateFailed
            An AssertionError that names what does not pass, with its numbers.
        InputError
            If the spec is wrong.
        """
        from audits.runs.gates.check import check  # late: pytest loads this for every suite

        folder = self.request.path.parent
        if audited:
            from evenhand import audit as audit_model

            spec = audit_model(spec, **audited)
        given = folder / spec if isinstance(spec, (str, Path)) else spec
        result = check(given, rules, baseline=baseline, base_dir=folder, fail_on=fail_on)
        for audit in result.audits:
            self.request.node.user_properties.append((f"evenhand.{audit.name}", audit.result.finding))
        return result


@pytest.fixture
def audits(request: pytest.FixtureRequest) -> Checking:
    """``audits.check("audit.yaml")``: a fairness audit as a test."""
    return Checking(request)
