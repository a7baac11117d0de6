"""Objects of this process as models: estimators, networks, functions."""
