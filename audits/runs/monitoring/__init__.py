"""Deployed monitors: batches as they arrive, measured and stored, their alarms, what people do with them."""
