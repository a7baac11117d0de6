"""Model files of other libraries: XGBoost's, LightGBM's, CatBoost's, and scikit-learn's kept by skops."""
