import argparse
RATE = 0.5
p = argparse.ArgumentParser(description="x")
p.add_argument("-l", "--lr", type=float, default=RATE, help="the " "rate")
p.add_argument("--opt", choices=["adam", "sgd"], dest="optimizer")
p.add_argument("--aug", action="store_true")
p.add_argument("--amp", action=argparse.BooleanOptionalAction)
p.add_argument("--sizes", nargs="+", type=int, default=[64, (1)])
args = p.parse_args()
cb = [EarlyStopping(monitor="val_loss", mode="min"), CSVLogger("x.csv")]
