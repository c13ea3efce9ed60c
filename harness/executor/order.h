// harness/executor/order.h - which accesses of a block's threads are ordered by the barriers they passed.
//
// A thread's accesses carry its stamp: the number of the last synchronisation it took part in. An access with stamp c is
// before everything that a thread does after a synchronisation of both with a number above c. Knowledge is kept for the
// block, between warps (named barriers of some warps) and between the lanes of a warp (__syncwarp).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "harness/executor/device/interface.h"

namespace apo::executor {

using apo_cpu::kWarp;
using Stamp = std::uint32_t;

class Order {
 public:
  explicit Order(unsigned threads)
      : stamps_(threads), warps_((threads + kWarp - 1) / kWarp), known_(warps_ * warps_), lanes_(warps_) {}

  // Everything before is another block's. False when the numbers are used up: then all shadows have to be cleared.
  bool begin_block() {
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
  Stamp begin() const { return begin_; }
  Stamp stamp(unsigned thread) const { return stamps_[thread]; }
  // Whether an access of `other` with this stamp is before what `thread` does now.
  bool before(unsigned thread, unsigned other, Stamp stamp) const {
    if (thread == other || stamp < block_) {
      return true;
    }
    const unsigned warp = thread / kWarp;
    const unsigned from = other / kWarp;
    if (stamp < known_[warp * warps_ + from]) {
      return true;
    }
    return warp == from && lanes_[warp].used && stamp < lanes_[warp].known[thread % kWarp][other % kWarp];
  }

  void sync_block() {
    block_ = ++serial_;
    std::ranges::fill(stamps_, serial_);
  }
  // Some threads, whole warps of them, met at a named barrier.
  void sync_threads(const std::vector<unsigned>& threads) {
    ++serial_;
    std::vector<bool> member(warps_);
    for (const unsigned thread : threads) {
      stamps_[thread] = serial_;
      member[thread / kWarp] = true;
    }
    std::vector<Stamp> together(warps_);
    for (unsigned warp = 0; warp < warps_; ++warp) {
      for (unsigned other = 0; other < warps_ && member[warp]; ++other) {
        together[other] = member[other] ? serial_ : std::max(together[other], known_[warp * warps_ + other]);
      }
    }
    for (unsigned warp = 0; warp < warps_; ++warp) {
      if (member[warp]) {
        std::ranges::copy(together, known_.begin() + warp * warps_);
      }
    }
  }
  // The lanes of `mask` met in __syncwarp; `whole` when no other lane of the warp is left.
  void sync_lanes(unsigned warp, unsigned mask, bool whole) {
    ++serial_;
    Lanes& lanes = lanes_[warp];
    if (whole) {
      known_[warp * warps_ + warp] = serial_;
    } else if (!lanes.used) {
      lanes.used = true;
      for (auto& row : lanes.known) {
        row.fill(0);
      }
    }
    std::array<Stamp, kWarp> together{};
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      if ((mask >> lane & 1) != 0 && warp * kWarp + lane < stamps_.size()) {
        stamps_[warp * kWarp + lane] = serial_;
        for (unsigned other = 0; other < kWarp && !whole; ++other) {
          together[other] = std::max(together[other], lanes.known[lane][other]);
        }
        together[lane] = serial_;
      }
    }
    for (unsigned lane = 0; lane < kWarp && !whole; ++lane) {
      if ((mask >> lane & 1) != 0) {
        for (unsigned other = 0; other < kWarp; ++other) {
          lanes.known[lane][other] = (mask >> other & 1) != 0 ? serial_ : together[other];
        }
      }
    }
  }

 private:
  struct Lanes {
    bool used = false;
    std::array<std::array<Stamp, kWarp>, kWarp> known{};
  };
  Stamp serial_ = 0;
  Stamp begin_ = 0;  // of this block
  Stamp block_ = 0;  // last barrier of all threads
  std::vector<Stamp> stamps_;
  unsigned warps_;
  std::vector<Stamp> known_;  // [warp][other warp]
  std::vector<Lanes> lanes_;
};

}  // namespace apo::executor
