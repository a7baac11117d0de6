"""Tables as pages see them: read and held in processes of their own, shown in slices, written into files."""
