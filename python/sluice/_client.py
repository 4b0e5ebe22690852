"""The REST interface of the daemon as methods."""

import difflib
import json
import math
import os
import socket
import sys
import time
import urllib.parse
import uuid
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _caller, _files
from ._http import Connection, Paused, Problem
from ._progress import Progress
from ._table import Experiment, Table, table_of

_OVER = ("finished", "error", "stopped", "pruned")

Path = Union[str, "os.PathLike[str]"]
Row = Mapping[str, Any]


def _path_of(id: str, rest: str = "") -> str:
    experiment, _, task = id.partition("/")
    return f"/experiments/{experiment}" + (f"/tasks/{task}" if task else "") + rest


class Client:
    """Talks to the daemon of this user over its unix socket, and starts it with the program `sluice` where none runs; or,
    with an address ("127.0.0.1:54322") and a token (`sluice token create NAME`), to one over TCP.

    Every method goes to that daemon. Ids are "e12" for an experiment and "e12/7" for a task. Answers are those of the REST
    interface, as maps and lists. What the daemon refuses is a Problem."""

    def __init__(self, address: Optional[str] = None, token: Optional[str] = None, state: Optional[str] = None,
                 program: str = "sluice", timeout: float = 120) -> None:
        self._connection = Connection(address, token, state, program, timeout)

    def __repr__(self) -> str:
        where = self._connection.address
        return f"Client({where.geturl()!r})" if where else f"Client(state={self._connection.state!r})"

    def request(self, method: str, path: str, body: Any = None, headers: Optional[Mapping[str, str]] = None) -> Any:
        """Any request below /api/v1. A map or a list as body is sent as JSON. Returns the answer: read where it is JSON,
        else its text, None where it is empty."""
        return self._connection.request(method, path, body, headers)

    # Submitting.

    def run(self, experiment: Union[Path, Mapping[str, Any]], files: Optional[Mapping[str, _files.Content]] = None) -> Experiment:
        """Submits an experiment: the path of a file, or a map with the same keys. With a map, `files` holds at least the
        script: {"train.py": text or bytes}. The tasks run in the virtual or conda environment of this process, if the daemon is on
        this machine. Returns the created experiment."""
        if isinstance(experiment, (str, os.PathLike)):
            return Experiment(self._run_file("run", os.fspath(experiment)))
        return Experiment(self._create({"experiment": dict(experiment)}, files or {}, None))

    def check(self, experiment: Union[Path, Mapping[str, Any]]) -> Dict[str, Any]:
        """Validates, counts and estimates; runs nothing."""
        if isinstance(experiment, (str, os.PathLike)):
            return self._run_file("check", os.fspath(experiment))
        return self.request("POST", "/check", {"experiment": dict(experiment)})

    def _create(self, body: Dict[str, Any], files: Mapping[str, _files.Content], folder: Optional[str]) -> Dict[str, Any]:
        body["files"] = _files.as_sent(self._connection, files, folder)
        # The environment of another machine would not be found there.
        if not self._connection.address or self.request("GET", "/info")["host"] == socket.gethostname():
            body["caller"] = _caller.describe(body.get("experiment"), folder or os.getcwd())
        return self.request("POST", "/experiments", body, {"Idempotency-Key": uuid.uuid4().hex})

    def _run_file(self, verb: str, path: str) -> Dict[str, Any]:
        """The program knows how to collect files. To an address it cannot talk: there we collect them."""
        if self._connection.address:
            return self._send_file(verb, path)
        done = self._connection.command(verb, "--json", *(["--detach"] if verb == "run" else []), path)
        if done.returncode:
            raise Problem(400 if done.returncode == 2 else 500, {"detail": done.stderr.strip()})
        return json.loads(done.stdout)

    def _send_file(self, verb: str, path: str) -> Dict[str, Any]:
        with open(path, encoding="utf-8") as file:
            body = {"source": {"name": os.path.basename(path), "text": file.read()}}
        checked = self.request("POST", "/check", body)
        if verb == "check":
            return checked
        folder = os.path.dirname(os.path.abspath(path))
        needs = checked["needs"]
        if "git" in needs:  # a word, not a file
            needs = [name for name in needs if name != "git"]
            needs += _files.tracked(folder, needs, _files.size_of(checked["experiment"].get("copy_limit")))
        missing = [name for name in needs if not os.path.exists(os.path.join(folder, name))]
        if missing:
            raise Problem(400, {"detail": f"{', '.join(missing)}: not found beside {path}; paths in the file are relative to it"})
        return self._create(body, _files.collect(folder, needs), folder)

    # Looking.

    def experiments(self) -> List[Experiment]:
        """All experiments, newest first."""
        return [Experiment(one) for one in self._connection.items("/experiments?limit=1000")]

    def show(self, id: str) -> Dict[str, Any]:
        """An experiment or a task, in detail."""
        shown = self.request("GET", _path_of(id))
        return shown if "/" in id else Experiment(shown)

    def tasks(self, id: str, state: Optional[str] = None, sort: str = "number") -> List[Dict[str, Any]]:
        """The tasks of an experiment; sort is number, best, started or elapsed, or -number and so on."""
        path = _path_of(id, f"/tasks?limit=1000&sort={sort}") + (f"&state={state}" if state else "")
        return list(self._connection.items(path))

    def table(self, id: str, state: Optional[str] = None, sort: str = "number") -> Table:
        """The tasks of an experiment as a table: parameters, best and last value, times, costs. Shown well in a notebook;
        .to_pandas() and .to_polars() make frames."""
        return table_of(self.tasks(id, state, sort))

    def best(self, id: str, n: int = 1) -> List[Dict[str, Any]]:
        """The n best tasks that have a value."""
        page = self.request("GET", _path_of(id, f"/tasks?sort=best&limit={n}"))
        return [task for task in page["items"] if task["best"]]

    def metrics(self, id: str, name: Optional[str] = None, points: int = 10000) -> Dict[str, Any]:
        """Of an experiment: one metric (default: the first objective) of every task. Of a task: all its metrics, or the
        one that is named. A name that no task reported is a Problem that lists those that were."""
        of_task = "/" in id
        query = {"points": points, **({"name": name} if name and not of_task else {})}
        answer = self.request("GET", _path_of(id, "/metrics?" + urllib.parse.urlencode(query)))
        if name is None:
            return answer
        found = bool(answer["metrics"].get(name)) if of_task else any(task["step"] for task in answer["tasks"])
        known = answer["metrics"] if of_task else [] if found else self.show(id)["metrics"]
        if not found and name not in known:
            raise _no_metric(id, name, list(known))
        if of_task:
            answer["metrics"] = {name: answer["metrics"][name]}
        return answer

    def export(self, id: str) -> Dict[str, Any]:
        """Everything about an experiment, with every metric of every task."""
        return self.request("GET", _path_of(id, "/export?format=json"))

    def log(self, id: str, stream: str = "stdout", attempt: Optional[int] = None) -> str:
        """The whole output of a task's last (or given) attempt."""
        text, offset = [], 0
        while True:
            query = {"stream": stream, "offset": offset, **({"attempt": attempt} if attempt else {})}
            chunk = self.request("GET", _path_of(id, "/log?" + urllib.parse.urlencode(query)))
            text.append(chunk["text"])
            if chunk["next"] <= offset or chunk["next"] >= chunk["size"]:
                return "".join(text)
            offset = chunk["next"]

    def wait(self, id: str, poll_s: float = 0.5, progress: Optional[bool] = None) -> Dict[str, Any]:
        """Waits until the experiment or task has ended, and returns it. Raises Paused where the experiment has paused itself
        and what ran has ended: client.resume(id) or client.restart(id, failed=True) lets it go on. Progress is shown on a
        terminal and in a notebook; progress=True or False decides it."""
        shown_to = Progress(sys.stderr, progress)
        while True:
            shown = self.show(id)
            shown_to.update(shown)
            if shown["state"] in _OVER:
                shown_to.end()
                return shown
            why = self._paused(id, shown)
            if why:
                shown_to.end()
                raise Paused(id.partition("/")[0], why)
            time.sleep(poll_s)

    def _paused(self, id: str, shown: Mapping[str, Any]) -> Optional[str]:
        """Why nothing more happens to it; None while something may."""
        if "/" in id:
            return self.show(id.partition("/")[0])["paused"] if shown["state"] == "waiting" else None
        moving = shown["tasks"]["running"] + shown["tasks"]["submitted"]
        return None if moving else shown["paused"]

    def events(self, last_id: Optional[str] = None) -> Iterator[Tuple[str, Any]]:
        """Yields (name, data) of the event stream until it ends."""
        return self._connection.events(last_id)

    # Changing.

    def stop(self, id: str, checkpoint: bool = False) -> Dict[str, Any]:
        """Stops an experiment or a task; checkpoint=True: its scripts are told to save first, and have the time of
        `checkpoint: {before_limit}` to do so."""
        return self.request("POST", _path_of(id, "/stop"), {"checkpoint": True} if checkpoint else {})

    def restart(self, id: str, failed: bool = False) -> Dict[str, Any]:
        """Runs an experiment or a task again; failed=True: only the tasks that failed or were stopped."""
        return self.request("POST", _path_of(id, "/restart"), {"failed": True} if failed else {})

    def resume(self, id: str) -> Dict[str, Any]:
        """Lets an experiment that paused itself go on as it is."""
        return self.request("POST", _path_of(id, "/resume"), {})

    def remove(self, id: str, stop: bool = False) -> None:
        """Removes an experiment that has ended, or a task; stop=True: also an experiment that runs."""
        experiment, _, task = id.partition("/")
        if task:
            self.request("POST", f"/experiments/{experiment}/tasks/remove", {"tasks": [int(task)]})
            return
        self.request("DELETE", _path_of(id) + ("?stop=1" if stop else ""))

    def parallel(self, id: str, n: int) -> Dict[str, Any]:
        """How many tasks of the experiment run at a time."""
        return self.request("POST", _path_of(id, "/parallel"), {"parallel": n})

    # Taking part in a search.

    def suggest(self, id: str, **parameters: Any) -> Dict[str, Any]:
        """Runs a configuration of your own beside those of the search. Returns the task."""
        return self.request("POST", _path_of(id, "/suggest"), {"parameters": parameters})

    def import_results(self, id: str, rows: Union[str, Sequence[Row]]) -> int:
        """Gives the search results from elsewhere: [{"parameters": {...}, "values": {"val_loss": 0.3}}, ...], or the id of
        another experiment, whose finished tasks are taken. Returns how many there were."""
        if isinstance(rows, str):
            rows = list(self._results(rows, self.show(id)["objective"]))
        return self.request("POST", _path_of(id, "/import"), {"rows": list(rows)})["tasks"]

    def _results(self, id: str, objective: Sequence[Row]) -> Iterator[Dict[str, Any]]:
        for task in self.export(id)["tasks"]:
            values = {}
            for one in objective:
                curve = [v for v in task["metrics"].get(one["metric"], {}).get("value", []) if not isinstance(v, str)]
                if curve:
                    values[one["metric"]] = (max if one["goal"] == "max" else min)(curve)
            if task["state"] == "finished" and values:
                yield {"parameters": task["parameters"], "values": values}

    def change(self, id: str, search: Optional[Row] = None, parameters: Optional[Row] = None,
               constraints: Optional[Sequence[str]] = None, add: bool = False) -> Experiment:
        """Other settings while it runs: change("e1", search={"tasks": 80}, parameters={"lr": {"min": 1e-6, "max": 1.0}}).
        add=True: the parameters are new ones; one that is there with other values is refused. Returns the experiment."""
        body = {"search": search, "parameters": parameters, "constraints": constraints, "add": add or None}
        return Experiment(self.request("POST", _path_of(id, "/search"), {k: v for k, v in body.items() if v is not None}))

    def search(self, id: str) -> Dict[str, Any]:
        """The strategy, why it was chosen, and its inner state while it works."""
        return self.request("GET", _path_of(id, "/search"))

    def analysis(self, id: str) -> Dict[str, Any]:
        """Best tasks, progress, importance of the parameters, fronts, slices."""
        return self.request("GET", _path_of(id, "/analysis"))

    # Workers of your own (backend: external).

    def ask(self, id: str, worker: Optional[Row] = None) -> Optional[Dict[str, Any]]:
        """The next task of an experiment with the backend `external`, or None when none is left. Waits while the search
        waits for results of other workers. `worker` is that of a Study."""
        while True:
            try:
                return self.request("POST", _path_of(id, "/ask"), {"worker": worker} if worker else {})
            except Problem as problem:
                if problem.status != 409:
                    raise
                time.sleep(0.2)

    def claim(self, id: str, tasks: int, more: bool = False, worker: Optional[Row] = None) -> Experiment:
        """How many more tasks will be asked for, of an experiment with search={"open": True}; negative: how many of those will
        not be asked for after all. It has ended when all that were claimed have ended. A claim ends a stop; with more=True,
        for a worker that has begun already, it is refused then. `worker` is that of a Study."""
        body = {"tasks": tasks, **({"more": True} if more else {}), **({"worker": worker} if worker else {})}
        return Experiment(self.request("POST", _path_of(id, "/claim"), body))

    def tell(self, id: str, values: Optional[Mapping[str, float]] = None, step: Optional[int] = None, more: bool = False,
             failed: Optional[str] = None, pruned: bool = False, parameters: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
        """What a task gave. more=True: it goes on. failed: why it gave nothing. pruned=True: it was given up, and its last
        values count. parameters: what it ran with, where that is not what was proposed. Returns the task."""
        numbers = {name: _number(value) for name, value in values.items()} if values else None
        body = {"values": numbers, "step": step, "more": more, "failed": failed, "pruned": pruned,
                "parameters": None if parameters is None else dict(parameters)}
        return self.request("POST", _path_of(id, "/tell"), {k: v for k, v in body.items() if v is not None and v is not False})


def _number(value: float) -> Union[float, str]:
    """JSON has no word for these three."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _no_metric(id: str, name: str, known: List[str]) -> Problem:
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(known)}" if known else "nothing was reported"
    return Problem(404, {"detail": f"{id} has no metric {name!r}; {hint}"})
