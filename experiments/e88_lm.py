#!/usr/bin/env python3
"""experiments/e88_lm.py BUNDLE OUT PART... - the E88 language model on a GPU: its steps, and its verdicts on kernels.

BUNDLE is from bundle.sh; what is printed, the journal and the comparisons are kept in OUT. Parts, taken in this order:

    steps         milliseconds a step, with the kernels of every stage of the two campaigns, and its distance to the floor
    profile       apo profile of the model with the best kernels
    simple        the application's verdict on the best kernels against the plain ones
    same          on the best kernels against themselves
    gate-bug      on a backward kernel that takes the gated output for the plain one in the gradient of the gate
    skipped-head  on a forward kernel that skips one head in 83
    stage         on the last accepted stage alone, whose effect on the kernel is in the journal
    fused         on one GEMM for all projections against five
    graph         on a step as one CUDA graph against its calls
    long200       loss of the second 100 of 200 steps, best against plain, seven seeds
    long1000      loss after 1000 steps of a quarter of the batch (B=4), best against an early stage, five seeds

The tables with a mistake are edited copies of what `apo export` wrote: nothing checks them but the application.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEVICE = ROOT / "experiments/nvidia-h200"
SIMPLE = ("cuda_simple", "cuda_simple")
BEST = ("cuda_best[SEQUENCES=1]", "cuda_best[SEQUENCES=11]")
BEFORE = (BEST[0], "cuda_lane_tiling[SEQUENCES=11]")
PLAIN_FORWARD = ("cuda_simple", "cuda_paired_warps[SEQUENCES=11]")
STAGES = [SIMPLE, (BEST[0], "cuda_simple"), (BEST[0], "cuda_paired_warps[SEQUENCES=11]"), BEFORE, BEST]
GEMM_TFLOP, KERNEL_FLOOR_MS, OPTIMIZER_GB = 21.46, 17 * (0.191 + 0.284), 436.697222 * 30 / 1000
TORCH_RATE = """
import torch
a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
def elapsed(calls):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(calls):
        a @ b
    end.record()
    end.synchronize()
    return start.elapsed_time(end)
