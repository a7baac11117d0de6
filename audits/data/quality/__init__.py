"""What is likely wrong with a table before it is audited, and what would mend it."""
