// bench LIST OUT check|time|once - checks cubins of matmul_bf16 against cuBLASLt and times them, interleaved. LIST: lines
//   wgmma NAME CUBIN STAGES DOWN ACROSS
//   few   NAME CUBIN SPLIT
#include <cublasLt.h>
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>
using bf16 = __nv_bfloat16;
#define CHECK(x)                                                                       \
  do {                                                                                 \
    auto e_ = (x);                                                                     \
    if (int(e_) != 0) { std::printf("FAILED %s: %d line %d\n", #x, int(e_), __LINE__); std::fflush(stdout); std::exit(1); } \
  } while (0)

__global__ void fill(bf16* x, long long n, unsigned seed) {
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += gridDim.x * 256LL) {
    unsigned h = unsigned(i) * 2654435761u ^ seed ^ unsigned(i >> 32) * 40503u;
    float s = 0;
    for (int k = 0; k < 4; ++k) { h ^= h << 13; h ^= h >> 17; h ^= h << 5; s += (h >> 8) * (1.0f / 16777216.0f) - 0.5f; }
    x[i] = __float2bfloat16(s * 1.73f);
  }
}
__global__ void compare(const float* x, const float* y, long long n, double* sums, unsigned long long* bad) {
  double d = 0, r = 0; unsigned long long b = 0;
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += gridDim.x * 256LL) {
    if (!(fabsf(x[i]) < 1e30f)) { ++b; continue; }
    d += double(x[i] - y[i]) * (x[i] - y[i]); r += double(y[i]) * y[i];
  }
  atomicAdd(sums, d); atomicAdd(sums + 1, r); if (b) atomicAdd(bad, b);
}

struct Args { const bf16* a; const bf16* b; float* c; void* maps; long long M, N, K; };
struct ArgsFew { const bf16* a; const bf16* b; float* c; long long M, N, K; };
struct Problem { long long M, N, K; };
struct Entry { std::string kind, name; cudaKernel_t kernel; int stages = 0, down = 1, host = 0, split = 1, rows = 64, warps = 8; size_t shared() const { return kind == "wgmma" ? 1024 * ((49168 * stages + 256 + (host == 2 ? 32768 : 0) + 1023) / 1024) : 0; } int cluster() const { return kind == "wgmma" ? down : split; } };
int sms; void* maps; cudaStream_t stream; cublasLtHandle_t lt; void* workspace; size_t workspace_bytes = 64 << 20;
long long ceil_div(long long a, long long b) { return (a + b - 1) / b; }

