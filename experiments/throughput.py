#!/usr/bin/env python3
"""experiments/throughput.py [CANDIDATES] [cuda] - candidates an hour through `apo evaluate --stream`, and where their time goes.

Candidates are right and differ from each other in text and machine code. Prints a markdown table, a row for each workload
and judge; the first candidate of a stream, which pays for roofs, inputs and the check of the machine, is left out. With `cuda`
they run on a GPU. APO names the program (default: build/release/bin/apo).
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HOME = pathlib.Path(__file__).resolve().parent.parent
APO = os.environ.get("APO", str(HOME / "build/release/bin/apo"))
GATES = ["executor", "build", "correctness", "sanitizers", "timing", "confirmation"]


def copy_candidate(i):
    return (
        "void copy(const float* x, float* y, long n) {\n"
        f"  for (int k = 0; k < {i + 2}; ++k) {{\n"
        '    for (long i = 0; i < n; ++i) y[i] = x[i];\n    __asm__ volatile("" ::: "memory");\n  }\n}\n'
    )


def forward_candidate(i):
    text = (HOME / "variants/e88_forward/simple.cpp").read_text()
    kept = [line for line in text.splitlines() if "apo:variant" not in line]
    return "\n".join(kept) + f"\nint number_of_candidate() {{ return {i}; }}\n"


def backward_candidate(i):
    text = (HOME / "variants/e88_backward/cuda_best.cu").read_text()
    kept = "\n".join(line for line in text.splitlines() if "apo:variant" not in line)
    place = "const TilePlace p(threadIdx.x);"
    return kept.replace(place, f"{place}\n  if (a.T == -{i + 2}) {{\n    return;\n  }}") + "\n"


ROWS = {
    "host": [("copy", "n4k", copy_candidate), ("e88_forward", "b2_t64_h4_n32", forward_candidate)],
    "cuda": [("e88_backward", "b8_t128_h83_n32", backward_candidate)],
}


def answers(family, workload, judge, sources):
    """Each answer with the seconds since the one before."""
    with tempfile.TemporaryDirectory() as folder:
        command = [APO, "evaluate", "--stream", "--quiet", "--family", family, "--workload", workload, "--judge", judge]
        environment = dict(os.environ, APO_HOME=str(HOME), APO_JOURNAL="", APO_CACHE="")
        process = subprocess.Popen(command, cwd=folder, env=environment, text=True, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        begin = time.monotonic()
        for source in sources:
            process.stdin.write(json.dumps({"source": source}) + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            end = time.monotonic()
            if answer["verdict"] == "not_judged":
                sys.exit(f"not judged: {answer['feedback']}")
            yield answer, end - begin
            begin = end
        process.stdin.close()
        process.wait()


def row(family, workload, judge, candidate, count):
    measured = list(answers(family, workload, judge, [candidate(i) for i in range(count + 1)]))[1:]
    verdicts = sorted({answer["verdict"] for answer, _ in measured})
    seconds = [took for _, took in measured]
    spent = {gate: statistics.fmean(sum(one["seconds"] or 0 for one in answer["gates"] if one["gate"] == gate)
                                    for answer, _ in measured) for gate in GATES}
    mean = statistics.fmean(seconds)
    cells = [family, workload, judge, str(count), f"{3600 / mean:.0f}", f"{mean:.2f}"]
    cells += [f"{spent[gate]:.2f}" for gate in GATES] + [f"{mean - sum(spent.values()):.2f}", ", ".join(verdicts)]
    return "| " + " | ".join(cells) + " |"


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    heads = ["family", "workload", "judge", "n", "an hour", "s each", *GATES, "rest", "verdicts"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for family, workload, candidate in ROWS[sys.argv[2] if len(sys.argv) > 2 else "host"]:
        for judge in ("quick", "auto"):
            print(row(family, workload, judge, candidate, count), flush=True)


if __name__ == "__main__":
    main()
