"""Two models on the same people: the second one's subject, and what changes with it in every audit."""
