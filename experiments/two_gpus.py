#!/usr/bin/env python3
"""experiments/two_gpus.py BUNDLE OUT [PART...] - what a second GPU of the same machine is worth, and whether verdicts stay honest.

BUNDLE is from bundle.sh. Parts, taken in this order (default: all):

    starts      what starting a process on a GPU takes: on one GPU, on two at once, and with one connection
                (CUDA_DEVICE_MAX_CONNECTIONS=1)
    identical   identical code on all GPUs at once, for SECONDS (150): `apo selftest --parts identical`. What it finds of the noise of each
                GPU is in the journals of the next part, whose rounds then share processes where they may
    rate        CANDIDATES (20) proposals, judged by two workers and by one: experiments an hour. Each proposal is the incumbent with
                an instruction of its own that does no work, so that every decision is a whole one, and none should be accepted.
                A worker's first answer takes longest, because it draws the inputs: one rate is that of the answers behind it

Every journal is kept in OUT. MINUTES (8) bounds each campaign, WORKLOAD (b8_t128_h83_n32) is that of e88_backward.
"""
import datetime
import json
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import threading
import time

from throughput import HOME, backward_candidate

CANDIDATES = int(os.environ.get("CANDIDATES", "20"))
SECONDS = float(os.environ.get("SECONDS", "150"))
MINUTES = float(os.environ.get("MINUTES", "8"))
WORKLOAD = os.environ.get("WORKLOAD", "b8_t128_h83_n32")
INCUMBENT = "e88_backward/cuda_best[SEQUENCES=1]"


def proposals():
    """What `apo run --proposer` asks for: each right, and as fast as the incumbent but for noise."""
    sys.stdin.read()
    for i in range(CANDIDATES):
        text = backward_candidate(i).replace("apo:tune       SEQUENCES 11,7,4,2,1", "apo:tune       SEQUENCES 1")
        print(json.dumps({"name": f"marked_{i}", "author": "two_gpus", "source": text}))


class Sitting:
    def __init__(self, bundle, out):
        self.apo, self.out = bundle / "apo", out
        self.environment = dict(os.environ, APO_HOME=str(HOME),
                                LD_LIBRARY_PATH=f"{bundle / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}")
        gpus = subprocess.run(["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"], capture_output=True, text=True).stdout
        self.gpus = gpus.split()

    def start(self, name, *words, **environment):
        """`apo` in OUT/name, with a journal and a cache of its own: no part is faster for what another one built or registered."""
        place = self.out / name
        place.mkdir(parents=True, exist_ok=True)
        log = open(place / "log", "a")
        return subprocess.Popen(["timeout", str(60 * MINUTES), self.apo, *words], cwd=place, stdin=subprocess.DEVNULL, stdout=log,
                                stderr=log, env={**self.environment, "APO_JOURNAL": str(place / "journal.db"),
                                                 "APO_CACHE": str(place / "cache"), **environment})

    def begin_with(self, known, name):
        """The journal of `name` begins as that of `known`, where there is one; one that is there goes on."""
        (self.out / name).mkdir(parents=True, exist_ok=True)
        if (self.out / known / "journal.db").exists() and not (self.out / name / "journal.db").exists():
            self.rows(known, "select 1")
            shutil.copy(self.out / known / "journal.db", self.out / name / "journal.db")

    def printed(self, name, lines):
        return "\n".join((self.out / name / "log").read_text().splitlines()[-lines:])

    def rows(self, name, query):
        journal = sqlite3.connect(self.out / name / "journal.db")
        journal.execute("pragma wal_checkpoint(truncate)")
        found = journal.execute(query).fetchall()
        journal.close()
        return found


def seconds(stamp):
    return datetime.datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()


def started(program, gpu, runs, environment, rows):
    """Milliseconds of cuInit, of the context, and of the whole process, for each run."""
    for _ in range(runs):
        begin = time.monotonic()
        done = subprocess.run([program], env=dict(os.environ, CUDA_VISIBLE_DEVICES=gpu, **environment), capture_output=True, text=True)
        rows.append([*map(float, done.stdout.split()), 1000 * (time.monotonic() - begin)])


