// harness/implement/variant/launch_plan.cpp - evaluates the expressions, then checks the limits of the device.
#include "harness/implement/variant/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/core/expression/expression.h"
#include "harness/core/text.h"
#include "harness/implement/variant/settings.h"

namespace apo {
namespace {

constexpr std::int64_t kMaxGridX = 2147483647;  // CUDA C++ Programming Guide, "Technical Specifications"
constexpr std::int64_t kMaxGridYZ = 65535;
constexpr std::int64_t kMaxBlockZ = 64;
constexpr std::int64_t kMaxCluster = 16;  // with the non-portable size, which the worker allows

// The reason why a launch is refused. Caught in plan_launches.
struct Refusal {
  std::string why;
  Outcome outcome = Outcome::refused;
};

std::string triple(const std::array<std::int64_t, 3>& sizes) {
  return fmt::format("{}x{}x{}", sizes[0], sizes[1], sizes[2]);
}

std::int64_t product(const std::array<std::int64_t, 3>& sizes) {
  return sizes[0] * sizes[1] * sizes[2];
}

class Planner {
 public:
  Planner(const Launch& launch, const Symbols& symbols, const DeviceFacts& device)
      : launch_(launch), symbols_(symbols), device_(device) {}

  KernelLaunch plan(const KernelFacts& kernel, int pointers) const {
    KernelLaunch planned{.kernel = launch_.kernel};
    planned.grid = sizes("grid");
    planned.block = sizes("block");
    planned.cluster = sizes("cluster");
    planned.shared_bytes = number("shared", 0, device_.shared_per_block);
    planned.cooperative = number("cooperative", 0, 1) != 0;
    planned.persist = static_cast<int>(number("l2_persist", 0, pointers));
    check_grid(planned);
    check_block(planned.block);
    check_cluster(planned);
    check_shared(planned.shared_bytes + kernel.shared_bytes, kernel);
    return planned;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Refusal{"the launch of " + launch_.kernel + ": " + why};
  }

  std::int64_t value(const std::string& name, const std::string& expression) const {
    try {
      return evaluate(expression, symbols_);
    } catch (const ExpressionError& error) {
      refuse(name + "=" + expression + ": " + error.what());
    }
  }

  std::array<std::int64_t, 3> sizes(const std::string& name) const {
    std::array<std::int64_t, 3> result = {1, 1, 1};
    const auto found = launch_.attributes.find(name);
    if (found == launch_.attributes.end()) {
      return result;
    }
    const std::vector<std::string> parts = split_expressions(found->second);
    for (std::size_t i = 0; i < std::min(parts.size(), result.size()); ++i) {
      result[i] = value(name, parts[i]);
      if (result[i] < 1) {
        refuse(fmt::format("{}={} gives {}, and at least 1 is needed", name, found->second, result[i]));
      }
      if (result[i] > kMaxGridX) {
        refuse(fmt::format("{}={} gives {}, more than 2^31-1", name, found->second, result[i]));
      }
    }
    return result;
  }

  std::int64_t number(const std::string& name, std::int64_t least, std::int64_t most) const {
    const auto found = launch_.attributes.find(name);
    if (found == launch_.attributes.end()) {
      return 0;
    }
    const std::int64_t result = value(name, found->second);
    if (result < least || result > most) {
      refuse(fmt::format("{}={} gives {}, outside {} to {}{}", name, found->second, result, least, most,
                         name == "shared" ? " bytes of this device" : ""));
    }
    return result;
  }

  void check_grid(const KernelLaunch& planned) const {
    if (planned.grid[1] > kMaxGridYZ || planned.grid[2] > kMaxGridYZ) {
      refuse(fmt::format("a grid of {} is too large: y and z go up to {}", triple(planned.grid), kMaxGridYZ));
    }
  }
  void check_block(const std::array<std::int64_t, 3>& block) const {
    // Compared one by one first, so that the product cannot overflow.
    const std::int64_t most = device_.threads_per_block;
    if (block[0] > most || block[1] > most || block[2] > kMaxBlockZ || product(block) > most) {
      refuse(fmt::format("a block of {} threads is more than the {} (z up to 64) that this device takes", triple(block),
                         most));
    }
  }
  void check_cluster(const KernelLaunch& planned) const {
    const bool divides = planned.grid[0] % planned.cluster[0] == 0 && planned.grid[1] % planned.cluster[1] == 0 &&
                         planned.grid[2] % planned.cluster[2] == 0;
    const bool small = *std::max_element(planned.cluster.begin(), planned.cluster.end()) <= kMaxCluster &&
                       product(planned.cluster) <= kMaxCluster;
    if (!small || !divides) {
      refuse("a cluster of " + triple(planned.cluster) + " blocks " +
             (small ? "does not divide the grid of " + triple(planned.grid) : "is more than 16"));
    }
    if (product(planned.cluster) > 1 && device_.major < 9) {
      refuse("clusters need sm_90, and this device is " + device_.arch());
    }
  }
  void check_shared(std::int64_t bytes, const KernelFacts& kernel) const {
    if (bytes > device_.shared_per_block) {
      refuse(fmt::format("{} bytes of shared memory ({} static) are more than the {} that a block gets here", bytes,
                         kernel.shared_bytes, device_.shared_per_block));
    }
  }

