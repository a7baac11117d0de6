"""What is told before a run: a spec guessed from a table, how long it takes, and what it could see."""
