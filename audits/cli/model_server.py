"""Have a model file answer for audits, in the Python that it was made for.

This file is run by `python -m audits serve` in an environment of the user's choice, and imported by nothing:
it needs the standard library and what the model itself needs. Opening a joblib or pickle file runs what is in
it.

Usage: python model_server.py MODEL PORT [COLUMN,COLUMN,…]

Answers ``POST /score`` with ``{"instances": [{column: value, …}, …]}`` (``dataframe_records`` too), and
``GET /health``. Works on Python 3.8 and later.
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX = 64 * 2**20
NAN = float("nan")


def load(path):
    """Return the object in a joblib or pickle file, or the model of an MLflow folder."""
    if os.path.isdir(path):
        import mlflow

        try:  # with probabilities, where the folder knows the library
            return mlflow.sklearn.load_model(path)
        except Exception:
            return mlflow.pyfunc.load_model(path)
    try:
        import joblib
    except ImportError:
        import pickle

        with open(path, "rb") as file:
            return pickle.load(file)
    return joblib.load(path)


def columns_of(model, given):
    """Return what the model reads, in its order; None where nobody says."""
    if given:
        return [name for name in given.split(",") if name]
    for key in ("feature_names_in_", "feature_names_", "feature_name_"):
        names = getattr(model, key, None)
        if names is not None and not callable(names):
            return [str(name) for name in names]
    schema = getattr(getattr(model, "metadata", None), "get_input_schema", lambda: None)()
    return list(schema.input_names()) if schema is not None else None


def categories_of(model, frame):
    """Return the columns of a frame of numbers and texts that the model takes as categories of pandas."""
    if getattr(model, "is_categorical_", None) is not None:  # HistGradientBoosting, matched by name
        return [name for name, each in zip(frame.columns, model.is_categorical_) if each]
    if getattr(getattr(model, "booster_", model), "pandas_categorical", None):  # LightGBM, matched by name
        return [name for name in frame.columns if frame[name].dtype.kind not in "biuf"]
    booster = model.get_booster() if hasattr(model, "get_booster") else None
    found = [
        name
        for name, kind in zip(frame.columns, getattr(booster, "feature_types", None) or ())
        if kind == "c"
    ]
    if found and not hasattr(booster, "get_categories"):  # XGBoost before 3.1 takes their order for them
        raise ValueError("this XGBoost does not know its categories by name; train it with 3.1 or later")
    return found


def table(rows, columns, model=None):
    """Return rows as the model reads them: a frame where pandas is there, else a matrix."""
    names = columns or list(rows[0])
    missing = [name for name in names if name not in rows[0]]
    if missing:
        raise ValueError(
            "the model reads columns that were not sent: %s; list them in data.features" % missing
        )
    cells = [[NAN if row[name] is None else row[name] for name in names] for row in rows]
    try:
        import pandas
    except ImportError:
        import numpy

        return numpy.array(cells)
    frame = pandas.DataFrame(cells, columns=names)
    return frame.astype(dict.fromkeys(categories_of(model, frame), "category"))


def answers(model, rows):
    """Return one answer a row: probabilities by class, a label, or a number."""
    named = getattr(model, "feature_names_in_", None) is not None or hasattr(model, "metadata")
    if not named and hasattr(model, "n_features_in_") and hasattr(rows, "to_numpy"):
        rows = rows.to_numpy()  # fitted on a matrix
    if hasattr(model, "predict_proba"):
        classes = [plain(value) for value in getattr(model, "classes_", ())]
        found = [[float(each) for each in row] for row in model.predict_proba(rows)]
        if len(classes) == len(found[0]):
            return [dict(zip([str(value) for value in classes], row)) for row in found]
        return found
    found = model.predict(rows) if hasattr(model, "predict") else model(rows)
    found = found.to_numpy() if hasattr(found, "to_numpy") else found
    rows = [list(each) if getattr(each, "shape", ()) else [each] for each in found]
    return [plain(row[0]) if len(row) == 1 else [plain(each) for each in row] for row in rows]


def plain(value):
    """Return a value as JSON knows it."""
    value = value.item() if hasattr(value, "item") else value
    return value.decode() if isinstance(value, bytes) else value


def handler(model, columns):
    """Return the class that answers requests with `model`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.say(200, {"model": type(model).__name__, "columns": columns})

        def do_POST(self):
            try:
                length = int(self.headers.get("Content-Length") or 0)
                if length > MAX:
                    self.close_connection = True
                    return self.say(413, "send fewer rows at once")
                sent = json.loads(self.rfile.read(length))
                rows = sent.get("instances", sent.get("dataframe_records"))
                if not isinstance(rows, list) or not rows or not isinstance(rows[0], dict):
                    return self.say(400, 'send {"instances": [{column: value, ...}, ...]}')
                return self.say(200, {"predictions": answers(model, table(rows, columns, model))})
            except Exception as error:
                return self.say(400, "%s: %s" % (type(error).__name__, " ".join(str(error).split())[:500]))

        def say(self, status, told):
            content = (told if isinstance(told, str) else json.dumps(told)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/plain" if isinstance(told, str) else "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *told):
            pass

    return Handler


def main(path, port, columns=""):
    """Load the model and answer until interrupted."""
    try:
        model = load(path)
    except Exception as error:
        sys.exit(
            "evenhand: %s cannot be opened by %s (%s: %s)"
            % (path, sys.executable, type(error).__name__, error)
        )
    if not (callable(model) or hasattr(model, "predict") or hasattr(model, "predict_proba")):
        sys.exit("evenhand: %s holds a %s, which does not predict" % (path, type(model).__name__))
    names = columns_of(model, columns)
    try:
        server = ThreadingHTTPServer(("127.0.0.1", int(port)), handler(model, names))
    except OSError as error:
        sys.exit("evenhand: port %s cannot be used (%s); name another with --port" % (port, error.strerror))
    address = "http://127.0.0.1:%d/score" % server.server_address[1]
    print("%s answers on %s" % (type(model).__name__, address))
    print("It reads %s." % (", ".join(names) if names else "the columns in the order of data.features"))
    print(
        "In the spec: model: {endpoint: {url: %s, version: %s}}" % (address, os.path.getmtime(path)),
        flush=True,
    )
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
