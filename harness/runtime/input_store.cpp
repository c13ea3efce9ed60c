// harness/runtime/input_store.cpp - keeps the last gigabytes of inputs by seed and regime; uploads them to a GPU.
#include "harness/runtime/input_store.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/system/machine.h"
#include "harness/runtime/tensor_data.h"
#include "kernels/random.h"

namespace apo {

namespace {

constexpr std::size_t kMostOfLarge = std::size_t{16} << 30;  // six sets of the largest workloads, and a second group
constexpr std::size_t kMostOfSmall = std::size_t{1} << 30;
constexpr std::size_t kPartOfMemory = 8;  // at most this part of it, for either
constexpr std::int64_t kLarge = std::int64_t{64} << 20;
constexpr std::int64_t kSharing = 16;  // experiments

// The reference alone, of all units, takes up to a second or two; its noise around a unit sixteen times as long as the
// unit, or more.
constexpr double kMostOperationsOfWhole = 0x1p30;

// `has_long_units`: all elements are held against the reference of them, and the noise of each unit takes long.
Patience patience_for(Purpose purpose, bool has_long_units = false) {
  if (purpose == Purpose::look) {
    return {.enough_s = 1, .fewest_units = 1};
  }
  return has_long_units ? Patience{.enough_s = 1.5} : Patience();
}

std::string key_of(const Family& family, const Workload& workload, std::uint64_t seed, const std::string& regime,
                   Purpose purpose) {
  return fmt::format("{} {} {} {} {} {} {}", family.name, regime, seed, workload.repeated_axis, workload.distinct,
                     describe_axes(workload.axes), static_cast<int>(purpose));
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
                             const std::string& regime, int threads, Purpose what_for)
    : CheckedInputs(family, stored_inputs(family, workload, seed, regime, threads), threads, what_for) {}

CheckedInputs::CheckedInputs(const Family& family, InputSet given, int threads, Purpose what_for)
    : inputs(std::move(given)), purpose(what_for), family_(family), threads_(threads) {
  inputs.values.clear();
}

const Expected& CheckedInputs::expected() const {
  std::call_once(once_, [this] {
    expected_ = expect(family_, inputs, checked_units(family_, inputs.axes, inputs.seed, purpose), threads_, nullptr,
                       patience_for(purpose));
  });
  return expected_;
}

void CheckedInputs::compute_whole() const {
  std::call_once(whole_once_, [this] {
    const std::vector<std::int64_t> units = checked_units(family_, inputs.axes, inputs.seed, purpose);
    const bool has_long_units = !is_cheap(family_, inputs.axes);
    if ((units.empty() && !has_long_units) || inputs.axes != inputs.drawn_axes ||
        !is_cheap(family_, inputs.axes, kMostOperationsOfWhole)) {
      return;
    }
    try {
      TensorMap whole;
      std::call_once(once_, [&] {
        expected_ = expect(family_, inputs, units, threads_, &whole, patience_for(purpose, has_long_units));
      });
      if (whole.empty()) {
        whole = family_.reference(inputs.axes, values_of(family_, inputs, threads_), {}, threads_);
      }
      TensorBytes outputs;
      for (const auto& [name, values] : whole) {
        outputs[name] = encode(find_tensor(family_, name)->dtype, values, threads_);
      }
      set_witness(std::make_shared<Witness>(kWholeReference, std::move(outputs)));
    } catch (const UserError& error) {
      spdlog::debug("not the whole reference: {}", error.what());  // one unit without a value: the others are checked
    }
  });
}

const TypicalErrors& CheckedInputs::typical() const {
  std::call_once(typical_once_, [this] { typical_ = typical_errors(family_, inputs.axes, expected()); });
  return typical_;
}

// The same units are in doubt again and again: those whose errors are larger than typical.
std::shared_ptr<const Expected> CheckedInputs::expected_of(const std::vector<std::int64_t>& units) const {
  constexpr std::size_t kMostKept = 1024;
  const std::lock_guard lock(deciding_);
  const std::vector<std::int64_t> known = decided_ != nullptr ? decided_->units : std::vector<std::int64_t>();
  if (!std::ranges::includes(known, units)) {
    std::vector<std::int64_t> all;
    std::ranges::set_union(known, units, std::back_inserter(all));
    decided_ =
        std::make_shared<const Expected>(expect(family_, inputs, all.size() > kMostKept ? units : all, threads_));
  }
  return decided_;
}

std::shared_ptr<Witness> CheckedInputs::witness() const {
  const std::lock_guard lock(mutex_);
  return witness_;
}

void CheckedInputs::set_witness(std::shared_ptr<Witness> witness) const {
  const std::lock_guard lock(mutex_);
  witness_ = std::move(witness);
}

std::int64_t most_checked_units(const Family& family, const Axes& axes, Purpose purpose) {
  constexpr std::int64_t kElements = std::int64_t{1} << 21;
  const std::int64_t fewest = purpose == Purpose::scan ? 2 : 8;
  constexpr std::int64_t kMost = 32;
  const std::int64_t units = std::max<std::int64_t>(1, family.unit_count(axes));
  const std::int64_t of_unit = std::max<std::int64_t>(1, element_count(family, axes) / units);
  return std::clamp(kElements / of_unit, fewest, kMost);
}

std::vector<std::int64_t> checked_units(const Family& family, const Axes& axes, std::uint64_t seed, Purpose purpose) {
  return draw_units(family.unit_count(axes), most_checked_units(family, axes, purpose), derive_seed(seed, "units"));
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
                               const std::string& regime, int threads, Purpose purpose) {
  const std::string key = key_of(family, workload, seed, regime, purpose);
  {
    const std::lock_guard lock(mutex_);
    for (Shelf* shelf : {&large_, &small_}) {
      if (CheckedPointer found = shelf->find(key)) {
        return found;
      }
    }
  }
  const auto checked = std::make_shared<const CheckedInputs>(family, workload, seed, regime, threads, purpose);
  const std::lock_guard lock(mutex_);
  const std::size_t bytes = size_of(*checked);
  Shelf& shelf = bytes >= static_cast<std::size_t>(kLarge) ? large_ : small_;
  if (CheckedPointer found = shelf.find(key)) {
    return found;  // somebody else was faster
  }
  shelf.add({.key = key, .bytes = bytes, .checked = checked});
  return checked;
}

namespace {

constexpr std::int64_t kAlignment = 256;  // cudaMalloc's
constexpr std::int64_t kPartOfGpu = 8;    // of the GPU, at most

// Where each input begins in the memory of its set; the last number is the size of that memory.
std::vector<std::int64_t> offsets_of(const std::vector<NamedView>& views) {
  std::vector<std::int64_t> offsets = {0};
  for (const NamedView& input : views) {
    offsets.push_back(offsets.back() + (input.view.bytes() + kAlignment - 1) / kAlignment * kAlignment);
  }
  return offsets;
}

}  // namespace

bool DeviceInputs::start(const WorkerOptions& gpu) {
  kept_.clear();
  bytes_ = 0;
  process_.reset();
  WorkerOptions options = gpu;
  options.environment.emplace_back("CUDA_DEVICE_MAX_CONNECTIONS=1");
  try {
    process_ = std::make_unique<Worker>(std::move(options));
  } catch (const EnvironmentError& error) {
    // A GPU that is gone is told by the next round.
    spdlog::debug("inputs are uploaded in every round: {}", error.what());
  }
  return process_ != nullptr && process_->device().has_value();
}

bool DeviceInputs::add(const Family& family, const CheckedPointer& checked, int threads) {
  const std::vector<NamedView> views = input_views(family, checked->inputs);
  std::vector<std::int64_t> offsets = offsets_of(views);
  const std::int64_t bytes = offsets.back();
  offsets.pop_back();
  file_.reserve(bytes);
  for (std::size_t i = 0; i < views.size(); ++i) {
    views[i].view.copy_to(file_.data() + offsets[i], threads);
  }
  const auto handle = process_->keep(bytes, file_.fd());
  if (!handle) {
    spdlog::debug("inputs are uploaded in every round: {}", handle.failure().evidence);
    return false;
  }
  kept_[checked.get()] = {.checked = checked, .where = {.handle = *handle, .offsets = std::move(offsets)}};
  bytes_ += bytes;
  return true;
}

void DeviceInputs::keep(const Family& family, const WorkerOptions& gpu, const std::vector<CheckedPointer>& sets,
                        int threads) {
  const std::lock_guard lock(mutex_);
  std::int64_t missing = 0;
  std::int64_t all = 0;
  for (const CheckedPointer& checked : sets) {
    const std::int64_t bytes = offsets_of(input_views(family, checked->inputs)).back();
    missing += is_kept(*checked) ? 0 : bytes;
    all += bytes;
  }
  const bool alive = process_ != nullptr && process_->alive();
  if (all == 0 || (alive && missing == 0)) {
    return;
  }
  if (!alive && !start(gpu)) {
    return;
  }
  const std::int64_t most = process_->device()->memory_bytes / kPartOfGpu;
  if (all > most || (bytes_ + missing > most && !start(gpu))) {
    return;
  }
  for (const CheckedPointer& checked : sets) {
    if (!is_kept(*checked) && !add(family, checked, threads)) {
      return;
    }
  }
}

KeptInputs DeviceInputs::find(const CheckedInputs& inputs) const {
  const std::lock_guard lock(mutex_);
  return is_kept(inputs) && process_->alive() ? kept_.at(&inputs).where : KeptInputs();
}

// Other inputs may have come to the address of some that are gone.
bool DeviceInputs::is_kept(const CheckedInputs& inputs) const {
  const auto found = kept_.find(&inputs);
  return found != kept_.end() && !found->second.checked.expired();
}

void DeviceInputs::require_process() const {
  const std::lock_guard lock(mutex_);
  if (process_ != nullptr && !process_->alive()) {
    throw EnvironmentError("the process that keeps inputs on the GPU has ended", "run the same command again");
  }
}

}  // namespace apo
