"""Two outputs of search-tune side by side, seeds paired.

    compare.py BEFORE AFTER [LEAST]

The mean over the runs of log10 (regret after / regret before), at most a factor of 100 each way, so below 0 is better; and
in how many runs it was better and worse by more than a hundredth. A log10 below LEAST counts as LEAST: whether a search of a
finite space met the very best is chance, and would outweigh all else."""
import collections
import sys


def read(path, least):
    runs = {}
    with open(path) as f:
        for line in f:
            kind, seed, regret, cpu = line.split()
            runs[kind, int(seed)] = max(least, float(regret)), float(cpu)
    return runs


def main():
    least = float(sys.argv[3]) if len(sys.argv) > 3 else -9
    before, after = read(sys.argv[1], least), read(sys.argv[2], least)
    both = [key for key in before if key in after]
    kinds = collections.defaultdict(list)
    for key in both:
        kinds[key[0]].append(max(-2, min(2, after[key][0] - before[key][0])))
    for kind, changes in kinds.items():
        print(f"{kind:12} {sum(changes) / len(changes):+.3f}  better {sum(c < -.01 for c in changes)}, worse {sum(c > .01 for c in changes)}")
    means = [sum(c) / len(c) for c in kinds.values()]
    every = [c for changes in kinds.values() for c in changes]
    deviation = (sum((c - sum(every) / len(every)) ** 2 for c in every) / max(1, len(every) - 1) / len(every)) ** .5
    print(f"all          {sum(means) / len(means):+.3f} ± {deviation:.3f}  better {sum(c < -.01 for c in every)}, "
          f"worse {sum(c > .01 for c in every)} of {len(every)}; "
          f"CPU {sum(before[k][1] for k in both) / len(both):.2f} -> {sum(after[k][1] for k in both) / len(both):.2f} ms")


if __name__ == "__main__":
    main()
