// harness/loop/cuda_roofs.cpp - copies far beyond the L2 and well within it, timed by events.
#include "harness/loop/cuda_roofs.h"

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/secret.h"
#include "harness/implement/settings.h"
#include "harness/profile/roofs.h"

namespace apo {
namespace {

constexpr int kSamples = 30;
constexpr int kBackToBack = 50;
constexpr const char* kCopyVariant = "copy/cuda_vector4";

TimedCopies copies_in_memory(const DeviceFacts& device) {
  Worker worker(WorkerOptions{.target = Target::cuda});
  TimedCopies copies{.bytes = std::max<std::int64_t>(4 * device.l2_bytes, std::int64_t{256} << 20), .ns = {}};
  const auto ns = worker.copy(copies.bytes, kSamples);
  if (!ns) {
    throw EnvironmentError("the copy roof of the GPU cannot be measured: " + ns.failure().evidence);
  }
  copies.ns = *ns;
  return copies;
}

// No samples when the variant is not there or does not run: a roof that is missing bounds nothing.
TimedCopies copies_in_l2(Workbench& bench, const DeviceFacts& device) {
  TimedCopies copies{.bytes = std::max<std::int64_t>(device.l2_bytes / 8, 1 << 20), .ns = {}};
  const Variant* variant = bench.catalogue().find(kCopyVariant);
  if (variant == nullptr) {
    return copies;
  }
  const Lab lab = bench.lab(bench.family(variant->family));
  const Axes axes = {{"n", copies.bytes / 4}};
  const Build build = lab.build({variant->id(), default_settings(*variant)}, axes, false);
  if (build.outcome != Outcome::valid) {
    return copies;
  }
  Arena arena(arena_spec(*lab.family, axes, 1, {}, {}, secret_seed(), Target::cuda));
  write_inputs(arena, 0, make_inputs(*lab.family, axes, secret_seed(), lab.family->regimes.front(), lab.threads));
  Worker worker(lab.worker);
  if (!load_build(worker, 0, build) || !worker.attach(arena)) {
    return copies;
  }
  const RunRequest request{.order = std::vector<int>(kSamples, 0), .repetitions = kBackToBack};
  if (const auto samples = worker.run(request)) {
    for (const RawSample& sample : *samples) {
      copies.ns.push_back(sample.device_ns / kBackToBack);
    }
  }
  return copies;
}

}  // namespace

std::vector<Roof> measure_cuda_roofs(Workbench& bench, const DeviceFacts& device) {
  return cuda_roofs(copies_in_memory(device), copies_in_l2(bench, device));
}

}  // namespace apo
