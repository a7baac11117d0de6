"""A result on a page: its finding and verdict, its figures and tables, and files of it."""
