// harness/executor/block_sync.cpp - barriers, warp operations, and the diagnosis of a block that stands still.
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "harness/executor/block.h"

namespace apo::executor {

using apo_cpu::Barrier;
using apo_cpu::Collective;
using apo_cpu::kWarp;
using apo_cpu::Vote;

namespace {

int outcome(Vote vote, int votes, int voters) {
  switch (vote) {
    case Vote::count:
      return votes;
    case Vote::every:
      return votes == voters ? 1 : 0;
    case Vote::any:
      return votes > 0 ? 1 : 0;
    case Vote::none:
      break;
  }
  return 0;
}

std::string hex(unsigned mask) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) {
    text += kDigits[mask >> shift & 15];
  }
  return text;
}

}  // namespace

std::string Block::waits_where(unsigned number) const {
  const Fiber& fiber = fibers_[number];
  if (fiber.state == State::at_barrier) {
    return std::string(fiber.barrier->name) + ", " + name_of(fiber.barrier->line);
  }
  return std::string(fiber.collective->name) + ", " + name_of(fiber.collective->line);
}

void Block::barrier(Barrier& barrier) {
  const auto all = static_cast<unsigned>(fibers_.size());
  const unsigned expected = barrier.threads == 0 ? all : barrier.threads;
  if (barrier.id >= barriers_.size() || expected % kWarp != (barrier.threads == 0 ? all % kWarp : 0) ||
      expected > all) {
    give_up("barrier divergence",
            fmt::format("barrier {} for {} threads: there are 16 barriers, for whole warps of this block's {} threads",
                        barrier.id, expected, all),
            name_of(barrier.line));
  }
  if (barrier.threads == 0 && live_ < all) {
    unsigned gone = 0;
    while (fibers_[gone].state != State::done) {
      ++gone;
    }
    give_up("barrier divergence",
            "it waits at " + std::string(barrier.name) + ", and thread " + thread_name(gone) + " has exited without it",
            name_of(barrier.line));
  }
  std::vector<unsigned>& waiting = barriers_[barrier.id];
  if (!waiting.empty() && barrier.threads == 0) {
    const Barrier& first = *fibers_[waiting.front()].barrier;
    if (!(first.line == barrier.line) || first.threads != barrier.threads || first.vote != barrier.vote) {
      give_up("barrier divergence",
              "it waits at " + std::string(barrier.name) + ", and thread " + thread_name(waiting.front()) + " at " +
                  waits_where(waiting.front()),
              name_of(barrier.line));
    }
  }
  fibers_[running_].barrier = &barrier;
  waiting.push_back(running_);
  if (waiting.size() < expected) {
    wait(State::at_barrier);
    return;
  }
  int votes = 0;
  for (const unsigned member : waiting) {
    votes += fibers_[member].barrier->predicate != 0 ? 1 : 0;
  }
  for (const unsigned member : waiting) {
    fibers_[member].barrier->result = outcome(barrier.vote, votes, static_cast<int>(expected));
  }
  if (barrier.is_of_grid) {
    meet_grid(barrier);
  }
  release(waiting, barrier.threads == 0 || expected == all);
  yield();
}

void Block::meet_grid(const Barrier& barrier) {
  if (launch_.grid == nullptr) {
    give_up("deadlock", fmt::format("it waits at {}, and the launch is not cooperative", barrier.name),
            name_of(barrier.line));
  }
  if (!launch_.grid->meet()) {
    give_up("barrier divergence", fmt::format("it waits at {}, and a block has ended without it", barrier.name),
            name_of(barrier.line));
  }
  enter_launch();
}

bool Grid::meet() {
  std::unique_lock lock(mutex_);
  const std::uint64_t round = rounds_;
  if (!has_left_ && ++waiting_ == blocks_) {
    between_();
    waiting_ = 0;
    ++rounds_;
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return rounds_ != round || has_left_; });
  return rounds_ != round;
}

bool Grid::leave(bool failed) {
  const std::lock_guard lock(mutex_);
  has_left_ = true;
  changed_.notify_all();
  return failed && !std::exchange(has_failed_, true);
}

// All of them go on; the running one among them is not put into the queue.
void Block::release(std::vector<unsigned>& members, bool all) {
  if (all) {
    order_.sync_block();
  } else {
    order_.sync_threads(members);
  }
  for (const unsigned member : members) {
    resume(member);
  }
  members.clear();
}

void Block::resume(unsigned number) {
  fibers_[number].state = State::ready;
  if (number != running_) {
    ready_.push_back(number);
  }
}

