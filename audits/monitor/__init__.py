"""Deployed monitors: what measures people, what is watched, stored and shown, and the client that sends."""
