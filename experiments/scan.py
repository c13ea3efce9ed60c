#!/usr/bin/env python3
"""experiments/scan.py BUNDLE OUT [CASE...] - configurations a second of scans on a GPU, and where the time goes, in
OUT/scan.jsonl.

BUNDLE is from bundle.sh. Needs nvcc. OUT has to be new or empty. Takes 170 seconds at most on a machine with 16 cores;
of single cases e88_long and e88_middle 35 and 25.
OUT/NAME.err has what a command said, each line behind its second.
"""
import collections
import json
import os
import re
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUNDLE, OUT, WANTED = *(os.path.abspath(path) for path in sys.argv[1:3]), sys.argv[3:]
os.makedirs(OUT, exist_ok=True)
ENVIRONMENT = dict(os.environ, APO_HOME=ROOT, APO_CACHE=os.path.join(OUT, "cache"),
                   LD_LIBRARY_PATH=BUNDLE + "/lib:" + os.environ.get("LD_LIBRARY_PATH", ""))
START = time.time()

# 972 settings of one kernel: tiles of a warp, warps of a block, steps of the sum, registers.
WIDE = """// apo:variant    matmul_bf16/wide
// apo:target     cuda sm_80
// apo:parent     matmul_bf16/cuda_tensor_core
// apo:idea       A block of warps, each with a tile of accumulators, in all sizes.
// apo:tune       TILES_M 2,1,4
// apo:tune       TILES_N 2,1,4
// apo:tune       WARPS_M 1,2,4
// apo:tune       WARPS_N 1,2,4
// apo:tune       STEPS 1,2,4
// apo:tune       REGISTERS 255,128,96,64
// apo:flags      --maxrregcount={REGISTERS}
// apo:requires   M % (16 * TILES_M * WARPS_M) == 0 && N % (16 * TILES_N * WARPS_N) == 0 && K % (16 * STEPS) == 0
// apo:launch     multiply grid=N/(16*TILES_N*WARPS_N),M/(16*TILES_M*WARPS_M) block=32*WARPS_M*WARPS_N
#include <mma.h>

#include "matmul_bf16.args.h"

namespace wmma = nvcuda::wmma;

constexpr int kSteps = STEPS;

extern "C" __global__ void multiply(const matmul_bf16_args a) {
  const int warp = threadIdx.x / 32;
  const long long row = 16LL * TILES_M * (blockIdx.y * WARPS_M + warp / WARPS_N);
  const long long column = 16LL * TILES_N * (blockIdx.x * WARPS_N + warp % WARPS_N);
  const unsigned stride = static_cast<unsigned>(a.K);
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[TILES_M][TILES_N];
  for (int i = 0; i < TILES_M; ++i)
    for (int j = 0; j < TILES_N; ++j) wmma::fill_fragment(sums[i][j], 0.0f);
#pragma unroll kSteps
  for (long long k = 0; k < a.K; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left[TILES_M];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> right[TILES_N];
    for (int i = 0; i < TILES_M; ++i) wmma::load_matrix_sync(left[i], a.a + (row + 16 * i) * a.K + k, stride);
    for (int j = 0; j < TILES_N; ++j) wmma::load_matrix_sync(right[j], a.b + (column + 16 * j) * a.K + k, stride);
    for (int i = 0; i < TILES_M; ++i)
      for (int j = 0; j < TILES_N; ++j) wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
  }
  float* c = a.c + row * a.N + column;
  for (int i = 0; i < TILES_M; ++i)
    for (int j = 0; j < TILES_N; ++j)
      wmma::store_matrix_sync(c + 16 * i * a.N + 16 * j, sums[i][j], static_cast<unsigned>(a.N), wmma::mem_row_major);
}
"""


