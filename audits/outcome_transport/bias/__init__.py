"""How unlike a person, or a group, those are whose outcomes are mapped to theirs."""
