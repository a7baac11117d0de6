"""Evenhand: fairness audits of decision models, each number with its uncertainty."""