elapsed(20)
print(2 * 8192**3 * 50 / elapsed(50) / 1e9)
"""


class Sitting:
    def __init__(self, bundle, out):
        self.apo, self.out = bundle / "apo", out
        self.program = ROOT / "build/e88_lm/e88_lm"
        self.environment = dict(os.environ, APO_HOME=str(ROOT), APO_JOURNAL=str(out / "journal.db"),
                                LD_LIBRARY_PATH=f"{bundle / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}")

    def call(self, *words, expect=(0,), **environment):
        done = subprocess.run([str(word) for word in words], cwd=ROOT, env={**self.environment, **environment},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode not in expect:
            sys.exit(f"{' '.join(str(w) for w in words)} ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        return done

    def build(self):
        self.call("cmake", "-S", "examples/e88_lm", "-B", "build/e88_lm")
        self.call("cmake", "--build", "build/e88_lm", "--parallel")

    def table(self, kernels, name=None, flags=None, edits=()):
        """The dispatch of a forward and a backward kernel; edits: (pattern of files, text, replacement)."""
        folder = self.out / "tables" / (name or "-".join(kernels).replace("[", "_").replace("]", "").replace("=", "_"))
        if folder.exists():
            return folder
        for direction, kernel in zip(("forward", "backward"), kernels):
            if kernels == BEST:  # with what their campaigns measured
                source = ["--journal", DEVICE / f"b16_t512_h83_n32/{direction}.db"]
            else:  # of a journal that knows the GPU, and no result of the family
                source = ["--journal", DEVICE / "lse_backward/campaign.db", "--fallback", f"e88_{direction}/{kernel}"]
            self.call(self.apo, "export", "--dispatch", f"e88_{direction}", "--output", folder, "--with-sources", "--quiet", *source)
        for pattern, text, replacement in edits:
            (file,) = folder.glob(pattern)
            source = file.read_text()
            if source.count(text) != 1:
                sys.exit(f"{file} has {source.count(text)} times: {text}")
            file.write_text(source.replace(text, replacement))
        if flags:
            (folder / "flags").write_text(flags)
        return folder

    def steps(self, kernels, *flags):
        """(milliseconds a step, bytes a second, final loss): the median of 20 steps behind 10."""
        done = self.call(self.program, "--steps", "30", *flags, APO_DISPATCH=str(self.table(kernels)))
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        seconds = statistics.median(line["seconds"] for line in lines[10:])
        return 1000 * seconds, lines[0]["bytes"] / seconds, lines[-1]["loss"]

    def compare(self, title, a, b, *options, steps=60, seeds=10, **quality):
        application = json.loads((ROOT / "examples/e88_lm/campaign.json").read_text())
        application["application"].update(steps=steps, seeds=list(range(1, seeds + 1)), pairs=seeds, time_limit="10m")
        application["application"]["metrics"][1].update(quality)
        file = self.out / "application.json"
        file.write_text(json.dumps(application))
        done = self.call(self.apo, "compare", a, b, "--application", file, "--target", "cuda", "--quiet",
                         *options, expect=(0, 1, 3))
        print(f"\n## {title}\n\n```\n{done.stdout.strip()}\n{done.stderr.strip()}\n```", flush=True)


def steps(sitting):
    print("| forward | backward | flags | ms a step | bytes/s | loss of step 30 |\n|---|---|---|---|---|---|")
    rows = [(kernels, ()) for kernels in STAGES] + [(BEST, ("--fused-projection",)), (BEST, ("--graph",)),
                                                    (BEST, ("--graph", "--fused-projection"))]
    best = None
    for kernels, flags in rows:
        milliseconds, rate, loss = sitting.steps(kernels, *flags)
        best = min(best or milliseconds, milliseconds)
        print(f"| {kernels[0]} | {kernels[1]} | {' '.join(flags)} | {milliseconds:.2f} | {rate:.0f} | {loss:.4f} |", flush=True)
    rate = float(sitting.call(sys.executable, "-c", TORCH_RATE).stdout)
    roofs = json.loads(sitting.call(sitting.apo, "profile", "--roofs", "--target", "cuda", "--json", "--quiet").stdout)
    copy = max(roof["value"] for roof in roofs["roofs"] if roof["name"] == "memory_copy")
    optimizer = 1e12 * OPTIMIZER_GB / copy
    gemm = 1000 * GEMM_TFLOP / rate
    floor = gemm + KERNEL_FLOOR_MS + optimizer
    print(f"\nfloor {floor:.1f} ms: GEMMs {gemm:.1f} ({GEMM_TFLOP} TFLOP at {rate:.0f} TFLOP/s, a product of 8192^3), E88 kernels "
          f"{KERNEL_FLOOR_MS:.1f}, optimizer {optimizer:.1f} ({OPTIMIZER_GB:.1f} GB at {copy / 1e9:.0f} GB/s); "
          f"the best step takes {best / floor:.2f}x", flush=True)


def profile(sitting):
    done = sitting.call(sitting.apo, "profile", "--categories", "examples/e88_lm/categories.json", "--output",
                        sitting.out / "profile.txt", "--", sitting.program, APO_DISPATCH=str(sitting.table(BEST)), APO_STEPS="20")
    print(done.stderr[-500:])


def verdict(title, a, b, *options, **more):
    return lambda sitting: sitting.compare(title, sitting.table(*a), sitting.table(*b), *options, **more)


GATE_BUG = [("e88_backward/cuda_best*/cuda_best.cu", "dg.x[i] = dy.x[i] * y.x[i] * sigmoid",
             "dg.x[i] = dy.x[i] * (y.x[i] * g.x[i] * sigmoid) * sigmoid")]
SKIPPED_HEAD = [("e88_forward/cuda_best*/cuda_best.cu", "if (sequence >= a.B * a.H) {", "if (sequence >= a.B * a.H || h == a.H - 1) {")]
PARTS = {
    "steps": steps,
    "profile": profile,
    "simple": verdict("Best against plain", (SIMPLE,), (BEST,)),
    "same": verdict("Best against itself", (BEST, "best-a"), (BEST, "best-b")),
    "gate-bug": verdict("A mistake in the gradient of the gate", (BEST,), (BEST, "gate-bug", None, GATE_BUG)),
    "skipped-head": verdict("A head that is skipped", (BEST,), (BEST, "skipped-head", None, SKIPPED_HEAD), steps=90, last=70,
                            margin=0.003),
    "stage": verdict("The last accepted stage of the backward", (BEFORE,), (BEST,), steps=30),
    "fused": verdict("One GEMM for all projections", (BEST, "separate"), (BEST, "fused", "--fused-projection"), steps=40),
    "graph": verdict("A step as one graph", (BEST, "calls"), (BEST, "graph", "--graph"), steps=40),
    "long200": verdict("200 steps", (SIMPLE,), (BEST,), steps=200, seeds=7, last=100),
    "long1000": verdict("1000 steps at B=4", (PLAIN_FORWARD, "plain-b4", "--batch 4"), (BEST, "best-b4", "--batch 4"), steps=1000,
                        seeds=5, last=200),
}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("bundle", type=Path)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("parts", nargs="+", choices=PARTS)
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    sitting = Sitting(given.bundle.resolve(), given.out.resolve())
    sitting.build()
    for name, part in PARTS.items():
        if name in given.parts:
            part(sitting)


if __name__ == "__main__":
    main()
