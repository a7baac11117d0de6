"""Before a run: a spec guessed from a table, how long the run takes, and what it could find."""
