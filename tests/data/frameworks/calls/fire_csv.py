"""fire, which makes flags of a function's parameters."""

import csv

import fire
import truth


def train(learning_rate=0.1, epochs=3, augment=False, optimizer="sgd"):
    assert (augment, optimizer) == (True, "adam"), (augment, optimizer)
    rows = [(epoch, learning_rate / (epoch + 1)) for epoch in range(epochs)]
    with open("log.csv", "w", newline="") as table:
        csv.writer(table).writerows([("epoch", "loss"), *rows])
    truth.write({"loss": rows})


fire.Fire(train)
