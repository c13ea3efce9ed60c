#!/usr/bin/env python3
"""experiments/search_peers.py - Kernel Tuner's search strategies on recorded spaces, beside apo's.

    python3 experiments/search_peers.py experiments/nvidia-h200/spaces/*.json

Needs `pip install kernel_tuner` (1.4.0 was used). Each strategy runs in Kernel Tuner's simulation mode with its default
options. Its parameters are those of the file with their values in ascending order, its restriction is that the file holds
the configuration, and its times are the file's (1 / speedup, where that was measured). Counted are the different
configurations that it evaluates until one takes at most 1.05 times as long as the best, as `apo research --replay` counts
them. A strategy that ends by itself before has not found one: such a run counts as the slowest. The evaluations of
`--budget` (`max_fevals`) are all of the space unless given; annealing cools down over them.

diff_evo evaluates its first population about in the order of the list of all configurations, so that it depends on the order
in which the values of a parameter are listed. `--drawn-order` lists them ascending or descending, drawn for each seed.

`--only STRATEGY...` comes behind the files. For each space there is one table. The last lines name Kernel Tuner's best
strategy and the ratio of the medians. Seeds are those of Python and numpy; strategies that sample by scipy's Latin
hypercubes (bayes_opt, diff_evo) draw anew in each call.
"""
import argparse
import contextlib
import io
import json
import math
import multiprocessing
import random
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy
from kernel_tuner import tune_cache
from kernel_tuner.interface import strategy_map
from kernel_tuner.util import StopCriterionReached

ROOT = Path(__file__).resolve().parent.parent
NEED_PACKAGES = {"skopt", "pyatf_strategies", "nsga2", "nsga3"}  # scikit-optimize, pyatf, pymoo
NO_SEARCH = {"brute_force"}
GOOD = 1.05


def read_costs(path):
    """The parameters' names, and the cost of each configuration as a tuple of values: 1 / speedup, else the time."""
    results = json.loads(path.read_text())["results"]
    if any(result["invalidity"] != "correct" for result in results):
        raise SystemExit(f"{path}: holds invalid configurations, which this script does not count")
    names = sorted(results[0]["configuration"])
    measured = [{m["name"]: m["value"] for m in result["measurements"]} for result in results]
    by_speedup = all("speedup" in values for values in measured)
    costs = [1 / values["speedup"] if by_speedup else values["time"] for values in measured]
    return names, {tuple(r["configuration"][n] for n in names): cost for r, cost in zip(results, costs)}


def write_cache(path, names, costs, drawn):
    """The space as a cache file of Kernel Tuner."""
    values = {n: sorted({c[i] for c in costs}, reverse=drawn and random.random() < 0.5) for i, n in enumerate(names)}
    path.write_text(json.dumps({
        "device_name": "recorded", "kernel_name": "recorded", "problem_size": [1], "objective": "time",
        "tune_params_keys": names, "tune_params": values,
        "cache": {",".join(map(str, c)): dict(zip(names, c), time=cost, compile_time=0, verification_time=0, benchmark_time=0)
                  for c, cost in costs.items()}}))


def evaluations_until_good(task):
    """Different configurations until one is good enough; infinite when the strategy ended before."""
    strategy, names, costs, drawn, budget, seed = task
    good_cost = GOOD * min(costs.values())
    random.seed(seed)
    numpy.random.seed(seed)
    evaluated = set()
    found = math.inf

    def note(result):  # Kernel Tuner calls it after each evaluation
        nonlocal found
        evaluated.add(tuple(result[n] for n in names))
        if result["time"] <= good_cost:
            found = min(found, len(evaluated))
            raise StopCriterionReached("found")
        return 0

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cache = Path(folder) / "cache.json"
        write_cache(cache, names, costs, drawn)
        try:
            tune_cache(str(cache), strategy=strategy, strategy_options={"max_fevals": budget}, metrics={"noted": note}, quiet=True)
        except StopCriterionReached:  # some strategies leave it to the caller
            pass
    return found


def quantile(ordered, part):
    """By linear interpolation between the order statistics, as apo does; infinite beside an infinite one."""
    place = part * (len(ordered) - 1)
    below, above = ordered[math.floor(place)], ordered[math.ceil(place)]
    return below if below == above else below + (place % 1) * (above - below)


def replay_with_apo(program, path):
    """apo's strategies: name, lower quartile, median, upper quartile."""
    text = subprocess.run([program, "research", "--replay", path, "--json"], check=True, capture_output=True).stdout
    return [(s["strategy"], s["lower_quartile"], s["median"], s["upper_quartile"])
            for s in json.loads(text)["spaces"][0]["strategies"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spaces", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--budget", type=int, help="max_fevals; all configurations unless given")
    parser.add_argument("--drawn-order", action="store_true", help="values ascending or descending, drawn for each seed")
    parser.add_argument("--only", nargs="+", metavar="STRATEGY")
    parser.add_argument("--apo", default=ROOT / "apo", help="the program")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    arguments = parser.parse_args()
    strategies = arguments.only or [s for s in strategy_map if s not in NEED_PACKAGES | NO_SEARCH]
    for space in arguments.spaces:
        names, costs = read_costs(space)
        good = sum(cost <= GOOD * min(costs.values()) for cost in costs.values())
        print(f"{space}: {len(costs)} configurations, {good} within 5 % of the best; {arguments.seeds} seeds")
        print(f"{'strategy':31}  lower quartile  median  upper quartile  not found", flush=True)
        medians = {}
        with multiprocessing.Pool(arguments.jobs) as pool:
            for strategy in strategies:
                tasks = [(strategy, names, costs, arguments.drawn_order, arguments.budget or len(costs), seed)
                         for seed in range(1, arguments.seeds + 1)]
                counts = sorted(pool.imap_unordered(evaluations_until_good, tasks))
                quarter, medians[strategy], three = (quantile(counts, part) for part in (0.25, 0.5, 0.75))
                print(f"{strategy:31}  {quarter:<14g}  {medians[strategy]:<6g}  {three:<14g}  {counts.count(math.inf)}", flush=True)
        apo = replay_with_apo(arguments.apo, space)
        for name, quarter, median, three in apo:
            print(f"{'apo ' + name:31}  {quarter:<14g}  {median:<6g}  {three:<14g}  0")
        best = min(medians, key=medians.get)
        own, own_name = min((median, name) for name, _, median, _ in apo)
        print(f"apo {own_name} over Kernel Tuner's {best}: {own:g} / {medians[best]:g} = {own / medians[best]:.2f}\n", flush=True)


if __name__ == "__main__":
    main()
