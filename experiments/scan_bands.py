#!/usr/bin/env python3
"""experiments/scan_bands.py JOURNAL... - how far verdicts lie from scans of the same two configurations, and what bands
of harness/research/prediction hold of them when the part of each family is fitted to the others."""
import math
import sqlite3
import statistics
import sys

REACH, NEAR = 1.2816, 0.2


def make_root(tree, key):
    if key in tree:
        reference, effect, variance = tree.pop(key)
        make_root(tree, reference)
        tree[reference] = (key, -effect, variance)


def scanned_tree(db):
    """Of each configuration the one that it was measured beside, with effect and variance, as scans.cpp has it."""
    tree = {}
    for key, reference, effect, sd in db.execute(
            "SELECT configuration || source_hash, incumbent || incumbent_source, effect, sd FROM scanned"
            " WHERE outcome = 'valid' AND configuration != incumbent ORDER BY id"):
        make_root(tree, key)
        at = reference
        while at in tree and tree[at][0] != key:
            at = tree[at][0]
        tree.pop(at, None)
        tree[key] = (reference, effect, sd * sd)
    return tree


def pairs_of(path):
    """[(family, scanned effect, its deviation, effect and lower end of the verdict)]"""
    db = sqlite3.connect(path)
    tree = scanned_tree(db)
    for family, candidate, incumbent, verdict, lower in db.execute(
            "SELECT family, candidate || candidate_source, incumbent || incumbent_source, effect, lower FROM experiment"
            " JOIN judgement ON experiment = id WHERE outcome = 'valid' AND effect IS NOT NULL"):
        make_root(tree, incumbent)
        effect = variance = 0
        while candidate in tree:
            candidate, more, its = tree[candidate]
            effect, variance = effect + more, variance + its
        if candidate == incumbent and variance > 0:
            yield family, effect, math.sqrt(variance), verdict, lower


def half_width(pair, part):
    return REACH * math.hypot(pair[2], part * (NEAR + abs(pair[1])))


def share_inside(pairs, part):
    return sum(abs(pair[3] - pair[1]) <= half_width(pair, part) for pair in pairs) / len(pairs)


def fitted(pairs):
    return next(part / 1000 for part in range(5000) if share_inside(pairs, part / 1000) >= 0.8)


def main():
    pairs = [pair for path in sys.argv[1:] for pair in pairs_of(path)]
    print("family                  pairs  part of the others  inside  median width  of effects below 0.5")
    inside, widths = 0, {}
    for family in sorted({pair[0] for pair in pairs}):
        own = [pair for pair in pairs if pair[0] == family]
        part = fitted([pair for pair in pairs if pair[0] != family])
        inside += round(share_inside(own, part) * len(own))
        widths.update({pair: 2 * half_width(pair, part) for pair in own})
        near = [widths[pair] for pair in own if abs(pair[1]) < 0.5]
        width = statistics.median(widths[pair] for pair in own)
        print(f"{family:22}  {len(own):5}  {part:18.3f}  {share_inside(own, part) * len(own):6.0f}  {width:12.3f}"
              f"  {statistics.median(near or [math.nan]):20.3f}")
    near = [width for pair, width in widths.items() if abs(pair[1]) < 0.5]
    score = statistics.mean(
        width + 10 * max(0, abs(pair[3] - pair[1]) - width / 2) for pair, width in widths.items())
    print(f"all: {inside} of {len(pairs)} inside, median width {statistics.median(widths.values()):.3f}"
          f" ({statistics.median(near):.3f} of effects below 0.5), interval score {score:.2f}; part of all"
          f" {fitted(pairs):.3f}")
    clear = [pair for pair in pairs if (pair[3] - pair[4]) < abs(pair[3])]
    right = sum((pair[1] > 0) == (pair[3] > 0) for pair in clear)
    print(f"the scan names the faster one of {right} of {len(clear)} pairs that the judge tells apart")


main()