  const Launch& launch_;
  const Symbols& symbols_;
  const DeviceFacts& device_;
};

const KernelFacts& kernel_of(const Launch& launch, const std::vector<KernelFacts>& kernels) {
  for (const KernelFacts& kernel : kernels) {
    if (kernel.name == launch.kernel) {
      return kernel;
    }
  }
  std::vector<std::string> names;
  for (const KernelFacts& kernel : kernels) {
    names.push_back(kernel.name);
  }
  throw Refusal{"the cubin has no kernel '" + launch.kernel + "' (it has " +
                    (names.empty() ? "none" : join(names, ", ")) + "): declare it extern \"C\" __global__",
                Outcome::wrong_abi};
}

}  // namespace

PlannedLaunches plan_launches(const Family& family, const Variant& variant, const Axes& axes, const Settings& settings,
                              const DeviceFacts& device, const std::vector<KernelFacts>& kernels) {
  PlannedLaunches planned;
  const Symbols symbols = expression_symbols(variant, axes, settings, device_symbols(device));
  const auto pointers = static_cast<int>(arguments_of(family).size() + variant.scratch.size());
  for (const Launch& launch : variant.launches) {
    try {
      const KernelFacts& kernel = kernel_of(launch, kernels);
      planned.plan.launches.push_back(Planner(launch, symbols, device).plan(kernel, pointers));
    } catch (const Refusal& refusal) {
      return {.outcome = refusal.outcome, .evidence = refusal.why, .plan = {}};
    }
  }
  return planned;
}

namespace {

constexpr std::array<const char*, 3> kDimensions = {"x", "y", "z"};

// Adds the blocks of one launch, or says why it has none.
void add_grid(const Launch& launch, const Symbols& symbols, Grids& grids) {
  const auto found = launch.attributes.find("grid");
  if (found == launch.attributes.end()) {
    return;
  }
  const std::vector<std::string> parts = split_expressions(found->second);
  double blocks = 1;
  for (std::size_t i = 0; i < std::min(parts.size(), kDimensions.size()); ++i) {
    const std::int64_t most = i == 0 ? kMaxGridX : kMaxGridYZ;
    const std::int64_t value = evaluate(parts[i], symbols);
    if (value < 1 || value > most) {
      grids.refused = fmt::format("the launch of {}: grid={} has {} blocks in {}, where {}", launch.kernel,
                                  found->second, value, kDimensions.at(i),
                                  value < 1 ? "at least 1 is needed" : fmt::format("a GPU takes up to {}", most));
      grids.condition = value < 1 ? parts[i] + " >= 1" : fmt::format("{} <= {}", parts[i], most);
      return;
    }
    blocks *= static_cast<double>(value);
  }
  grids.blocks += blocks;
}

}  // namespace

Grids grids_of_call(const Variant& variant, const Axes& axes, const Settings& settings, const Symbols& device) {
  Grids grids;
  const Symbols symbols = expression_symbols(variant, axes, settings, device);
  for (const Launch& launch : as_set(variant, settings).launches) {
    try {
      add_grid(launch, symbols, grids);
    } catch (const ExpressionError& error) {  // such as a number beyond 2^53
      grids.refused = fmt::format("the launch of {}: {}", launch.kernel, error.what());
    }
    if (!grids.refused.empty()) {
      break;
    }
  }
  return grids;
}

std::string plan_text(const LaunchPlan& plan) {
  std::vector<std::string> names;
  std::string text;
  for (const KernelLaunch& launch : plan.launches) {
    auto found = std::find(names.begin(), names.end(), launch.kernel);
    if (found == names.end()) {
      names.push_back(launch.kernel);
      found = names.end() - 1;
    }
    text += fmt::format("kernel {} grid {} block {} cluster {} shared {} cooperative {:d} persist {}\n",
                        found - names.begin(), triple(launch.grid), triple(launch.block), triple(launch.cluster),
                        launch.shared_bytes, launch.cooperative, launch.persist);
  }
  return text;
}

}  // namespace apo
