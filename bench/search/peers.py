"""The other libraries of the race, behind ask() and tell() like methods.py. None of the parameters' conditions are known to
pycma, scikit-optimize, HEBO and nevergrad: for them all parameters apply and the function looks at those that count. What
failed is told as the worst value so far to libraries that have no word for it, and as long as there is none, it is told
later."""
import json
import math

from methods import Dehb, Optuna, choices_of, conditions_of


def is_log(p):
    return not choices_of(p) and p.get("scale") == "log"


def is_whole(p):
    return not choices_of(p) and isinstance(p["min"], int)


def active(parameters, values):
    """Only what applies: as the function would be called by a library with conditions."""
    out = {}
    for name, p in parameters.items():
        if all(out.get(parent) == value for parent, value in conditions_of(p).items()):
            out[name] = values[name]
    return out


class Peer:
    """What the peers without failures share: the worst value so far stands for one. What fails before there is any value
    waits for the first: a number that was made up could be the best of all."""
    worst = None

    def tell(self, key, value):
        if math.isnan(value):
            if self.worst is None:
                self.__dict__.setdefault("early", []).append(key)
            else:
                self.learn(key, self.worst)
            return
        self.worst = value if self.worst is None else max(self.worst, value)
        self.learn(key, value)
        for failed in self.__dict__.pop("early", []):
            self.learn(failed, self.worst)

    def close(self):
        pass


class Chance(Peer):
    def __init__(self, problem, tasks, parallel, seed):
        import random
        self.parameters, self.chance = problem.parameters, random.Random(f"chance {seed}")

    def ask(self):
        return None, active(self.parameters, {n: from_unit(p, self.chance.random()) for n, p in self.parameters.items()}), None, None

    def learn(self, key, value):
        pass


