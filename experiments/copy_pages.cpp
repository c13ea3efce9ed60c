// experiments/copy_pages.cpp - what pages of 4 KiB cost a copy, and what a stream that reads two arrays and writes one
// reaches without arithmetic. On two CPUs, each pass in turn with the others, as a share of the copy in huge pages:
//   g++ -O3 -march=native -fopenmp experiments/copy_pages.cpp -o copy_pages && OMP_PROC_BIND=true ./copy_pages
#include <immintrin.h>
#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr std::int64_t kCount = 8192 * 4096;
constexpr std::int64_t kHugePage = 2 << 20;
constexpr std::size_t kBytes = sizeof(float) * kCount;

// As the worker maps its tensors.
float* small_pages() {
  const int file = memfd_create("copy", 0);
  if (file < 0 || ftruncate(file, kBytes) != 0) {
    return nullptr;
  }
  return static_cast<float*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0));
}

// As the roofs map their buffers.
float* huge_pages() {
  void* pages = mmap(nullptr, kBytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto begin = (reinterpret_cast<std::uintptr_t>(pages) + kHugePage - 1) / kHugePage * kHugePage;
  madvise(reinterpret_cast<void*>(begin), kBytes, MADV_HUGEPAGE);
  auto* floats = reinterpret_cast<float*>(begin);
  std::fill_n(floats, kCount, 1.0f);
  return floats;
}

template <bool kReadsTwo, bool kStreams>
void pass(const float* x, const float* y, float* to) {
#pragma omp parallel num_threads(2)
  {
    const std::int64_t first = kCount / 2 * omp_get_thread_num();
    for (std::int64_t i = first; i < first + kCount / 2; i += 8) {
      const __m256 a = _mm256_load_ps(x + i);
      const __m256 value = kReadsTwo ? _mm256_xor_ps(a, _mm256_load_ps(y + i)) : a;
      kStreams ? _mm256_stream_ps(to + i, value) : _mm256_store_ps(to + i, value);
    }
    _mm_sfence();
  }
}

struct Pass {
  const char* name;
  int arrays;
  void (*run)(const float*, const float*, float*);
  std::vector<double> rates = {};  // byte/s, read plus written
};

}  // namespace

int main() {
  float* small[] = {small_pages(), small_pages(), small_pages()};
  float* huge[] = {huge_pages(), huge_pages(), huge_pages()};
  std::vector<Pass> passes = {{"copy, streaming stores", 2, pass<false, true>},
                              {"copy, cached stores", 2, pass<false, false>},
                              {"two reads, a streaming store", 3, pass<true, true>},
                              {"two reads, a cached store", 3, pass<true, false>}};
  passes.insert(passes.end(), passes.begin(), passes.end());
  for (int round = 0; round < 42; ++round) {
    for (std::size_t i = 0; i < passes.size(); ++i) {
      float** arrays = i < passes.size() / 2 ? huge : small;
      const auto start = std::chrono::steady_clock::now();
      passes[i].run(arrays[0], arrays[1], arrays[2]);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      passes[i].rates.push_back(static_cast<double>(passes[i].arrays * kBytes) / seconds.count());
    }
  }
  const auto median = [](std::vector<double> rates) {
    std::nth_element(rates.begin(), rates.begin() + 21, rates.end());
    return rates[21];
  };
  for (std::size_t i = 0; i < passes.size(); ++i) {
    std::printf("%-5s  %-30s %5.1f GB/s  %5.1f %%\n", i < passes.size() / 2 ? "2 MiB" : "4 KiB", passes[i].name,
                median(passes[i].rates) / 1e9, 100 * median(passes[i].rates) / median(passes[0].rates));
  }
}
