#!/usr/bin/env python3
"""experiments/recordings.py BUNDLE OUT [--llmc FOLDER] [--only NAME...] - operations of other people's programs, recorded.

BUNDLE is from bundle.sh, FOLDER a clone of llm.c. Needs a GPU, nvcc, PyTorch and, for some cases, transformers. Each case is
recorded with `apo record`, and the family and the recorded operations are registered, which checks these on inputs that
the program has never seen. Rows of the table are printed as they come, also to OUT/recordings.md; fails where a case
ends in another way than it has to. OUT has to be new or empty.
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

HEAD = r"""
#include <cstdio>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
void name(const char* role, const char* label, const float* at, int elements) {
  char text[128];
  std::snprintf(text, sizeof text, "apo:%s %s f32[%d] %p", role, label, elements, static_cast<const void*>(at));
  nvtxMarkA(text);
}
constexpr int kCount = 1 << 18;
float* make(int elements, float step) {
  static float host[1 << 20];
  for (int i = 0; i < elements; ++i) host[i] = 1 + step * (i % 97);
  float* at = nullptr;
  cudaMalloc(&at, 4 * elements);
  cudaMemcpy(at, host, 4 * elements, cudaMemcpyHostToDevice);
  return at;
}
"""
PROGRAMS = {}
PROGRAMS["tma"] = HEAD + r"""
#include <cuda.h>
#include <cuda/barrier>
namespace device = cuda::device::experimental;
constexpr int kWidth = 512, kTile = 32;
__global__ void tiles(const __grid_constant__ CUtensorMap map, float* y) {
  __shared__ alignas(128) float tile[kTile][kTile];
  #pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> arrived;
  if (threadIdx.x == 0) { init(&arrived, blockDim.x); device::fence_proxy_async_shared_cta(); }
  __syncthreads();
  cuda::barrier<cuda::thread_scope_block>::arrival_token token;
  if (threadIdx.x == 0) {
    device::cp_async_bulk_tensor_2d_global_to_shared(&tile, &map, blockIdx.x * kTile, blockIdx.y * kTile, arrived);
    token = cuda::device::barrier_arrive_tx(arrived, 1, sizeof tile);
  } else {
    token = arrived.arrive();
  }
  arrived.wait(std::move(token));
  for (int i = threadIdx.x; i < kTile * kTile; i += blockDim.x)
    y[(blockIdx.y * kTile + i / kTile) * kWidth + blockIdx.x * kTile + i % kTile] = 2 * tile[i / kTile][i % kTile];
}
int main() {
  float* x = make(kCount, 0.5f);
  float* y = make(kCount, 0);
  CUtensorMap map;
  const cuuint64_t sizes[] = {kWidth, kCount / kWidth}, strides[] = {4 * kWidth};
  const cuuint32_t box[] = {kTile, kTile}, steps[] = {1, 1};
  if (cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, x, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                             CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != 0) return 1;
  nvtxRangePushA("call");
  tiles<<<dim3(kWidth / kTile, kCount / kWidth / kTile), 128>>>(map, y);
  name("input", "x", x, kCount); name("output", "y", y, kCount);
  nvtxRangePop();
  return cudaDeviceSynchronize();
}
"""
PROGRAMS["table"] = HEAD + r"""
namespace {
__device__ float table[256];
__constant__ float scale;
__global__ void look_up(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = scale * table[static_cast<int>(x[i]) & 255] * x[i];
}
}
int main() {
  float host[256], three = 3;
  for (int i = 0; i < 256; ++i) host[i] = 1.0f / (i + 1);
  float* x = make(kCount, 1);
  float* y = make(kCount, 0);
  cudaMemcpyToSymbol(table, host, sizeof host); cudaMemcpyToSymbol(scale, &three, sizeof three);
  nvtxRangePushA("call");
  look_up<<<kCount / 256, 256>>>(x, y, kCount);
  name("input", "x", x, kCount); name("output", "y", y, kCount);
  nvtxRangePop();
  return cudaDeviceSynchronize();
}
"""
PROGRAMS["cooperative"] = HEAD + r"""
#include <cooperative_groups.h>
__global__ void normalise(const float* x, float* y, float* sums, int n) {
  const auto grid = cooperative_groups::this_grid();
  __shared__ float part[256];
  float sum = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += x[i];
  part[threadIdx.x] = sum;
  for (int half = 128; half > 0; half /= 2) { __syncthreads(); if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half]; }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
  grid.sync();
  float total = 0;
  for (int i = 0; i < gridDim.x; ++i) total += sums[i];
  for (int i = grid.thread_rank(); i < n; i += grid.size()) y[i] = n * x[i] / total;
}
int main() {
  float *x = make(kCount, 1), *y = make(kCount, 0), *sums = make(64, 0);
  int n = kCount;
  void* parameters[] = {&x, &y, &sums, &n};
  nvtxRangePushA("call");
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(normalise), 64, 256, parameters, 0, nullptr);
  name("input", "x", x, kCount); name("output", "y", y, kCount);
  nvtxRangePop();
  return cudaDeviceSynchronize();
}
"""
PROGRAMS["streams"] = HEAD + r"""
__global__ void scaled(const float* x, float* y, int n, float a) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
__global__ void sum(const float* a, const float* b, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = a[i] + b[i];
}
int main() {
  float *x = make(kCount, 1), *y = make(kCount, 0), *part[2] = {make(kCount, 0), make(kCount, 0)};
  cudaStream_t side[2];
  cudaEvent_t begin, end[2];
  cudaEventCreate(&begin);
  for (int i = 0; i < 2; ++i) { cudaStreamCreateWithFlags(side + i, cudaStreamNonBlocking); cudaEventCreate(end + i); }
  nvtxRangePushA("call");
  cudaEventRecord(begin, nullptr);
  for (int i = 0; i < 2; ++i) {
    cudaStreamWaitEvent(side[i], begin, 0);
    scaled<<<kCount / 256, 256, 0, side[i]>>>(x, part[i], kCount, 1.0f + i);
    cudaEventRecord(end[i], side[i]);
    cudaStreamWaitEvent(nullptr, end[i], 0);
  }
  sum<<<kCount / 256, 256>>>(part[0], part[1], y, kCount);
  name("input", "x", x, kCount); name("output", "y", y, kCount);
  nvtxRangePop();
  return cudaDeviceSynchronize();
}
"""
PROGRAMS["pointers"] = HEAD + r"""
#include <cublas_v2.h>
int main() {
  constexpr int kBatch = 16, kSide = 64, kOne = kSide * kSide;
  float *a = make(kBatch * kOne, 1), *b = make(kBatch * kOne, 0.5f), *c = make(kBatch * kOne, 0), *each[3][kBatch], **arrays[3];
  for (int i = 0; i < kBatch; ++i) { each[0][i] = a + i * kOne; each[1][i] = b + i * kOne; each[2][i] = c + i * kOne; }
  for (int i = 0; i < 3; ++i) {
    cudaMalloc(&arrays[i], sizeof each[i]);
    cudaMemcpy(arrays[i], each[i], sizeof each[i], cudaMemcpyHostToDevice);
  }
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float one = 1, zero = 0;
  const auto multiply = [&] {
    cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSide, kSide, kSide, &one, arrays[0], kSide, arrays[1], kSide, &zero, arrays[2], kSide, kBatch);
  };
  multiply();
  cudaDeviceSynchronize();
  nvtxRangePushA("call");
  multiply();
  nvtxRangePop();
  return cudaDeviceSynchronize();
}
"""
FAULT = HEAD + r"""
#include <cstdlib>
#include <cstring>
#include <unistd.h>
__global__ void twice(const float* x, float* y) { y[blockIdx.x * 256 + threadIdx.x] = 2 * x[blockIdx.x * 256 + threadIdx.x]; }
int main(int, char** argv) {
  float *x = make(kCount, 1), *y = make(kCount, 0);
  nvtxRangePushA("call");
  twice<<<kCount / 256, 256>>>(x, y);
  if (!std::strcmp(argv[1], "crashes")) std::abort();
  if (!std::strcmp(argv[1], "ends")) return 0;
  if (!std::strcmp(argv[1], "leaves")) _exit(0);
  if (!std::strcmp(argv[1], "faults")) twice<<<kCount, 256>>>(x, y);
  name("input", "x", x, kCount); name("output", "y", y, kCount);
  nvtxRangePop();
  return 0;
}
"""
RECORDED = "correctness: valid"
CASES = {case: RECORDED for case in
         ("eager", "gemm", "conv", "sdpa", "compiled", "triton_softmax", "sort", "transformer", "adam", "embedding", "cumsum", "scan")}
CASES.update({program: RECORDED for program in PROGRAMS}, pointers="an address lies at byte", item="cannot be recorded", llmc=RECORDED)

EARLY = {"ends": "ended within the range", "crashes": "was ended before the call was over",
         "leaves": "was ended before the call was over", "faults": "CUDA_ERROR_ILLEGAL_ADDRESS"}


class Sitting:
    def __init__(self, bundle, out, work, llmc):
        self.bundle, self.out, self.work, self.llmc = bundle, out, work, llmc
        self.environment = dict(os.environ, APO_HOME=str(ROOT), TORCHINDUCTOR_COMPILE_THREADS="1",
                                LD_LIBRARY_PATH=f"{bundle / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}")

    def call(self, case, *words, **environment):
        """Runs a command in the case's folder; what it prints is also kept in OUT/CASE.log. Its output and seconds."""
        folder = self.work / case
        folder.mkdir(exist_ok=True)
        start = time.monotonic()
        done = subprocess.run([str(word) for word in words], cwd=folder, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=110,
                              env={**self.environment, "APO_JOURNAL": str(folder / "journal.db"), **environment})
        seconds = time.monotonic() - start
        with open(self.out / f"{case}.log", "a") as log:
            log.write(f"$ {' '.join(map(str, words))}\n{done.stdout}\nexit {done.returncode}, {seconds:.1f} s\n\n")
        return done.stdout, seconds

    def apo(self, case, *words, **environment):
        return self.call(case, self.bundle / "apo", *words, **environment)

    def compile(self, case, text):
        folder = self.work / case
        folder.mkdir(exist_ok=True)
        (folder / "program.cu").write_text(text)
        self.call(case, "nvcc", "-arch=native", "-std=c++17", "-o", "program", "program.cu", "-lcublas", "-lcuda", "-ldl",
                  "-L/usr/local/cuda/lib64/stubs")
        return ["./program"]

    def program(self, case):
        if case == "llmc":
            self.call(case, "nvcc", "-arch=native", "-O3", "--use_fast_math", "-o", "layernorm", self.llmc / "layernorm_forward.cu",
                      "-lcublas", "-lcublasLt")
            return ["--kernel", "layernorm_forward_kernel3", "--family", "llmc_call", "--declaration",
                    "layernorm_forward_kernel3(float* out, float* mean, float* rstd, const float* inp, const float* weight, "
                    "const float* bias, int N, int C)"], ["./layernorm", "3"]
        if case in PROGRAMS:
            return ["--range", "call", "--family", f"{case}_call"], self.compile(case, PROGRAMS[case])
        libraries = f"LD_LIBRARY_PATH={os.environ.get('LD_LIBRARY_PATH', '')}"  # not the bundle's
        return ["--range", "call", "--family", f"{case}_call"], ["env", libraries, sys.executable, CALLS, case]

    def case(self, case):
        """A row of the table: what was recorded, what came of it, and the seconds."""
        options, program = self.program(case)
        said, recording = self.apo(case, "record", *options, "--", *program)
        family = f"{case}_call"
        seconds = [recording]
        if f"{family}.h" in said:
            for file in (f"{family}/{family}.h", f"{family}/recorded.cu"):
                said, took = self.apo(case, "register", file)
                seconds.append(took)
        return case, CASES[case], said, seconds

    def early(self, case, words, option="call"):
        """A program that ends, in one way or another, before its range has."""
        said, seconds = self.apo(case, "record", "--range", option, "--family", "twice", "--", *self.compile(case, FAULT), case)
        return case, words, said, [seconds]

    def changed_record(self):
        """A record of another GPU, one with more memory than there is, half of one, and two recordings at once."""
        case = "changed"
        record = ["record", "--range", "call", "--family", "twice"]
        program = self.compile(case, FAULT)
        self.apo(case, *record, "--", *program, "works")
        self.apo(case, "register", "twice/twice.h")
        kept = self.work / case / "twice/twice.record"
        whole = kept.read_bytes()
        call, sizes, rest = whole.split(b"\n", 2)
        for name, words, change in (
                ("other GPU", "it was recorded on Another GPU, and this is", {"device": "Another GPU"}),
                ("too much memory", "of the call's own memory", {"memory": [{"bytes": 400 << 30}]})):
            bytes_of_all = json.loads(sizes)["bytes"] + [0] * len(change.get("memory", []))
            lines = [json.dumps({**json.loads(call), **change}), json.dumps({"bytes": bytes_of_all})]
            kept.write_bytes("\n".join(lines).encode() + b"\n" + rest)
            said, seconds = self.apo(case, "register", "twice/recorded.cu")
            yield name, words, said, [seconds]
        kept.write_bytes(whole[:len(whole) // 2])
        said, seconds = self.apo(case, "register", "twice/recorded.cu")
        yield "half a record", "is no record, or a part of one", said, [seconds]
        both = [subprocess.Popen([self.bundle / "apo", *record, "--to", f"two{i}", "--", *program, "works"], cwd=self.work / case,
                                 stdout=subprocess.DEVNULL, env={**self.environment, "APO_JOURNAL": str(self.work / case / "journal.db")})
                for i in (0, 1)]
        codes = [one.wait() for one in both]
        same = {(self.work / case / f"two{i}/twice/twice.record").read_bytes() for i in (0, 1)}
        yield "two at once", "[0, 0] 1", f"{codes} {len(same)}", [0]

    def model(self):
        """A kernel of examples/e88_lm: recorded, edited and judged."""
        case = "e88_lm"
        self.apo(case, "register", "--no-verify", ROOT / "tests/zoo/attacks/host_plain.cpp")  # the journal is there from here on
        for family in ("e88_forward", "e88_backward"):
            self.apo(case, "export", "--dispatch", family, "--output", "tables", "--with-sources", "--fallback", f"{family}/cuda_simple")
        self.call(case, "cmake", "-S", ROOT / "examples/e88_lm", "-B", "build")
        self.call(case, "cmake", "--build", "build", "--parallel", "8")
        vectors = (ROOT / "examples/e88_lm/kernels/vectors.cuh").read_text().replace("#pragma once\n", "")
        (self.work / case / "sums.cu").write_text(vectors + """
namespace byte_lm {
__global__ void column_sums_kernel(long long rows, long long columns, long long stride, const float* partials, float* out) {
  column_sums(rows, columns, stride, partials, out);
}
}
""")
        said, seconds = self.apo(case, "record", "--kernel", "column_sums_kernel", "--family", "sums", "--source", "sums.cu", "--",
                                 "build/e88_lm", APO_DISPATCH=str(self.work / case / "tables"), APO_STEPS="1", APO_SEED="1")
        yield "e88_lm recorded", "sums/first.cu", said, [seconds]
        for file in ("sums.h", "recorded.cu"):
            said, seconds = self.apo(case, "register", f"sums/{file}")
            yield f"e88_lm {file}", "registered", said, [seconds]
        first = self.work / case / "sums/first.cu"
        if first.exists():
            first.write_text(first.read_text().replace("#pragma unroll 4", "#pragma unroll 16"))
        said, seconds = self.apo(case, "try", "sums", "sums/first.cu")
        yield "e88_lm edited", "verdict", said, [seconds]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--llmc", type=Path, metavar="FOLDER", help="with layernorm_forward.cu and common.h, dev/cuda of llm.c")
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
        row = f"| {case} | {words} | {'yes' if does else 'NO'} | {said} | {' + '.join(f'{one:.1f}' for one in seconds)} |"
        print(row, flush=True)
        print(row, file=table, flush=True)

    print("| case | has to say | does | evidence | seconds |\n|---|---|---|---|---|", file=table)

    def guarded(rows, case):
        try:
            for row in rows():
                print_row(*row)
        except (OSError, subprocess.SubprocessError) as error:
            print_row(case, "to finish", str(error), [0])

    jobs = {"e88_lm": sitting.model, "changed": sitting.changed_record}
    jobs.update({case: lambda case=case: [sitting.case(case)] for case in CASES})
    jobs.update({case: lambda case=case, words=words: [sitting.early(case, words)] for case, words in EARLY.items()})
    jobs["never"] = lambda: [sitting.early("never", "entered no NVTX range 'other'", "other")]
    if not options.llmc or not options.llmc.is_dir():
        del jobs["llmc"]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        concurrent.futures.wait([pool.submit(guarded, rows, case) for case, rows in jobs.items()
                                 if not options.only or case in options.only])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
