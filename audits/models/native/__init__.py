"""Model files of other libraries: XGBoost, LightGBM, CatBoost, and scikit-learn saved by skops."""