void Block::collective(Collective& collective) {
  const unsigned warp = running_ / kWarp;
  const unsigned lane = running_ % kWarp;
  collective.lane = lane;
  if ((collective.mask >> lane & 1) == 0) {
    give_up(
        "missing lane",
        fmt::format("lane {} calls {} with mask {}, which leaves it out", lane, collective.name, hex(collective.mask)),
        name_of(collective.line));
  }
  // The waiting lanes agree already: asking one of them is enough.
  if (const unsigned waiting = in_warp_[warp] & collective.mask; waiting != 0) {
    const unsigned other = warp * kWarp + static_cast<unsigned>(__builtin_ctz(waiting));
    const Collective& theirs = *fibers_[other].collective;
    if (theirs.mask != collective.mask ||
        (theirs.name != collective.name && std::string_view(theirs.name) != collective.name)) {
      give_up("missing lane",
              fmt::format("it calls {} with mask {}, and lane {} of it waits with mask {} in {}", collective.name,
                          hex(collective.mask), other % kWarp, hex(theirs.mask), waits_where(other)),
              name_of(collective.line));
    }
  }
  Fiber& fiber = fibers_[running_];
  fiber.collective = &collective;
  fiber.state = State::in_warp;
  in_warp_[warp] |= 1u << lane;
  if (complete_warp(warp, collective.mask)) {
    yield();
  } else {
    next();
  }
}

// Finishes the operation of the lanes of `mask` once all that live have come.
bool Block::complete_warp(unsigned warp, unsigned mask) {
  const unsigned present = in_warp_[warp] & mask;
  if (present == 0 || present != (live_lanes_[warp] & mask)) {
    return false;
  }
  std::array<Collective*, kWarp> lanes{};
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    lanes[lane] = (present >> lane & 1) != 0 ? fibers_[warp * kWarp + lane].collective : nullptr;
  }
  const Collective& first = *lanes[static_cast<std::size_t>(__builtin_ctz(present))];
  if (std::string_view(first.name) == "mma.sync" && present != ~0u) {
    give_up("missing lane", "mma.sync needs all 32 lanes of the warp", name_of(first.line));
  }
  if (std::string_view(first.name) == "__syncwarp" || std::string_view(first.name) == "tile::sync") {
    order_.sync_lanes(warp, present, present == live_lanes_[warp]);
  }
  finishing_ = true;
  first.finish(lanes.data(), present);
  finishing_ = false;
  in_warp_[warp] &= ~present;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if ((present >> lane & 1) != 0) {
      resume(warp * kWarp + lane);
    }
  }
  return true;
}

// A lane of the warp has exited: those that waited only for it go on.
void Block::lanes_left(unsigned warp) {
  for (unsigned waiting = in_warp_[warp]; waiting != 0;) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(waiting));
    const unsigned mask = fibers_[warp * kWarp + lane].collective->mask;
    complete_warp(warp, mask);
    waiting &= ~(mask | 1u << lane);
  }
}

// Returns why no thread can continue.
Finding Block::stuck() const {
  for (unsigned i = 0; i < fibers_.size(); ++i) {
    if (fibers_[i].state != State::in_warp) {
      continue;
    }
    const Collective& collective = *fibers_[i].collective;
    const unsigned warp = i / kWarp;
    for (unsigned lane = 0; lane < kWarp && warp * kWarp + lane < fibers_.size(); ++lane) {
      const unsigned other = warp * kWarp + lane;
      if ((collective.mask >> lane & 1) != 0 && fibers_[other].state == State::at_barrier) {
        return finding("missing lane", i,
                       fmt::format("{} with mask {} waits for lane {}, which waits at {}", collective.name,
                                   hex(collective.mask), lane, waits_where(other)),
                       name_of(collective.line));
      }
    }
  }
  unsigned first = 0;
  while (fibers_[first].state == State::done) {
    ++first;
  }
  const Fiber& fiber = fibers_[first];
  std::string what = fmt::format("it waits at {}, and {} threads all wait", waits_where(first), live_);
  const apo_cpu::Line line = fiber.state == State::at_barrier ? fiber.barrier->line : fiber.collective->line;
  if (fiber.state == State::at_barrier && fiber.barrier->threads != 0) {
    what = fmt::format("barrier {} waits for {} threads, {} have come, and all the others wait or have exited",
                       fiber.barrier->id, fiber.barrier->threads, barriers_[fiber.barrier->id].size());
  }
  return finding("deadlock", first, what, name_of(line));
}

}  // namespace apo::executor
