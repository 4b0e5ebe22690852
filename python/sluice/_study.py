"""Studies in the style of Optuna: an objective function, trials that suggest values, pruning. The daemon keeps the trials and
searches; the function runs here, in one process or many. A study is an experiment with the backend `external`."""

import math
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Type, Union

from . import _worker
from ._client import Client
from ._http import Problem
from ._table import Table, table_of

Values = Union[float, Sequence[float]]
Space = Dict[str, Any]
_GIVEN_UP = ("pruned", "stopped")
# Where optimize() has no n_trials, so many are announced at a time.
_AHEAD = 10
# A result that the daemon cannot take now (its disk is full, it starts) is told again for so many seconds.
_TELL_AGAIN_S = 30.0


class Pruned(Exception):
    """Raise it in an objective function when trial.should_prune() is true: the trial ends as pruned, with its last report."""


TrialPruned = Pruned  # Optuna's name


class Trial:
    """One configuration while its objective function runs. `params` are the values that were suggested so far, and those of a
    declared space. `number` is that of its task, from 1 on. After its end `state` is "finished", "pruned", "stopped" or
    "error", and `value` what it gave (`values` with several directions)."""

    def __init__(self, study: "Study", task: Mapping[str, Any], fixed: Optional[Mapping[str, Any]] = None) -> None:
        self._study = study
        self._proposed: Dict[str, Any] = {**task["parameters"], **{name: _plain(value) for name, value in (fixed or {}).items()}}
        self._told: Dict[str, Any] = dict(task["parameters"])  # what the daemon believes that it runs with
        self._last: Optional[Tuple[int, float]] = None
        self._pruned = False
        self.id: str = task["id"]
        self.number: int = task["number"]
        self.state: str = "running"
        self.values: Optional[List[float]] = None
        self.params: Dict[str, Any] = {name: self._proposed[name] for name in study._declared() if name in self._proposed}

    @property
    def value(self) -> Optional[float]:
        """What it gave; None before its end, and where it failed."""
        return self.values[0] if self.values else None

    def suggest_float(self, name: str, low: float, high: float, *, step: Optional[float] = None, log: bool = False) -> float:
        """A number from low to high; with log=True uniform in its logarithm."""
        range_ = {"min": float(low), "max": float(high), "type": "real", **({"step": float(step)} if step else {}),
                  **({"scale": "log"} if log else {})}
        return float(self._suggest(name, range_))

    def suggest_int(self, name: str, low: int, high: int, *, step: int = 1, log: bool = False) -> int:
        """A whole number from low to high."""
        range_ = {"min": int(low), "max": int(high), "type": "int", **({"step": int(step)} if step != 1 else {}),
                  **({"scale": "log"} if log else {})}
        return int(self._suggest(name, range_))

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:
        """One of the choices. What is no number, text, True or False is stored as the text that repr() gives."""
        plain = [_plain(choice) for choice in choices]
        self._study._choices[name] = {text: choice for text, choice in zip(plain, choices) if type(text) is not type(choice)}
        value = self._suggest(name, {"values": plain})
        chosen = choices[_places(plain).index(_place(value))]
        self.params[name] = chosen
        return chosen

    def _suggest(self, name: str, wanted: Dict[str, Any]) -> Any:
        known = self._study._know(name, wanted)
        if _shape(known) != _shape(wanted):
            raise ValueError(f"{name!r} was {known} before and is {wanted} now; a parameter keeps its range in a study")
        if name not in self._proposed:
            self._proposed[name] = self._study._draw(wanted, self.number, name)
        value = self._proposed[name]
        if not _has(wanted, value):
            raise ValueError(f"{name!r} cannot be {value!r}, which was enqueued; it is {wanted}")
        self.params[name] = value
        return value

    def _used(self) -> Optional[Dict[str, Any]]:
        """What it runs with; None where the daemon knows that."""
        used = {name: _plain(value) for name, value in self.params.items()}
        return None if _placed(used) == _placed(self._told) else used

    def report(self, value: float, step: int) -> None:
        """What the objective is after this step; for pruning, and as a curve in the dashboard. The value of the trial is what
        the objective function returns."""
        number, step = float(value), int(step)
        if not self._pruned:
            self._last = (step, number)
            self._study._tell(self, {self._study.metrics[0]: number}, step=step, more=True)

    def should_prune(self) -> bool:
        """True when the search gave this trial up, or a user stopped it: raise sluice.Pruned then."""
        if not self._pruned:
            self._note(self._study.client.show(self.id)["state"])
        return self._pruned

    def _note(self, state: str) -> None:
        self._pruned = state in _GIVEN_UP
        if self._pruned:
            self.state = state
            self.values = [self._last[1]] if self._last else None


