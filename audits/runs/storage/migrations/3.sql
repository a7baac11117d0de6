ALTER TABLE monitors ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
ALTER TABLE monitor_batches ADD COLUMN counted BIGINT NOT NULL DEFAULT 0;
UPDATE monitor_batches SET counted = people;
CREATE TABLE monitor_states (
    monitor VARCHAR(32) PRIMARY KEY REFERENCES monitors (id) ON DELETE CASCADE,
    tally TEXT NOT NULL,
    streams BYTEA NOT NULL
);
CREATE TABLE monitor_cases (
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
);
INSERT INTO monitor_cases SELECT monitor, ROW_NUMBER() OVER (PARTITION BY monitor ORDER BY person)
    - 1,
    'flags', 'flags', 'high', sentence, person, person, 0, 1, raised, raised, raised, '',
    acknowledged,
    NULL, NULL, note, webhook FROM monitor_alarms;
DROP TABLE monitor_alarms;
CREATE TABLE monitor_buckets (
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
);
INSERT INTO monitor_buckets SELECT monitor, first_person, received, received, place, 1, people,
    flagged,
    mean * people, chart_high, chart_value FROM monitor_batches;
CREATE TABLE monitor_people (
    monitor VARCHAR(32) NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
    person BIGINT NOT NULL,
    received DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (monitor, person)
);
CREATE TABLE monitor_predictions (
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
);
CREATE INDEX monitor_predictions_by_id ON monitor_predictions (monitor, client_id);
CREATE TABLE monitor_messages (
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
);
CREATE INDEX monitor_messages_due ON monitor_messages (state, due);
CREATE TABLE monitor_tokens (
    id VARCHAR(32) PRIMARY KEY,
    monitor VARCHAR(32) NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    sha256 VARCHAR(64) NOT NULL,
    scope VARCHAR(10) NOT NULL,
    created DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION
);
