"""absl, with flags of every type."""

import csv

import truth
from absl import app, flags

FLAGS = flags.FLAGS
flags.DEFINE_float("learning_rate", 0.1, "rate")
flags.DEFINE_integer("epochs", 3, "epochs", lower_bound=1)
flags.DEFINE_bool("augment", False, "augment")
flags.DEFINE_enum("optimizer", "sgd", ["sgd", "adam"], "which")


def main(_):
    assert (FLAGS.augment, FLAGS.optimizer) == (True, "adam")
    rows = [(epoch, FLAGS.learning_rate / (epoch + 1)) for epoch in range(FLAGS.epochs)]
    with open("log.csv", "w", newline="") as table:
        csv.writer(table).writerows([("epoch", "loss"), *rows])
    truth.write({"loss": rows})


app.run(main)
