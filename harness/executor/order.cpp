// harness/executor/order.cpp - implements the order that each kind of synchronisation creates.
#include "harness/executor/order.h"

#include <algorithm>

namespace apo::executor {

Order::Order(unsigned threads)
    : stamps_(threads), warps_((threads + kWarp - 1) / kWarp), known_(std::size_t{warps_} * warps_), lanes_(warps_) {}

bool Order::begin_block() {
  constexpr Stamp kLast = Stamp{1} << 31;
  const bool fits = serial_ < kLast;
  serial_ = fits ? serial_ + 1 : 1;
  begin_ = serial_;
  block_ = serial_;
  std::ranges::fill(stamps_, serial_);
  std::ranges::fill(known_, 0);
  for (Lanes& lanes : lanes_) {
    lanes.used = false;
  }
  return fits;
}

void Order::sync_block() {
  ++lessons_;
  block_ = ++serial_;
  std::ranges::fill(stamps_, serial_);
}

void Order::sync_threads(const std::vector<unsigned>& threads) {
  ++lessons_;
  ++serial_;
  std::vector<bool> member(warps_);
  for (const unsigned thread : threads) {
    stamps_[thread] = serial_;
    member[thread / kWarp] = true;
  }
  std::vector<Stamp> together(warps_);
  for (unsigned warp = 0; warp < warps_; ++warp) {
    for (unsigned other = 0; other < warps_ && member[warp]; ++other) {
      together[other] = member[other] ? serial_ : std::max(together[other], known(warp, other));
    }
  }
  for (unsigned warp = 0; warp < warps_; ++warp) {
    for (unsigned other = 0; other < warps_ && member[warp]; ++other) {
      known(warp, other) = together[other];
    }
  }
}

Order::Lanes& Order::use_lanes(unsigned warp) {
  Lanes& lanes = lanes_[warp];
  if (!lanes.used) {
    lanes.used = true;
    for (auto& row : lanes.known) {
      row.fill(0);
    }
  }
  return lanes;
}

void Order::sync_lanes(unsigned warp, unsigned mask, bool whole) {
  ++lessons_;
  ++serial_;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if ((mask >> lane & 1) != 0 && warp * kWarp + lane < stamps_.size()) {
      stamps_[warp * kWarp + lane] = serial_;
    }
  }
  if (whole) {
    known(warp, warp) = serial_;
    return;
  }
  Lanes& lanes = use_lanes(warp);
  std::array<Stamp, kWarp> together{};
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    for (unsigned other = 0; other < kWarp && (mask >> lane & 1) != 0; ++other) {
      together[other] = std::max(together[other], lanes.known[lane][other]);
    }
  }
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    for (unsigned other = 0; other < kWarp && (mask >> lane & 1) != 0; ++other) {
      lanes.known[lane][other] = (mask >> other & 1) != 0 ? serial_ : together[other];
    }
  }
}

Order::Known Order::known_by(unsigned thread) const {
  const unsigned warp = thread / kWarp;
  Known result{.warps = std::vector<Stamp>(warps_, block_)};
  for (unsigned other = 0; other < warps_; ++other) {
    result.warps[other] = std::max(block_, known(warp, other));
  }
  if (lanes_[warp].used) {
    result.lanes = lanes_[warp].known[thread % kWarp];
  }
  return result;
}

void Order::acquire(unsigned thread, unsigned other, Stamp released) {
  ++lessons_;
  const unsigned warp = thread / kWarp;
  const unsigned from = other / kWarp;
  if (warp == from) {
    auto& lanes = use_lanes(warp).known;
    auto& own = lanes[thread % kWarp];
    for (unsigned third = 0; third < kWarp; ++third) {
      own[third] = std::max(own[third], lanes[other % kWarp][third]);
    }
    own[other % kWarp] = std::max(own[other % kWarp], released);
    return;
  }
  for (unsigned third = 0; third < warps_; ++third) {
    known(warp, third) = std::max(known(warp, third), known(from, third));
  }
  known(warp, from) = std::max(known(warp, from), released);
}

}  // namespace apo::executor
