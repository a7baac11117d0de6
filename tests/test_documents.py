"""What stands in docs/ is what is: made from the records, and complete."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from audits.runs.registry import AUDITS

ROOT = Path(__file__).resolve().parents[1]
DOCS = sorted(
    [
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "guide").glob("*.md"),
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    ]
)
FOLDERS = "audits|app|tests|benchmarks|docs|assets"
WORKED = [each for each in (ROOT / "examples").glob("*.py") if each.read_text("utf-8").startswith("# %%")]


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_records():
    maker = script("make_architecture")
    text = maker.PAGE.read_text(encoding="utf-8")
    assert maker.page(text) == text, "run: python docs/make_architecture.py"


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_links_lead_somewhere_and_files_that_are_named_exist(path: Path):
    text = path.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text) if "://" not in link]
    made = {"gallery.md", "reference.md", *(f"audits/{name}.md" for name in AUDITS.ours)}  # by docs/site.py
    files = {(path.parent / link).resolve() for link in links} - {ROOT / "docs" / name for name in made}
    files |= {ROOT / name for name in re.findall(rf"`((?:{FOLDERS})/[\w/.-]+\.\w+)`", text)}
    assert not [file for file in files if not file.exists()]


@pytest.mark.parametrize("name", ["names.md", "who-is-*.md", "what-could-*.md"])
def test_the_guide_states_what_the_examples_show(name):
    pages, scripts = script("make_guide").rendered(name)
    for path, text in pages.items():
        assert (ROOT / "docs" / path).read_text(encoding="utf-8") == text, "run: make docs"
        figures = re.findall(r'src="(?:\.\./)*(scripts/[\w.-]+)"', text)
        assert len(figures) == text.count('class="figure"')
        assert set(figures) <= set(scripts)


def test_every_page_is_in_the_navigation():
    named = re.findall(r"- ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    made = {"changes.md", "gallery.md", "reference.md", *(f"worked/{path.stem}.md" for path in WORKED)}
    assert set(named) == pages | made
