"""From a table and a spec to the rows that are audited."""
