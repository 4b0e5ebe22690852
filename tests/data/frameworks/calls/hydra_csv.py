"""hydra, with a configuration file beside it and nested names."""

import csv

import hydra
import truth


@hydra.main(version_base=None, config_path=".", config_name="hydra_config")
def main(config):
    assert config.model.hidden == [8, 4] and config.optimizer.name == "adam", config
    rows = [(epoch, config.optimizer.lr / (epoch + 1)) for epoch in range(config.epochs)]
    with open("log.csv", "w", newline="") as table:
        csv.writer(table).writerows([("epoch", "loss"), *rows])
    truth.write({"loss": rows})


main()
