"""Write every sentence of the examples, a hard table and refused specs into one file, to be read aloud.

Run with ``python -m benchmarks.sentences``. ``tests/golden/sentences.txt`` is committed, so that a change of
words shows as a diff.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from app.examples import RESULTS
from audits.errors import InputError
from audits.runs.executors.inline import InlineExecutor
from audits.runs.result import RunResult
from audits.runs.spec import parse_spec
from audits.stats.vocabulary import speaking
from benchmarks.serving import ROOT

FILE = ROOT / "tests" / "golden" / "sentences.txt"


def main() -> None:
    """Read the bundled results, run the hard table, and write what they say."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVENHAND_HOME"] = f"{folder}/home"
        from tests.reports.everything import write_project

        lines = []
        for file in sorted(RESULTS.glob("*.zip")):
            shutil.unpack_archive(file, f"{folder}/{file.stem}")
            bundled = RunResult.load(Path(folder, file.stem))
            lines += said(Path(bundled.spec["data"]["path"]).stem, bundled)
        hard = write_project(Path(folder), nasty=False)
        run = InlineExecutor().submit(yaml.safe_load(hard.read_text()), hard.parent).result()
        lines += [*said("a hard table", run), "", "# Refused", "", *dict.fromkeys(refused())]
    FILE.write_text("\n".join(lines).lstrip() + "\n", encoding="utf-8")


def said(name: str, run: RunResult) -> Iterator[str]:
    """Yield a run's headline, findings, notes, headings, captions and alternative texts."""
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
