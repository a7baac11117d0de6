"""Trees as plain arrays, and the numbers at which any model of trees splits."""
