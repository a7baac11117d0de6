CREATE TABLE saved_runs (
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
);
CREATE INDEX saved_runs_by_time ON saved_runs (created);
CREATE TABLE saved_files (
    run VARCHAR(32) NOT NULL REFERENCES saved_runs (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    digest VARCHAR(64) NOT NULL,
    size BIGINT NOT NULL,
    PRIMARY KEY (run, name)
);
CREATE INDEX saved_files_by_digest ON saved_files (digest);
