#!/usr/bin/env python3
"""experiments/recordings.py BUNDLE OUT [--llmc FOLDER] [--only NAME...] - operations of other programs, recorded.

BUNDLE is from bundle.sh, FOLDER dev/cuda of a clone of llm.c. Needs a GPU, nvcc, PyTorch and, for one case, transformers.
Each case is recorded with `apo record`, and the family and the recorded operations are registered, which checks these on
inputs that the program has never seen. Rows of the table are printed as they come, also to OUT/recordings.md; fails where
a case ends in another way than it has to. OUT has to be new or empty.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CALLS = ROOT / "experiments/recorded_calls.py"

LAYERNORM = ("layernorm_forward_kernel3(float* out, float* mean, float* rstd, const float* inp, const float* weight, "
             "const float* bias, int N, int C)")
PROGRAMS = ROOT / "experiments/recorded_programs.cu"
RECORDED = "correctness: valid"
OF_TORCH = ("eager", "gemm", "conv", "sdpa", "compiled", "triton_softmax", "sort", "transformer", "adam", "embedding",
            "cumsum", "scan")
OF_CUDA = {"tma": RECORDED, "table": RECORDED, "cooperative": RECORDED, "streams": RECORDED,
           "large": RECORDED, "pointers": "an address lies at byte", "ends": "the program ended within the range",
           "crashes": "was ended before the call was over", "leaves": "was ended before the call was over",
           "hangs": "was ended before the call was over", "faults": "CUDA_ERROR_ILLEGAL_ADDRESS",
           "never": "entered no NVTX range 'other'"}
CASES = {**{case: RECORDED for case in OF_TORCH}, "item": "no replay repeats such a call", **OF_CUDA, "llmc": RECORDED}
RANGES = {"pointers": "multiply", "never": "other"}


class Sitting:
    def __init__(self, bundle, out, work, llmc):
        self.bundle, self.out, self.work, self.llmc = bundle, out, work, llmc
        self.environment = dict(os.environ, APO_HOME=str(ROOT), TORCHINDUCTOR_COMPILE_THREADS="1",
                                LD_LIBRARY_PATH=f"{bundle / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}")

    def environment_of(self, case):
        return {**self.environment, "APO_JOURNAL": str(self.work / case / "journal.db")}

    def call(self, case, *words):
        """Runs a command in the case's folder; what it prints is also kept in OUT/CASE.log. Its output and seconds."""
        folder = self.work / case
        folder.mkdir(exist_ok=True)
        start = time.monotonic()
        done = subprocess.run([str(word) for word in words], cwd=folder, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=110,
                              env=self.environment_of(case))
        seconds = time.monotonic() - start
        with open(self.out / f"{case}.log", "a") as log:
            log.write(f"$ {' '.join(map(str, words))}\n{done.stdout}\nexit {done.returncode}, {seconds:.1f} s\n\n")
        return done.stdout, seconds

    def apo(self, case, *words):
        return self.call(case, self.bundle / "apo", *words)

    def compile(self):
        self.call("programs", "nvcc", "-arch=native", "-std=c++17", "-o", "programs", PROGRAMS, "-lcublas", "-lcuda",
                  "-ldl", "-L/usr/local/cuda/lib64/stubs")
        self.programs = self.work / "programs/programs"

    def program(self, case):
        if case == "llmc":
            self.call(case, "nvcc", "-arch=native", "-O3", "--use_fast_math", "-o", "layernorm",
                      self.llmc / "layernorm_forward.cu", "-lcublas", "-lcublasLt")
            return ["--kernel", "layernorm_forward_kernel3", "--declaration", LAYERNORM], ["./layernorm", "3"]
        options = ["--range", RANGES.get(case, "call")]
        if case in OF_CUDA:
            return options, [self.programs, case]
        return options, [sys.executable, CALLS, case]

    def case(self, case):
        """A row of the table: what was recorded, what came of it, and the seconds."""
        options, program = self.program(case)
        interrupted = ["timeout", "--signal=INT", "20"] if case == "hangs" else []  # as a person at the keyboard does
        family = f"{case}_call"
        said, recording = self.call(case, *interrupted, self.bundle / "apo", "record", *options, "--family", family,
                                    "--", *program)
        seconds = [recording]
        replayed = next((line for line in said.splitlines() if line.startswith("replayed: ")), "")
        if f"{family}.h" in said:
            for file in (f"{family}/{family}.h", f"{family}/recorded.cu"):
                said, took = self.apo(case, "register", file)
                seconds.append(took)
        return case, CASES[case], f"{said}\n{replayed}", seconds

    def changed_record(self):
        """A record of another GPU, one of more memory than a record may have, half of one, and two recordings at once."""
        case = "changed"
        record = ["record", "--range", "call", "--family", "twice"]
        program = [self.programs, "works"]
        self.apo(case, *record, "--", *program)
        self.apo(case, "register", "twice/twice.h")
        kept = self.work / case / "twice/twice.record"
        whole = kept.read_bytes()
        call, sizes, rest = whole.split(b"\n", 2)
        for name, words, change in (
                ("other GPU", "it was recorded on Another GPU, and this is", {"device": "Another GPU"}),
                ("too much memory", "is no record, or a part of one", {"memory": [{"bytes": 400 << 30, "is_scratch": True}]})):
            bytes_of_all = json.loads(sizes)["bytes"] + [0] * len(change.get("memory", []))
            lines = [json.dumps({**json.loads(call), **change}), json.dumps({"bytes": bytes_of_all})]
            kept.write_bytes("\n".join(lines).encode() + b"\n" + rest)
            said, seconds = self.apo(case, "register", "twice/recorded.cu")
            yield name, words, said, [seconds]
        kept.write_bytes(whole[:len(whole) // 2])
        said, seconds = self.apo(case, "register", "twice/recorded.cu")
        yield "half a record", "is no record, or a part of one", said, [seconds]
        both = [subprocess.Popen([self.bundle / "apo", *record, "--to", f"two{i}", "--", *program],
                                 cwd=self.work / case, env=self.environment_of(case), stdout=subprocess.DEVNULL)
                for i in (0, 1)]
        codes = [one.wait() for one in both]
        same = {(self.work / case / f"two{i}/twice/twice.record").read_bytes() for i in (0, 1)}
        yield "two at once", "[0, 0] 1", f"{codes} {len(same)}", [0]

    def short_memory(self):
        """A record that the GPU has no memory for; by itself, since others need it too."""
        case = "memory"
        self.apo(case, "record", "--range", "call", "--family", "much", "--", self.programs, "large")
        self.apo(case, "register", "much/much.h")
        with subprocess.Popen([self.programs, "hog"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as hog:
            taken = hog.stdout.readline().strip()
            said, seconds = self.apo(case, "register", "much/recorded.cu")
            hog.stdin.write("\n")
        yield "memory is short", "bytes of the call's own memory", f"{taken}\n{said}", [seconds]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--llmc", type=Path, metavar="FOLDER", help="dev/cuda of a clone of llm.c")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    options = parser.parse_args()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    work = tempfile.TemporaryDirectory()
    sitting = Sitting(options.bundle.resolve(), out, Path(work.name), options.llmc.resolve() if options.llmc else None)
    table = open(out / "recordings.md", "w")
    failed = []

    def print_row(case, words, said, seconds):
        does = words in said
        if not does:
            failed.append(case)
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        said = " / ".join([line for line in lines if words in line][:1] + lines[-3:]).replace("|", "/")[-300:]
        took = " + ".join(f"{one:.1f}" for one in seconds)
        row = f"| {case} | {words} | {'yes' if does else 'NO'} | {said} | {took} |"
        print(row, flush=True)
        print(row, file=table, flush=True)

    print("| case | has to say | does | evidence | seconds |\n|---|---|---|---|---|", file=table)

    def guarded(rows, case):
        try:
            for row in rows():
                print_row(*row)
        except (OSError, subprocess.SubprocessError) as error:
            print_row(case, "to finish", str(error), [0])

    jobs = {"changed": sitting.changed_record}
    jobs.update({case: lambda case=case: [sitting.case(case)] for case in CASES})
    if not options.llmc or not options.llmc.is_dir():
        del jobs["llmc"]
    sitting.compile()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        concurrent.futures.wait([pool.submit(guarded, rows, case) for case, rows in jobs.items()
                                 if not options.only or case in options.only])
    if not options.only or "memory" in options.only:
        guarded(sitting.short_memory, "memory")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
