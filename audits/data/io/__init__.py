"""Tables from files: detected or given formats, and columns of numbers, dates and texts."""
