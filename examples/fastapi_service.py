"""A FastAPI service whose predictions a monitor watches: ``uvicorn fastapi_service:app``.

Needs fastapi, and MONITOR_URL and MONITOR_TOKEN in the environment.
"""

import os

import joblib  # your own file, made by you
import pandas as pd
from fastapi import FastAPI

import evenhand

app = FastAPI()
model = joblib.load("model.joblib")
monitor = evenhand.Monitor(os.environ["MONITOR_URL"], os.environ["MONITOR_TOKEN"])


@app.post("/decide")
def decide(application: dict) -> dict:
    """Decide, and have the monitor told: it takes microseconds, and nothing of it can fail the decision."""
    row = pd.DataFrame([application["features"]])
    score = float(model.predict_proba(row)[0, 1])
    favorable = score >= 0.5
    monitor.send(row, ids=[application["id"]], scores=[score], decisions=[favorable])
    return {"favorable": favorable}
