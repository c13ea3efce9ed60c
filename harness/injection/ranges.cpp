// harness/injection/ranges.cpp - keeps a stack for each thread, a tree of names, and a ring of launches.
#include "harness/injection/ranges.h"

#include <algorithm>
#include <array>

namespace apo {
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
