"""Tables from a query, a database or an address become files beside the spec, within what is allowed."""

from __future__ import annotations

import http.server
import threading
import time

import fsspec
import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
import yaml

from audits.cli.main import main
from audits.data import read_table
from audits.errors import InputError
from audits.runs.executors.sandbox_pool import SandboxPool
from audits.runs.source import fetch
from audits.runs.source.fetch import ALLOWED, fetch_data
from audits.runs.spec import parse_spec
from tests.refused import refused
from tests.runs.postgres import serve

REST = {"label": "paid", "favorable": 1, "protected": ["sex"], "features": ["income"]}


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 80), "income": rng.integers(10, 90, 80), "year": [2024, 2025] * 40}
    )
    frame["paid"] = (frame["income"] > 40).astype(int)
    frame["said"] = frame["paid"]
    frame.to_csv(tmp_path / "people.csv", index=False)
    return frame


@pytest.fixture(scope="module")
def forking():
    """The process that forks one for each query, started once."""
    pool = SandboxPool("audits.runs.source.query:answer")
    yield pool
    SandboxPool.close(pool)


@pytest.fixture
def quick(forking, monkeypatch):
    """For queries that need no settings of their own: each is answered by a fork of the same process."""
    monkeypatch.setattr(forking, "close", lambda: None)
    monkeypatch.setattr(fetch, "SandboxPool", lambda function: forking)


def ask(folder, **data):
    return fetch_data({"data": {**REST, **data}, "audits": ["groups"]}, folder, "audit")["data"]


def test_duckdb_answers_over_files_beside_the_spec(quick, people, tmp_path):
    per_income = "sum(said) OVER (PARTITION BY income) AS s"  # a decimal of 38 digits to DuckDB
    query = f"SELECT sex, income, paid, {per_income} FROM 'people.csv' WHERE year = 2025"
    data = ask(tmp_path, query=query)
    assert data["path"] == "audit-data.arrow"
    table = read_table(tmp_path / data["path"]).frame
    expected = people[people["year"] == 2025]
    assert sorted(table["income"]) == sorted(expected["income"])
    assert table["s"].sum() == expected.groupby("income")["said"].transform("sum").sum()


def test_nobodys_own_file_is_written_over(quick, people, tmp_path):
    before = (tmp_path / "people.csv").read_bytes()
    with refused("data.path"):
        ask(tmp_path, query="FROM 'people.csv'", path="people.csv")
    assert (tmp_path / "people.csv").read_bytes() == before
    ask(tmp_path, query="FROM 'people.csv'")
    ask(tmp_path, query="FROM 'people.csv' WHERE year = 2025")  # what was fetched is fetched again
    assert len(read_table(tmp_path / "audit-data.arrow").frame) == 40
    (tmp_path / "audit-data.arrow").write_bytes(before)
    with refused("data.path"):
        ask(tmp_path, query="FROM 'people.csv'")


def test_postgresql_is_asked_as_written_and_only_read(quick, people, tmp_path, monkeypatch):
    with serve() as url:
        address = url.replace("postgresql:", "postgresql+psycopg:")
        engine = sa.create_engine(address)
        people.to_sql("people", engine, index=False)
        monkeypatch.setenv("WAREHOUSE", address)
        query = "-- women\nSELECT income, income % 2 AS odd FROM people WHERE sex LIKE 'f%'"
        table = read_table(tmp_path / ask(tmp_path, query=query, database="WAREHOUSE")["path"]).frame
        women = people[people["sex"] == "f"]
        assert sorted(table["income"]) == sorted(women["income"])
        assert table["odd"].sum() == (women["income"] % 2).sum()
        for write in (
            "WITH x AS (DELETE FROM people RETURNING *) SELECT * FROM x",
            "SELECT 1; COMMIT; DELETE FROM people",
        ):
            with refused("data.query"):
                ask(tmp_path, query=write, database="WAREHOUSE")
        with engine.connect() as connection:
            assert connection.scalar(sa.text("SELECT count(*) FROM people")) == len(people)
        engine.dispose()


