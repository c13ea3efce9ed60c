#!/usr/bin/env python3
"""Times `apo verify` and the rounds and decisions of `apo compare`, of one program or of two in turn.

    python3 experiments/check_times.py [--target host] [--runs 5] [--only TEXT] PROGRAM[@HOME] [PROGRAM[@HOME]]

Prints a row of a markdown table for each of ROWS and program: medians in seconds, and of the second program how many
times the first's they are; "CPU" is user and system time of all processes, which other programs disturb less. A
comparison is one of a variant with itself, timed as if it were another (--same-code); the last two columns are of one
without the gates of correctness, by its rounds. Journals lie in a temporary folder; builds are in the cache after the
first run, which is left out. HOME holds the program's kernels and variants, where they are not this tree's.
"""
import argparse
import os
import pathlib
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

HOME = pathlib.Path(__file__).resolve().parent.parent
ROWS = {  # variant, workload
    "host": [("copy/simple", "n1m"), ("row_softmax/simple", "r256_c4096"), ("rms_norm/simple", ""),
             ("e88_forward/simple", "b2_t64_h4_n32"), ("e88_backward/simple", "b2_t64_h4_n32")],
    "cuda": [("copy/cuda_vector4", "n1m"), ("copy/cuda_vector4", "n64m"),
             ("e88_backward/cuda_best", "b16_t512_h83_n32"), ("e88_backward/cuda_best", "b1_t16384_h83_n32")],
}


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(program, folder, words):
    """Seconds and CPU seconds."""
    program, _, home = program.partition("@")
    begin, cpu = time.monotonic(), cpu_seconds()
    ended = subprocess.run([program, *words, "--quiet", "--journal", f"{folder}/journal.db"], cwd=folder, text=True,
                           env=dict(os.environ, APO_HOME=home or str(HOME)), capture_output=True, check=False)
    if ended.returncode not in (0, 3):
        sys.exit(f"{' '.join(words)}: {ended.stdout}{ended.stderr}")
    return time.monotonic() - begin, cpu_seconds() - cpu


def measured(program, folder, variant, workload):
    """Of a verification, a decision, and a round: seconds and CPU seconds."""
    verify = run(program, folder, ["verify", variant, "--no-sanitizers"])
    compare = ["compare", variant, variant, "--same-code", "--judge", "standard",
               *(["--workload", workload] if workload else [])]
    decision = run(program, folder, compare)
    timing = run(program, folder, [*compare, "--skip-correctness"])
    journal = sqlite3.connect(f"{folder}/journal.db")
    rounds = [row[0] for row in journal.execute(
        "SELECT seconds FROM round WHERE experiment = (SELECT max(experiment) FROM round) AND seconds IS NOT NULL")]
    return *verify, *decision, statistics.median(rounds), timing[1] / len(rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=ROWS, default="host")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose variant has this text")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    print("| variant | workload | program | verify | CPU | decision | CPU | round | CPU |\n" + "|---" * 9 + "|")
    for variant, workload in ROWS[options.target]:
        if options.only not in variant:
            continue
        folders = [tempfile.TemporaryDirectory() for _ in options.programs]
        runs = [[] for _ in options.programs]
        for turn in range(options.runs + 1):
            for program, folder, kept in zip(options.programs, folders, runs):
                one = measured(program, folder.name, variant, workload)
                if turn > 0:
                    kept.append(one)
        medians = [[statistics.median(column) for column in zip(*kept)] for kept in runs]
        for program, row in zip(options.programs, medians):
            ratio = [f" ({now / before:.2f}x)" if row is not medians[0] else "" for now, before in zip(row, medians[0])]
            cells = " | ".join(f"{value:.3g}{times}" for value, times in zip(row, ratio))
            name = os.path.basename(program.partition("@")[0])
            print(f"| {variant} | {workload} | {name} | {cells} |", flush=True)
        for folder in folders:
            folder.cleanup()


if __name__ == "__main__":
    main()
