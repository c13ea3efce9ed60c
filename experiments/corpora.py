#!/usr/bin/env python3
"""Has the CPU executor judge the kernels of a labelled corpus, and holds each outcome against its label.

    experiments/corpora.py TABLE CORPUS OUT

A line of TABLE is `LABEL | FAMILY | FILE | CALL`. LABEL is `right` or `wrong`, FAMILY the name of a family file beside
TABLE (FAMILY.h), FILE a .cu file below the folder CORPUS, which is only read. CALL launches its kernel, in C++, where
`a` has the tensors, scalars and axes of the family: `scale<<<a.n / 256 + 1, 256>>>(a.x, a.y, a.n)`. Where it begins
with `--`, or is empty, FILE is brought as it is, with these options of `apo verify`. Empty lines and those that begin
with `#` are passed over. OUT/results.md gets a row for each kernel as it is judged, and the sums at the end:

    right        a right kernel passed              refused      a right kernel failed
    caught       a wrong kernel failed              missed       a wrong kernel passed
    not checked  something has no equivalent on the CPU, or does not compile or link

The exit code is 1 where a kernel was refused or missed.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

APO = os.environ.get("APO", str(Path(__file__).resolve().parent.parent / "apo"))
NOT_CHECKED = ("not_checkable", "build_failed", "wrong_abi", "not_judged")


def rows_of(table):
    """(label, family, file, call) of each line of the table."""
    for number, line in enumerate(table.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split("|", 3)]
        if len(fields) != 4 or fields[0] not in ("right", "wrong"):
            sys.exit(f"{table}:{number}: a line is 'right | FAMILY | FILE | CALL' or 'wrong | FAMILY | FILE | CALL'")
        yield fields


def register(table, family, place):
    run = subprocess.run([APO, "register", table.parent / f"{family}.h"], cwd=place, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{family}: {run.stderr.strip() or run.stdout.strip()}")


def bring(family, file, call, folder):
    """Copies the file with what lies beside it; the arguments of `apo verify` that name the kernel."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(file.parent, folder)
    if not call or call.startswith("--"):
        return ["--file", folder / file.name, *shlex.split(call)]
    adapter = folder / f"{family}_adapter.cu"
    adapter.write_text(f'#include "{family}.args.h"\n#include "{file.name}"\n'
                       f"static void {family}(const {family}_args& a) {{ {call}; }}\n")
    return ["--file", adapter]


def judge(label, family, arguments, place):
    """What became of one kernel: the word for it, and what `apo` says."""
    run = subprocess.run([APO, "verify", "--family", family, "--on", "cpu", "--json", *arguments],
                         cwd=place, capture_output=True, text=True)
    if not run.stdout:
        return "not checked", run.stderr.strip().splitlines()[0]
    answer = json.loads(run.stdout)
    if "error" in answer:
        return "not checked", answer["error"]
    outcome = answer["outcome"]
    says = [gate["evidence"] for gate in answer.get("gates", []) if gate["outcome"] == outcome != "valid"]
    says = says[0].splitlines()[0] if says else outcome
    if outcome in NOT_CHECKED:
        return "not checked", says
    if outcome == "valid":
        return ("right" if label == "right" else "missed"), says
    return ("caught" if label == "wrong" else "refused"), f"{outcome}: {says}"


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    table, corpus, out = (Path(argument).resolve() for argument in sys.argv[1:])
    rows = list(rows_of(table))
    out.mkdir(parents=True, exist_ok=True)
    for family in sorted({family for _, family, _, _ in rows}):
        register(table, family, out)
    counts = Counter()
    with open(out / "results.md", "w", buffering=1) as results:
        results.write("| kernel | label | | what it says | s |\n|---|---|---|---|---|\n")
        for label, family, file, call in rows:
            start = time.monotonic()
            word, says = judge(label, family, bring(family, corpus / file, call, out / "brought"), out)
            counts[word] += 1
            says = says.replace("|", "\\|")
            name = " ".join([file, *shlex.split(call)[1:2]]) if call.startswith("--") else file
            results.write(f"| {name} | {label} | {word} | {says} | {time.monotonic() - start:.1f} |\n")
        results.write("\n" + ", ".join(f"{count} {word}" for word, count in sorted(counts.items())) + "\n")
    return 1 if counts["refused"] or counts["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
