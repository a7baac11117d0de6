"""Which folders the wheel holds, and where: all that pyproject.toml cannot say.

The pages, their assets, the example data and the built documentation travel inside the package ``audits``:
nothing called ``app`` lands among other people's packages. ``evenhand app`` puts ``audits/pages`` on its
server's path.
"""

import re
import tomllib
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).resolve().parent
INSIDE = "audits.pages"
BESIDE = ("app", "assets", "sample_data")
SITE = "site"  # the documentation, where `make docs` has built it


def folders(top: str) -> list[str]:
    """Return a folder and those below it that hold files of the project, as packages."""
    below = [ROOT / top, *(path for path in (ROOT / top).rglob("*") if path.is_dir())]
    return [
        path.relative_to(ROOT).as_posix().replace("/", ".") for path in below if path.name != "__pycache__"
    ]


# but what finds words of other languages than English
BUILT = [name for name in folders(SITE) if ".lunr" not in name] if (ROOT / SITE).is_dir() else []


def readme() -> str:
    """Return README.md with links that hold where there is no checkout: on a package index."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    home = project["urls"]["Source"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"(!\[[^\]]*\])\((?!https?:)", rf"\1({home}/raw/main/", text)
    return re.sub(r"(?<!!)(\[[^\[\]]*\])\((?!https?:|#)", rf"\1({home}/blob/main/", text)


setup(
    long_description=readme(),
    long_description_content_type="text/markdown",
    packages=[
        *find_packages(include=["audits", "audits.*"]),
        "evenhand",  # a package, not a module: only those can say that they are typed
        *(name for name in folders("audits") if name.startswith(("audits.reports.", "audits.runs.storage."))),
        INSIDE,
        *(f"{INSIDE}.{name}" for top in BESIDE for name in folders(top)),
        *(f"{INSIDE}.{name}" for name in BUILT),
    ],
    package_dir={
        "audits": "audits",
        INSIDE: ".streamlit",
        **{f"{INSIDE}.{top}": top for top in (*BESIDE, SITE)},
    },
    include_package_data=False,  # else whatever an earlier build held
    package_data={"": ["*.pyi", "py.typed", "*.json", "*.j2", "*.yaml", "*.sql"], INSIDE: ["config.toml"]}
    # every kind of file: one that a list of kinds forgets is missed only where there is no checkout
    | {f"{INSIDE}.{name}": ["*.*"] for name in (*(each for top in BESIDE for each in folders(top)), *BUILT)},
    # maps of the documentation's scripts are for who changes those; Plotly's is served from its package
    exclude_package_data={"": ["*.map"], f"{INSIDE}.{SITE}.scripts": ["plotly.js"]},
)