def from_unit(p, u):
    """The value of a parameter at a place in the unit interval."""
    u = min(max(u, 0.0), 1.0)
    if choices_of(p):
        return choices_of(p)[min(int(u * len(choices_of(p))), len(choices_of(p)) - 1)]
    low, high, step = p["min"], p["max"], p.get("step", 1)
    if is_log(p):
        v = math.exp(math.log(low) + u * (math.log(high) - math.log(low)))
        return min(max(round(v), low), high) if is_whole(p) else v
    if is_whole(p):
        return low + min(int(u * ((high - low) // step + 1)), (high - low) // step) * step
    return low + u * (high - low)


class Pycma(Peer):
    """On the unit cube from its middle, steps of a quarter. Any lambda results make a generation."""

    def __init__(self, problem, tasks, parallel, seed):
        import cma
        self.parameters = problem.parameters
        dims = len(self.parameters)
        self.es = cma.CMAEvolutionStrategy([.5] * max(dims, 2), .25, {"seed": seed % 2**31 + 1, "bounds": [0, 1], "verbose": -9})
        self.waiting, self.told = [], []

    def ask(self):
        size = self.es.popsize
        if len(self.told) >= size:  # here, because it takes one generation for each time that it was asked
            self.es.tell([x for x, _ in self.told[:size]], [v for _, v in self.told[:size]])
            self.told, self.waiting = self.told[size:], []
            if self.es.stop():
                import cma
                self.es = cma.CMAEvolutionStrategy(self.es.result.xbest, .1, {"seed": len(self.parameters) + 1, "bounds": [0, 1], "verbose": -9})
        if not self.waiting:
            self.waiting = [list(map(float, x)) for x in self.es.ask()]
        x = self.waiting.pop(0)
        return x, active(self.parameters, {n: from_unit(p, u) for (n, p), u in zip(self.parameters.items(), x)}), None, None

    def learn(self, key, value):
        self.told.append((key, value))


class Skopt(Peer):
    def __init__(self, problem, tasks, parallel, seed):
        import numpy as np
        for word, kind in (("int", int), ("float", float), ("bool", bool)):  # it uses names that numpy has dropped
            if word not in np.__dict__:
                setattr(np, word, kind)
        from skopt import Optimizer
        from skopt.space import Categorical, Integer, Real
        self.parameters, dims = problem.parameters, []
        for p in self.parameters.values():
            if choices_of(p):
                dims.append(Categorical(list(range(len(choices_of(p))))))
            elif is_whole(p) and is_log(p):
                dims.append(Integer(p["min"], p["max"], prior="log-uniform"))
            elif is_whole(p):
                dims.append(Integer(0, (p["max"] - p["min"]) // p.get("step", 1)))
            else:
                dims.append(Real(p["min"], p["max"], prior="log-uniform" if is_log(p) else "uniform"))
        self.opt = Optimizer(dims, random_state=seed % 2**31, n_initial_points=10, n_jobs=1)

    def ask(self):
        x = self.opt.ask()
        values = {}
        for (name, p), v in zip(self.parameters.items(), x):
            if choices_of(p):
                v = choices_of(p)[int(v)]
            elif is_whole(p):
                v = int(v) if is_log(p) else p["min"] + int(v) * p.get("step", 1)
            else:
                v = float(v)
            values[name] = v
        return x, active(self.parameters, values), None, None

    def learn(self, key, value):
        self.opt.tell(key, value)


class Hebo(Peer):
    def __init__(self, problem, tasks, parallel, seed):
        import sys
        import types
        for name in ("GPy", "catboost"):  # imported, and used only by models that are not its default
            try:
                __import__(name)
            except ImportError:
                sys.modules[name] = types.ModuleType(name)
                if name == "catboost":
                    sys.modules[name].CatBoostRegressor = sys.modules[name].Pool = object
                else:
                    sys.modules[name].kern = types.SimpleNamespace()
        import numpy as np
        import torch
        from hebo.design_space.design_space import DesignSpace
        from hebo.optimizers.hebo import HEBO
        torch.set_num_threads(1)
        np.random.seed(seed % 2**31)
        torch.manual_seed(seed)
        self.parameters, rows = problem.parameters, []
        for name, p in self.parameters.items():
            if choices_of(p):
                rows.append({"name": name, "type": "cat", "categories": list(range(len(choices_of(p))))})
            elif is_whole(p) and not is_log(p):
                rows.append({"name": name, "type": "int", "lb": 0, "ub": (p["max"] - p["min"]) // p.get("step", 1)})
            else:
                rows.append({"name": name, "type": "pow" if is_log(p) else "num", "lb": float(p["min"]), "ub": float(p["max"])})
        self.opt = HEBO(DesignSpace().parse(rows), scramble_seed=seed % 2**31)

    def ask(self):
        frame = self.opt.suggest(n_suggestions=1)
        row, values = frame.iloc[0], {}
        for name, p in self.parameters.items():
            if choices_of(p):
                values[name] = choices_of(p)[int(row[name])]
            elif is_whole(p):
                values[name] = min(max(round(float(row[name])), p["min"]), p["max"]) if is_log(p) else \
                    p["min"] + int(row[name]) * p.get("step", 1)
            else:
                values[name] = float(row[name])
        return frame, active(self.parameters, values), None, None

    def learn(self, key, value):
        import numpy as np
        self.opt.observe(key, np.array([[value]]))


class Nevergrad(Peer):
    def __init__(self, problem, tasks, parallel, seed):
        import nevergrad as ng
        self.parameters, given = problem.parameters, {}
        for name, p in self.parameters.items():
            if choices_of(p):
                given[name] = ng.p.Choice(list(range(len(choices_of(p)))))
            elif is_log(p):
                given[name] = ng.p.Log(lower=p["min"], upper=p["max"])
            else:
                given[name] = ng.p.Scalar(lower=p["min"], upper=p["max"])
        what = ng.p.Dict(**given)
        what.random_state.seed(seed % 2**31)
        self.opt = ng.optimizers.NGOpt(parametrization=what, budget=tasks, num_workers=parallel)

    def ask(self):
        asked, values = self.opt.ask(), {}
        for name, p in self.parameters.items():
            v = asked.value[name]
            if choices_of(p):
                v = choices_of(p)[int(v)]
            elif is_whole(p):
                step = p.get("step", 1)
                v = p["min"] + round((float(v) - p["min"]) / step) * step
            else:
                v = float(v)
            values[name] = v
        return asked, active(self.parameters, values), None, None

    def learn(self, key, value):
        self.opt.tell(key, float(value))


class Smac(Peer):
    """The facade for hyperparameters (a random forest), with the conditions."""

    def __init__(self, problem, tasks, parallel, seed):
        import logging
        import tempfile
        import ConfigSpace as cs
        import numpy as np
        import sklearn.tree._tree as tree
        if not hasattr(tree, "DTYPE"):  # newer scikit-learn has dropped the names that SMAC 2.4 imports
            tree.DTYPE, tree.DOUBLE = np.float32, np.float64
        from smac import HyperparameterOptimizationFacade as Facade
        from smac import Scenario
        logging.disable(logging.CRITICAL)
        space, self.parameters, made = cs.ConfigurationSpace(seed=seed), problem.parameters, {}
        for name, p in self.parameters.items():
            if choices_of(p):
                made[name] = cs.Categorical(name, [json.dumps(v) for v in choices_of(p)])
            elif is_whole(p) and not is_log(p):
                made[name] = cs.Integer(name, (0, (p["max"] - p["min"]) // p.get("step", 1)))
            elif is_whole(p):
                made[name] = cs.Integer(name, (p["min"], p["max"]), log=True)
            else:
                made[name] = cs.Float(name, (p["min"], p["max"]), log=is_log(p))
        space.add(list(made.values()))
        space.add([cs.EqualsCondition(made[name], made[parent], json.dumps(value))
                   for name, p in self.parameters.items() for parent, value in conditions_of(p).items()])
        self.folder = tempfile.TemporaryDirectory()
        scenario = Scenario(space, n_trials=tasks, deterministic=True, seed=seed, output_directory=self.folder.name)
        self.smac = Facade(scenario, lambda config, seed=0: 0.0, overwrite=True, logging_level=False)

    def ask(self):
        asked = self.smac.ask()
        values = {}
        for name, v in dict(asked.config).items():
            p = self.parameters[name]
            if choices_of(p):
                v = json.loads(str(v))
            elif is_whole(p):
                v = int(v) if is_log(p) else p["min"] + int(v) * p.get("step", 1)
            else:
                v = float(v)
            values[name] = v
        return asked, values, None, None

    def learn(self, key, value):
        from smac.runhistory.dataclasses import TrialValue
        self.smac.tell(key, TrialValue(cost=float(value), time=1.0))

    def close(self):
        self.folder.cleanup()


class OptunaMany(Optuna):
    def __init__(self, problem, seed, sampler):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.study = optuna.create_study(sampler=sampler, directions=["minimize"] * len(problem[3]))
        self.parameters = problem[1]

    def tell(self, trial, values):
        import optuna
        if any(math.isnan(v) for v in values):
            self.study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            self.study.tell(trial, values)


def single_sampler(name, **options):
    def make(problem, tasks, parallel, seed):
        import optuna
        return Optuna(problem, getattr(optuna.samplers, name)(seed=seed, **options))
    return make


def many_sampler(name, **options):
    def make(problem, tasks, parallel, seed):
        import optuna
        return OptunaMany(problem, seed, getattr(optuna.samplers, name)(seed=seed, **options))
    return make


# name: (how it is made, the packages that it needs, whether its proposals depend on the budget, slow)
SINGLE = {
    "optuna default": (single_sampler("TPESampler"), ["optuna"], False, False),
    "optuna tpe univariate": (single_sampler("TPESampler", multivariate=False), ["optuna"], False, False),
    "optuna cmaes": (single_sampler("CmaEsSampler"), ["optuna", "cmaes"], False, False),
    "pycma": (Pycma, ["cma"], False, False),
    "dehb": (lambda problem, tasks, parallel, seed: Dehb(problem, seed), ["dehb"], False, False),
    "nevergrad": (Nevergrad, ["nevergrad"], True, False),
    "random": (Chance, [], False, False),
    "optuna gp": (single_sampler("GPSampler"), ["optuna", "torch", "scipy"], False, True),
    "smac": (Smac, ["smac"], True, True),
    "hebo": (Hebo, ["hebo", "torch", "gpytorch", "pymoo"], False, True),
    "scikit-optimize": (Skopt, ["skopt"], False, True),
}
MANY = {
    "optuna motpe": (many_sampler("TPESampler", multivariate=False), ["optuna"], False, False),
    "optuna motpe multivariate": (many_sampler("TPESampler", multivariate=True), ["optuna"], False, False),
    "optuna nsga2": (many_sampler("NSGAIISampler"), ["optuna"], False, False),
    "optuna gp": (many_sampler("GPSampler"), ["optuna", "torch", "scipy"], False, True),
}
