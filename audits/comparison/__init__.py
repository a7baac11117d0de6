"""What changed on the same people from one model to another: changes with paired intervals.

`moved` has the intervals, `pairing` what an audit says of two of its results, and a module of each audit's
name how its numbers are paired. What is particular to people moves both models' numbers, and is no change.
"""
