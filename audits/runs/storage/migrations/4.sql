ALTER TABLE monitor_predictions ADD COLUMN features TEXT NOT NULL DEFAULT '';
