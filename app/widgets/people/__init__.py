"""People on a page: listed, selected, looked at one by one, and asked about again."""
