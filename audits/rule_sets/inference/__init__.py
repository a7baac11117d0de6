"""What survives having looked at every rule set, the verdicts that follow, and two other ways to look."""
