CREATE TABLE monitors (
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
);
CREATE INDEX monitors_by_owner ON monitors (owner);
CREATE TABLE monitor_batches (
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
);
CREATE UNIQUE INDEX monitor_batches_by_key ON monitor_batches (monitor, idempotency_key);
CREATE INDEX monitor_batches_by_time ON monitor_batches (monitor, received);
CREATE TABLE monitor_flags (
    monitor VARCHAR(32) NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
    person BIGINT NOT NULL,
    batch BIGINT NOT NULL,
    received DOUBLE PRECISION NOT NULL,
    client_id TEXT NOT NULL,
    sensitivity DOUBLE PRECISION NOT NULL,
    score DOUBLE PRECISION NOT NULL,
    contributions TEXT NOT NULL,
    PRIMARY KEY (monitor, person)
);
CREATE TABLE monitor_alarms (
    monitor VARCHAR(32) NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
    person BIGINT NOT NULL,
    raised DOUBLE PRECISION NOT NULL,
    sentence TEXT NOT NULL,
    webhook TEXT NOT NULL,
    acknowledged DOUBLE PRECISION,
    note TEXT NOT NULL,
    PRIMARY KEY (monitor, person)
);
