// harness/runtime/input_store.cpp - keeps the last few gigabytes of inputs by their seed and regime.
#include "harness/runtime/input_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/core/system/machine.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr std::size_t kMostOfLarge = std::size_t{16} << 30;  // six sets of the largest workloads, and a second group
constexpr std::size_t kMostOfSmall = std::size_t{1} << 30;
constexpr std::size_t kPartOfMemory = 8;  // at most this part of it, for either
constexpr std::int64_t kLarge = std::int64_t{64} << 20;
constexpr std::int64_t kSharing = 16;  // experiments

std::string key_of(const Family& family, const Workload& workload, std::uint64_t seed, const std::string& regime) {
  return fmt::format("{} {} {} {} {} {}", family.name, regime, seed, workload.repeated_axis, workload.distinct,
                     describe_axes(workload.axes));
}

std::size_t part_of_memory() {
  return static_cast<std::size_t>(physical_memory_bytes()) / kPartOfMemory;
}

std::size_t size_of(const CheckedInputs& checked) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : checked.inputs.bytes) {
    bytes += tensor.size();
  }
  return bytes;
}

}  // namespace

CheckedInputs::CheckedInputs(const Family& family, const Workload& workload, std::uint64_t seed,
                             const std::string& regime, int threads)
    : inputs(make_inputs(family, workload, seed, regime, threads)), family_(family), threads_(threads) {
  inputs.values.clear();
}

const Expected& CheckedInputs::expected() const {
  std::call_once(once_, [this] {
    InputSet whole{.axes = inputs.axes,
                   .drawn_axes = inputs.drawn_axes,
                   .seed = inputs.seed,
                   .regime = inputs.regime,
                   .values = {},
                   .bytes = {}};
    for (const auto& [name, bytes] : inputs.bytes) {
      whole.values[name] = decode(find_tensor(family_, name)->dtype, bytes, threads_);
    }
    expected_ = expect(family_, whole, checked_units(family_, inputs.axes, inputs.seed), threads_);
  });
  return expected_;
}

std::int64_t most_checked_units(const Family& family, const Axes& axes) {
  constexpr std::int64_t kElements = std::int64_t{1} << 21;
  constexpr std::int64_t kFewest = 8;
  constexpr std::int64_t kMost = 32;
  const std::int64_t units = std::max<std::int64_t>(1, family.unit_count(axes));
  const std::int64_t of_unit = std::max<std::int64_t>(1, element_count(family, axes) / units);
  return std::clamp(kElements / of_unit, kFewest, kMost);
}

std::vector<std::int64_t> checked_units(const Family& family, const Axes& axes, std::uint64_t seed) {
  return draw_units(family.unit_count(axes), most_checked_units(family, axes), derive_seed(seed, "units"));
}

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

CheckedPointer InputStore::Shelf::find(const std::string& key) {
  const auto found = places.find(key);
  if (found == places.end()) {
    return nullptr;
  }
  entries.splice(entries.begin(), entries, found->second);
  return entries.front().checked;
}

void InputStore::Shelf::add(Entry entry) {
  kept += entry.bytes;
  entries.push_front(std::move(entry));
  places[entries.front().key] = entries.begin();
  while (kept > most && entries.size() > 1) {
    kept -= entries.back().bytes;
    places.erase(entries.back().key);
    entries.pop_back();
  }
}

InputStore::InputStore()
    : InputStore(std::min(kMostOfLarge, part_of_memory()), std::min(kMostOfSmall, part_of_memory())) {}

CheckedPointer InputStore::get(const Family& family, const Workload& workload, std::uint64_t seed,
                               const std::string& regime, int threads) {
  const std::string key = key_of(family, workload, seed, regime);
  {
    const std::lock_guard lock(mutex_);
    for (Shelf* shelf : {&large_, &small_}) {
      if (CheckedPointer found = shelf->find(key)) {
        return found;
      }
    }
  }
  const auto checked = std::make_shared<const CheckedInputs>(family, workload, seed, regime, threads);
  const std::lock_guard lock(mutex_);
  const std::size_t bytes = size_of(*checked);
  Shelf& shelf = bytes >= static_cast<std::size_t>(kLarge) ? large_ : small_;
  if (CheckedPointer found = shelf.find(key)) {
    return found;  // somebody else was faster
  }
  shelf.add({.key = key, .bytes = bytes, .checked = checked});
  return checked;
}

}  // namespace apo