def starts(sitting):
    program = sitting.out / "process_start"
    subprocess.run(["g++", "-O2", HOME / "experiments/process_start.cpp", f"-I{os.environ.get('CUDA_HOME', '/usr/local/cuda')}/include", "-ldl",
                    "-o", program], check=True)
    print("| GPUs that start processes | connections | cuInit, ms | context, ms | whole process, ms |\n|---|---|---|---|---|")
    for gpus in (sitting.gpus[:1], sitting.gpus[:2]):
        for environment in ({}, {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}):
            rows = []
            threads = [threading.Thread(target=started, args=(program, gpu, 10, environment, rows)) for gpu in gpus]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
            cells = " | ".join(f"{statistics.median(column):.0f}" for column in zip(*rows))
            print(f"| {len(gpus)} | {environment.get('CUDA_DEVICE_MAX_CONNECTIONS', 'default')} | {cells} |", flush=True)


def by_worker(answered):
    """When each worker answered, in seconds, ascending."""
    times = {}
    for _, ended_at, worker in answered:
        times.setdefault(worker, []).append(seconds(ended_at))
    return times.values()


def later_rate(times):
    """Answers an hour of one worker, its first one left out."""
    return 3600 * (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 else 0


def rate(sitting):
    print("| workers | experiments | accepted | from the first task to the last answer, s | experiments an hour | behind each worker's first answer "
          "| whole command, s |\n|---|---|---|---|---|---|---|", flush=True)
    rates = {}
    for workers in (2, 1):
        name = f"workers-{workers}"
        sitting.begin_with("identical", name)
        begin = time.monotonic()
        sitting.start(name, "run", "e88_backward", "--target", "cuda", "--workload", WORKLOAD, "--baseline", INCUMBENT, "--iterations", "1",
                      "--candidates", str(CANDIDATES), "--proposals", str(CANDIDATES), "--proposer",
                      f"{sys.executable} {pathlib.Path(__file__).resolve()} propose", "--workers", f"local:{workers}").wait()
        whole = time.monotonic() - begin
        answered = sitting.rows(name, "select p.started_at, e.ended_at, p.worker from placement p join placement_end e "
                                      "on e.placement = p.id where e.state = 'answered' order by e.ended_at")
        (accepted,), = sitting.rows(name, "select count(*) from experiment e join judgement j on j.experiment = e.id "
                                              "where e.campaign is not null and j.verdict = 'accepted'")
        if not answered:
            sys.exit(f"no experiment was judged: {sitting.printed(name, 30)}")
        span = max(seconds(row[1]) for row in answered) - min(seconds(row[0]) for row in answered)
        rates[workers] = (3600 * len(answered) / span, sum(map(later_rate, by_worker(answered))))
        print(f"| {workers} | {len(answered)} | {accepted} | {span:.0f} | {rates[workers][0]:.0f} | {rates[workers][1]:.0f} | {whole:.0f} |",
              flush=True)
    print(f"\ntwo workers judge {rates[2][0] / rates[1][0]:.2f} times as much an hour; behind their first answers, "
          f"{rates[2][1] / rates[1][1]:.2f} times", flush=True)


def identical(sitting):
    """One journal for all of them, as a campaign with workers on all of them has."""
    busy = [sitting.start("identical", "selftest", "--target", "cuda", "--quiet", "--kernels", f"{INCUMBENT}@{WORKLOAD}", "--parts",
                          "identical", "--seconds", f"{SECONDS:.0f}", CUDA_VISIBLE_DEVICES=gpu) for gpu in sitting.gpus]
    for one in busy:
        one.wait()
    print(f"\n```\n{sitting.printed('identical', 60)}\n```", flush=True)


PARTS = {"starts": starts, "identical": identical, "rate": rate}


def main():
    if sys.argv[1:] == ["propose"]:
        return proposals()
    if len(sys.argv) < 3 or not set(sys.argv[3:]) <= set(PARTS):
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[2]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    sitting = Sitting(pathlib.Path(sys.argv[1]).resolve(), out)
    for name, part in PARTS.items():
        if name in (sys.argv[3:] or PARTS):
            part(sitting)


if __name__ == "__main__":
    main()