class FrozenTrial(Dict[str, Any]):
    """A trial as the daemon keeps it: the map of its task, with some of Optuna's names."""

    def __init__(self, task: Mapping[str, Any], choices: Optional[Mapping[str, Mapping[Any, Any]]] = None) -> None:
        super().__init__(task)
        self._choices = choices or {}

    @property
    def number(self) -> int:
        """The number of its task, from 1 on."""
        return self["number"]

    @property
    def state(self) -> str:
        """ "finished", "pruned", "error", "stopped", "running" or "waiting"."""
        return self["state"]

    @property
    def params(self) -> Dict[str, Any]:
        """What it suggested. A choice that is stored as a text is itself again where this process has suggested it."""
        return {name: self._choices.get(name, {}).get(value, value) for name, value in self["parameters"].items()}

    @property
    def value(self) -> Optional[float]:
        """What the objective function returned; of a pruned trial its last report."""
        last = self["last"] if self["state"] in ("finished", "pruned") else None
        return float(last["value"]) if last else None


def _plain(value: Any) -> Any:
    """As JSON and the daemon have it."""
    if isinstance(value, (bool, int, str)):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else repr(value)


def _place(value: Any) -> Any:
    """A value to compare by: to Python 1 and True are equal, as choices they are not."""
    return (isinstance(value, bool), value)


def _places(values: Sequence[Any]) -> List[Any]:
    return [_place(value) for value in values]


def _placed(values: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: _place(value) for name, value in values.items()}


def _shape(parameter: Any) -> Any:
    """A parameter so that two spellings of one range are equal."""
    if not isinstance(parameter, dict):
        return _places(parameter if isinstance(parameter, (list, tuple)) else [parameter])
    if "values" in parameter or "value" in parameter:
        return _places(parameter.get("values", [parameter.get("value")]))
    return (parameter.get("min"), parameter.get("max"), parameter.get("step") or None, parameter.get("scale") or "linear")


def _has(parameter: Dict[str, Any], value: Any) -> bool:
    if "values" in parameter:
        return _place(value) in _places(parameter["values"])
    return not isinstance(value, (bool, str)) and parameter["min"] <= value <= parameter["max"]


def _numbers(metrics: Sequence[str], values: Any) -> Dict[str, float]:
    """What an objective function returned, by metric."""
    if values is None:
        raise ValueError("the objective function returned None; let it return a number, or raise sluice.Pruned")
    try:
        numbers = [float(value) for value in ([values] if isinstance(values, str) or not hasattr(values, "__iter__") else values)]
    except (TypeError, ValueError):
        raise ValueError(f"the objective function returned {values!r}, which is not a number") from None
    if len(numbers) != len(metrics):
        raise ValueError(f"the objective function returned {len(numbers)} values for {len(metrics)} directions")
    return dict(zip(metrics, numbers))


