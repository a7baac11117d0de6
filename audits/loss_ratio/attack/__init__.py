"""People moved to where the model errs more, as far as a fair metric lets them."""
