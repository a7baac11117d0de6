"""The schema of the database, version by version.

It grows by appending to `MIGRATIONS`, never by changing an entry: each is a list of statements that SQLite
and PostgreSQL both understand. A database of an older version is brought up to date when it is opened, in one
transaction; a copy of its rows, for ``evenhand restore``, lies in ``backups`` then. An older Evenhand that
finds a version it does not know refuses to touch the database.
"""

from __future__ import annotations

__all__ = ["MIGRATIONS"]

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE saved_runs (
            id VARCHAR(32) PRIMARY KEY,
            run_key VARCHAR(64) NOT NULL,
            title TEXT NOT NULL,
            note TEXT NOT NULL,
            status VARCHAR(16) NOT NULL,
            owner VARCHAR(64) NOT NULL,
            spec TEXT NOT NULL,
            base_dir TEXT NOT NULL,
            created DOUBLE PRECISION NOT NULL,
            ended DOUBLE PRECISION,
            process TEXT NOT NULL,
            verdict VARCHAR(40) NOT NULL,
            finding TEXT NOT NULL,
            error TEXT NOT NULL
        )""",
        "CREATE INDEX saved_runs_by_time ON saved_runs (created)",
        """CREATE TABLE saved_files (
            run VARCHAR(32) NOT NULL REFERENCES saved_runs (id) ON DELETE CASCADE,
            name TEXT NOT NULL,
            digest VARCHAR(64) NOT NULL,
            size BIGINT NOT NULL,
            PRIMARY KEY (run, name)
        )""",
        "CREATE INDEX saved_files_by_digest ON saved_files (digest)",
    ),
    (
        """CREATE TABLE monitors (
            id VARCHAR(32) PRIMARY KEY,
            owner VARCHAR(64) NOT NULL,
            name TEXT NOT NULL,
            note TEXT NOT NULL,
            token_sha256 VARCHAR(64) NOT NULL,
            created DOUBLE PRECISION NOT NULL,
            keep_days INTEGER NOT NULL,
            keep_people BIGINT NOT NULL,
            webhook TEXT NOT NULL,
            bundle TEXT NOT NULL,
            weights BYTEA NOT NULL,
            chart TEXT NOT NULL,
            batches BIGINT NOT NULL,
            people BIGINT NOT NULL,
            flagged BIGINT NOT NULL,
            chart_value BIGINT NOT NULL
        )""",
        "CREATE INDEX monitors_by_owner ON monitors (owner)",
        """CREATE TABLE monitor_batches (
            monitor VARCHAR(32) NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
            place BIGINT NOT NULL,
            received DOUBLE PRECISION NOT NULL,
            stated TEXT NOT NULL,
            source TEXT NOT NULL,
            idempotency_key VARCHAR(200),
            sha256 VARCHAR(64) NOT NULL,
            first_person BIGINT NOT NULL,
            people INTEGER NOT NULL,
            flagged INTEGER NOT NULL,
            unseen INTEGER NOT NULL,
            mean DOUBLE PRECISION NOT NULL,
            chart_high BIGINT NOT NULL,
            chart_value BIGINT NOT NULL,
            sensitivities BYTEA NOT NULL,
            PRIMARY KEY (monitor, place)
        )""",
        "CREATE UNIQUE INDEX monitor_batches_by_key ON monitor_batches (monitor, idempotency_key)",
        "CREATE INDEX monitor_batches_by_time ON monitor_batches (monitor, received)",
        """CREATE TABLE monitor_flags (
            monitor VARCHAR(32) NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
            person BIGINT NOT NULL,
            batch BIGINT NOT NULL,
            received DOUBLE PRECISION NOT NULL,
            client_id TEXT NOT NULL,
            sensitivity DOUBLE PRECISION NOT NULL,
            score DOUBLE PRECISION NOT NULL,
            contributions TEXT NOT NULL,
            PRIMARY KEY (monitor, person)
        )""",
        """CREATE TABLE monitor_alarms (
            monitor VARCHAR(32) NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
            person BIGINT NOT NULL,
            raised DOUBLE PRECISION NOT NULL,
            sentence TEXT NOT NULL,
            webhook TEXT NOT NULL,
            acknowledged DOUBLE PRECISION,
            note TEXT NOT NULL,
            PRIMARY KEY (monitor, person)
        )""",
    ),
    (
        "ALTER TABLE monitors ADD COLUMN settings TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE monitor_batches ADD COLUMN counted BIGINT NOT NULL DEFAULT 0",
        "UPDATE monitor_batches SET counted = people",
        """CREATE TABLE monitor_states (
            monitor VARCHAR(32) PRIMARY KEY REFERENCES monitors (id) ON DELETE CASCADE,
            tally TEXT NOT NULL,
            streams BYTEA NOT NULL
        )""",
        """CREATE TABLE monitor_cases (
            monitor VARCHAR(32) NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
            place BIGINT NOT NULL,
            kind VARCHAR(20) NOT NULL,
            about TEXT NOT NULL,
            severity VARCHAR(10) NOT NULL,
            sentence TEXT NOT NULL,
            person BIGINT NOT NULL,
            last_person BIGINT NOT NULL,
            batch BIGINT NOT NULL,
            times BIGINT NOT NULL,
            raised DOUBLE PRECISION NOT NULL,
            latest DOUBLE PRECISION NOT NULL,
            ended DOUBLE PRECISION,
            owner TEXT NOT NULL,
            acknowledged DOUBLE PRECISION,
            snoozed DOUBLE PRECISION,
            resolved DOUBLE PRECISION,
            note TEXT NOT NULL,
            told TEXT NOT NULL,
            PRIMARY KEY (monitor, place)
        )""",
        """INSERT INTO monitor_cases SELECT monitor, ROW_NUMBER() OVER (PARTITION BY monitor ORDER BY person)
        - 1,
            'flags', 'flags', 'high', sentence, person, person, 0, 1, raised, raised, raised, '',
            acknowledged,
            NULL, NULL, note, webhook FROM monitor_alarms""",
        "DROP TABLE monitor_alarms",
        """CREATE TABLE monitor_buckets (
            monitor VARCHAR(32) NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
            first_person BIGINT NOT NULL,
            began DOUBLE PRECISION NOT NULL,
            received DOUBLE PRECISION NOT NULL,
            first_batch BIGINT NOT NULL,
            batches BIGINT NOT NULL,
            people BIGINT NOT NULL,
            flagged BIGINT NOT NULL,
            total DOUBLE PRECISION NOT NULL,
            chart_high BIGINT NOT NULL,
            chart_value BIGINT NOT NULL,
            PRIMARY KEY (monitor, first_person)
        )""",
        """INSERT INTO monitor_buckets SELECT monitor, first_person, received, received, place, 1, people,
        flagged,
            mean * people, chart_high, chart_value FROM monitor_batches""",
        """CREATE TABLE monitor_people (
            monitor VARCHAR(32) NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
            person BIGINT NOT NULL,
            received DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (monitor, person)
        )""",
        """CREATE TABLE monitor_predictions (
            monitor VARCHAR(32) NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
            person BIGINT NOT NULL,
            client_id TEXT NOT NULL,
            received DOUBLE PRECISION NOT NULL,
            score DOUBLE PRECISION NOT NULL,
            decision INTEGER NOT NULL,
            counted INTEGER NOT NULL,
            protected TEXT NOT NULL,
            outcome INTEGER,
            PRIMARY KEY (monitor, person)
        )""",
        "CREATE INDEX monitor_predictions_by_id ON monitor_predictions (monitor, client_id)",
        """CREATE TABLE monitor_messages (
            id VARCHAR(32) PRIMARY KEY,
            monitor VARCHAR(32) NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
            place BIGINT NOT NULL,
            way VARCHAR(10) NOT NULL,
            address TEXT NOT NULL,
            body TEXT NOT NULL,
            state VARCHAR(10) NOT NULL,
            tries INTEGER NOT NULL,
            made DOUBLE PRECISION NOT NULL,
            due DOUBLE PRECISION NOT NULL,
            outcome TEXT NOT NULL
        )""",
        "CREATE INDEX monitor_messages_due ON monitor_messages (state, due)",
        """CREATE TABLE monitor_tokens (
            id VARCHAR(32) PRIMARY KEY,
            monitor VARCHAR(32) NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
            name TEXT NOT NULL,
            sha256 VARCHAR(64) NOT NULL,
            scope VARCHAR(10) NOT NULL,
            created DOUBLE PRECISION NOT NULL,
            expires DOUBLE PRECISION
        )""",
    ),
    ("ALTER TABLE monitor_predictions ADD COLUMN features TEXT NOT NULL DEFAULT ''",),
    # counting a batch writes the whole row of its monitor: models of megabytes lie elsewhere from here on
    # (their columns stay, empty: SQLite before 3.35 cannot drop any)
    (
        """CREATE TABLE monitor_bundles (
            monitor VARCHAR(32) PRIMARY KEY REFERENCES monitors (id) ON DELETE CASCADE,
            bundle TEXT NOT NULL,
            weights BYTEA NOT NULL
        )""",
        "INSERT INTO monitor_bundles SELECT id, bundle, weights FROM monitors",
        "UPDATE monitors SET bundle = '', weights = ''",
    ),
)
"""Statements of each version of the schema, oldest first."""
