// harness/profile/gpu/occupancy.cpp - the arithmetic of NVIDIA's occupancy calculator.
#include "harness/profile/gpu/occupancy.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/core/text.h"

namespace apo {
namespace {

// Holds for compute capability 3.x to 9.x. Registers are handed out to whole warps, warps to the SM's four parts; a
// block's shared memory includes a kibibyte of the system's from 8.0 on.
constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kParts = 4;
constexpr std::int64_t kRegisterUnit = 256;
constexpr std::int64_t kSharedUnit = 128;
constexpr std::int64_t kSystemShared = 1024;

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::int64_t blocks_by_registers(const LaunchShape& launch, const SmLimits& limits) {
  if (launch.registers <= 0) {
    return limits.blocks;
  }
  const std::int64_t of_warp = round_up(launch.registers * kWarp, kRegisterUnit);
  const std::int64_t warps = limits.registers / kParts / of_warp * kParts;
  return warps / ((launch.threads + kWarp - 1) / kWarp);
}

std::int64_t number(const Machine& machine, const char* fact) {
  const auto found = machine.facts.find(fact);
  return found == machine.facts.end() ? 0 : parse_int(found->second).value_or(0);
}

std::int64_t resource(const Build& build, const char* name) {
  const auto found = build.resources.find(name);
  return found == build.resources.end() ? 0 : found->second;
}

}  // namespace

Occupancy occupancy_of(const LaunchShape& launch, const SmLimits& limits) {
  if (launch.blocks < 1 || launch.threads < 1 || limits.sms < 1 || limits.threads < 1 || limits.blocks < 1 ||
      limits.registers < 1 || limits.shared_bytes < 1) {
    return {};
  }
  struct Limit {
    std::int64_t blocks;
    BlockLimiter limiter;
  };
  const std::int64_t shared = round_up(launch.shared_bytes + kSystemShared, kSharedUnit);
  const std::array<Limit, 4> all = {Limit{limits.threads / round_up(launch.threads, kWarp), BlockLimiter::threads},
                                    Limit{blocks_by_registers(launch, limits), BlockLimiter::registers},
                                    Limit{limits.shared_bytes / shared, BlockLimiter::shared_memory},
                                    Limit{limits.blocks, BlockLimiter::blocks}};
  const Limit least =
      *std::min_element(all.begin(), all.end(), [](const Limit& a, const Limit& b) { return a.blocks < b.blocks; });
  if (least.blocks < 1) {
    return {};
  }
  Occupancy result{.blocks_per_sm = least.blocks, .limiter = least.limiter};
  const auto blocks = static_cast<double>(launch.blocks);
  const auto sms = static_cast<double>(limits.sms);
  result.waves = blocks / (sms * static_cast<double>(least.blocks));
  if (result.waves <= 1) {
    // All blocks run at once; the SM that has most of them ends last.
    const double most = std::ceil(blocks / sms);
    result.idle_share = 1 - blocks / sms / most;
    if (result.waves < 1) {
      result.blocks_per_sm = static_cast<std::int64_t>(most);
      result.limiter = BlockLimiter::grid;
    }
  } else {
    result.idle_share = 1 - result.waves / std::ceil(result.waves);
  }
  result.occupancy = static_cast<double>(result.blocks_per_sm * launch.threads) / static_cast<double>(limits.threads);
  return result;
}

std::vector<Metric> occupancy_metrics(const Build& build, const Machine& machine, const std::string& kernel) {
  const SmLimits limits{.sms = machine.cores,
                        .threads = number(machine, "threads_per_sm"),
                        .blocks = number(machine, "blocks_per_sm"),
                        .registers = number(machine, "registers_per_sm"),
                        .shared_bytes = number(machine, "shared_per_sm")};
  const bool is_launched =
      std::ranges::find(build.plan.launches, kernel, &KernelLaunch::kernel) != build.plan.launches.end();
  LaunchShape chosen;
  Occupancy lowest;
  for (const KernelLaunch& launch : build.plan.launches) {
    const LaunchShape shape{.blocks = product(launch.grid),
                            .threads = product(launch.block),
                            .registers = resource(build, "registers"),
                            .shared_bytes = resource(build, "shared_bytes") + launch.shared_bytes};
    const Occupancy one = occupancy_of(shape, limits);
    if ((!is_launched || launch.kernel == kernel) && one.blocks_per_sm > 0 &&
        (lowest.blocks_per_sm == 0 || one.occupancy < lowest.occupancy)) {
      chosen = shape;
      lowest = one;
    }
  }
  if (lowest.blocks_per_sm == 0) {
    return {};
  }
  const auto metric = [](const char* name, double value, const std::string& unit) {
    return Metric{.name = name, .value = value, .unit = unit, .samples = 1};
  };
  return {metric("registers", static_cast<double>(chosen.registers), "a thread"),
          metric("spill_bytes", static_cast<double>(resource(build, "spill_bytes")), "byte"),
          metric("block_shared_bytes", static_cast<double>(chosen.shared_bytes), "byte"),
          metric("blocks", static_cast<double>(chosen.blocks), ""),
          metric("block_threads", static_cast<double>(chosen.threads), "threads"),
          blocks_per_sm_metric(lowest.blocks_per_sm, lowest.limiter),
          metric("occupancy", lowest.occupancy, "ratio"),
          metric("waves", lowest.waves, ""),
          metric("idle_share", lowest.idle_share, "ratio")};
}

}  // namespace apo
