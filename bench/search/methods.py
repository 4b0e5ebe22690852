"""What is compared: sluice's strategies, Optuna's samplers and DEHB, all behind ask() and tell()."""
import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import math
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def choices_of(parameter):
    """The values of a parameter that has a list of them, or None."""
    return parameter if isinstance(parameter, list) else parameter.get("values")


def conditions_of(parameter):
    return {} if isinstance(parameter, list) else parameter.get("when", {})


class Sluice:
    """bench/search/asktell.c behind two methods."""

    def __init__(self, problem, strategy, tasks, parallel, seed, fidelity=False, options=None):
        parameters = dict(problem.parameters)
        if fidelity:
            parameters["epochs"] = problem.epochs
        search = {"strategy": strategy, "tasks": tasks, "parallel": parallel, "seed": seed, **(options or {})}
        args = [self.program(), json.dumps(parameters), json.dumps(search)]
        if fidelity:
            args.append(json.dumps({"parameter": "epochs", "min": 1, "max": problem.epochs}))
        self.child = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.next, self.levels = 1, {}

    @staticmethod
    def program():
        """Another build of it, where SEARCH_ASKTELL names one: to compare before and after."""
        return os.environ.get("SEARCH_ASKTELL", str(ROOT / "build/bench/bench/search-asktell"))

    def say(self, line):
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()

    def ask(self):
        """(key, values, epochs, epochs to pay for), or None: wait or done."""
        self.say(f"ask {self.next}")
        answer = self.child.stdout.readline().strip()
        if not answer.startswith("{"):
            return None
        answer, key = json.loads(answer), self.next
        self.next += 1
        answer["values"].pop("epochs", None)
        epochs = answer["fidelity"]
        self.levels[key] = epochs
        paid = epochs - self.levels.get(answer["continues"], 0) if epochs and answer["continues"] >= 0 else epochs
        return key, answer["values"], epochs, paid

    def tell(self, key, value):
        self.say(f"tell {key} {value!r}")

    def strategy(self):
        """What was chosen, where `auto` was asked for."""
        self.say("strategy")
        return self.child.stdout.readline().strip()

    def time(self):
        self.say("time")
        return float(self.child.stdout.readline())

    def close(self):
        self.child.stdin.close()
        self.child.wait()


class Optuna:
    def __init__(self, problem, sampler, storage=None):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.study = optuna.create_study(sampler=sampler, storage=storage)
        self.parameters = problem.parameters

    def ask(self):
        trial = self.study.ask()
        values = {}
        for name, p in self.parameters.items():
            if any(values.get(parent) != value for parent, value in conditions_of(p).items()):
                continue
            if choices_of(p):
                values[name] = trial.suggest_categorical(name, choices_of(p))
                continue
            log = p.get("scale") == "log"
            if isinstance(p["min"], int):
                values[name] = trial.suggest_int(name, p["min"], p["max"], step=p.get("step", 1), log=log)
            else:
                values[name] = trial.suggest_float(name, p["min"], p["max"], log=log)
        return trial, values, None, None

    def tell(self, trial, value):
        import optuna
        if math.isnan(value):
            self.study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            self.study.tell(trial, value)

    def close(self):
        pass


