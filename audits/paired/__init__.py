"""What changed on the same people from one model to another: changes with paired intervals."""
