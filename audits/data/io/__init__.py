"""Tables from files: what lies in them, found or told, and columns of numbers, dates and texts."""
