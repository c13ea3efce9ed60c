#!/usr/bin/env python3
"""experiments/court/cuda_l2_accumulators.py CLONE - what CUDA-L2's kernels add up in, by their text.

CLONE is a clone of deepreinforce-ai/CUDA-L2. For each set that was released with a 32-bit accumulator (F32F16F16F32)
prints how many of its files name accumulators of f16 alone, and the median of what their authors measured over the best
cuBLASLt (offline): of all of the kind, and of those of 2^30 multiply-adds and more.
"""
import csv
import math
import pathlib
import re
import statistics
import sys

# The three ways in which these files name an accumulator: CuTe's atom, CUTLASS's type, a fragment of WMMA or PTX.
HALF = (r"_F16F16F16F16_|ElementAccumulator\s*=\s*(cutlass::half_t|half|__half)\b|accumulator[^>]*\b(half|__half)>"
        r"|\.f16\.f16\.f16\.f16")  # fmt: skip
FLOAT = r"_F32F16F16F32_|ElementAccumulator\s*=\s*float\b|accumulator[^>]*\bfloat>|\.f32\.f16\.f16\.f32"


def kind_of(text):
    half, single = re.search(HALF, text), re.search(FLOAT, text)
    return "f16 and f32" if half and single else "f16" if half else "f32" if single else "not named so"


def median_of(figures):
    return f"{len(figures)}, {statistics.median(figures):.3f}x" if figures else "0"


def main(clone):
    print("| set | accumulators | files, median claimed | of 2^30 multiply-adds and more |\n|---|---|---|---|")
    for folder in sorted((clone / "kernels").glob("*_F32F16F16F32")):
        with open(clone / f"eval_results/cuda_l2_{folder.name}_speedup_offline.csv", newline="") as file:
            claimed = {row["mnk"]: float(row["cuBLASLt-auto-tuning-max"]) for row in csv.DictReader(file)}
        files = {path.stem: kind_of(path.read_text()) for path in folder.glob("*.cu") if path.stem in claimed}
        for kind in ("f16", "f32", "f16 and f32", "not named so"):
            of = [name for name in files if files[name] == kind]
            large = [name for name in of if math.prod(map(int, name.split("_"))) >= 2**30]
            cells = (median_of([claimed[name] for name in names]) for names in (of, large))
            print(f"| {folder.name} | {kind} | {' | '.join(cells)} |")


main(pathlib.Path(sys.argv[1]))
