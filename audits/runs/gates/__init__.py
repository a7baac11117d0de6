"""Gates: what makes a build fail, and what changed since another run."""