class Study:
    """Trials of one objective function. Made by create_study or load_study."""

    def __init__(self, client: Client, experiment: str, metrics: List[str], space: Optional[Space], seed: Optional[int],
                 open_ended: bool = True) -> None:
        self.client = client
        self.metrics = metrics
        self.id = experiment
        self._space: Space = dict(space or {})
        self._seed = seed
        self._open_ended = open_ended  # False: an experiment with a fixed number of tasks
        self._lock = threading.RLock()
        self._queue: List[Dict[str, Any]] = []  # enqueued with parameters that the daemon does not know
        self._choices: Dict[str, Dict[Any, Any]] = {}  # by name, what is stored as a text: {"None": None}
        self._stopping = False

    def __repr__(self) -> str:
        return f"Study({self.id}, {', '.join(self.metrics)})"

    # What Trial uses.

    def _declared(self) -> List[str]:
        """The parameters that every trial has, whether its function asks for them or not."""
        with self._lock:
            return [name for name, one in self._space.items() if not (isinstance(one, dict) and one.get("optional"))]

    def _know(self, name: str, wanted: Dict[str, Any]) -> Any:
        """The parameter as the study has it. One that no trial had is added: other trials may do without it."""
        with self._lock:
            if name not in self._space:  # another process may have added it
                self._space.update(self.client.show(self.id)["spec"].get("parameters") or {})
            if name not in self._space:
                try:
                    self.client.change(self.id, parameters={name: {**wanted, "optional": True}}, add=True)
                    self._space[name] = {**wanted, "optional": True}
                except Problem:  # another process may have been faster; its range is compared with ours
                    self._space.update(self.client.show(self.id)["spec"].get("parameters") or {})
                    if name not in self._space:
                        raise
            return self._space[name]

    def _draw(self, wanted: Dict[str, Any], number: int, name: str) -> Any:
        """A value for a parameter that the search did not know when it proposed the trial."""
        drawn = random.Random() if self._seed is None else random.Random(f"{self._seed}/{number}/{name}")
        if "values" in wanted:
            return drawn.choice(wanted["values"])
        low, high, step = wanted["min"], wanted["max"], wanted.get("step")
        if wanted.get("scale") == "log":
            value = min(high, max(low, math.exp(drawn.uniform(math.log(low), math.log(high)))))
            return int(round(value)) if wanted["type"] == "int" else value
        if wanted["type"] == "int":
            return drawn.randrange(low, high + 1, step or 1)
        return low + step * drawn.randrange(int((high - low) / step + 1e-9) + 1) if step else drawn.uniform(low, high)

    # Trials one by one.

    def ask(self) -> Trial:
        """The next trial, to be told with tell(). Raises StopIteration where the search has nothing left (a grid that is
        done)."""
        self._claim(1)
        return self._ask()

    def _claim(self, trials: int, more: bool = False, worker: Optional[Mapping[str, Any]] = None) -> None:
        if self._open_ended:
            self.client.claim(self.id, trials, more, worker)

    def _ask(self, worker: Optional[Mapping[str, Any]] = None) -> Trial:
        task = self.client.ask(self.id, worker)
        if task is None:
            raise StopIteration("the search has proposed every configuration, or the study was stopped")
        with self._lock:
            return Trial(self, task, self._queue.pop(0) if self._queue else None)

    def tell(self, trial: Trial, values: Optional[Values] = None, failed: Optional[str] = None, pruned: bool = False) -> None:
        """What a trial gave: a number (or one for each direction); or failed: why it gave none; or pruned=True: it was given
        up, and its last report counts. A trial that gave NaN has failed. A Problem where the daemon refuses it: the trial
        still runs then, and may be told again, or failed; but for status 404: it is not there any more."""
        try:
            self._end(trial, values, failed, pruned)
        except Problem as problem:
            if problem.status == 404:
                raise
            raise problem.with_note(f"trial {trial.number} still runs: tell it again, or tell(trial, failed=\"why\")") from None

    def _end(self, trial: Trial, values: Optional[Values], failed: Optional[str] = None, pruned: bool = False) -> None:
        numbers = _numbers(self.metrics, values) if failed is None and not pruned else None
        if numbers and any(math.isnan(number) for number in numbers.values()):
            numbers, failed = None, "the objective function returned NaN"
        step = None
        if numbers and trial._last and trial._last[1] == numbers[self.metrics[0]]:
            step = trial._last[0]  # it is the end of the curve, not another point
        self._tell(trial, numbers, step=step, failed=failed, pruned=pruned and failed is None)
        if not trial._pruned:
            trial.state = "error" if failed is not None else "pruned" if pruned else "finished"
            trial.values = list(numbers.values()) if numbers else [trial._last[1]] if pruned and trial._last else None

    def _tell(self, trial: Trial, numbers: Optional[Mapping[str, float]], more: bool = False, **what: Any) -> None:
        """The search may have given the trial up since it was last looked at."""
        if trial._pruned:
            return
        used = trial._used()
        try:
            task = self.client.tell(trial.id, numbers, more=more, parameters=used, **what)
        except Problem:
            if trial.should_prune():
                return
            if used is None or what.get("failed") is None:
                raise
            self.client.tell(trial.id, **what)  # what it ran with is what was refused
        else:
            trial._told = trial._told if used is None else used
            if more:
                trial._note(task["state"])

    def enqueue(self, **params: Any) -> None:
        """A configuration that is tried next, before those of the search. What it leaves out is drawn."""
        self.enqueue_trial(params)

    def enqueue_trial(self, params: Mapping[str, Any]) -> None:
        """enqueue() with Optuna's name: the parameters as a map. The daemon keeps the trial, and any process may run it; one
        with parameters that no trial had so far, or without some of a declared space, is kept and run by this object."""
        with self._lock:
            self._space.update(self.client.show(self.id)["spec"].get("parameters") or {})
            if all(name in self._space for name in params) and all(name in params for name in self._declared()) and params:
                self.client.suggest(self.id, **{name: _plain(value) for name, value in params.items()})
            else:
                self._queue.append(dict(params))

    # All of them.

    def optimize(self, objective: Callable[[Trial], Values], n_trials: Optional[int] = None, timeout: Optional[float] = None,
                 n_jobs: int = 1, catch: Union[Type[BaseException], Tuple[Type[BaseException], ...]] = (),
                 callbacks: Optional[Sequence[Callable[["Study", Trial], None]]] = None) -> None:
        """Calls objective(trial) n_trials times, n_jobs at a time in threads; without n_trials until the timeout (seconds) has
        passed or stop() is called. It returns a number to minimise or maximise (a list of them for several directions), or
        raises sluice.Pruned. `catch`: exceptions that fail a trial without ending the study. Other processes may work on
        the same study, each with its own n_trials: load_study(id).optimize(...). Where this process is killed, the trials that
        it ran have failed, and those that it had not begun are not waited for: a daemon on the same machine notices that. What
        was begun before that daemon was last started runs on until `sluice stop`."""
        self._stopping = False
        end = math.inf if timeout is None else time.monotonic() + timeout
        claims = _Claims(self, n_trials, n_jobs)

        def work() -> None:
            try:
                while not self._stopping and time.monotonic() < end and claims.take():
                    try:
                        trial = self._ask(_worker.describe())  # its result is told by this call
                    except StopIteration:
                        claims.forget()
                        return
                    self._run(objective, trial, catch)
                    for callback in callbacks or ():
                        callback(self, trial)
            except BaseException:
                self._stopping = True
                raise

        try:
            if n_jobs == 1:
                work()
                return
            with ThreadPoolExecutor(n_jobs) as pool:
                try:
                    for future in [pool.submit(work) for _ in range(n_jobs)]:
                        future.result()
                except BaseException:
                    self._stopping = True
                    raise
        finally:
            claims.give_back()

    def _run(self, objective: Callable[[Trial], Values], trial: Trial,
             catch: Union[Type[BaseException], Tuple[Type[BaseException], ...]]) -> None:
        try:
            values = objective(trial)
            if not trial._pruned:
                _numbers(self.metrics, values)
        except Pruned:
            self.tell(trial, pruned=True)
        except catch as error:
            self.tell(trial, failed=f"{type(error).__name__}: {error}")
        except BaseException as error:
            self._stopping = True
            self.tell(trial, failed=f"{type(error).__name__}: {error}")
            raise
        else:
            if not trial._pruned:
                self._end_or_fail(trial, values)

    def _end_or_fail(self, trial: Trial, values: Values) -> None:
        """A trial whose result is refused does not run for ever. What the daemon only cannot take now is told again for a while;
        its trial then goes on, and its value is in the message."""
        end, pause = time.monotonic() + _TELL_AGAIN_S, 0.5
        while True:
            try:
                return self._end(trial, values)
            except Problem as problem:
                if problem.status in (400, 422):
                    self._stopping = True
                    self._end(trial, None, failed=f"its result was refused: {problem}")
                    raise problem.with_note(f"trial {trial.number} was ended as failed") from None
                left = end - time.monotonic()
                if left <= 0 or not (problem.status == 409 or problem.status >= 500):
                    self._stopping = True
                    if problem.status == 404:
                        raise
                    raise problem.with_note(f"trial {trial.number} still runs, and gave {values!r}: tell it again, with "
                                            f"client.tell({trial.id!r}, ...)") from None
                time.sleep(min(pause, left))
                pause *= 2

    def stop(self) -> None:
        """Ends optimize() after the trials that run now. For callbacks."""
        self._stopping = True

    # Looking.

    @property
    def trials(self) -> List[FrozenTrial]:
        """Every trial: the map of its task (parameters, state, best, cost), with .number, .params, .state and .value."""
        return [FrozenTrial(task, self._choices) for task in self.client.tasks(self.id)]

    @property
    def best_trial(self) -> FrozenTrial:
        """The best trial of those that finished."""
        if len(self.metrics) > 1:
            raise ValueError("with several directions no trial is the best; see best_trials")
        best = self.client.request("GET", f"/experiments/{self.id}/tasks?sort=best&limit=1&state=finished")["items"]
        if not best:
            raise ValueError("no trial has finished yet")
        return FrozenTrial(best[0], self._choices)

    @property
    def best_params(self) -> Dict[str, Any]:
        """What the best trial suggested."""
        return self.best_trial.params

    @property
    def best_value(self) -> float:
        """What the objective function returned in the best trial."""
        value = self.best_trial.value
        assert value is not None
        return value

    @property
    def best_trials(self) -> List[Dict[str, Any]]:
        """With several directions, the trials that no other one beats in all of them: maps with task, values, parameters."""
        front = self.client.analysis(self.id)["fronts"][0]
        return [point for point in front["points"] if point["front"]]

    def importance(self) -> Dict[str, float]:
        """How much each parameter matters; the shares sum to 1. Only trials that had a parameter count for it."""
        return {one["parameter"]: one["importance"] for one in self.client.analysis(self.id)["importance"]}

    def table(self) -> Table:
        """The trials as a table; .to_pandas() and .to_polars() make frames."""
        return table_of(self.trials)


