"""Measures scikit-learn models on the digits set over grids of hyperparameters, once, into tables.csv: real
surfaces that search strategies can be tried on in no time. Run: python bench/search/make_tables.py"""
import csv
import itertools
import pathlib
import warnings

from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

warnings.simplefilter("ignore")
X, Y = load_digits(return_X_y=True)
XT, XV, YT, YV = train_test_split(X, Y, test_size=0.5, random_state=0, stratify=Y)
SCALER = StandardScaler().fit(XT)
XT, XV = SCALER.transform(XT), SCALER.transform(XV)
OUT = pathlib.Path(__file__).with_name("tables.csv")


def error(model):
    return round(1 - model.score(XV, YV), 5)


def svc():
    for kernel, c, gamma in itertools.product(["rbf", "poly", "sigmoid"], range(12), range(12)):
        model = SVC(kernel=kernel, C=10 ** (-3 + 6 * c / 11), gamma=10 ** (-5 + 5 * gamma / 11), random_state=0)
        yield (kernel, c, gamma), error(model.fit(XT, YT))


def forest():
    for trees, depth, leaf, features in itertools.product([4, 8, 16, 32, 64], range(2, 15, 2), [1, 2, 4, 8, 16],
                                                          [1, 2, 4, 8, 16, 32]):
        model = RandomForestClassifier(trees, max_depth=depth, min_samples_leaf=leaf, max_features=features,
                                       random_state=0)
        yield (trees, depth, leaf, features), error(model.fit(XT, YT))


def neighbours():
    for k, weights, p, leaf in itertools.product(range(1, 31), ["uniform", "distance"], [1, 2, 3], [0]):
        yield (k, weights, p, leaf), error(KNeighborsClassifier(k, weights=weights, p=p).fit(XT, YT))


def network():
    """With the error after 1, 3, 9 and 27 epochs: a fidelity."""
    for units, rate, batch, alpha in itertools.product([8, 16, 32, 64], range(7), [16, 32, 64, 128], range(3)):
        model = MLPClassifier((units,), learning_rate_init=10 ** (-4 + 3.5 * rate / 6), batch_size=batch,
                              alpha=10 ** (-5 + 2.5 * alpha), random_state=0)
        errors = []
        for epoch in range(1, 28):
            model.partial_fit(XT, YT, classes=range(10))
            if epoch in (1, 3, 9, 27):
                errors.append(error(model))
        yield (units, rate, batch, alpha), errors


with OUT.open("w", newline="") as f:
    out = csv.writer(f, lineterminator="\n")
    for table in (svc, neighbours, forest, network):
        for key, value in table():
            out.writerow([table.__name__, *key, *(value if isinstance(value, list) else [value])])
            f.flush()