class Dehb:
    """DEHB knows no conditions: all parameters apply, the function looks at those that count."""

    def __init__(self, problem, seed, fidelity=False, population=None):
        import ConfigSpace as cs
        from dehb import DEHB
        from loguru import logger
        logger.remove()

        class Space(cs.ConfigurationSpace):
            """DEHB asks for numpy.int64(10) configurations, which ConfigSpace refuses."""

            def sample_configuration(self, size=None):
                return super().sample_configuration(None if size is None else int(size))

        space = Space(seed=seed)
        for name, p in problem.parameters.items():
            if choices_of(p):
                space.add(cs.Categorical(name, [json.dumps(v) for v in choices_of(p)]))
            elif isinstance(p["min"], int):
                step = p.get("step", 1)
                count = (p["max"] - p["min"]) // step
                if p.get("scale") == "log":
                    space.add(cs.Integer(name, (p["min"], p["max"]), log=True))
                else:
                    space.add(cs.Integer(name, (0, count)))
            else:
                space.add(cs.Float(name, (p["min"], p["max"]), log=p.get("scale") == "log"))
        self.parameters, most = problem.parameters, problem.epochs if fidelity else 1.0001
        folder = ROOT / "build/dehb"
        self.dehb = DEHB(cs=space, min_fidelity=1, max_fidelity=most, eta=3, n_workers=1, seed=seed,
                         min_clip=population, max_clip=population, output_path=str(folder), save_freq=None)
        self.fidelity = fidelity

    def ask(self):
        job = self.dehb.ask()
        values = {}
        for name, v in dict(job["config"]).items():
            p = self.parameters[name]
            if choices_of(p):
                v = json.loads(str(v))
            elif isinstance(p["min"], int) and p.get("scale") != "log":
                v = p["min"] + int(v) * p.get("step", 1)
            elif isinstance(p["min"], int):
                v = int(v)
            values[name] = v
        return job, values, job["fidelity"] if self.fidelity else None, job["fidelity"] if self.fidelity else None

    def tell(self, job, value):
        self.dehb.tell(job, {"fitness": 1e6 if math.isnan(value) else value, "cost": 1})

    def close(self):
        pass


def optuna_sampler(name, **options):
    def make(problem, tasks, parallel, seed):
        import optuna
        return Optuna(problem, getattr(optuna.samplers, name)(seed=seed, **options))
    return make


def sluice(strategy, **options):
    return lambda problem, tasks, parallel, seed: Sluice(problem, strategy, tasks, parallel, seed, options=options)


# Optuna's default (5.0) is multivariate TPE with running trials counted as bad.
METHODS = {
    "optuna default": optuna_sampler("TPESampler"),
    "optuna tpe univariate": optuna_sampler("TPESampler", multivariate=False),
    "optuna tpe group": optuna_sampler("TPESampler", multivariate=True, group=True, constant_liar=True),
    "optuna cmaes": optuna_sampler("CmaEsSampler"),
    "optuna gp": optuna_sampler("GPSampler"),
    # Without a fidelity its population is one. That is how it comes; the other has what our own evolutionary
    # strategies take, a twentieth of the tasks.
    "dehb": lambda problem, tasks, parallel, seed: Dehb(problem, seed),
    "dehb population": lambda problem, tasks, parallel, seed: Dehb(problem, seed, population=max(10, tasks // 20)),
    **{f"sluice {name}": sluice(name) for name in (
        "auto", "tpe", "gp", "cmaes", "de", "jde", "shade", "lshade", "jso", "dish", "random", "sobol")},
}
# At the same number of epochs in all; what was best at full length counts.
FIDELITY_METHODS = {
    "sluice asha": lambda p, tasks, parallel, seed: Sluice(p, "asha", 40 * tasks, parallel, seed, True),
    "sluice dehb": lambda p, tasks, parallel, seed: Sluice(p, "dehb", 40 * tasks, parallel, seed, True),
    "dehb fidelity": lambda p, tasks, parallel, seed: Dehb(p, seed, True),
}


def is_there(method):
    """Optuna's Gaussian process wants PyTorch, which is not in requirements.txt (gigabytes)."""
    needs = ["torch"] if method == "optuna gp" else ["optuna"] if method.startswith("optuna") else \
        ["dehb"] if method.startswith("dehb") else []
    return all(importlib.util.find_spec(name) for name in needs)


def twin_of(method, problem, tasks, parallel):
    """A method that proposes exactly the same, so that one of both need not be run."""
    conditions = any(conditions_of(p) for p in problem.parameters.values())
    if method == "optuna tpe group" and not conditions:
        return "optuna default"
    if method == "sluice gp":
        search = Sluice(problem, "auto", tasks, parallel, 0)
        chosen = search.strategy()
        search.close()
        return "sluice auto" if chosen == "gp" else None
    return None


@functools.cache
def version(method):
    """What a result was made with: it stands until this changes. Ours is the code of the search itself."""
    if not method.startswith("sluice"):
        return importlib.metadata.version("optuna" if method.startswith("optuna") else "DEHB")
    code = hashlib.sha256()
    for folder in ("src/search", "src/space"):
        for path in sorted((ROOT / folder).glob("*.[ch]")):
            code.update(path.read_bytes())
    return code.hexdigest()[:8]
