"""A process that asks a service about the first people of a table, as those that hold tables open no socket.

``python -m app.tables.calling`` is started for one question, as `app.tables.holding` takes them, and ends
with its answer.
"""

from __future__ import annotations

import argparse
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from audits.errors import InputError, RunFailed
from audits.runs.executors.sandbox import Bounds, die_with_parent, enter
from audits.runs.executors.worker import private_pipes
from audits.runs.executors.worker_process import WorkerProcess

__all__ = ["ask_outside"]


def ask_outside(question: Mapping[str, Any], *, memory: int, seconds: float) -> dict[str, Any]:
    """Have a process of its own, which may open sockets, answer a question.

    Raises
    ------
    InputError
        If that is the answer, or if it takes too long.
    RunFailed
        If the process ended otherwise.
    """
    worker = WorkerProcess(module="app.tables.calling", memory=memory, network=True, warm=False)
    late = f"does not answer within {seconds:g} seconds"
    clock = threading.Timer(seconds, worker.kill, [late])
    clock.daemon = True
    clock.start()
    try:
        worker.send(dict(question))
        answer = next(worker.messages(), None)
    finally:
        clock.cancel()
        worker.close()
    if answer is None:
        if worker.why == late:
            raise InputError("model.endpoint", late)
        raise RunFailed(f"The process that asks the service broke off: {worker.ending()}.")
    if "wrong" in answer:
        where, sentence = answer["wrong"]
        raise InputError(where, sentence[len(where) + 1 :].removesuffix("."))
    if "failed" in answer:
        raise RunFailed(answer["failed"])
    return answer


def _model(question: Mapping[str, Any]) -> dict[str, Any]:
    # what opens tables is loaded here only: the pages import this module
    from audits.data import build_data, data_spec, read_table
    from audits.models.checking import check_model
    from audits.models.spec import model_spec

    spec = data_spec(question["section"])
    paths = [Path(path) for path in question["paths"]]
    data = build_data(read_table(paths, format=spec.format, options=spec.read), spec)
    found = check_model(data, model_spec(question["model"]), base_dir=Path(question["folder"]))
    return {"model": found.to_dict()}


def main() -> None:
    """Answer one question."""
    questions, answers = private_pipes()
    die_with_parent()
    parser = argparse.ArgumentParser()
    parser.add_argument("--memory", type=int, required=True)
    parser.add_argument("--network", action="store_true")
    parser.add_argument("--cold", action="store_true")
    chosen = parser.parse_args()
    enter(Bounds(chosen.memory, network=chosen.network, programs=True))
    found: dict[str, Any]
    try:
        found = _model(json.loads(questions.readline()))
    except InputError as error:
        found = {"wrong": [error.where, str(error)]}
    except Exception as error:  # noqa: BLE001  (whatever breaks is told to the user)
        found = {"failed": f"Asking the service broke off ({type(error).__name__}: {str(error)[:200]})."}
    answers.write(json.dumps(found).encode("ascii") + b"\n")
    answers.flush()


if __name__ == "__main__":
    main()
