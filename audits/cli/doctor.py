"""The doctor's list on the command line: what is likely wrong with a table, and what to write in its spec."""

from __future__ import annotations

import json
from collections.abc import Iterable

from audits.cli.text import one_line, wrap
from audits.data.quality.findings import Finding, Mend


def finding_lines(findings: Iterable[Finding]) -> list[str]:
    """Return lines of what was found, below each what mends it in the spec's ``data`` section."""
    lines = []
    for finding in findings:
        lines += wrap(finding.said, "  ").replace("  ", "- ", 1).splitlines()
        lines += [f"    {one_line(f'{mend.button}: {_written(mend)}')}" for mend in finding.mends]
    return ["Worth a look before you go on:", *lines] if lines else []


def _written(mend: Mend) -> str:
    """Return a mend as keys of the ``data`` section, on one line."""
    put = {**mend.put, **({"recode": dict(mend.recode)} if mend.recode else {})}
    parts = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in put.items()]
    parts += [f"features: all but {', '.join(mend.leave_out)}"] if mend.leave_out else []
    parts += [f"protected: all but {', '.join(mend.unprotect)}"] if mend.unprotect else []
    return "; ".join(parts)
