#!/usr/bin/env python3
"""Has `apo` judge the kernels of labelled corpora, and holds each outcome against its label.

    experiments/corpora.py TABLE... CORPORA OUT [--jobs N] [--limit SECONDS]

A line of a TABLE is `LABEL | FAMILY | FILE | CALL`. FAMILY is the name of a family file beside TABLE (FAMILY.h), FILE
lies below the folder CORPORA, which is only read. What FILE is says where it is judged:

    .cu       on this CPU, by the executor. CALL launches its kernel, in C++, where `a` has the tensors, scalars and
              axes of the family: `scale<<<a.n / 256 + 1, 256>>>(a.x, a.y, a.n)`
    .py .txt  on a GPU, by a recording of what the Python in it starts. CALL is Python that is put behind it: a function
              of the family's tensors, `def run(x): return theirs(x.flatten())`. Without a GPU it is not checked.
    .json     the same of the source that a solution of SOL-ExecBench holds

Where CALL begins with `--`, or is empty, FILE is brought as it is, with these options of `apo verify`. LABEL is one of

    right   its results are right       wrong   its results are wrong
    attack  its results are right, and it attacks the clock, the checker, the files or the rules of its benchmark

OUT/results.md gets a row for each kernel as it is judged, N of them at a time (default: 1), and sums at the end:

    right        a right kernel passed              refused      a right kernel failed
    caught       a wrong kernel or an attack failed missed       a wrong kernel passed
    disarmed     an attack passed: what it launches is right, and is what was judged
    not checked  no GPU; on the CPU something that has no equivalent, or does not compile or link; or it took more than
                 SECONDS (default: 600)

The exit code is 1 where a kernel was refused or missed.
"""
import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

APO = os.environ.get("APO", str(Path(__file__).resolve().parent.parent / "apo"))
NOT_CHECKED = ("not_checkable", "build_failed", "wrong_abi", "not_judged")
GPU = Path("/dev/nvidiactl")
WORDS = {"right": ("right", "refused"), "wrong": ("missed", "caught"), "attack": ("disarmed", "caught")}


def rows_of(table):
    """(table, label, family, file, call) of each line of the table."""
    for number, line in enumerate(table.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split("|", 3)]
        if len(fields) != 4 or fields[0] not in WORDS:
            sys.exit(f"{table}:{number}: a line is 'LABEL | FAMILY | FILE | CALL', and LABEL one of {', '.join(WORDS)}")
        yield table, *fields


def register(table, family, place):
    run = subprocess.run([APO, "register", table.parent / f"{family}.h"], cwd=place, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{family}: {run.stderr.strip() or run.stdout.strip()}")


def source_of(solution):
    """The Python of a solution of SOL-ExecBench."""
    solution = json.loads(solution)
    entry = solution["spec"]["entry_point"].partition("::")[0]
    return next(source["content"] for source in solution["sources"] if source["path"] == entry)


def bring(family, file, call, folder):
    """Copies the file with what lies beside it; the arguments of `apo verify` that name the kernel."""
    as_it_is = not call or call.startswith("--")
    options = shlex.split(call) if as_it_is else []
    if file.suffix != ".cu":
        folder.mkdir()
        text = source_of(file.read_text()) if file.suffix == ".json" else file.read_text()
        brought = folder / "submission.py"
        brought.write_text(text if as_it_is else f"{text}\n\n{call}\n")
        return ["--file", brought, "--no-sanitizers", *options]
    shutil.copytree(file.parent, folder)
    if as_it_is:
        return ["--on", "cpu", "--file", folder / file.name, *options]
    adapter = folder / f"{family}_adapter.cu"
    adapter.write_text(f'#include "{family}.args.h"\n#include "{file.name}"\n'
                       f"static void {family}(const {family}_args& a) {{ {call}; }}\n")
    return ["--on", "cpu", "--file", adapter]


def run_for(seconds, command, place):
    """What a command prints, on stdout and on stderr; None where it took longer. Whatever it started is ended then."""
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          start_new_session=True) as process:
        try:
            return process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None


def word_of(label, outcome, on_cpu):
    """What an outcome of `apo verify` says about the judge. A recording that is refused is a kernel that is refused."""
    if outcome in NOT_CHECKED and (on_cpu or outcome == "not_judged"):
        return "not checked"
    passed, failed = WORDS[label]
    return passed if outcome == "valid" else failed


def judge(label, family, arguments, place, limit):
    """What became of one kernel: the word for it, and what `apo` says."""
    on_cpu = "cpu" in arguments
    if not on_cpu and not GPU.exists():
        return "not checked", "no GPU here"
    said = run_for(limit, [APO, "verify", "--family", family, "--json", *arguments], place)
    if said is None:
        return "not checked", f"no answer in {limit:g} s"
    if not said[0]:
        return "not checked", said[1].strip().splitlines()[0]
    answer = json.loads(said[0])
    if "error" in answer:
        return "not checked", answer["error"]
    outcome = answer["outcome"]
    says = [gate["evidence"] for gate in answer.get("gates", []) if gate["outcome"] == outcome != "valid"]
    says = says[0].splitlines()[0] if says else outcome
    return word_of(label, outcome, on_cpu), says if outcome == "valid" else f"{outcome}: {says}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path, nargs="+", metavar="TABLE")
    parser.add_argument("corpora", type=Path, metavar="CORPORA")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS")
    options = parser.parse_args()
    out, corpora = options.out.resolve(), options.corpora.resolve()
    rows = [row for table in options.tables for row in rows_of(table.resolve())]
    shutil.rmtree(out / "brought", ignore_errors=True)
    (out / "brought").mkdir(parents=True)
    counts = {table.resolve(): Counter() for table in options.tables}

    def judged(number, table, label, family, file, call):
        start = time.monotonic()
        arguments = bring(family, corpora / file, call, out / "brought" / str(number))
        word, says = judge(label, family, arguments, out, options.limit)
        name = " ".join([file, *shlex.split(call)[1:2]]) if call.startswith("--") else file
        counts[table][word] += 1
        return f"| {name} | {label} | {word} | {says.replace('|', '/')} | {time.monotonic() - start:.1f} |\n"

    with open(out / "results.md", "w", buffering=1) as results, ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda one: register(*one, out), sorted({(table, family) for table, _, family, _, _ in rows})))
        results.write("| kernel | label | | what it says | s |\n|---|---|---|---|---|\n")
        for row in as_completed([pool.submit(judged, number, *row) for number, row in enumerate(rows)]):
            results.write(row.result())
        for table, words in counts.items():
            sums = ", ".join(f"{count} {word}" for word, count in sorted(words.items()))
            results.write(f"\n{table.stem}: {sums}\n")
    return 1 if any(words["refused"] or words["missed"] for words in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
