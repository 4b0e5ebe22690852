"""click, with a switch and a choice, and a table of its own."""

import csv

import click
import truth


@click.command()
@click.option("--learning-rate", type=float, required=True)
@click.option("--augment/--no-augment", default=False)
@click.option("--optimizer", type=click.Choice(["sgd", "adam"]), default="sgd")
@click.option("--epochs", default=3)
def main(learning_rate, augment, optimizer, epochs):
    assert (augment, optimizer) == (True, "adam")
    rows = [(epoch, learning_rate / (epoch + 1)) for epoch in range(epochs)]
    with open("log.csv", "w", newline="") as table:
        csv.writer(table).writerows([("epoch", "loss"), *rows])
    truth.write({"loss": rows})


main()
