"""Studies in the style of Optuna: an objective function, trials that suggest values, pruning. The daemon keeps the trials and
searches; the function runs here, in one process or many. A study is an experiment with the backend `external`."""

import math
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Type, Union

from ._client import Client
from ._http import Problem
from ._table import Table, table_of

Values = Union[float, Sequence[float]]
Space = Dict[str, Any]
_GIVEN_UP = ("pruned", "stopped")


class Pruned(Exception):
    """Raise it in an objective function when trial.should_prune() is true."""


class Trial:
    """One configuration while its objective function runs. `params` are its values, `number` is that of its task."""

    def __init__(self, study: "Study", task: Optional[Mapping[str, Any]]) -> None:
        self._study = study
        self._proposed: Dict[str, Any] = dict(task["parameters"]) if task else {}
        self._new: Space = {}  # parameters that the experiment did not have when this trial began
        self._pruned = False
        self.id: Optional[str] = task["id"] if task else None
        self.number: Optional[int] = task["number"] if task else None
        self.params: Dict[str, Any] = {}

    def suggest_float(self, name: str, low: float, high: float, *, step: Optional[float] = None, log: bool = False) -> float:
        """A number from low to high; with log=True uniform in its logarithm."""
        range_ = {"min": float(low), "max": float(high), **({"step": float(step)} if step else {}), **({"scale": "log"} if log else {})}
        return float(self._suggest(name, range_))

    def suggest_int(self, name: str, low: int, high: int, *, step: int = 1, log: bool = False) -> int:
        """A whole number from low to high."""
        range_ = {"min": int(low), "max": int(high), "type": "int", **({"step": int(step)} if step != 1 else {}),
                  **({"scale": "log"} if log else {})}
        return int(self._suggest(name, range_))

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:
        """One of the choices."""
        return self._suggest(name, list(choices))

    def _suggest(self, name: str, wanted: Any) -> Any:
        if name in self.params:
            return self.params[name]
        known = self._study._known(name)
        if known is not None and _shape(known) != _shape(wanted):
            raise ValueError(f"{name!r} was {known} before and is {wanted} now; a parameter keeps its range in a study")
        if name in self._proposed:
            self.params[name] = self._proposed[name]
        else:
            self._new[name] = wanted
            self.params[name] = self._study._draw(wanted)
        return self.params[name]

    def report(self, value: float, step: int) -> None:
        """What the objective is after this step; for pruning, and as a curve in the dashboard."""
        if self.id and not self._pruned:
            self._study._tell(self, {self._study.metrics[0]: float(value)}, step=step, more=True)

    def should_prune(self) -> bool:
        """True when the search gave this trial up: raise sluice.Pruned then."""
        if self.id and not self._pruned:
            self._pruned = self._study.client.show(self.id)["state"] in _GIVEN_UP
        return self._pruned


def _shape(parameter: Any) -> Any:
    """A parameter so that two spellings of one range are equal."""
    if not isinstance(parameter, dict):
        return list(parameter) if isinstance(parameter, (list, tuple)) else [parameter]
    return (parameter.get("min"), parameter.get("max"), parameter.get("step") or None, parameter.get("scale") or "linear")