def test_a_query_ends_at_its_limits_of_time_and_memory(people, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_QUERY_SECONDS", "1")
    began, sides = time.monotonic(), "range(1000000) a, range(1000000) b"
    with refused("data.query", "EVENHAND_QUERY_SECONDS"):
        ask(tmp_path, query=f"SELECT sum(a.range * b.range) AS n FROM {sides}")
    monkeypatch.setenv("WAREHOUSE", "sqlite://")
    forever = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    with refused("data.query"):
        ask(tmp_path, query=forever, database="WAREHOUSE")
    assert time.monotonic() - began < 30
    monkeypatch.setenv("EVENHAND_MEMORY", "64")
    monkeypatch.setenv("EVENHAND_QUERY_SECONDS", "60")
    with refused("data.query", "EVENHAND_MEMORY"):
        ask(tmp_path, query="SELECT list(a.range) AS n FROM range(200000000) a")
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_a_spec_that_is_not_trusted_reads_and_writes_in_its_folder_alone(
    quick, people, tmp_path, capsys, monkeypatch
):
    home, other, cwd = (tmp_path / name for name in ("spec", "other", "cwd"))
    for folder in (home, other, cwd):
        folder.mkdir()
        people.to_csv(folder / "people.csv", index=False)
    monkeypatch.chdir(cwd)
    (home / "link.csv").symlink_to(other / "people.csv")
    (home / "parts").mkdir()
    (home / "parts" / "a.csv").symlink_to(other / "people.csv")

    def run(*words, model=None, gate=None, **data):
        document = {"data": {**REST, **data}, "model": model or {"predictions": {"label": "said"}}}
        document |= {"audits": ["groups"], "search": "off", **({"gate": gate} if gate else {})}
        (home / "audit.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
        typed = ["run", str(home / "audit.yaml"), "--executor", "inline", "--no-save", *words]
        return main(typed), capsys.readouterr().err

    assert run("--untrusted", path="people.csv") == (0, "")
    assert run("--untrusted", query="FROM 'people.csv'") == (0, "")
    outside = str(other / "people.csv")
    for where, told in {
        "data.path": {"path": outside},
        "data.path[1]": {"path": ["people.csv", "../other/people.csv"]},
        "data.query": {"query": f"FROM '{outside}'"},
        "data.query cannot": {"query": "FROM 'link.csv'"},
        "data.path must": {"query": "FROM 'people.csv'", "path": "../other/made.arrow"},
        "model.path": {"path": "people.csv", "model": {"path": "../other/model.onnx"}},
        "gate.baseline": {"path": "people.csv", "gate": {"baseline": "../other/baseline.json"}},
    }.items():
        status, said = run("--untrusted", *(("--fail-on", "gate") if "gate" in told else ()), **told)
        assert status == 2, said
        assert where in said
    for path in ("link.csv", "parts"):
        assert run("--untrusted", path=path)[0] == 2
    (cwd / "linked").symlink_to(other)
    assert run("--untrusted", "--out", "linked/results", path="people.csv")[0] == 2
    assert run("--untrusted", "--allow", str(other), query=f"FROM '{outside}'")[0] == 0
    assert run(path=outside)[0] == 0
    assert sorted(path.name for path in other.iterdir()) == ["people.csv"]


def test_passwords_stay_in_the_environment(quick, tmp_path, monkeypatch):
    monkeypatch.setenv("WAREHOUSE", "sqlite:////nowhere/secret-password/people.db")
    with pytest.raises(InputError) as error:
        ask(tmp_path, query="SELECT 1", database="WAREHOUSE")
    assert "secret-password" not in str(error.value)
    with refused("data.database"):
        ask(tmp_path, query="SELECT 1", database="ELSEWHERE")


@pytest.mark.parametrize(
    ("query", "refusal"),
    [
        ("DROP TABLE people", ("data.query", "SELECT")),
        ("COPY (FROM 'people.csv') TO 'out.csv'", ("data.query", "SELECT")),
        ("/**/ -- of women\n" * 200 + "DELETE FROM people", ("data.query", "SELECT")),
        ("SELEC 1", ("data.query",)),
        ("FROM 'absent.csv'", ("data.query",)),
        ("", ("data.query", "data.path")),
    ],
)
def test_what_no_query_may_do(query, refusal, quick, people, tmp_path):
    with refused(*refusal):
        data = ask(tmp_path, query=query)
        parse_spec({"data": data, "model": {"train": "logistic"}, "audits": []}, tmp_path).digests()
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        moved = {"/inside": "/people.csv", "/outside": "http://localhost:9/people.csv"}.get(self.path)
        self.send_response(302 if moved else 200 if self.path == "/people.csv" else 404)
        if moved:
            self.send_header("location", moved)
        self.end_headers()
        self.wfile.write(b"" if moved else b"sex,income,paid\nf,1,0\n")

    def log_message(self, *about):
        pass


def test_addresses_are_read_as_far_as_they_are_allowed(tmp_path, monkeypatch):
    server = http.server.HTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_port}"
    try:
        with refused("data.address", ALLOWED):
            ask(tmp_path, path=f"{root}/people.csv")
        monkeypatch.setenv(ALLOWED, f"https://example.org/, memory://open/, {root}")
        fsspec.filesystem("memory").pipe("/open/stored.csv", b"sex\nf\n")
        assert ask(tmp_path, path="memory://open/stored.csv")["path"] == "stored.csv"
        assert ask(tmp_path, path=f"{root}/people.csv")["path"] == "people.csv"
        ask(tmp_path, address=f"{root}/inside", path="table.csv")
        assert (tmp_path / "table.csv").read_text() == "sex,income,paid\nf,1,0\n"
        for address, tells in ((f"{root}/outside", ALLOWED), (f"{root}/absent", "404")):
            with refused("data.address", tells):
                ask(tmp_path, address=address)
        for address in ("memory://opened/stored.csv", "https://example.org.evil/x.csv", "file:///etc/passwd"):
            with refused("data.address"):
                ask(tmp_path, address=address)
        monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "0.00001")
        with refused("data.address"):
            ask(tmp_path, address=f"{root}/people.csv", path="large.csv")
        assert not (tmp_path / "large.csv").exists()
    finally:
        server.shutdown()
        server.server_close()


def test_a_page_never_fetches():
    for key in ("query", "address"):
        spec = {"data": {**REST, key: "x://y"}, "model": {"train": "logistic"}, "audits": ["groups"]}
        with refused(f"data.{key}"):
            parse_spec(spec, None)