def apo(name, *words, limit):
    """(seconds, exit code or "cut off", stdout, [(second, line of stderr)])."""
    begin = time.time()
    command = [os.path.join(BUNDLE, "apo"), *words, "--journal", os.path.join(OUT, name + ".db")]
    with subprocess.Popen(command, env=ENVIRONMENT, cwd=OUT, text=True, errors="replace", stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as child:
        said, out = [], []
        readers = [threading.Thread(target=lambda: said.extend((round(time.time() - begin, 2), line.rstrip())
                                                               for line in child.stderr)),
                   threading.Thread(target=lambda: out.append(child.stdout.read()))]
        for reader in readers:
            reader.start()
        try:
            code = child.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            code = "cut off"
        for reader in readers:
            reader.join()
    with open(os.path.join(OUT, name + ".err"), "a", encoding="utf-8") as err:
        err.writelines(f"{second:8.2f} {line}\n" for second, line in said)
    return round(time.time() - begin, 1), code, out[0], said


def stages(said):
    """{stage: [times, seconds]}; one stage may be a part of another one."""
    found = collections.defaultdict(lambda: [0, 0.0])
    for _, line in said:
        match = re.fullmatch(r"apo debug: (.*): ([\d.]+) (ms|s)", line)
        if match:
            found[match[1]][0] += 1
            found[match[1]][1] += float(match[2]) / (1000 if match[3] == "ms" else 1)
    return {name: [times, round(seconds, 2)] for name, (times, seconds) in found.items() if seconds >= 0.05}


def rows(name):
    """(label, level, outcome, effect, pairs, seconds) of the table, the oldest first."""
    sql = ("SELECT label, level, outcome, effect, pairs, seconds FROM scanned s JOIN configuration c"
           " ON c.id = s.configuration ORDER BY s.id")
    return json.loads(apo(name, "query", "--json", "--sql", sql, limit=20)[2] or '{"rows": []}')["rows"]


def scan(name, family, budget, limit):
    seconds, code, out, said = apo(name, "scan", *family.split(), "--target", "cuda", "--json", "-v", "--budget", f"{budget}s",
                                   limit=limit)
    kept = rows(name)
    row = {"family": family, "seconds": seconds, "over_budget_s": round(seconds - budget, 1), "exit": code, "rows": len(kept),
           "first_row_s": next((second for second, line in said if ": timed: " in line), None),
           "in_rows_s": round(sum(one[5] for one in kept), 1), "stages": stages(said)}
    if code == 0:
        document = json.loads(out)
        valid = [one for one in document["scanned"] if one["outcome"] == "valid"]
        row.update({key: document[key] for key in ("left", "measured", "build_s", "timing_s")})
        row["configurations_per_s"] = round(len(document["scanned"]) / seconds, 2)
        row["measurements_per_s"] = round(document["measured"] / seconds, 2)
        row["out"] = collections.Counter(one["outcome"] for one in document["scanned"])
        row["first"] = [[one["configuration"]["label"], one["speedup"], one["sd"], one["pairs"]] for one in valid[:8]]
    row["cache_mb"] = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in
                          os.walk(ENVIRONMENT["APO_CACHE"]) for name in names) // 2**20
    return row


def campaign():
    """A fresh default campaign of one candidate: the second of each step, and where its incumbent stood in the scan."""
    words = "run row_softmax --target cuda --iterations 1 --candidates 1 --json -v".split()
    seconds, code, out, said = apo("run", *words, limit=max(5, 166 - (time.time() - START)))
    row = {"seconds": seconds, "exit": code, "stages": stages(said),
           "steps": [[second, line.strip()[:120]] for second, line in said if not line.startswith("apo debug")]}
    if code in (0, 3):
        summary = json.loads(out)
        row["experiments"] = [[one["candidate"]["label"], one["prediction"], one["judgement"]["verdict"],
                               one["judgement"]["speedup"]] for one in summary["iterations"][0]["experiments"]]
    ranked = sorted((one for one in rows("run") if one[2] == "valid"), key=lambda one: -one[3])
    row["scanned"] = [one[:5] for one in ranked[:6]]
    return row


def write_wide():
    folder = os.path.join(OUT, "variants", "matmul_bf16")  # beside the journals
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "wide.cu"), "w", encoding="utf-8") as file:
        file.write(WIDE)


CASES = [("e88_forward", lambda: scan("e88", "e88_forward", 10, 20)),
         ("row_softmax", lambda: scan("softmax", "row_softmax", 10, 20)),
         ("e88_long", lambda: scan("long", "e88_backward --workload b1_t16384_h83_n32", 30, 40)),
         ("e88_middle", lambda: scan("middle", "e88_backward --workload b4_t2048_h84_n32", 20, 30)),
         ("matmul_bf16", lambda: scan("wide", "matmul_bf16", 15, 25)), ("campaign", campaign)]


def main():
    write_wide()
    with open(os.path.join(OUT, "scan.jsonl"), "w", encoding="utf-8") as file:
        for name, case in [one for one in CASES if not WANTED or one[0] in WANTED]:
            try:
                row = case()
            except Exception as error:  # the others are wanted all the same
                row = {"error": repr(error)}
            file.write(json.dumps({"case": name, "at_s": round(time.time() - START, 1), **row}) + "\n")
            file.flush()
    with open(os.path.join(OUT, "scan.jsonl"), encoding="utf-8") as file:
        print(file.read(), end="")


main()
