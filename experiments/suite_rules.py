# experiments/suite_rules.py JOURNAL... - false alarms and misses of three rules on recorded gates of examples/ci.
#
# Prints markdown. A journal whose name begins with "planted" has the five planted changes, and any other one none.
# compare.py of Google Benchmark: Mann & Whitney's U test at 0.05 for each benchmark, two-sided. nvbench_compare: the
# means differ by more than the smaller relative standard deviation of the two. Both get each fresh run of the first 14
# rounds as one repetition.
import functools
import json
import os
import sqlite3
import statistics
import sys

PLANTED = {"sum/1024", "dot/256", "fnv/512", "scan/2048", "poly/1024"}
ROUNDS = 14


@functools.cache
def ways(n, m, u):
    """In how many orders of n and m values exactly u pairs are inverted."""
    if u < 0:
        return 0
    if n == 0 or m == 0:
        return int(u == 0)
    return ways(n - 1, m, u - m) + ways(n, m - 1, u)


def u_test(a, b):
    """The exact two-sided p without ties; half a pair for each tie."""
    u = sum((x > y) + 0.5 * (x == y) for x in a for y in b)
    least = int(min(u, len(a) * len(b) - u))
    total = sum(ways(len(a), len(b), k) for k in range(len(a) * len(b) + 1))
    return min(1, 2 * sum(ways(len(a), len(b), k) for k in range(least + 1)) / total)


def differs_by_nvbench(a, b):
    means = [statistics.mean(side) for side in (a, b)]
    noise = min(statistics.stdev(side) / mean for side, mean in zip((a, b), means))
    return abs(means[1] - means[0]) / means[0] > noise


def runs_of(journal, comparison):
    """The values of A and of B by benchmark, over the first rounds."""
    sides = {}
    query = "SELECT candidate_in_slot0, runs FROM round WHERE comparison = ? AND void_why = '' ORDER BY id"
    for b_first, runs in journal.execute(query, (comparison,)).fetchall()[:ROUNDS]:
        for place, run in enumerate(json.loads(runs)):
            for name, value in run:
                sides.setdefault(name, ([], []))[place ^ b_first].append(value)
    return sides


def column(journal, query, *values):
    return [row[0] for row in journal.execute(query, values)]


def print_rows(path):
    name = os.path.splitext(os.path.basename(path))[0]
    planted = PLANTED if name.startswith("planted") else set()
    journal = sqlite3.connect(path)
    found = {"apo gate": [], "U test at 0.05": [], "nvbench_compare": []}
    suites = column(journal, "SELECT comparison FROM comparison_verdict WHERE rounds > 0")
    for suite in suites:
        sides = runs_of(journal, suite)
        found["apo gate"].append(set(column(journal, "SELECT metric FROM comparison_figure WHERE comparison = ?"
                                            " AND finding IN ('worse', 'better')", suite)))
        found["U test at 0.05"].append({one for one, (a, b) in sides.items() if u_test(a, b) < 0.05})
        found["nvbench_compare"].append({one for one, (a, b) in sides.items() if differs_by_nvbench(a, b)})
    for rule, sets in found.items():
        false = [len(one - planted) for one in sets]
        missed = sum(len(planted - one) for one in sets)
        print(f"| {name} | {len(suites)} | {rule} | {sum(number > 0 for number in false)} | {sum(false)} "
              f"| {missed} of {len(planted) * len(suites)} |")


print("| suites | number | rule | with a false alarm | false alarms | planted and missed |\n|---|---|---|---|---|---|")
for file in sys.argv[1:]:
    print_rows(file)