class Study:
    """Trials of one objective function. Made by create_study or load_study."""

    def __init__(self, client: Client, body: Dict[str, Any], metrics: List[str], experiment: Optional[str], seed: Optional[int]) -> None:
        self.client = client
        self.metrics = metrics
        self.id = experiment
        self._body = body
        self._space: Space = dict(body.get("parameters") or {})
        self._random = random.Random(seed)
        self._lock = threading.RLock()
        self._stopping = False

    def __repr__(self) -> str:
        return f"Study({self.id or 'no trial yet'}, {', '.join(self.metrics)})"

    # What Trial uses.

    def _known(self, name: str) -> Any:
        with self._lock:
            return self._space.get(name)

    def _draw(self, wanted: Any) -> Any:
        """A value for a parameter that the search does not know yet."""
        with self._lock:
            if isinstance(wanted, list):
                return self._random.choice(wanted)
            low, high, step = wanted["min"], wanted["max"], wanted.get("step")
            if isinstance(low, int) and not (wanted.get("scale") == "log"):
                return self._random.randrange(low, high + 1, step or 1)
            if wanted.get("scale") == "log":
                value = min(high, max(low, math.exp(self._random.uniform(math.log(low), math.log(high)))))
                return int(round(value)) if isinstance(low, int) else value
            return low + step * self._random.randrange(int((high - low) / step + 1e-9) + 1) if step else self._random.uniform(low, high)

    # Trials one by one.

    def ask(self) -> Trial:
        """The next trial. Raises StopIteration where the search has nothing left (a grid that is done)."""
        with self._lock:
            if self.id is None and not self._space:
                return Trial(self, None)  # the first trials show which parameters there are
            self._create(1)
            task = self.client.ask(self.id or "")
            if task is None and self._grow(1):
                task = self.client.ask(self.id or "")
            if task is None:
                raise StopIteration("the search has proposed every configuration")
            return Trial(self, task)

    def tell(self, trial: Trial, values: Optional[Values] = None, failed: Optional[str] = None) -> None:
        """What a trial gave: a number (or one for each direction), or failed: why it gave none."""
        numbers = None
        if values is not None:
            numbers = dict(zip(self.metrics, map(float, values if isinstance(values, (list, tuple)) else [values])))
            if len(numbers) != len(self.metrics):
                raise ValueError(f"the objective returned {len(numbers)} values for {len(self.metrics)} directions")
        if trial.id and not trial._new:
            self._tell(trial, numbers, failed=failed if numbers is None else None)
            return
        with self._lock:
            self._learn(trial)
            if trial.id:  # its task does not have the new parameters: a task that has them takes its place
                self.client.stop(trial.id)
            if numbers:
                self.client.import_results(self.id or "", [{"parameters": trial.params, "values": numbers}])

    def _tell(self, trial: Trial, numbers: Optional[Mapping[str, float]], **more: Any) -> None:
        """The search may have given the trial up since it was last looked at."""
        try:
            task = self.client.tell(trial.id or "", numbers, **more)
        except Problem:
            if not trial.should_prune():
                raise
        else:
            trial._pruned = task["state"] in _GIVEN_UP

    def _learn(self, trial: Trial) -> None:
        """Adds the parameters that a trial used first."""
        self._space.update(trial._new)
        if self.id is None:
            self._create(1)
        elif trial._new:
            self.client.change(self.id, parameters=self._space)

    def _create(self, trials: int) -> None:
        if self.id is None and self._space:
            search = dict(self._body["search"])
            search.setdefault("tasks", max(trials, self._budget))
            self.id = self.client.run({**self._body, "parameters": self._space, "search": search})["id"]

    _budget = 100  # what `auto` plans for where the number of trials is not given

    def _grow(self, trials: int) -> bool:
        """More trials than were planned. False where the search cannot have more."""
        planned = self.client.search(self.id or "")["planned"]
        try:
            self.client.change(self.id or "", search={"tasks": planned + trials})
        except Problem:
            return False
        return True

    def enqueue(self, **params: Any) -> None:
        """A configuration that is tried next, before those of the search."""
        with self._lock:
            self._create(1)
            if self.id is None:
                raise ValueError("the parameters are not known yet: give create_study a space, or run a trial first")
            self.client.suggest(self.id, **params)

    # All of them.

    def optimize(self, objective: Callable[[Trial], Values], n_trials: int = 100, timeout: Optional[float] = None, n_jobs: int = 1,
                 catch: Tuple[Type[BaseException], ...] = (), callbacks: Sequence[Callable[["Study", Trial], None]] = ()) -> None:
        """Calls objective(trial) n_trials times, n_jobs at a time in threads. It returns a number to minimise or maximise (a
        list of them for several directions), or raises sluice.Pruned. `catch`: exceptions that fail a trial without ending
        the study. Other processes may work on the same study: load_study(id).optimize(...)."""
        self._stopping = False
        end = time.monotonic() + timeout if timeout else math.inf
        left = iter(range(n_trials))
        with self._lock:
            self._budget = n_trials
            if self.id is not None:
                self._make_room(n_trials)

        def work() -> None:
            while not self._stopping and time.monotonic() < end:
                with self._lock:
                    if next(left, None) is None:
                        return
                try:
                    trial = self.ask()
                except StopIteration:
                    return
                self._run(objective, trial, catch)
                for callback in callbacks:
                    callback(self, trial)

        if n_jobs == 1:
            work()
            return
        with ThreadPoolExecutor(n_jobs) as pool:
            for future in [pool.submit(work) for _ in range(n_jobs)]:
                future.result()

    def _make_room(self, trials: int) -> None:
        state = self.client.search(self.id or "")
        missing = trials - (state["planned"] - state["proposed"])
        if missing > 0:
            self._grow(missing)

    def _run(self, objective: Callable[[Trial], Values], trial: Trial, catch: Tuple[Type[BaseException], ...]) -> None:
        try:
            values = objective(trial)
        except Pruned:
            if trial.id and not trial._pruned:
                self.client.stop(trial.id)
            return
        except catch as error:
            self.tell(trial, failed=f"{type(error).__name__}: {error}")
            return
        except BaseException as error:
            self._stopping = True
            self.tell(trial, failed=f"{type(error).__name__}: {error}")
            raise
        if not trial._pruned:
            self.tell(trial, values)

    def stop(self) -> None:
        """Ends optimize() after the trials that run now. For callbacks."""
        self._stopping = True

    # Looking.

    def _experiment(self) -> str:
        if self.id is None:
            raise ValueError("no trial has been run yet")
        return self.id

    @property
    def trials(self) -> List[Dict[str, Any]]:
        """Every trial as a task: parameters, state, best, cost."""
        return self.client.tasks(self.id) if self.id else []

    @property
    def best_trial(self) -> Dict[str, Any]:
        """The best task."""
        best = self.client.best(self._experiment())
        if not best:
            raise ValueError("no trial has a value yet")
        return best[0]

    @property
    def best_params(self) -> Dict[str, Any]:
        """The parameters of the best trial."""
        return self.best_trial["parameters"]

    @property
    def best_value(self) -> float:
        """The value of the best trial."""
        return self.best_trial["best"]["value"]

    @property
    def best_trials(self) -> List[Dict[str, Any]]:
        """With several directions, the trials that no other one beats in all of them: maps with task, values, parameters."""
        front = self.client.analysis(self._experiment())["fronts"][0]
        return [point for point in front["points"] if point["front"]]

    def importance(self) -> Dict[str, float]:
        """How much each parameter matters; the shares sum to 1."""
        return {one["parameter"]: one["importance"] for one in self.client.analysis(self._experiment())["importance"]}

    def table(self) -> Table:
        """The trials as a table; .to_pandas() and .to_polars() make frames."""
        return table_of(self.trials)


