"""Groups compared by a numeric outcome."""
