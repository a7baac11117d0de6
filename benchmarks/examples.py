"""Compute the results that are bundled with the examples: what At a glance and the demo show at once.

Run with ``python -m benchmarks.examples [NAME …]``; it takes two minutes. `tests/app/test_examples.py` holds
that they are those of the code beside them.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from audits.data.samples import CATALOG
from benchmarks.measuring import asked

AUDITS = ("groups", "rule_sets", "flipset", "attribute_swap", "recourse")
"""Those that are bundled: an answer to each question."""


def main() -> None:
    """Compute and pack, an example after the other."""
    names, made = asked(__doc__, words=list(CATALOG)).words, set()
    with tempfile.TemporaryDirectory() as home:
        os.environ["EVENHAND_HOME"] = home
        for name in names:
            for audit, file, seconds in bundle(name):
                made.add(file)
                print(f"{name} {audit}: {file.stat().st_size:,} bytes, {seconds:.1f} s", flush=True)
    if set(names) == set(CATALOG):
        for file in {*next(iter(made)).parent.glob("*.zip")} - made:
            file.unlink()  # of options that are asked for no more


def bundle(name: str) -> Iterator[tuple[str, Path, float]]:
    """Compute the usual audits of an example as its pages would and pack each; yield file and seconds."""
    from app import examples, jobs
    from app.drafts import drafts
    from app.glance.runs import usual_options
    from app.workspaces.workspace import Workspace, new_token
    from audits.runs.executors.pool import InlineExecutor
    from audits.runs.spec import parse_spec

    space = Workspace(new_token())
    draft = drafts.from_sample(space, CATALOG[name])
    data, _ = jobs.data(space, draft["spec"]).result()
    for audit, options in usual_options(draft, data).items():
        if audit in AUDITS:
            spec, begun = drafts.audit_spec(draft, audit, options), time.monotonic()
            result, parsed = (
                InlineExecutor().submit(spec, space.folder).result(),
                parse_spec(spec, space.folder),
            )
            file = examples.result_file(parsed, parsed.digests())
            with tempfile.TemporaryDirectory() as folder:
                result.save(Path(folder))
                examples.pack(Path(folder), file)
            yield audit, file, time.monotonic() - begun


if __name__ == "__main__":
    main()
