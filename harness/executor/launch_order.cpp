// harness/executor/launch_order.cpp - searches what a block has seen for a release that covers an access.
#include "harness/executor/launch_order.h"

#include <algorithm>
#include <utility>

namespace apo::executor {
namespace {

// More than this is folded, as if a barrier had made it known to all threads of the block.
constexpr std::size_t kMost = 4096;

void see(std::vector<LaunchOrder::Seen>& all, const LaunchOrder::Seen& one) {
  for (LaunchOrder::Seen& known : all) {
    if (known.place == one.place) {
      known.count = std::max(known.count, one.count);
      return;
    }
  }
  all.push_back(one);
}

void raise(Stamp& to, Stamp stamp, Stamp begin) {
  to = std::max(to, stamp > begin ? stamp - begin : 0);
}

}  // namespace

void LaunchOrder::begin_launch() {
  places_.clear();
  used_.store(false);
}

void LaunchOrder::release(std::uintptr_t address, const Earlier& write, const std::shared_ptr<const Release>& release) {
  const std::lock_guard lock(mutex_);
  used_.store(true);
  Place& place = places_[address];
  std::vector<Place::Entry>& own = place.of_block[write.block];
  if (!own.empty() && own.back().release == release) {
    own.back().stamp = write.stamp;
    return;
  }
  const std::size_t at = place.count++;
  own.push_back({.at = at, .stamp = write.stamp, .thread = write.thread, .release = release});
  for (const Seen& seen : release->seen) {
    std::size_t& most = place.linked[seen.place];
    if (seen.place != &place && seen.count > most) {
      most = seen.count;
      place.links.push_back({.at = at, .seen = seen});
    }
  }
}

LaunchOrder::Seen LaunchOrder::acquire(std::uintptr_t address) const {
  if (!used_.load()) {
    return {};
  }
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(address);
  return found == places_.end() ? Seen{} : Seen{.place = &found->second, .count = found->second.count};
}

bool LaunchOrder::knows(std::vector<Seen> seen, const Earlier& access) const {
  const std::lock_guard lock(mutex_);
  std::unordered_map<const Place*, std::size_t> looked_at;
  while (!seen.empty()) {
    const Seen one = seen.back();
    seen.pop_back();
    std::size_t& before = looked_at[one.place];
    if (one.count <= before) {
      continue;
    }
    before = one.count;
    if (const auto own = one.place->of_block.find(access.block); own != one.place->of_block.end()) {
      for (const Place::Entry& entry : own->second) {
        const bool itself = access.operated && entry.thread == access.thread && entry.stamp == access.stamp;
        if (entry.at < one.count && (itself || entry.release->covers(access.thread, access.stamp))) {
          return true;
        }
      }
    }
    for (const Place::Link& link : one.place->links) {
      if (link.at < one.count) {
        seen.push_back(link.seen);
      }
    }
  }
  return false;
}

void BlockOrder::begin_block(LaunchOrder& launch, BlockNumber number) {
  launch_ = &launch;
  number_ = number;
  fences_.clear();
  acquired_.clear();
  all_ = {};
  last_ = nullptr;
}

void BlockOrder::fence(Order& order, unsigned thread) {
  const Stamp stamp = order.stamp(thread);
  fences_.push_back(
      {.thread = thread, .stamp = stamp, .behind = order.release(thread), .known = order.known_by(thread)});
  last_ = nullptr;
}

void BlockOrder::add(LaunchOrder::Release& to, const Fence& fence, const Order& order) const {
  const auto warps = fence.known.warps.size();
  to.warps.resize(warps);
  to.threads.resize(warps * kWarp);
  for (std::size_t warp = 0; warp < warps; ++warp) {
    raise(to.warps[warp], fence.known.warps[warp], order.begin());
  }
  const std::size_t first = fence.thread / kWarp * kWarp;
  for (std::size_t lane = 0; lane < kWarp; ++lane) {
    raise(to.threads[first + lane], fence.known.lanes[lane], order.begin());
  }
  raise(to.threads[fence.thread], fence.behind, order.begin());
}

// Folds what all threads of the block know by now.
void BlockOrder::share_fences(const Order& order) {
  std::erase_if(fences_, [&](const Fence& fence) {
    const bool shared = fence.stamp < order.block() || fences_.size() > kMost;
    if (shared) {
      add(all_, fence, order);
    }
    return shared;
  });
  std::erase_if(acquired_, [&](const Acquired& one) {
    const bool shared = one.stamp < order.block() || acquired_.size() > kMost;
    if (shared) {
      see(all_.seen, one.seen);
    }
    return shared;
  });
}

std::vector<LaunchOrder::Seen> BlockOrder::seen_by(const Order& order, unsigned thread) const {
  std::vector<LaunchOrder::Seen> seen = all_.seen;
  for (const Acquired& one : acquired_) {
    if (one.thread == thread || order.before(thread, one.thread, one.stamp)) {
      see(seen, one.seen);
    }
  }
  return seen;
}

void BlockOrder::wrote(const Order& order, unsigned thread, std::uintptr_t address) {
  if (fences_.empty() && all_.warps.empty()) {
    return;
  }
  if (last_ == nullptr || last_thread_ != thread || last_lessons_ != order.lessons()) {
    share_fences(order);
    LaunchOrder::Release release = all_;
    for (const Fence& fence : fences_) {
      if (fence.thread == thread || order.before(thread, fence.thread, fence.stamp)) {
        add(release, fence, order);
      }
    }
    if (release.warps.empty()) {
      return;  // its thread does not know of the fence
    }
    release.seen = seen_by(order, thread);
    last_ = std::make_shared<const LaunchOrder::Release>(std::move(release));
    last_thread_ = thread;
    last_lessons_ = order.lessons();
  }
  const Stamp stamp = order.stamp(thread) - order.begin();
  launch_->release(address, {.block = number_, .thread = thread, .stamp = stamp}, last_);
}

void BlockOrder::read(const Order& order, unsigned thread, std::uintptr_t address) {
  const LaunchOrder::Seen seen = launch_->acquire(address);
  if (seen.count == 0) {
    return;
  }
  for (const Acquired& one : acquired_) {
    if (one.thread == thread && one.seen.place == seen.place && one.seen.count == seen.count) {
      return;
    }
  }
  last_ = nullptr;
  acquired_.push_back({.seen = seen, .thread = thread, .stamp = order.stamp(thread)});
  share_fences(order);
}

bool BlockOrder::before(const Order& order, unsigned thread, const Earlier& access) const {
  std::vector<LaunchOrder::Seen> seen = seen_by(order, thread);
  return !seen.empty() && launch_->knows(std::move(seen), access);
}

}  // namespace apo::executor
