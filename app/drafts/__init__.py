"""The spec that a page edits: where it begins, what is still wrong with it, and the files that it names."""
