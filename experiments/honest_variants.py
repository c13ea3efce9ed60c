#!/usr/bin/env python3
"""experiments/honest_variants.py BUNDLE OUT [SECONDS [RUN]] - is an honest variant ever refused? Every host variant of the repository, three times.

Each is compared with its parent (the families' first variants with themselves), all gates included, on two CPUs of its own; in the last of the three
runs a program that does nothing but compute shares these. Prints a markdown table, with what is no verdict on its speed in words: a failed
gate, a guard. CPUS (all that this process may use) are shared out in pairs. After SECONDS (600) nothing new begins. RUN, 1 to 3,
takes that one alone. The journals are kept in OUT.
"""
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time

HOME = pathlib.Path(__file__).resolve().parent.parent
RUNS = 3


def pairs():
    """(parent, variant) of every host variant in variants/."""
    found = []
    for file in sorted((HOME / "variants").glob("*/*.cpp")):
        block = {}
        for line in file.read_text().splitlines():
            words = line.removeprefix("//").split()
            if line.startswith("//") and words and words[0].startswith("apo:"):
                block.setdefault(words[0], words[1] if len(words) > 1 else "")
        variant = block.get("apo:variant")
        if variant:
            family = variant.split("/")[0]
            parent = block.get("apo:parent", variant)
            found.append((parent if "/" in parent else f"{family}/{parent}", variant))
    return found


def judge(bundle, out, jobs, cpus, verdicts, deadline):
    environment = dict(os.environ, APO_HOME=str(HOME), APO_JOURNAL=str(out / f"cpus-{cpus[0]}.db"),
                       LD_LIBRARY_PATH=f"{bundle / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}")
    pinned = ["taskset", "-c", ",".join(str(cpu) for cpu in cpus)]
    while time.monotonic() < deadline:
        try:
            run, parent, variant = jobs.get_nowait()
        except queue.Empty:
            return
        hog = subprocess.Popen([*pinned, "sh", "-c", "while :; do :; done"]) if run == RUNS - 1 else None
        try:
            done = subprocess.run([*pinned, bundle / "apo", "compare", parent, variant, "--json", "--quiet",
                                   *(["--same-code"] if parent == variant else [])], cwd=out, env=environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
        finally:
            if hog:
                hog.kill()
                hog.wait()
        try:
            judgement = json.loads(done.stdout)["judgement"]
            verdicts[(variant, run)] = (judgement["verdict"], judgement["reason"], judgement["sentence"])
        except (json.JSONDecodeError, KeyError, TypeError):
            verdicts[(variant, run)] = ("not judged", "", (done.stderr or done.stdout)[-300:])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    bundle, out = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    out.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + float(sys.argv[3] if len(sys.argv) > 3 else 600)
    jobs, verdicts, honest = queue.Queue(), {}, pairs()
    for run in [int(sys.argv[4]) - 1] if len(sys.argv) > 4 else range(RUNS):
        for parent, variant in honest:
            jobs.put((run, parent, variant))
    cpus = sorted(os.sched_getaffinity(0))
    judges = [threading.Thread(target=judge, args=(bundle, out, jobs, cpus[i:i + 2], verdicts, deadline))
              for i in range(0, len(cpus) - 1, 2)]
    for one in judges:
        one.start()
    for one in judges:
        one.join()
    print(f"| variant | {' | '.join(f'run {run + 1}' for run in range(RUNS - 1))} | beside another program |\n|---|" + "---|" * RUNS)
    words = lambda found: " ".join(found[:2]) if found else "not reached"
    for _, variant in honest:
        print(f"| {variant} | " + " | ".join(words(verdicts.get((variant, run))) for run in range(RUNS)) + " |")
    refused = {key: found for key, found in verdicts.items() if found[1] in ("gate_failed", "guard_failed") or found[0] == "not judged"}
    print(f"\n{len(verdicts)} judgements of {len(honest)} variants; refused: {len(refused)}")
    for (variant, run), (_, reason, sentence) in sorted(refused.items()):
        print(f"- {variant}, run {run + 1}, {reason}: {sentence}")


if __name__ == "__main__":
    main()
