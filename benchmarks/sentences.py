"""Write every sentence of the examples, a hard table and refused specs into one file, to be read aloud.

Run with ``python -m benchmarks.sentences``. ``tests/golden/sentences.txt`` is committed, so that a change of
words shows as a diff.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from audits.data.samples import CATALOGUE
from audits.errors import InputError
from audits.runs.executors.inline import InlineExecutor
from audits.runs.spec import parse_spec
from audits.stats.vocabulary import speaking

ROOT = Path(__file__).parent.parent
FILE = ROOT / "tests" / "golden" / "sentences.txt"


def main() -> None:
    """Run the audits, and write what they say."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVENHAND_HOME"] = f"{folder}/home"
        from tests.reports.everything import write_project

        hard = write_project(Path(folder), nasty=False)
        lines = [line for name in CATALOGUE for line in said(name, *usual(name))]
        lines += [*said("A hard table", yaml.safe_load(hard.read_text()), hard.parent), "", "# Refused", ""]
        FILE.write_text("\n".join([*lines, *refused()]).lstrip() + "\n", encoding="utf-8")


def usual(name: str) -> tuple[dict[str, Any], Path]:
    """Return the spec of an example with the audits that its pages offer, and its folder."""
    from app import jobs
    from app.drafts import drafts
    from app.glance.runs import usual_options
    from app.workspaces.workspace import Workspace, new_token

    space = Workspace(new_token())
    draft = drafts.from_sample(space, CATALOGUE[name])
    data, _ = jobs.data(space, draft["spec"]["data"], draft["spec"].get("seed", 0)).result()
    audits = usual_options(draft, data)
    spec = drafts.audit_spec(draft, *next(iter(audits.items())))
    return {**spec, "audits": [{audit: options} for audit, options in audits.items()]}, space.folder


def said(name: str, spec: dict[str, Any], folder: Path) -> Iterator[str]:
    """Run a spec; yield its headline, findings, notes, headings, captions and alternative texts."""
    run = InlineExecutor().submit(spec, folder).result()
    yield from ("", f"# {name}", "", run.headline().leads.sentence, *run.data["notes"], *run.model["notes"])
    for audit in run.audits:
        result = audit.result
        yield from ("", f"## {audit.name}", "", result.judged.badge_text, audit.headline, result.finding)
        yield from (f"* {note}" for note in result.warnings)
        with speaking(audit.words):
            for each in audit.section.exhibits:
                yield f"- {each.heading} | {each.caption} | {each.figure().layout.meta['alt']}"
        yield from (f"{name}: {fact}" for name, fact in audit.section.facts.items())


def refused() -> Iterator[str]:
    """Yield the errors of the specs and data that tests refuse."""
    from tests.data.test_building import build
    from tests.runs.test_spec import change

    def cases(name: str) -> Any:
        return yaml.safe_load((ROOT / "tests" / name).read_text())

    specs, sections = cases("runs/refused_specs.yaml"), cases("data/refused_data.yaml")
    tries = [partial(parse_spec, change(path, value), Path()) for path, value, _ in specs]
    tries += [partial(build, **section) for section, _ in sections]
    for attempt in tries:
        try:
            attempt()
        except InputError as error:
            yield str(error)


if __name__ == "__main__":
    main()
