"""What is likely wrong with a table before it is audited, and how to fix it."""