CUtensorMap map_of(const void* x, long long rows, long long K, int box, bool is_c = false) {
  static PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
  if (!encode) { cudaDriverEntryPointQueryResult q; CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void**)&encode, 12000, cudaEnableDefault, &q)); }
  CUtensorMap map; cuuint64_t dims[3] = {cuuint64_t(K), cuuint64_t(rows), 1}, strides[2] = {cuuint64_t((is_c ? 4 : 2) * K), cuuint64_t((is_c ? 4 : 2) * K * rows)};
  cuuint32_t boxes[3] = {cuuint32_t(is_c ? 32 : 64), cuuint32_t(box), 1}, ones[3] = {1, 1, 1};
  CHECK(encode(&map, is_c ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, (void*)x, dims, strides, boxes, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

cudaError_t launch(const Entry& e, const Problem& p, const bf16* a, const bf16* b, float* c) {
  cudaLaunchConfig_t config{}; cudaLaunchAttribute at{}; at.id = cudaLaunchAttributeClusterDimension;
  config.attrs = &at; config.numAttrs = e.cluster() > 1; config.stream = stream; at.val.clusterDim.y = at.val.clusterDim.z = 1;
  config.dynamicSmemBytes = e.shared(); at.val.clusterDim.x = e.cluster();
  if (e.kind == "wgmma") {
    const int cl = e.down; const long long P = ceil_div(p.M, 128 * cl) * ceil_div(p.N, 256);
    config.gridDim = unsigned(cl * ceil_div(P, ceil_div(P, sms / cl))); config.blockDim = 384;
    Args args{a, b, c, maps, p.M, p.N, p.K};
    if (e.host == 1 || e.host == 2) {
      struct Key { const void *a, *b, *c; long long m, n, k; int d; bool operator<(const Key& o) const { return std::tie(a, b, c, m, n, k, d) < std::tie(o.a, o.b, o.c, o.m, o.n, o.k, o.d); } };
      struct Three { CUtensorMap first, second, third; }; static std::map<Key, Three> made; const Key key{a, b, c, p.M, p.N, p.K, cl};
      auto it = made.find(key);
      if (it == made.end()) it = made.emplace(key, Three{map_of(a, p.M, p.K, 128), map_of(b, p.N, p.K, 256 / cl), map_of(c, p.M, p.N, 64, true)}).first;
      void* ptrs[] = {&args, &it->second.first, &it->second.second, &it->second.third};
      return cudaLaunchKernelExC(&config, e.kernel, ptrs);
    }
    void* ptrs[] = {&args};
    return cudaLaunchKernelExC(&config, e.kernel, ptrs);
  }
  config.gridDim = unsigned(e.split * ceil_div(p.N, e.rows)); config.blockDim = 32 * e.warps;
  ArgsFew args{a, b, c, p.M, p.N, p.K}; void* ptrs[] = {&args};
  return cudaLaunchKernelExC(&config, e.kernel, ptrs);
}

struct Lt {
  cublasLtMatmulDesc_t desc; cublasLtMatrixLayout_t la, lb, lc; std::vector<cublasLtMatmulHeuristicResult_t> found;
  explicit Lt(const Problem& p, cudaDataType out = CUDA_R_32F) {
    CHECK(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    cublasOperation_t t = CUBLAS_OP_T;
    CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &t, sizeof t));
    CHECK(cublasLtMatrixLayoutCreate(&la, CUDA_R_16BF, p.K, p.N, p.K));
    CHECK(cublasLtMatrixLayoutCreate(&lb, CUDA_R_16BF, p.K, p.M, p.K));
    CHECK(cublasLtMatrixLayoutCreate(&lc, out, p.N, p.M, p.N));
    cublasLtMatmulPreference_t pref; CHECK(cublasLtMatmulPreferenceCreate(&pref));
    CHECK(cublasLtMatmulPreferenceSetAttribute(pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes, sizeof workspace_bytes));
    found.resize(24); int n = 0;
    CHECK(cublasLtMatmulAlgoGetHeuristic(lt, desc, la, lb, lc, lc, pref, int(found.size()), found.data(), &n));
    found.resize(n);
  }
  cublasStatus_t run(int i, const bf16* a, const bf16* b, void* c) const {
    float one = 1, zero = 0;
    return cublasLtMatmul(lt, desc, &one, b, la, a, lb, &zero, c, lc, c, lc, &found[i].algo, workspace, workspace_bytes, stream);
  }
};

float elapsed(const std::function<void(int)>& call, int n, int& turn) {
  static cudaEvent_t e0, e1; if (!e0) { cudaEventCreate(&e0); cudaEventCreate(&e1); }
  CHECK(cudaEventRecord(e0, stream));
  for (int i = 0; i < n; ++i) call(turn++);
  CHECK(cudaEventRecord(e1, stream)); CHECK(cudaEventSynchronize(e1));
  float ms; CHECK(cudaEventElapsedTime(&ms, e0, e1)); return 1000 * ms / n;
}
double median(std::vector<double> v) { std::sort(v.begin(), v.end()); return v[v.size() / 2]; }

void time_all(const char* title, const Problem& p, const std::vector<Entry>& entries, const char* kind, int copies, int burst, int rounds, FILE* out) {
  std::vector<bf16*> as(copies), bs(copies); float* c;
  for (int i = 0; i < copies; ++i) {
    CHECK(cudaMalloc(&as[i], p.M * p.K * 2)); CHECK(cudaMalloc(&bs[i], p.N * p.K * 2));
    fill<<<1024, 256, 0, stream>>>(as[i], p.M * p.K, 11 + i); fill<<<1024, 256, 0, stream>>>(bs[i], p.N * p.K, 77 + i);
  }
  CHECK(cudaMalloc(&c, p.M * p.N * 4)); void* flush; const size_t flush_bytes = 256 << 20; CHECK(cudaMalloc(&flush, flush_bytes));
  Lt ltp(p); int turn = 0;
  std::vector<std::pair<double, int>> order;
  for (int i = 0; i < int(ltp.found.size()); ++i) {
    if (ltp.run(i, as[0], bs[0], c) != 0) { std::printf("algorithm %d does not run\n", i); continue; }
    CHECK(cudaStreamSynchronize(stream));
    std::vector<double> t;
    for (int r = 0; r < 5; ++r) t.push_back(elapsed([&](int n) { CHECK(ltp.run(i, as[n % copies], bs[n % copies], c)); }, burst, turn));
    order.push_back({median(t), i});
  }
  std::sort(order.begin(), order.end());
  struct Arm { std::string name; std::function<void(int)> call; std::vector<double> warm, cold; };
  std::vector<Arm> arms;
  for (size_t i = 0; i < std::min<size_t>(3, order.size()); ++i) {
    const int n = order[i].second;
    arms.push_back({"cublasLt#" + std::to_string(n), [&, n](int k) { CHECK(ltp.run(n, as[k % copies], bs[k % copies], c)); }, {}, {}});
  }
  if (std::none_of(arms.begin(), arms.end(), [](const Arm& a) { return a.name == "cublasLt#0"; }))
    arms.push_back({"cublasLt#0", [&](int k) { CHECK(ltp.run(0, as[k % copies], bs[k % copies], c)); }, {}, {}});
  for (const Entry& e : entries) if (e.kind == kind)
    arms.push_back({e.name, [&](int k) { CHECK(launch(e, p, as[k % copies], bs[k % copies], c)); }, {}, {}});
  std::mt19937 random(5);
  std::vector<int> at(arms.size()); for (size_t i = 0; i < at.size(); ++i) at[i] = int(i);
  for (int r = -2; r < rounds; ++r) {
    std::shuffle(at.begin(), at.end(), random);
    for (int i : at) {
      const double t = elapsed(arms[i].call, burst, turn);
      CHECK(cudaMemsetAsync(flush, r, flush_bytes, stream));
      int one = turn++;
      const double u = elapsed(arms[i].call, 1, one);
      if (r >= 0) { arms[i].warm.push_back(t); arms[i].cold.push_back(u); }
    }
  }
  double best_cold = 1e9, best_warm = 1e9;
  for (size_t i = 0; i < arms.size(); ++i) if (arms[i].name.rfind("cublasLt", 0) == 0) {
    best_warm = std::min(best_warm, median(arms[i].warm)); best_cold = std::min(best_cold, median(arms[i].cold));
  }
  for (FILE* f : {stdout, out}) {
    std::fprintf(f, "\n%s M=%lld N=%lld K=%lld: %zu algorithms; us in a burst of %d, and alone behind an emptied L2\n", title, p.M, p.N, p.K, ltp.found.size(), burst);
    std::fprintf(f, "%-34s %9s %8s %7s %7s %9s %7s\n", "", "burst us", "TFLOP/s", "TB/s", "x best", "cold us", "x best");
    for (const Arm& a : arms) {
      const double w = median(a.warm), u = median(a.cold);
      std::fprintf(f, "%-34s %9.2f %8.1f %7.3f %7.3f %9.2f %7.3f\n", a.name.c_str(), w, 2e-6 * p.M * p.N * p.K / w, 2e-6 * p.N * p.K / w, best_warm / w, u, best_cold / u);
    }
    std::fflush(f);
  }
  for (int i = 0; i < copies; ++i) { cudaFree(as[i]); cudaFree(bs[i]); } cudaFree(c); cudaFree(flush);
}

int main(int argc, char** argv) {
  std::ifstream list(argv[1]); FILE* out = std::fopen(argv[2], "w"); std::string line; std::vector<Entry> entries;
  cudaDeviceProp prop; CHECK(cudaGetDeviceProperties(&prop, 0)); sms = prop.multiProcessorCount; CHECK(cudaStreamCreate(&stream));
  CHECK(cublasLtCreate(&lt)); CHECK(cudaMalloc(&workspace, workspace_bytes)); CHECK(cudaMalloc(&maps, 256 * sms + 128));
  while (std::getline(list, line)) {
    std::istringstream s(line); Entry e; std::string cubin; s >> e.kind >> e.name >> cubin; if (e.kind == "wgmma") s >> e.stages >> e.down >> e.host; else s >> e.split >> e.rows >> e.warps;
    cudaLibrary_t lib; if (cudaLibraryLoadFromFile(&lib, cubin.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0) != cudaSuccess) { std::printf("cannot load %s\n", cubin.c_str()); cudaGetLastError(); continue; }
    CHECK(cudaLibraryGetKernel(&e.kernel, lib, "multiply"));
    CHECK(cudaKernelSetAttributeForDevice(e.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, e.shared(), 0));
    entries.push_back(e);
  }
  const std::string mode = argc > 3 ? argv[3] : "check";
  if (mode == "once") {
    const Entry& e = entries.at(0); const Problem p = e.kind == "wgmma" ? Problem{4096, 4096, 4096} : Problem{16, 4096, 4096};
    bf16 *a, *b; float* x; CHECK(cudaMalloc(&a, p.M * p.K * 2)); CHECK(cudaMalloc(&b, p.N * p.K * 2)); CHECK(cudaMalloc(&x, p.M * p.N * 4));
    fill<<<1024, 256, 0, stream>>>(a, p.M * p.K, 3); fill<<<1024, 256, 0, stream>>>(b, p.N * p.K, 4);
    for (int i = 0; i < 3; ++i) CHECK(launch(e, p, a, b, x));
    CHECK(cudaStreamSynchronize(stream)); return 0;
  }
  if (mode == "time") {
    time_all("start-up", {128, 256, 64}, entries, "wgmma", 1, 50, 9, out);
    time_all("production", {4096, 4096, 4096}, entries, "wgmma", 1, 20, 25, out);
    time_all("decode", {16, 4096, 4096}, entries, "few", 8, 48, 25, out);
    time_all("decode", {1, 4096, 4096}, entries, "few", 8, 48, 15, out);
    time_all("short decode", {16, 4096, 1024}, entries, "few", 32, 64, 15, out);
    time_all("large", {8192, 8192, 8192}, entries, "wgmma", 1, 3, 9, out);
    time_all("narrow", {2048, 2048, 1024}, entries, "wgmma", 1, 50, 9, out);
    return 0;
  }
  // Clusters that fit at once.
  for (const Entry& e : entries) {
    cudaLaunchConfig_t config{}; cudaLaunchAttribute at{}; at.id = cudaLaunchAttributeClusterDimension; const int cl = e.cluster();
    at.val.clusterDim.x = cl; at.val.clusterDim.y = at.val.clusterDim.z = 1; config.attrs = &at; config.numAttrs = 1; config.gridDim = 128;
    config.blockDim = e.kind == "wgmma" ? 384 : 32 * e.warps; config.dynamicSmemBytes = e.shared();
    int n = 0; auto err = cudaOccupancyMaxActiveClusters(&n, e.kernel, &config);
    std::printf("%s: clusters of %d at once: %d (%d)\n", e.name.c_str(), cl, n, int(err)); std::fprintf(out, "%s: clusters of %d at once: %d (%d)\n", e.name.c_str(), cl, n, int(err));
  }
  std::map<std::string, std::vector<Problem>> shapes = {
      {"wgmma", {{512, 512, 512}, {2048, 2048, 1024}, {4096, 4096, 4096}, {33, 20, 104}, {1000, 1004, 1000}, {129, 260, 72}, {1, 4, 8}, {64, 32, 48}, {300, 8192, 520}, {5000, 3000, 2056}, {16, 4096, 4096}, {128, 65536, 64}}},
      {"few", {{16, 4096, 4096}, {1, 4096, 4096}, {7, 1001, 520}, {16, 20, 8}, {9, 130, 4104}, {16, 300, 16384}, {16, 100, 4232}, {3, 8192, 64}, {16, 65536, 1000}}}};
  bool ok = true;
  for (const auto& [kind, list_of] : shapes) for (const Problem& p : list_of) {
    bf16 *a, *b; float *x, *y; double* sums; unsigned long long* bad;
    CHECK(cudaMalloc(&a, p.M * p.K * 2)); CHECK(cudaMalloc(&b, p.N * p.K * 2)); CHECK(cudaMalloc(&x, p.M * p.N * 4)); CHECK(cudaMalloc(&y, p.M * p.N * 4)); CHECK(cudaMalloc(&sums, 32)); bad = (unsigned long long*)(sums + 2);
    fill<<<1024, 256, 0, stream>>>(a, p.M * p.K, 3); fill<<<1024, 256, 0, stream>>>(b, p.N * p.K, 4);
    Lt ltp(p); CHECK(ltp.run(0, a, b, y)); CHECK(cudaStreamSynchronize(stream));
    for (const Entry& e : entries) if (e.kind == kind) {
      double worst = 0; unsigned long long nans = 0; unsigned differs = 0;
      std::vector<float> first(p.M * p.N), second(p.M * p.N);
      for (int repeat = 0; repeat < 3; ++repeat) {
        CHECK(cudaMemsetAsync(x, 0xff, p.M * p.N * 4, stream)); CHECK(cudaMemsetAsync(sums, 0, 32, stream));
        auto err = launch(e, p, a, b, x); if (err != cudaSuccess) { std::printf("%s cannot be launched: %s\n", e.name.c_str(), cudaGetErrorString(err)); cudaGetLastError(); ok = false; break; }
        compare<<<512, 256, 0, stream>>>(x, y, p.M * p.N, sums, bad); CHECK(cudaStreamSynchronize(stream));
        double h[2]; unsigned long long n; CHECK(cudaMemcpy(h, sums, 16, cudaMemcpyDeviceToHost)); CHECK(cudaMemcpy(&n, bad, 8, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(repeat == 0 ? first.data() : second.data(), x, p.M * p.N * 4, cudaMemcpyDeviceToHost));
        if (repeat > 0) differs += first != second;
        worst = std::max(worst, std::sqrt(h[0] / std::max(h[1], 1e-30))); nans += n;
      }
      const bool right = worst < 5e-5 && nans == 0 && differs == 0; ok = ok && right;
      std::fprintf(out, "%-6s %-30s %lldx%lldx%lld relative rms %.2e unwritten %llu repeats differ %u\n", right ? "right" : "WRONG", e.name.c_str(), p.M, p.N, p.K, worst, nans, differs);
      if (!right) std::printf("WRONG %s %lldx%lldx%lld %.2e %llu %u\n", e.name.c_str(), p.M, p.N, p.K, worst, nans, differs);
    }
    std::fflush(out); cudaFree(a); cudaFree(b); cudaFree(x); cudaFree(y); cudaFree(sums);
  }
  std::printf("%s\n", ok ? "ALL RIGHT" : "SOME WRONG"); return ok ? 0 : 1;
}
