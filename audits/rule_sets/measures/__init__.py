"""The same groups by how the model errs: tested, and told."""
