// harness/worker/cuda/tensors.cpp - allocates, places, copies and poisons tensors, and launches on them.
#include "harness/worker/cuda/tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string>

#include "harness/core/guards.h"
#include "harness/worker/cuda/module.h"

namespace apo {
namespace {

constexpr std::int64_t kMostPadding = std::int64_t{64} << 20;
constexpr const char* kKept = "cannot copy the inputs that are kept on the GPU";

}  // namespace

void CudaTensors::free_images() {
  for (CudaImage& image : images_) {
    image.free(driver_);
  }
  images_.clear();
  outdated_sets_.clear();
  if (padding_ != 0) {
    driver_.free(padding_);
    padding_ = 0;
  }
}

std::optional<Failure> CudaTensors::attach(const SharedTensorsLayout& layout, const FileDescriptor& file) {
  free_images();
  expected_outputs_ = {};  // waits for the last one
  if (!mapping_.map(file.get(), layout.bytes)) {
    return Failure{Outcome::out_of_memory, std::string("cannot map the tensors: ") + std::strerror(errno)};
  }
  layout_ = layout;
  // Where things lie on the GPU is drawn anew with all shared tensors, as on the host.
  std::int64_t draw = 0;
  for (const BufferPlace& place : layout_.buffers) {
    draw = (draw * 31 + place.offset) % kMostPadding;
  }
  if (auto failure = cuda_failure(driver_, driver_.allocate(&padding_, static_cast<std::size_t>(draw) + 1),
                                  "cannot allocate padding")) {
    return failure;
  }
  return make_images(1);
}

void CudaTensors::expect_outputs() {
  expected_outputs_ = std::async(std::launch::async, [this] {
    for (const BufferPlace& place : layout_.buffers) {
      if (place.role == BufferRole::output) {
        mapping_.touch(place.offset, place.bytes);
      }
    }
  });
}

template <class Work>
cuda::Result CudaTensors::for_each_input(int set, Work work) const {
  cuda::Result error = cuda::kSuccess;
  std::size_t input = 0;
  for (std::size_t i = 0; i < layout_.buffers.size() && error == cuda::kSuccess; ++i) {
    const BufferPlace& place = layout_.buffers[i];
    if (place.role == BufferRole::input && place.owner == set) {
      error = place.bytes > 0 ? work(i, input) : cuda::kSuccess;
      ++input;
    }
  }
  return error;
}

// The copies have ended when the kept memory is closed.
std::optional<Failure> CudaTensors::copy_inputs(const CudaImage& image, int set) const {
  if (!layout_.is_kept(set)) {
    return image.copy_inputs(driver_, layout_, mapping_.memory(), set);
  }
  const OpenKept kept(driver_, layout_.kept.at(static_cast<std::size_t>(set)));
  cuda::Result error = kept.error();
  error = error != 0 ? error : for_each_input(set, [&](std::size_t i, std::size_t input) {
    return driver_.copy_on_device(image.address(i), kept.input(input),
                                  static_cast<std::size_t>(layout_.buffers[i].bytes), nullptr);
  });
  error = error != 0 ? error : driver_.synchronize_context();
  return cuda_failure(driver_, error, kKept);
}

std::optional<Failure> CudaTensors::make_images(std::size_t count) {
  const bool outdated = count > 1 && !outdated_sets_.empty();
  if (images_.size() >= count && !outdated) {
    return std::nullopt;
  }
  for (std::size_t image = 1; image < images_.size() && outdated; ++image) {
    for (const int set : outdated_sets_) {
      if (auto failure = copy_inputs(images_[image], set)) {
        return failure;
      }
    }
  }
  if (outdated) {
    outdated_sets_.clear();
  }
  while (images_.size() < count) {
    images_.emplace_back();
    // All of them come from the host: a candidate may have changed the first.
    if (auto failure = images_.back().make(driver_, layout_, mapping_.memory(), form_)) {
      return failure;
    }
    for (int set = 0; set < input_sets(); ++set) {
      if (auto failure = layout_.is_kept(set) ? copy_inputs(images_.back(), set) : std::nullopt) {
        return failure;
      }
    }
  }
  return wait_for_copies();
}

// The copies are on another stream than the launches, and may still be under way when the driver returns.
std::optional<Failure> CudaTensors::wait_for_copies() const {
  return cuda_failure(driver_, driver_.synchronize_context(), "cannot copy the tensors to the GPU");
}

std::optional<Failure> CudaTensors::refresh(int set, const KeptInputs& kept) {
  if (static_cast<std::size_t>(set) < layout_.kept.size()) {
    layout_.kept[static_cast<std::size_t>(set)] = kept;
  }
  if (auto failure = copy_inputs(images_.at(0), set)) {
    return failure;
  }
  if (images_.size() > 1) {
    outdated_sets_.insert(set);
  }
  return wait_for_copies();
}

Result<bool> CudaTensors::is_unchanged(const CudaImage& image, int set) {
  const OpenKept kept(driver_, layout_.kept.at(static_cast<std::size_t>(set)));
  cuda::Result error = kept.error();
  error = error != 0 ? error : comparison_.begin();
  error = error != 0 ? error : for_each_input(set, [&](std::size_t i, std::size_t input) {
    return comparison_.compare(image.address(i), kept.input(input), static_cast<std::size_t>(layout_.buffers[i].bytes));
  });
  bool same = false;
  error = error != 0 ? error : comparison_.end(same);
  if (auto failure = cuda_failure(driver_, error, kKept)) {
    return *failure;
  }
  return same;
}

// Copies the first of what repeats to where the shared bytes lie. A Failure where not all of it repeats.
std::optional<Failure> CudaTensors::gather_repeats(const CudaImage& image, int set) {
  const auto repeats = [&](const BufferPlace& place) {
    return place.repeats.any() && place.bytes > 0 &&
           (place.role == BufferRole::output || (place.role == BufferRole::input && place.owner == set));
  };
  if (std::ranges::none_of(layout_.buffers, repeats)) {
    return std::nullopt;
  }
  cuda::Result error = comparison_.begin();
  for (std::size_t i = 0; i < layout_.buffers.size() && error == cuda::kSuccess; ++i) {
    const BufferPlace& place = layout_.buffers[i];
    const auto first = static_cast<std::uint64_t>(place.bytes / place.repeats.outer);
    const auto all = static_cast<std::uint64_t>(place.call_bytes() / place.repeats.outer);
    for (std::int64_t o = 0; o < place.repeats.outer && repeats(place) && error == cuda::kSuccess; ++o) {
      const cuda::Pointer at = image.address(i) + static_cast<std::uint64_t>(o) * all;
      error = comparison_.compare(at + first, at, all - first);
      error = error != 0 ? error
                         : driver_.copy_on_device(image.shared_address(i) + static_cast<std::uint64_t>(o) * first, at,
                                                  first, nullptr);
    }
  }
  bool same = false;
  error = error != 0 ? error : comparison_.end(same);
  if (auto failure = cuda_failure(driver_, error, "cannot compare what repeats")) {
    return failure;
  }
  return same ? std::nullopt : std::optional(Failure{Outcome::incorrect, "outputs do not repeat where the inputs do"});
}

Result<bool> CudaTensors::read_back(std::size_t image, int set) {
  const CudaImage& from = images_.at(image);
  const auto unchanged = layout_.is_kept(set) ? is_unchanged(from, set) : Result<bool>(false);
  if (!unchanged) {
    return unchanged.failure();
  }
  if (auto failure = gather_repeats(from, set)) {
    return *failure;
  }
  if (auto failure = from.copy_back(driver_, layout_, mapping_.memory(), set, !*unchanged)) {
    return *failure;
  }
  return *unchanged;
}

std::int64_t CudaTensors::call_bytes(int slot, int set) const {
  std::int64_t bytes = 0;
  for (const std::size_t i : layout_.of_call(slot, set)) {
    bytes += layout_.buffers[i].call_bytes();
  }
  return bytes;
}

int CudaTensors::input_sets() const {
  int sets = 1;
  for (const BufferPlace& place : layout_.buffers) {
    sets = std::max(sets, place.role == BufferRole::input ? place.owner + 1 : 1);
  }
  return sets;
}

std::vector<std::uint64_t> CudaTensors::arguments(std::size_t image, int slot, int set) const {
  std::vector<std::uint64_t> words;
  for (const std::size_t i : layout_.of_call(slot, set)) {
    words.push_back(images_.at(image).address(i));
  }
  words.insert(words.end(), layout_.words.begin(), layout_.words.end());
  return words;
}

std::vector<CudaRange> CudaTensors::of_call(int slot, int set) const {
  std::vector<CudaRange> ranges;
  for (const std::size_t i : layout_.of_call(slot, set)) {
    ranges.push_back(
        {.at = images_.at(0).address(i), .bytes = static_cast<std::size_t>(layout_.buffers[i].call_bytes())});
  }
  return ranges;
}

std::int64_t CudaTensors::bytes_at(std::uint64_t address) const {
  for (const CudaImage& image : images_) {
    for (std::size_t i = 0; i < layout_.buffers.size(); ++i) {
      if (image.address(i) == address) {
        return layout_.buffers[i].call_bytes();
      }
    }
  }
  return 0;
}

cuda::Result CudaTensors::poison(std::size_t images, int slot, cuda::Stream stream) const {
  for (std::size_t image = 0; image < images; ++image) {
    for (std::size_t i = 0; i < layout_.buffers.size(); ++i) {
      const BufferPlace& place = layout_.buffers[i];
      const bool written =
          place.role == BufferRole::output || (place.role == BufferRole::scratch && place.owner == slot);
      if (!written || place.bytes == 0 || place.in_place >= 0) {
        continue;
      }
      if (const auto error = driver_.fill(images_[image].address(i), place.poison,
                                          static_cast<std::size_t>(place.call_bytes()), stream);
          error != cuda::kSuccess) {
        return error;
      }
    }
  }
  return cuda::kSuccess;
}

cuda::Result CudaTensors::fill_before_call(const std::vector<int>& sets, cuda::Stream stream) const {
  for (std::size_t image = 0; image < sets.size(); ++image) {
    for (const SharedTensorsLayout::Copy& copy : layout_.before_call(sets[image])) {
      const auto bytes = static_cast<std::size_t>(layout_.buffers[copy.from].call_bytes());
      const CudaImage& tensors = images_.at(image);
      if (const auto error =
              bytes == 0 ? cuda::kSuccess
                         : driver_.copy_on_device(tensors.address(copy.to), tensors.address(copy.from), bytes, stream);
          error != cuda::kSuccess) {
        return error;
      }
    }
  }
  return cuda::kSuccess;
}

namespace {

bool is_input(const BufferPlace& place) {
  return place.role == BufferRole::input;
}

}  // namespace

// Each of the buffers that are wanted.
template <class Wanted>
std::vector<CudaImage::Stretch> CudaImage::buffers(const SharedTensorsLayout& layout, Wanted wanted) const {
  std::vector<Stretch> found;
  for (std::size_t i = 0; i < layout.buffers.size(); ++i) {
    const BufferPlace& place = layout.buffers[i];
    if (place.bytes > 0 && wanted(place)) {
      found.push_back({place.offset, place.offset + place.bytes, shared_addresses_.at(i)});
    }
  }
  return found;
}

// The same; of a whole image all guards between them, too.
template <class Wanted>
std::vector<CudaImage::Stretch> CudaImage::stretches(const SharedTensorsLayout& layout, Wanted wanted) const {
  if (form_ == Form::pieces) {
    return buffers(layout, wanted);
  }
  std::vector<Stretch> unwanted = buffers(layout, std::not_fn(wanted));
  std::ranges::sort(unwanted, {}, &Stretch::begin);
  unwanted.push_back({.begin = layout.bytes, .end = layout.bytes});
  std::vector<Stretch> result;
  std::int64_t begin = 0;
  for (const Stretch& stretch : unwanted) {
    result.push_back({begin, stretch.begin, allocations_.at(0) + static_cast<std::uint64_t>(begin)});
    begin = stretch.end;
  }
  return result;
}

std::optional<Failure> CudaImage::copy_to_device(const cuda::Driver& driver, const std::vector<Stretch>& stretches,
                                                 const void* memory) {
  for (const Stretch& one : stretches) {
    const auto* from = static_cast<const std::byte*>(memory) + one.begin;
    if (auto failure = cuda_failure(driver, driver.copy_to_device(one.at, from, one.bytes()),
                                    "cannot copy the tensors to the GPU")) {
      return failure;
    }
  }
  return std::nullopt;
}

std::optional<Failure> CudaImage::allocate(const cuda::Driver& driver, std::int64_t bytes, cuda::Pointer& allocation) {
  if (auto failure = cuda_failure(driver, driver.allocate(&allocation, static_cast<std::size_t>(bytes)),
                                  fmt::format("cannot allocate {} bytes for the tensors", bytes))) {
    return failure;
  }
  allocations_.push_back(allocation);
  return std::nullopt;
}

std::optional<Failure> CudaImage::make(const cuda::Driver& driver, const SharedTensorsLayout& layout,
                                       const void* memory, Form form) {
  form_ = form;
  cuda::Pointer whole = 0;
  if (auto failure = form == Form::whole ? allocate(driver, layout.bytes, whole) : std::nullopt) {
    return failure;
  }
  for (const BufferPlace& place : layout.buffers) {
    cuda::Pointer piece = form == Form::whole ? whole + static_cast<std::uint64_t>(place.offset) : 0;
    if (auto failure = form == Form::pieces && place.bytes > 0 ? allocate(driver, place.bytes, piece) : std::nullopt) {
      return failure;
    }
    shared_addresses_.push_back(piece);
    if (auto failure =
            place.repeats.any() && place.bytes > 0 ? allocate(driver, place.call_bytes(), piece) : std::nullopt) {
      return failure;
    }
    addresses_.push_back(piece);
  }
  const auto is_in_file = [&](const BufferPlace& place) { return is_input(place) && !layout.is_kept(place.owner); };
  auto failure = copy_to_device(driver, stretches(layout, is_in_file), memory);
  return failure ? failure : repeat_inputs(driver, layout);
}

// Doubles what is there until all is: some thirty copies.
std::optional<Failure> CudaImage::repeat_inputs(const cuda::Driver& driver, const SharedTensorsLayout& layout) const {
  cuda::Result error = cuda::kSuccess;
  for (std::size_t i = 0; i < layout.buffers.size(); ++i) {
    const BufferPlace& place = layout.buffers[i];
    const auto first = static_cast<std::uint64_t>(place.bytes / place.repeats.outer);
    const auto all = static_cast<std::uint64_t>(place.call_bytes() / place.repeats.outer);
    for (std::int64_t o = 0; o < place.repeats.outer && is_input(place) && place.repeats.any() && first > 0; ++o) {
      const cuda::Pointer to = addresses_[i] + static_cast<std::uint64_t>(o) * all;
      const cuda::Pointer from = shared_addresses_[i] + static_cast<std::uint64_t>(o) * first;
      error = error != 0 ? error : driver.copy_on_device(to, from, std::min(first, all), nullptr);
      for (std::uint64_t done = first; done < all && error == cuda::kSuccess;) {
        const std::uint64_t more = std::min(done, all - done);
        error = driver.copy_on_device(to + done, to, more, nullptr);
        done += more;
      }
    }
  }
  return cuda_failure(driver, error, "cannot repeat the inputs on the GPU");
}

std::optional<Failure> CudaImage::copy_inputs(const cuda::Driver& driver, const SharedTensorsLayout& layout,
                                              const void* memory, int set) const {
  const auto of_set = [&](const BufferPlace& place) { return is_input(place) && place.owner == set; };
  auto failure = copy_to_device(driver, buffers(layout, of_set), memory);
  return failure ? failure : repeat_inputs(driver, layout);
}

std::optional<Failure> CudaImage::copy_back(const cuda::Driver& driver, const SharedTensorsLayout& layout, void* memory,
                                            int set, bool with_inputs) const {
  const auto is_looked_at = [&](const BufferPlace& place) {
    return place.role == BufferRole::output || (with_inputs && is_input(place) && place.owner == set);
  };
  for (const Stretch& one : stretches(layout, is_looked_at)) {
    auto* to = static_cast<std::byte*>(memory) + one.begin;
    if (auto failure =
            cuda_failure(driver, driver.copy_to_host(to, one.at, one.bytes()), "cannot copy the tensors back")) {
      return failure;
    }
  }
  return std::nullopt;
}

void CudaImage::free(const cuda::Driver& driver) {
  for (const cuda::Pointer allocation : allocations_) {
    driver.free(allocation);  // fails only after a sticky error, which the next call reports
  }
  allocations_.clear();
  addresses_.clear();
  shared_addresses_.clear();
}

CudaSlots::CudaSlots(const cuda::Driver& driver, const DeviceFacts& facts, bool watched)
    : driver_(driver),
      facts_(facts),
      watched_(watched),
      tensors_(driver_, watched ? CudaImage::Form::pieces : CudaImage::Form::whole) {}

cuda::Result CudaSlots::prepare(CachePolicy cache, const std::vector<int>& sets, int slot) const {
  if (const auto error = tensors_.fill_before_call(sets, stream_); error != cuda::kSuccess || watched_) {
    return error;
  }
  if (const auto error = guard_is_on(Guard::poison) ? tensors_.poison(sets.size(), slot, stream_) : cuda::kSuccess;
      error != cuda::kSuccess) {
    return error;
  }
  if (cache == CachePolicy::cold) {
    return eviction_.queue(driver_, stream_);
  }
  return cuda::kSuccess;
}

cuda::Result CudaSlots::reset_l2(const LaunchPlan& plan) {
  if (facts_.persisting_l2_bytes == 0 || !guard_is_on(Guard::l2)) {
    return cuda::kSuccess;
  }
  const bool persists = std::any_of(plan.launches.begin(), plan.launches.end(),
                                    [](const KernelLaunch& launch) { return launch.persist > 0; });
  const std::int64_t wanted = persists ? facts_.persisting_l2_bytes : 0;
  if (wanted != persisting_limit_) {
    if (const auto error = driver_.set_limit(cuda::kLimitPersistingL2CacheSize, static_cast<std::size_t>(wanted))) {
      return error;
    }
    persisting_limit_ = wanted;
  }
  return driver_.reset_persisting_l2();
}

cuda::Result CudaSlots::launch(const CudaOperation& operation, std::vector<std::uint64_t>& words) const {
  if (operation.recorded) {
    return replay(driver_, operation, words, stream_);
  }
  const int kept = operation.launch.persist - 1;
  const std::int64_t persisting =
      kept < 0 ? 0 : std::min(tensors_.bytes_at(words.at(static_cast<std::size_t>(kept))), facts_.persisting_l2_bytes);
  return launch_kernel(driver_, operation, words, persisting, stream_);
}

}  // namespace apo
