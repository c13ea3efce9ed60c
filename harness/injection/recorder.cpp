// harness/injection/recorder.cpp - one row for each kernel; for ranges a stack a thread, a tree of names and a ring of
// launches.
#include "harness/injection/recorder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "harness/worker/cupti/cupti.h"

namespace apo {
namespace {

constexpr std::size_t kMostDevices = 64;
constexpr std::size_t kMostPointers = 65'536;
constexpr std::size_t kFirstCopy = kMostKernels + 2;  // behind all kernels' rows

template <class Record>
Record copy_of(const void* bytes) {
  Record record;
  std::memcpy(&record, bytes, sizeof record);
  return record;
}

}  // namespace

void Recorder::add(const void* record) {
  ++records_;
  switch (copy_of<int>(record)) {
    case cupti::kKernel:
    case cupti::kConcurrentKernel:
      return add_kernel(record);
    case cupti::kMemcpy:
    case cupti::kPeerMemcpy:
      return add_copy(record);
    case cupti::kMemset:
      return add_fill(record);
    default:
      return;
  }
}

void Recorder::add_kernel(const void* record) {
  const auto kernel = copy_of<cupti::KernelRecord>(record);
  const std::size_t row = kernel_row(kernel.name);
  add_call(kernels_[row], row, kernel.device, kernel.start, kernel.end, 0, kernel.correlation);
}

void Recorder::add_copy(const void* record) {
  const auto copy = copy_of<cupti::CopyRecord>(record);
  const std::size_t direction = std::min<std::size_t>(copy.direction, copies_.size() - 1);
  GpuWork& work = copies_[direction];
  work.kind = WorkKind::copy;
  work.name = copy_name(copy.direction);
  add_call(work, kFirstCopy + direction, copy.device, copy.start, copy.end, copy.bytes,
           copy.kind == cupti::kPeerMemcpy ? 0 : copy.correlation);  // a copy between two GPUs has it elsewhere
}

void Recorder::add_fill(const void* record) {
  const auto fill = copy_of<cupti::FillRecord>(record);
  add_call(fills_, kFirstCopy + copies_.size(), fill.device, fill.start, fill.end, fill.bytes, fill.correlation);
}

std::size_t Recorder::kernel_row(const char* pointer) {
  if (const auto known = by_pointer_.find(pointer); known != by_pointer_.end()) {
    return known->second;
  }
  std::string name = pointer == nullptr ? "(no name)" : pointer;
  if (kernels_.size() >= kMostKernels || name_bytes_ + name.size() > kMostNameBytes) {
    name = by_name_.contains(name) ? name : kOtherKernels;
  }
  const auto [row, is_new] = by_name_.try_emplace(name, kernels_.size());
  if (is_new) {
    kernels_.push_back({.kind = WorkKind::kernel, .name = name});
    name_bytes_ += name.size();
  }
  if (by_pointer_.size() < kMostPointers) {
    by_pointer_.emplace(pointer, row->second);
  }
  return row->second;
}

void Recorder::add_call(GpuWork& work, std::size_t row, std::uint32_t device, std::uint64_t start, std::uint64_t end,
                        std::uint64_t bytes, std::uint32_t correlation) {
  if (start == 0 || end < start) {
    ++untimed_;
    return;
  }
  const auto ns = static_cast<std::int64_t>(end - start);
  work.min_ns = work.calls == 0 ? ns : std::min(work.min_ns, ns);
  work.max_ns = std::max(work.max_ns, ns);
  work.total_ns += ns;
  work.bytes += static_cast<std::int64_t>(bytes);
  ++work.calls;
  if (const std::uint32_t place = ranges_ == nullptr ? 0 : ranges_->of(correlation); place > 0) {
    if (const std::pair key(place, row); in_ranges_.size() < kMostRangeRows || in_ranges_.contains(key)) {
      RangeWork& within = in_ranges_[key];
      ++within.calls;
      within.total_ns += ns;
    }
  }
  if (devices_.size() < kMostDevices || devices_.contains(device)) {
    devices_[device].add(static_cast<std::int64_t>(start), static_cast<std::int64_t>(end));
  }
}

std::vector<NvtxRange> Recorder::ranges_with(const std::map<std::size_t, std::size_t>& work_of_row) const {
  std::vector<NvtxRange> ranges = ranges_ == nullptr ? std::vector<NvtxRange>() : ranges_->places();
  for (const auto& [key, within] : in_ranges_) {
    const auto [place, row] = key;
    ranges.at(place - 1).work.push_back(
        {.work = work_of_row.at(row), .calls = within.calls, .total_ns = within.total_ns});
  }
  return ranges;
}

ProcessTimes Recorder::summary() const {
  ProcessTimes recording;
  recording.untimed = untimed_;
  std::map<std::size_t, std::size_t> work_of_row;
  const auto keep = [&](const GpuWork& work, std::size_t row) {
    if (work.calls > 0) {
      work_of_row[row] = recording.work.size();
      recording.work.push_back(work);
    }
  };
  for (std::size_t row = 0; row < kernels_.size(); ++row) {
    keep(kernels_[row], row);
  }
  for (std::size_t direction = 0; direction < copies_.size(); ++direction) {
    keep(copies_[direction], kFirstCopy + direction);
  }
  keep(fills_, kFirstCopy + copies_.size());
  recording.ranges = ranges_with(work_of_row);
  for (const auto& [device, timeline] : devices_) {
    recording.devices.push_back(timeline.busy());
    recording.devices.back().device = static_cast<int>(device);
  }
  return recording;
}

namespace {

struct Open {
  const void* domain;
  std::uint32_t place;
};

// Trivial, so that a thread that ends has nothing to destroy.
struct Stack {
  std::size_t depth;
  std::array<Open, kMostRangeDepth> open;
};
thread_local constinit Stack stack{};

std::uint32_t innermost() {
  return stack.depth == 0 ? 0 : stack.open[stack.depth - 1].place;
}

int depth_in(const void* domain) {
  return static_cast<int>(std::count_if(stack.open.begin(),
                                        stack.open.begin() + static_cast<std::ptrdiff_t>(stack.depth),
                                        [&](const Open& one) { return one.domain == domain; }));
}

}  // namespace

std::uint32_t Ranges::place(std::uint32_t parent, std::string_view name) {
  const std::lock_guard lock(mutex_);
  std::pair<std::uint32_t, std::string> key(parent, name.substr(0, kMostRangeName));
  auto known = by_name_.find(key);
  if (known == by_name_.end()) {
    if (places_.size() >= kMostRanges) {
      return parent;
    }
    places_.push_back({.name = key.second, .parent = static_cast<std::int64_t>(parent) - 1});
    known = by_name_.emplace(std::move(key), static_cast<std::uint32_t>(places_.size())).first;
  }
  ++places_[known->second - 1].entered;
  if (storage_ == nullptr) {
    storage_ = std::make_unique<Launch[]>(kMostLaunches);
    launches_.store(storage_.get(), std::memory_order_release);
  }
  return known->second;
}

int Ranges::push(const void* domain, std::string_view name) {
  const int depth = depth_in(domain);
  if (stack.depth == kMostRangeDepth) {
    return -1;
  }
  const std::uint32_t inner = place(innermost(), name);
  stack.open[stack.depth++] = {.domain = domain, .place = inner};
  if (stack.depth == 1) {
    ++threads_in_ranges_;
  }
  newest_ = inner;
  return depth;
}

int Ranges::pop(const void* domain) {
  for (std::size_t i = stack.depth; i > 0; --i) {
    if (stack.open[i - 1].domain != domain) {
      continue;
    }
    std::move(stack.open.begin() + static_cast<std::ptrdiff_t>(i),
              stack.open.begin() + static_cast<std::ptrdiff_t>(stack.depth),
              stack.open.begin() + static_cast<std::ptrdiff_t>(i) - 1);
    if (--stack.depth == 0) {
      --threads_in_ranges_;
    }
    newest_ = innermost();
    return depth_in(domain);
  }
  return -1;
}

void Ranges::launched(std::uint32_t correlation) {
  Launch* const launches = launches_.load(std::memory_order_acquire);
  if (launches == nullptr) {
    return;
  }
  std::uint32_t place = innermost();
  if (place == 0 && threads_in_ranges_ == 1) {
    place = newest_;
  }
  launches[correlation % kMostLaunches].store(std::uint64_t{correlation} << 32 | place, std::memory_order_relaxed);
}

std::uint32_t Ranges::of(std::uint32_t correlation) const {
  const Launch* const launches = launches_.load(std::memory_order_acquire);
  if (launches == nullptr) {
    return 0;
  }
  const std::uint64_t launch = launches[correlation % kMostLaunches].load(std::memory_order_relaxed);
  return launch >> 32 == correlation ? static_cast<std::uint32_t>(launch) : 0;
}

std::vector<NvtxRange> Ranges::places() const {
  const std::lock_guard lock(mutex_);
  return places_;
}

}  // namespace apo
