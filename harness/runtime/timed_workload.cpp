// harness/runtime/timed_workload.cpp - draws the pool of inputs in parallel.
#include "harness/runtime/timed_workload.h"

#include <algorithm>
#include <future>

#include "harness/core/guards.h"
#include "kernels/random.h"

namespace apo {

InputPool make_pool(const Runtime& runtime, const Workload& workload, std::uint64_t seed) {
  // Two for the timed calls, the others for calls on fresh inputs: more where they cost little, since the noise of a
  // single short call is large. Of those for host code each arm gets its own.
  const std::int64_t most = runtime.worker.target == Target::host ? 18 : 10;
  constexpr std::int64_t kCheap = std::int64_t{8} << 20;  // bytes of all of them
  const std::int64_t bytes = 1 + tensor_bytes(*runtime.family, workload.axes);
  const auto sets = static_cast<std::uint64_t>(std::clamp<std::int64_t>(kCheap / bytes, kFewestSets, most));
  // Side by side as far as memory allows: drawing them takes five times what they take in the end.
  constexpr std::int64_t kMany = std::int64_t{512} << 20;  // bytes of a set
  const bool together = bytes < kMany && runtime.threads > 1;
  const int threads = together ? std::max(1, runtime.threads / static_cast<int>(sets)) : runtime.threads;
  std::vector<std::future<CheckedPointer>> drawing;
  for (std::uint64_t i = 0; i < sets; ++i) {
    drawing.push_back(std::async(together ? std::launch::async : std::launch::deferred, [&, i] {
      return runtime.inputs->get(*runtime.family, workload, derive_seed(seed, workload.name, i),
                                 runtime.family->regimes.front(), threads);
    }));
  }
  InputPool pool;
  for (std::future<CheckedPointer>& one : drawing) {
    pool.push_back(one.get());
  }
  return pool;
}

CheckedPointer make_other_regime(const Runtime& runtime, const Workload& workload, std::uint64_t shared_seed) {
  const std::size_t regimes = runtime.family->regimes.size();
  if (regimes < 2 || !guard_is_on(Guard::regimes)) {
    return nullptr;
  }
  const std::string& regime = runtime.family->regimes[1 + derive_seed(shared_seed, workload.name) % (regimes - 1)];
  return runtime.inputs->get(*runtime.family, workload, derive_seed(shared_seed, workload.name, 1), regime,
                             runtime.threads);
}

}  // namespace apo
