// harness/worker/cupti/activity.cpp - receives CUPTI's buffers of records and reports lost ones.
#include "harness/worker/cupti/activity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>

namespace apo {
namespace {

constexpr int kKinds[] = {cupti::kConcurrentKernel, cupti::kMemcpy, cupti::kMemset};
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;  // some 4000 kernels; CUPTI asks for more when it is full

// CUPTI's callbacks leave records here. They come from the thread that flushes or from one of CUPTI's own, and may
// still come while the process ends: therefore it is never destroyed.
struct Collector {
  std::mutex mutex;
  std::unique_ptr<const cupti::Library> cupti;
  ActivityRecords records;
  std::size_t dropped = 0;
  cupti::Result broken = cupti::kSuccess;  // how the reading of a buffer ended, when not at its end
};

Collector& collector() {
  static auto* const kCollector = new Collector;
  return *kCollector;
}

// Without a buffer CUPTI drops records and counts them.
void request_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(cupti::kBufferAlignment, kBufferBytes));
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;  // as many as fit
}

void complete_buffer(cupti::Context, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
  Collector& to = collector();
  const std::lock_guard lock(to.mutex);
  cupti::RecordBytes record = nullptr;
  cupti::Result result = buffer == nullptr || valid_bytes == 0 ? cupti::kMaxLimitReached : cupti::kSuccess;
  while (result == cupti::kSuccess) {
    result = to.cupti->next_record(buffer, valid_bytes, &record);
    if (result == cupti::kSuccess) {
      to.records.add(record);
    }
  }
  to.broken = result == cupti::kMaxLimitReached ? to.broken : result;
  std::size_t dropped = 0;
  if (to.cupti->dropped_records(nullptr, 0, &dropped) == cupti::kSuccess) {
    to.dropped += dropped;
  }
  std::free(buffer);
}

void ignore_callback(void*, int, std::uint32_t, const void*) {}

}  // namespace

void ActivityRecords::add(const void* record) {
  cupti::TimedRecord timed{};
  std::memcpy(&timed.kind, record, sizeof timed.kind);
  const bool kernel = timed.kind == cupti::kConcurrentKernel || timed.kind == cupti::kKernel;
  if (!kernel && timed.kind != cupti::kMemcpy && timed.kind != cupti::kMemset) {
    return;
  }
  std::memcpy(&timed, record, sizeof timed);
  kernels_ += kernel ? 1 : 0;
  if (timed.start == 0 || timed.end < timed.start) {
    ++untimed_;
    return;
  }
  first_start_ = first_start_ == 0 ? timed.start : std::min(first_start_, timed.start);
  last_end_ = std::max(last_end_, timed.end);
}

ActivitySpan ActivityRecords::span() const {
  return {.ns = static_cast<std::int64_t>(last_end_ - first_start_), .kernels = kernels_};
}

bool Activity::check(cupti::Result result, const std::string& what) {
  if (result != cupti::kSuccess && missing_.empty()) {
    missing_ = what + ": " + cupti::describe(*cupti_, result);
  }
  return result == cupti::kSuccess;
}

void Activity::give_up(const std::string& why) {
  missing_ = missing_.empty() ? why : missing_;
}

// Subscribing comes first: it fails while another profiler watches this process, whose records would then be disturbed.
void Activity::start() {
  if (cupti_ == nullptr) {
    collector().cupti = cupti::load_library(missing_);
    cupti_ = collector().cupti.get();
    if (cupti_ == nullptr) {
      return;
    }
  }
  const cupti::Result subscribed = cupti_->subscribe(&subscriber_, ignore_callback, nullptr);
  if (subscribed != cupti::kSuccess) {
    subscriber_ = nullptr;
  }
  if (!check(subscribed, subscribed == cupti::kMultipleSubscribers ? "another profiler watches this process"
                                                                   : "CUPTI does not start") ||
      !check(cupti_->register_callbacks(request_buffer, complete_buffer), "CUPTI takes no buffers")) {
    return;
  }
  recording_ = true;
  for (const int kind : kKinds) {
    if (!check(cupti_->enable(kind), "CUPTI does not record kernels")) {
      return;
    }
  }
}

void Activity::begin() {
  if (!recording_ && missing_.empty()) {
    start();
  }
  if (!missing_.empty() || !check(cupti_->flush_all(cupti::kFlushForced), "CUPTI does not hand over its records")) {
    return;
  }
  const std::lock_guard lock(collector().mutex);
  collector().records = {};
  collector().dropped = 0;
  collector().broken = cupti::kSuccess;
}

