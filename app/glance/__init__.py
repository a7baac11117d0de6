"""At a glance: what all audits of the data and the model found, on one page."""
