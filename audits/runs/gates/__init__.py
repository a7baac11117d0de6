"""What a run may state before a build fails, and what changed since another run."""