ActivitySpan Activity::end() {
  if (!missing_.empty() || !check(cupti_->flush_all(cupti::kFlushForced), "CUPTI does not hand over its records")) {
    return {};
  }
  const std::lock_guard lock(collector().mutex);
  const Collector& from = collector();
  if (from.dropped > 0) {
    give_up(fmt::format("CUPTI dropped {} records", from.dropped));
  } else if (from.records.untimed() > 0) {
    give_up(fmt::format("CUPTI could not time {} of its records", from.records.untimed()));
  } else {
    check(from.broken, "CUPTI left a record incomplete");
  }
  return missing_.empty() ? from.records.span() : ActivitySpan{};
}

// Errors are passed over: after a sticky error of the kernel nothing of CUPTI works, and the next call reports that
// one.
void Activity::stop() {
  if (recording_) {
    for (const int kind : kKinds) {
      cupti_->disable(kind);
    }
    cupti_->flush_all(cupti::kFlushForced);
    recording_ = false;
  }
  if (subscriber_ != nullptr) {
    cupti_->unsubscribe(subscriber_);
    subscriber_ = nullptr;
  }
}

namespace {

constexpr std::size_t kMostModules = 64;

// The driver calls from whatever thread loads, up to the end of the process: therefore this is never destroyed.
struct Loaded {
  std::mutex mutex;
  std::unique_ptr<const cupti::Library> cupti;
  std::vector<std::string> images;  // each once
};

Loaded& loaded() {
  static auto* const kLoaded = new Loaded;
  return *kLoaded;
}

void on_module(void*, int domain, std::uint32_t id, const void* data) {
  if (domain != cupti::kResourceDomain || id != cupti::kModuleLoaded || data == nullptr) {
    return;
  }
  const auto* module = static_cast<const cupti::ModuleData*>(static_cast<const cupti::ResourceData*>(data)->descriptor);
  if (module == nullptr || module->cubin == nullptr || module->bytes == 0) {
    return;
  }
  try {
    std::string image(module->cubin, module->bytes);
    Loaded& to = loaded();
    const std::lock_guard lock(to.mutex);
    if (to.images.size() < kMostModules && std::ranges::find(to.images, image) == to.images.end()) {
      to.images.push_back(std::move(image));
    }
  } catch (const std::exception&) {
    return;  // out of memory, in a callback of C code: the image is not there to be compared, which is then said
  }
}

}  // namespace

void ModuleWatch::start() {
  missing_.clear();
  if (cupti_ == nullptr) {
    loaded().cupti = cupti::load_library(missing_);
    cupti_ = loaded().cupti.get();
  }
  if (cupti_ == nullptr) {
    return;
  }
  cupti::Result result = cupti_->subscribe(&subscriber_, on_module, nullptr);
  if (result != cupti::kSuccess) {
    subscriber_ = nullptr;
    missing_ =
        (result == cupti::kMultipleSubscribers ? "another profiler watches this process: " : "CUPTI does not start: ") +
        cupti::describe(*cupti_, result);
    return;
  }
  result = cupti_->enable_callback(1, subscriber_, cupti::kResourceDomain, cupti::kModuleLoaded);
  if (result != cupti::kSuccess) {
    missing_ = "CUPTI does not tell of modules: " + cupti::describe(*cupti_, result);
    stop();
  }
}

void ModuleWatch::stop() {
  if (subscriber_ != nullptr) {
    cupti_->unsubscribe(subscriber_);  // fails only after a sticky error, which the next call reports
    subscriber_ = nullptr;
    missing_ = missing_.empty() ? "watching was ended" : missing_;
  }
}

void ModuleWatch::forget() {
  const std::lock_guard lock(loaded().mutex);
  loaded().images.clear();
}

std::vector<std::string> ModuleWatch::images(const std::vector<std::string>& kernels) const {
  const std::lock_guard lock(loaded().mutex);
  std::vector<std::string> found;
  for (const std::string& image : loaded().images) {
    // The name of the section with the kernel's code, in the image's table of names.
    const bool ours = std::ranges::any_of(
        kernels, [&](const std::string& kernel) { return image.find(".text." + kernel + '\0') != std::string::npos; });
    if (ours) {
      found.push_back(image);
    }
  }
  return found;
}

}  // namespace apo
