"""What is compared with what, and the outcomes of a policy."""
