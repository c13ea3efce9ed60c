#!/usr/bin/env python3
"""experiments/scan.py BUNDLE OUT - what a machine with a GPU has to show of scans, each case a line of OUT/scan.jsonl.

BUNDLE is from bundle.sh. Needs nvcc. OUT has to be new or empty. Takes 100 seconds at most on a machine with 16 cores.
"""
import json
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUNDLE, OUT = (os.path.abspath(path) for path in sys.argv[1:3])
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
    """(seconds, exit code or "cut off", stdout), with what it said on stderr in a file, each line behind its second."""
    begin = time.time()
    command = [os.path.join(BUNDLE, "apo"), *words, "--journal", os.path.join(OUT, name + ".db")]
    with open(os.path.join(OUT, name + ".err"), "ab") as err:
        child = subprocess.Popen(command, env=ENVIRONMENT, cwd=OUT, stdout=subprocess.PIPE, stderr=err, text=True)
        try:
            out, code = child.communicate(timeout=limit)[0], child.returncode
        except subprocess.TimeoutExpired:
            child.kill()
            out, code = child.communicate()[0], "cut off"
    return round(time.time() - begin, 1), code, out


def rows(name):
    """(label, level, outcome, effect, pairs, seconds) of the table, the oldest first."""
    sql = ("SELECT label, level, outcome, effect, pairs, seconds FROM scanned s JOIN configuration c"
           " ON c.id = s.configuration ORDER BY s.id")
    return json.loads(apo(name, "query", "--json", "--sql", sql, limit=20)[2] or '{"rows": []}')["rows"]


def scan(name, family, budget, limit, *more):
    seconds, code, out = apo(name, "scan", family, "--target", "cuda", "--json", "--budget", f"{budget}s", *more,
                             limit=limit)
    row = {"family": family, "seconds": seconds, "exit": code}
    if code == "cut off":
        row["in_journal"] = [len(rows(name)), round(sum(one[5] for one in rows(name)), 1)]
    if code == 0:
        document = json.loads(out)
        valid = [one for one in document["scanned"] if one["outcome"] == "valid"]
        row.update({key: document[key] for key in ("left", "measured", "build_s", "timing_s")})
        row["measurements_per_s"] = round(document["measured"] / seconds, 2)
        row["out"] = len(document["scanned"]) - len(valid)
        row["first"] = [[one["configuration"]["label"], one["speedup"], one["sd"], one["pairs"]] for one in valid[:8]]
    return row


def champion():
    """A fresh default campaign: seconds to its end, and where its incumbent stood in the scan."""
    seconds, code, out = apo("run", *"run row_softmax --target cuda --iterations 1 --candidates 1 --json".split(),
                             limit=max(5, 92 - (time.time() - START)))
    row = {"seconds": seconds, "exit": code}
    if code in (0, 3):
        summary = json.loads(out)
        row["experiments"] = [[one["candidate"]["label"], one["prediction"], one["judgement"]["verdict"],
                               one["judgement"]["speedup"]] for one in summary["iterations"][0]["experiments"]]
    ranked = sorted((one for one in rows("run") if one[2] == "valid"), key=lambda one: -one[3])
    row["scanned"] = [one[:5] for one in ranked[:6]]
    return row


def cut_off():
    """kill -9 after ten seconds, then the same command goes on: nothing is measured twice."""
    scan("wide", "matmul_bf16", 60, 10)
    before = rows("wide")
    row = scan("wide", "matmul_bf16", 22, 40)
    after = rows("wide")
    row.update(before=len(before), kept=after[:len(before)] == before,
               twice=len(after) - len({(one[0], one[1]) for one in after}), in_journal=len(after))
    row["cache_mb"] = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in
                          os.walk(ENVIRONMENT["APO_CACHE"]) for name in names) // 2**20
    return row


def write_wide():
    folder = os.path.join(OUT, "variants", "matmul_bf16")  # beside the journals
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "wide.cu"), "w", encoding="utf-8") as file:
        file.write(WIDE)


CASES = [("e88_forward", lambda: scan("e88", "e88_forward", 10, 25)),
         ("row_softmax", lambda: scan("softmax", "row_softmax", 5, 12)),
         ("known", lambda: scan("softmax", "row_softmax", 5, 12)),
         ("wide", cut_off), ("campaign", champion)]


def main():
    write_wide()
    with open(os.path.join(OUT, "scan.jsonl"), "w", encoding="utf-8") as file:
        for name, case in CASES:
            try:
                row = case()
            except Exception as error:  # the others are wanted all the same
                row = {"error": repr(error)}
            file.write(json.dumps({"case": name, "at_s": round(time.time() - START, 1), **row}) + "\n")
            file.flush()
    with open(os.path.join(OUT, "scan.jsonl"), encoding="utf-8") as file:
        print(file.read(), end="")


main()
