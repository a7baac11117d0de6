"""Models with a gradient, as small networks."""
