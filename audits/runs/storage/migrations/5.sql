-- counting a batch writes the whole row of its monitor: models of megabytes lie elsewhere from here on
-- (their columns stay, empty: SQLite before 3.35 cannot drop any)
CREATE TABLE monitor_bundles (
    monitor VARCHAR(32) PRIMARY KEY REFERENCES monitors (id) ON DELETE CASCADE,
    bundle TEXT NOT NULL,
    weights BYTEA NOT NULL
);
INSERT INTO monitor_bundles SELECT id, bundle, weights FROM monitors;
UPDATE monitors SET bundle = '', weights = '';
