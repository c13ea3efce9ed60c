// harness/executor/launch_order.h - decides which accesses of different blocks of one launch are ordered.
//
// A block makes its accesses known by a fence of the whole GPU (__threadfence) with an atomic or volatile write behind
// it. Known are the accesses before the fence: those of its thread, and those that a barrier puts before it; the thread
// that writes has to be the fence's, or behind a barrier after it. Another block learns of them by an atomic or
// volatile read of the same address, and its other threads by a barrier after that. No fence is asked for behind the
// read: the programming guide's own examples have none.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "harness/executor/order.h"

namespace apo::executor {

using BlockNumber = std::uint32_t;  // counts the blocks of all launches of a call, from 1

// An access of another block. Its stamp is counted from the block's begin.
struct Earlier {
  BlockNumber block = 0;
  unsigned thread = 0;
  Stamp stamp = 0;
  bool operated = false;  // an atomic or volatile write, which may be a release itself
};

// What the blocks of a launch have released, by address. Used by all of them at once.
class LaunchOrder {
 public:
  struct Place;
  // The first `count` releases at a place.
  struct Seen {
    const Place* place = nullptr;
    std::size_t count = 0;
  };
  // What one atomic write makes known of its block: accesses with a stamp below that of their warp or thread, and what
  // the block had seen.
  struct Release {
    std::vector<Stamp> warps;
    std::vector<Stamp> threads;
    std::vector<Seen> seen;
    bool covers(unsigned thread, Stamp stamp) const { return stamp < warps[thread / kWarp] || stamp < threads[thread]; }
  };
  struct Place {
    struct Entry {
      std::size_t at = 0;
      Stamp stamp = 0;  // of the last write that released this
      unsigned thread = 0;
      std::shared_ptr<const Release> release;
    };
    struct Link {
      std::size_t at = 0;
      Seen seen;
    };
    std::size_t count = 0;
    std::unordered_map<BlockNumber, std::vector<Entry>> of_block;
    std::vector<Link> links;                               // what the releasing blocks had seen elsewhere
    std::unordered_map<const Place*, std::size_t> linked;  // the most of each
  };

  void begin_launch();
  void release(std::uintptr_t address, const Earlier& write, const std::shared_ptr<const Release>& release);
  Seen acquire(std::uintptr_t address) const;
  // Returns whether whoever has seen this knows an access.
  bool knows(std::vector<Seen> seen, const Earlier& access) const;

 private:
  std::atomic<bool> used_{false};  // most kernels release nothing
  mutable std::mutex mutex_;
  std::unordered_map<std::uintptr_t, Place> places_;
};

// The part of one block: its fences, and what its threads have seen. Stamps are counted from the block's begin.
class BlockOrder {
 public:
  void begin_block(LaunchOrder& launch, BlockNumber number);
  BlockNumber number() const { return number_; }
  void fence(Order& order, unsigned thread);
  // An atomic or volatile write, before it can be seen, and a read, after it.
  void wrote(const Order& order, unsigned thread, std::uintptr_t address);
  void read(const Order& order, unsigned thread, std::uintptr_t address);
  // Returns whether an access of another block precedes the current step of `thread`.
  bool before(const Order& order, unsigned thread, const Earlier& access) const;

 private:
  struct Fence {
    unsigned thread = 0;
    Stamp stamp = 0;   // of its thread before it
    Stamp behind = 0;  // and behind it
    Order::Known known;
  };
  struct Acquired {
    LaunchOrder::Seen seen;
    unsigned thread = 0;
    Stamp stamp = 0;
  };
  void share_fences(const Order& order);
  std::vector<LaunchOrder::Seen> seen_by(const Order& order, unsigned thread) const;
  void add(LaunchOrder::Release& to, const Fence& fence, const Order& order) const;

  LaunchOrder* launch_ = nullptr;
  BlockNumber number_ = 0;
  std::vector<Fence> fences_;       // not known to all threads
  std::vector<Acquired> acquired_;  // not known to all threads
  LaunchOrder::Release all_;        // what all threads have learned of fences and reads
  std::shared_ptr<const LaunchOrder::Release> last_;
  std::uint64_t last_lessons_ = 0;  // when last_ was made, by last_thread_
  unsigned last_thread_ = 0;
};

}  // namespace apo::executor
