// harness/runtime/input_store.cpp - keeps the last few gigabytes of inputs by their seed and regime.
#include "harness/runtime/input_store.h"

#include <algorithm>
#include <utility>

#include "kernels/random.h"

namespace apo {
namespace {

constexpr std::size_t kKept = std::size_t{4} << 30;
constexpr std::int64_t kLarge = std::int64_t{64} << 20;
constexpr std::int64_t kSharing = 16;  // experiments

std::string key_of(const Family& family, const Workload& workload, std::uint64_t seed, const std::string& regime) {
  std::string key = family.name + " " + regime + " " + std::to_string(seed) + " " + workload.repeated_axis + " " +
                    std::to_string(workload.distinct);
  for (const auto& [name, value] : workload.axes) {
    key += " " + name + "=" + std::to_string(value);
  }
  return key;
}

CheckedPointer make(const Family& family, const Workload& workload, std::uint64_t seed, const std::string& regime,
                    int threads) {
  auto checked = std::make_shared<CheckedInputs>();
  checked->inputs = make_inputs(family, workload, seed, regime, threads);
  const auto units = draw_units(family.unit_count(workload.axes), kCheckedUnits, derive_seed(seed, "units"));
  checked->expected = expect(family, checked->inputs, units, threads);
  checked->inputs.values.clear();
  return checked;
}

std::size_t size_of(const CheckedInputs& checked) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : checked.inputs.bytes) {
    bytes += tensor.size();
  }
  return bytes;
}

}  // namespace

bool shares_inputs(const Family& family, const Axes& axes) {
  std::int64_t bytes = 0;
  for (const TensorSpec& tensor : family.tensors) {
    bytes += tensor.role == Role::output ? 0 : dtype_bytes(tensor.dtype) * element_count(tensor, axes);
  }
  return bytes >= kLarge;
}

std::uint64_t inputs_group(const Family& family, const Axes& axes, std::int64_t experiment) {
  return static_cast<std::uint64_t>(shares_inputs(family, axes) ? experiment / kSharing : experiment);
}

CheckedPointer InputStore::get(const Family& family, const Workload& workload, std::uint64_t seed,
                               const std::string& regime, int threads) {
  const std::string key = key_of(family, workload, seed, regime);
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(entries_, key, &Entry::key);
    if (found != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, found);
      return entries_.front().checked;
    }
  }
  CheckedPointer checked = make(family, workload, seed, regime, threads);
  const std::lock_guard lock(mutex_);
  entries_.push_front({.key = key, .bytes = size_of(*checked), .checked = checked});
  std::size_t kept = 0;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    kept += entry->bytes;
    entry = kept > kKept && entry != entries_.begin() ? entries_.erase(entry) : std::next(entry);
  }
  return checked;
}

}  // namespace apo
