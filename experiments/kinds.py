#!/usr/bin/env python3
"""Verifies right and wrong kernels many times, and prints how often `apo verify` took each for valid.

    python3 experiments/kinds.py [--apo PROGRAM] [--verifications 20] [--jobs 2] [--on cpu] [CASE...]

A case is a folder of tests/zoo/kinds: families (NAME.h, registered from files as they are), right kernels (right*) and wrong ones (bug*).
A family named refused_* has to be refused at its registration. What says "kinds: needs a GPU" is left out with --on cpu.
Without a GPU device variants run on the CPU's executor (--on cpu).
Ends with 1 when a right kernel was refused once, a wrong one was valid once, or a family's registration ended in the other way.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent.parent
CASES = HERE / "tests/zoo/kinds"


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apo", default=str(HERE / "build/release/bin/apo"))
    parser.add_argument("--verifications", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2, help="verifications at a time")
    parser.add_argument("--on", help="cpu: device variants on the CPU's executor")
    parser.add_argument("cases", nargs="*")
    return parser.parse_args()


def verify(options, file, folder):
    """One verification in `folder`, which knows the families. Returns its outcome and the seconds that it took."""
    command = [options.apo, "verify", "--file", str(file), "--json", "--quiet"]
    if options.on and file.suffix == ".cu":
        command += ["--on", options.on]
    begin = time.monotonic()
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begin
    try:
        answer = json.loads(run.stdout)
        return answer.get("outcome", "error"), seconds
    except ValueError:
        return f"exit {run.returncode}: {run.stderr.strip()[-200:]}", seconds


def register(options, case, folder):
    """Registers the case's families; returns a row for each, and the names of the usable ones."""
    rows, known = [], set()
    for header in sorted(case.glob("*.h")):
        name = re.search(r"apo:family\s+(\w+)", header.read_text())
        if name is None:
            continue
        begin = time.monotonic()
        run = subprocess.run([options.apo, "register", str(folder / header.name), "--quiet"], cwd=folder, text=True,
                             capture_output=True, check=False)
        refused = run.returncode != 0
        as_wanted = refused == header.name.startswith("refused_")
        rows.append((case.name, header.name, "family", "refused" if refused else "registered", 1,
                     time.monotonic() - begin, as_wanted, (run.stdout + run.stderr).strip()[-300:]))
        if not refused:
            known.add(name[1])
    return rows, known


def run_case(options, case):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / case.name
        shutil.copytree(case, folder)
        rows, known = register(options, case, folder)
        files = [file for pattern in ("right*", "bug*") for file in sorted(folder.glob(pattern)) if file.suffix != ".h"]
        for file in files:
            text = file.read_text()
            family = re.search(r"apo:variant\s+(\w+)/", text)
            if family is None or family[1] not in known or (options.on == "cpu" and "// kinds: needs a GPU" in text):
                continue
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                runs = list(pool.map(lambda _, file=file: verify(options, file, folder), range(options.verifications)))
            outcomes = collections.Counter(outcome for outcome, _ in runs)
            right = file.name.startswith("right")
            decided = sum(count for word, count in outcomes.items() if word != "error" and not word.startswith("exit"))
            as_wanted = decided == len(runs) and outcomes["valid"] == (len(runs) if right else 0)
            said = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
            rows.append((case.name, file.name, "right" if right else "wrong", said, len(runs),
                         sum(seconds for _, seconds in runs) / len(runs), as_wanted, ""))
        return rows


def main():
    options = parsed()
    cases = [CASES / name for name in options.cases] or sorted(path for path in CASES.iterdir() if path.is_dir())
    failed = 0
    print("| case | file | is | became | runs | s each | as it has to be |\n|---|---|---|---|---|---|---|")
    for case in cases:
        for case_name, file, kind, said, count, seconds, as_wanted, words in run_case(options, case):
            failed += not as_wanted
            print(f"| {case_name} | {file} | {kind} | {said} | {count} | {seconds:.2f} | {'yes' if as_wanted else 'NO'} |",
                  flush=True)
            if words and not as_wanted:
                print(f"<!-- {words} -->", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
