"""How much searches find with the same number of tasks, beside Optuna and DEHB. How long they take: bench/ask.

    bench/search/run quality [--tasks 100] [--parallel 4] [--seeds 0:20] [--noisy | --held | --problem NAME...] [--method NAME...]
    bench/search/run table [--tasks 100] [--noisy] [--plot FILE]
    bench/search/run keep
    bench/search/run many [--tasks 100] [--held]      # several objectives: see many.py

`quality` adds to build/search-quality.csv, one line a run: it can be stopped and goes on where it was, and runs
only what is not there with the present version of the library or of our code. `keep` puts the runs of the other
libraries into bench/search/peers.csv, so that they are not run again where only ours changed. `table` shows what is in it, in
Markdown: the median regret of every method on every problem, mean ranks, where `auto` wins and loses, and a plot."""
import argparse
import pathlib
import sys
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench/search"))
sys.path.insert(0, str(ROOT / "bench"))

warnings.simplefilter("ignore")


def span(text):
    first, _, last = text.rpartition(":")
    return range(int(first or 0), int(last))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["quality", "table", "keep", "many"])
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--seeds", type=span, default=range(20), help="20, or 100:110")
    parser.add_argument("--problem", action="append", help="may be given more than once, like --method")
    parser.add_argument("--noisy", action="store_true", help="the problems with noise, instead of those without")
    parser.add_argument("--method", action="append", help="a name, or the beginning of names")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "build/search-quality.csv")
    parser.add_argument("--plot", type=pathlib.Path, help="table: an SVG file")
    parser.add_argument("--held", action="store_true", help="the problems that are held back, with their own seeds: never to tune on")
    args = parser.parse_args()
    import held
    import quality
    if args.held:
        args.seeds = held.SEEDS[:len(args.seeds)]
    if args.what == "many":
        import many
        many.report(args)
        return
    if args.what == "keep":
        quality.keep(args)
        return
    if args.what == "quality":
        quality.measure(args)
    quality.report(args)


main()
