"""The Streamlit app: pages that edit a spec, have it run, and show the result. No statistics, no models."""
