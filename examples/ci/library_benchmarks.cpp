// examples/ci/library_benchmarks.cpp - 66 benchmarks of small kernels. With -DPLANTED=1 five of them do 1, 2, 2 and 5 %
// more and 3 % less work: an iteration is a hundred calls, or that many more or fewer.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace {

using Data = std::vector<std::uint32_t>;

// The same in both builds, so that the planted numbers are all that differs.
int calls(const std::string& name) {
#if PLANTED
  static const std::map<std::string, int> planted = {
      {"sum/1024", 101}, {"dot/256", 102}, {"fnv/512", 102}, {"scan/2048", 105}, {"poly/1024", 97}};
#else
  static const std::map<std::string, int> planted = {
      {"sum/1024", 100}, {"dot/256", 100}, {"fnv/512", 100}, {"scan/2048", 100}, {"poly/1024", 100}};
#endif
  const auto found = planted.find(name);
  return found == planted.end() ? 100 : found->second;
}

Data numbers(std::size_t size) {
  Data data(size);
  std::uint32_t x = 1;
  for (std::uint32_t& one : data) {
    one = x = x * 1664525U + 1013904223U;
  }
  return data;
}

std::uint32_t sum(Data& data) {
  return std::accumulate(data.begin(), data.end(), 0U);
}
std::uint32_t dot(Data& data) {
  return std::inner_product(data.begin(), data.end(), data.rbegin(), 0U);
}
std::uint32_t fnv(Data& data) {
  return std::accumulate(data.begin(), data.end(), 2166136261U,
                         [](std::uint32_t hash, std::uint32_t one) { return (hash ^ one) * 16777619U; });
}
std::uint32_t scan(Data& data) {
  std::partial_sum(data.begin(), data.end(), data.begin());
  return data.back();
}
std::uint32_t poly(Data& data) {
  return std::accumulate(data.begin(), data.end(), 0U,
                         [](std::uint32_t value, std::uint32_t one) { return value * 31U + one; });
}
std::uint32_t reverse(Data& data) {
  std::reverse(data.begin(), data.end());
  return data.front();
}
std::uint32_t rotate(Data& data) {
  std::rotate(data.begin(), data.begin() + 1, data.end());
  return data.front();
}
std::uint32_t largest(Data& data) {
  return *std::max_element(data.begin(), data.end());
}
std::uint32_t odd(Data& data) {
  return static_cast<std::uint32_t>(
      std::count_if(data.begin(), data.end(), [](std::uint32_t one) { return one % 2 == 1; }));
}
std::uint32_t axpy(Data& data) {
  std::transform(data.begin(), data.end(), data.begin(), [](std::uint32_t one) { return 3U * one + 1U; });
  return data.front();
}
std::uint32_t differences(Data& data) {
  std::adjacent_difference(data.begin(), data.end(), data.begin());
  return data.back();
}

void add(const char* kernel, std::uint32_t (*function)(Data&)) {
  for (const std::size_t size : {128, 256, 512, 1024, 2048, 4096}) {
    const std::string name = std::string(kernel) + "/" + std::to_string(size);
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
      Data data = numbers(size);
      const int number = calls(name);
      for (auto _ : state) {
        for (int i = 0; i < number; ++i) {
          benchmark::DoNotOptimize(function(data));
          benchmark::ClobberMemory();
        }
      }
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  add("sum", sum);
  add("dot", dot);
  add("fnv", fnv);
  add("scan", scan);
  add("poly", poly);
  add("reverse", reverse);
  add("rotate", rotate);
  add("largest", largest);
  add("odd", odd);
  add("axpy", axpy);
  add("differences", differences);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
}
