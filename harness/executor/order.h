// harness/executor/order.h - decides which accesses of a block's threads are ordered by barriers.
//
// A thread's accesses carry its stamp: the number of the last synchronisation it took part in. An access with stamp c
// is before everything that a thread does after a synchronisation of both with a number above c. Knowledge is kept for
// the block, between warps (named barriers of some warps, atomics) and between the lanes of a warp (__syncwarp,
// atomics).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "harness/executor/device/interface.h"

namespace apo::executor {

using apo_cpu::kWarp;
using Stamp = std::uint32_t;

class Order {
 public:
  explicit Order(unsigned threads);

  // Puts everything before it into another block. Returns false when the numbers are used up: then all shadows have to
  // be cleared.
  bool begin_block();
  Stamp begin() const { return begin_; }
  // The last barrier of all threads: they all know every access with a stamp below it.
  Stamp block() const { return block_; }
  // Raised whenever a thread may know more than before.
  std::uint64_t lessons() const { return lessons_; }
  Stamp stamp(unsigned thread) const { return stamps_[thread]; }
  // Returns whether an access of `other` with this stamp precedes the current step of `thread`.
  bool before(unsigned thread, unsigned other, Stamp stamp) const {
    if (thread == other || stamp < block_) {
      return true;
    }
    const unsigned warp = thread / kWarp;
    const unsigned from = other / kWarp;
    if (stamp < known(warp, from)) {
      return true;
    }
    return warp == from && lanes_[warp].used && stamp < lanes_[warp].known[thread % kWarp][other % kWarp];
  }

  void sync_block();
  // Notes that some threads, whole warps of them, met at a named barrier.
  void sync_threads(const std::vector<unsigned>& threads);
  // Notes that the lanes of `mask` met in __syncwarp; `whole` when no other lane of the warp is left.
  void sync_lanes(unsigned warp, unsigned mask, bool whole);
  // Notes an atomic write: a later acquire() of it learns everything that `thread` did until now. Returns the write's
  // stamp.
  Stamp release(unsigned thread) { return stamps_[thread] = ++serial_; }
  // What a thread knows: for each warp, and for each lane of its own one, accesses with a stamp below this.
  struct Known {
    std::vector<Stamp> warps;
    std::array<Stamp, kWarp> lanes{};
  };
  Known known_by(unsigned thread) const;
  // Reads the knowledge that `other` released. Warps learn as one, so this may excuse a race of their other lanes, but
  // never invents one.
  void acquire(unsigned thread, unsigned other, Stamp released);

 private:
  struct Lanes {
    bool used = false;
    std::array<std::array<Stamp, kWarp>, kWarp> known{};
  };
  Stamp& known(unsigned warp, unsigned other) { return known_[warp * warps_ + other]; }
  Stamp known(unsigned warp, unsigned other) const { return known_[warp * warps_ + other]; }
  Lanes& use_lanes(unsigned warp);

  Stamp serial_ = 0;
  Stamp begin_ = 0;  // of this block
  Stamp block_ = 0;  // last barrier of all threads
  std::uint64_t lessons_ = 0;
  std::vector<Stamp> stamps_;
  unsigned warps_;
  std::vector<Stamp> known_;  // [warp][other warp]
  std::vector<Lanes> lanes_;
};

}  // namespace apo::executor