class _Claims:
    """The trials that one optimize() has announced to the daemon and not asked for yet."""

    def __init__(self, study: Study, trials: Optional[int], jobs: int) -> None:
        self._study, self._endless, self._jobs = study, trials is None, jobs
        self._left = 0
        if trials is None or trials > 0:
            self._claim(_AHEAD if trials is None else trials)

    def _claim(self, trials: int, more: bool = False) -> None:
        self._study._claim(trials, more, _worker.describe())
        self._left += trials

    def _claim_more(self) -> None:
        try:
            self._claim(max(_AHEAD, self._jobs), True)
        except Problem as problem:
            if problem.status != 409:
                raise
            self.forget()  # it was stopped

    def take(self) -> bool:
        with self._study._lock:
            if self._endless and self._left <= self._jobs:
                self._claim_more()
            if self._left <= 0:
                return False
            self._left -= 1
            return True

    def forget(self) -> None:
        """The daemon has nothing left to give, and no claim either."""
        with self._study._lock:
            self._left, self._endless = 0, False

    def give_back(self) -> None:
        """So that the study is not waited for."""
        left, self._left = self._left, 0
        if left > 0:
            self._study._claim(-left, worker=_worker.describe())


def create_study(name: Optional[str] = None, direction: str = "minimize", directions: Optional[Sequence[str]] = None,
                 space: Optional[Mapping[str, Any]] = None, strategy: str = "auto", tasks: Optional[int] = None,
                 prune: Optional[Any] = None, seed: Optional[int] = None, metrics: Optional[Sequence[str]] = None,
                 client: Optional[Client] = None) -> Study:
    """A new study. `direction` is "minimize" or "maximize" (`directions` for several objectives, `metrics` their names).

    With `space`, the parameters as in an experiment file, the search knows them from the first trial on, with conditions
    and constraints of its own, and no configuration is tried twice. Without it they are those that the trials suggest: a
    parameter is added when a trial first suggests it (its value is drawn at random in that trial), and a trial has those
    that it suggested. `strategy` and `prune` are those of an experiment file. `tasks`: about how many trials the strategy
    plans for; how many there are, optimize() says."""
    goals = [_goal(one) for one in (directions or [direction])]
    names = list(metrics or (["value"] if len(goals) == 1 else [f"value_{i}" for i in range(len(goals))]))
    if len(names) != len(goals):
        raise ValueError(f"{len(names)} metrics for {len(goals)} directions")
    if strategy == "grid" and not space:
        raise ValueError("a grid needs its values before the first trial: give create_study a space")
    body: Dict[str, Any] = {
        "name": name or "study", "command": ["true"], "resources": {"backend": "external"},
        "objective": [{"metric": metric, "goal": goal, "take": "last"} for metric, goal in zip(names, goals)],
        "search": {"strategy": strategy, "open": True, **({} if space else {"duplicates": True}),
                   **({"tasks": tasks} if tasks else {}), **({"seed": seed} if seed is not None else {})},
        "parameters": dict(space or {}), **({"prune": prune} if prune is not None else {}),
        "stop": {"failures": "off"},  # who calls the function decides what a failure means: `catch`
    }
    client = client or Client()
    return Study(client, client.run(body)["id"], names, body["parameters"], seed)


def _goal(direction: str) -> str:
    goals = {"minimize": "min", "maximize": "max", "min": "min", "max": "max"}
    if direction not in goals:
        raise ValueError(f"{direction!r} is not a direction; write 'minimize' or 'maximize'")
    return goals[direction]


def load_study(id: str, client: Optional[Client] = None, seed: Optional[int] = None) -> Study:
    """A study that exists, by its id ("e12") or its name (the newest of that name); several processes may work on one. An
    experiment of a file with the backend `external` is a study too, which ends when its tasks are done."""
    client = client or Client()
    found = [one["id"] for one in client.experiments() if one["id"] == id or one["name"] == id]
    if not found:
        raise ValueError(f"there is no study {id!r}")
    shown = client.show(found[0])
    spec = shown["spec"]
    return Study(client, found[0], [one["metric"] for one in shown["objective"]], spec.get("parameters"), seed,
                 bool((spec.get("search") or {}).get("open")))