def create_study(name: Optional[str] = None, direction: str = "minimize", directions: Optional[Sequence[str]] = None,
                 space: Optional[Mapping[str, Any]] = None, strategy: str = "auto", tasks: Optional[int] = None,
                 prune: Optional[Any] = None, seed: Optional[int] = None, metrics: Optional[Sequence[str]] = None,
                 client: Optional[Client] = None) -> Study:
    """A new study. `direction` is "minimize" or "maximize" (`directions` for several objectives, `metrics` their names).

    With `space`, the parameters as in an experiment file, the search knows them from the first trial on, with conditions
    and constraints of its own. Without it they are those that the trials suggest: the first trial is drawn at random, and a
    trial that uses a new one adds it. `strategy`, `tasks` and `prune` are those of an experiment file."""
    goals = [_goal(one) for one in (directions or [direction])]
    names = list(metrics or (["value"] if len(goals) == 1 else [f"value_{i}" for i in range(len(goals))]))
    if len(names) != len(goals):
        raise ValueError(f"{len(names)} metrics for {len(goals)} directions")
    body: Dict[str, Any] = {
        "name": name or "study", "command": ["true"], "resources": {"backend": "external"},
        "objective": [{"metric": metric, "goal": goal} for metric, goal in zip(names, goals)],
        "search": {"strategy": strategy, **({"tasks": tasks} if tasks else {}), **({"seed": seed} if seed is not None else {})},
        "parameters": dict(space or {}), **({"prune": prune} if prune is not None else {}),
    }
    return Study(client or Client(), body, names, None, seed)


def _goal(direction: str) -> str:
    goals = {"minimize": "min", "maximize": "max", "min": "min", "max": "max"}
    if direction not in goals:
        raise ValueError(f"{direction!r} is not a direction; write 'minimize' or 'maximize'")
    return goals[direction]


def load_study(id: str, client: Optional[Client] = None, seed: Optional[int] = None) -> Study:
    """A study that exists, by its id ("e12") or its name; several processes may work on one."""
    client = client or Client()
    found = [one["id"] for one in client.experiments() if one["id"] == id or one["name"] == id]
    if not found:
        raise ValueError(f"there is no study {id!r}")
    shown = client.show(found[0])
    body = {key: shown["spec"][key] for key in ("name", "command", "resources", "objective", "search", "parameters") if key in shown["spec"]}
    return Study(client, body, [one["metric"] for one in shown["objective"]], found[0], seed)
