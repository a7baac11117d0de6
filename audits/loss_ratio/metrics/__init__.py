"""Fair metrics: squared distances, how they are chosen, and those that are learned."""
