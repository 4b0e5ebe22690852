"""Measures scikit-learn models on the sets that come with it (digits, diabetes, breast cancer) over grids of
hyperparameters, once, into tables.csv: real surfaces that search strategies can be tried on in no time.
Run: python bench/search/make_tables.py [TABLE...]; the tables that are not named stay as they are."""
import csv
import itertools
import pathlib
import sys
import warnings

from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

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


def regression():
    """Mean squared error, five folds, in thousands. Interpolated between: see problems.py."""
    x, y = load_diabetes(return_X_y=True)
    for c, gamma, epsilon in itertools.product(range(16), range(16), range(6)):
        model = SVR(C=10 ** (-1 + 5 * c / 15), gamma=10 ** (-5 + 5 * gamma / 15), epsilon=10 ** (-1 + 3 * epsilon / 5))
        score = cross_val_score(make_pipeline(StandardScaler(), model), x, y, cv=5, scoring="neg_mean_squared_error")
        yield (c, gamma, epsilon), round(-score.mean() / 1000, 5)


def boosting():
    """Log loss, three folds."""
    x, y = load_breast_cancer(return_X_y=True)
    for rate, leaves, least, penalty, share in itertools.product(range(10), [3, 5, 8, 16], [2, 5, 10, 20, 40], range(5), [.3, 1.]):
        model = HistGradientBoostingClassifier(learning_rate=10 ** (-2 + 2 * rate / 9), max_leaf_nodes=leaves, max_iter=60,
                                               min_samples_leaf=least, l2_regularization=10 ** (-2 + penalty),
                                               max_features=share, random_state=0, early_stopping=False)
        yield (rate, leaves, least, penalty, share), round(-cross_val_score(model, x, y, cv=3, scoring="neg_log_loss").mean(), 5)


ALL = [svc, neighbours, forest, network, regression, boosting]
NAMED = sys.argv[1:] or [table.__name__ for table in ALL]
KEPT = [row for row in csv.reader(OUT.open()) if row[0] not in NAMED] if OUT.exists() else []
with OUT.open("w", newline="") as f:
    out = csv.writer(f, lineterminator="\n")
    out.writerows(KEPT)
    for table in ALL:
        if table.__name__ not in NAMED:
            continue
        for key, value in table():
            out.writerow([table.__name__, *key, *(value if isinstance(value, list) else [value])])
            f.flush()
