// harness/executor/global_races.h - the shadow of a stretch of global memory: who touched each place last in this
// launch, and whether the next access is ordered behind it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "harness/executor/launch_order.h"

namespace apo::executor {

// An access of global memory.
struct GlobalVisit {
  Order& order;
  const BlockOrder& blocks;
  BlockNumber first = 1;  // block of this launch
  unsigned thread = 0;
  apo_cpu::Access kind = apo_cpu::Access::read;
  std::uint32_t code = 0;  // behind the object's begin
};

// Two accesses that nothing orders, of which one is a plain write, or one is plain and the other a volatile write, or
// one is a plain read behind atomic operations that nobody looked at the place before.
struct GlobalRace {
  bool reads = false;  // this access
  bool other_read = false;
  BlockNumber other = 0;
  unsigned others_thread = 0;
  std::uint32_t others_code = 0;  // 0: unknown
  // Two stores of the same value are no mistake.
  bool unless_same() const { return !reads && !other_read; }
};

// May be used by several threads at once: a place is noted in one atomic word.
class GlobalShadow {
 public:
  explicit GlobalShadow(std::size_t bytes) : bytes_(bytes) {}

  // Notes the access. Of several races the worst is returned: unless_same() ranks below the rest.
  std::optional<GlobalRace> access(const GlobalVisit& visit, std::size_t offset, std::size_t bytes);
  // The same for a plain access of words that no other thread has touched in this launch, which is most of them.
  // Returns false, and notes nothing, if that cannot be told at a glance.
  bool access_own(const GlobalVisit& visit, std::size_t offset, std::size_t bytes);

 private:
  // The plain accesses of a place: 16 bytes for the last write and 16 for readers: the first one, and the last one that
  // differs from it. A later writer that is ordered after both of them, but not after a third, goes unnoticed.
  struct Cell {
    std::atomic<std::uint64_t> written, read, also_read;
    std::atomic<std::uint32_t> writer_code, reader_code;
  };
  // Its atomic and volatile writes: the last one, and the last one of another block than that.
  struct Operated {
    std::atomic<std::uint64_t> last, other;
    std::atomic<std::uint32_t> last_code, other_code;
  };
  // One of either for each place; zeros until it is written. Memory is taken where it is touched.
  template <class Entry>
  class Places {
   public:
    Places() = default;
    Places(const Places&) = delete;
    Places& operator=(const Places&) = delete;
    ~Places();
    Entry* get() const { return entries_.load(std::memory_order_acquire); }
    Entry* make(std::size_t count);

   private:
    std::atomic<Entry*> entries_{nullptr};
    std::size_t bytes_ = 0;
    std::mutex mutex_;
  };
  // Places of one width.
  struct Level {
    Places<Cell> cells;
    Places<Operated> operated;  // most memory has no atomic writes
  };
  static constexpr std::array<std::size_t, 3> kWidths = {4, 2, 1};

  // A note of an access has from its lowest bit: the stamp, counted from the block's begin, whether somebody had looked
  // before it, the thread and the block. A stamp that does not fit is before everything.
  static constexpr unsigned kStampBits = 22;
  static constexpr unsigned kThreadShift = kStampBits + 1;
  static constexpr unsigned kBlockShift = kThreadShift + 10;
  static constexpr std::uint64_t kUnknownStamp = (std::uint64_t{1} << kStampBits) - 1;
  struct Note;
  static std::uint64_t packed(const GlobalVisit& visit, Stamp stamp, bool looked);

  bool own(const Cell& cell, const Operated* operated, const GlobalVisit& visit, std::uint64_t note) const;
  void note_operation(Operated& place, const GlobalVisit& visit, std::uint64_t note) const;
  std::size_t places(std::size_t level) const { return bytes_ / kWidths[level] + 1; }

  std::size_t bytes_;
  std::array<Level, kWidths.size()> levels_;
};

inline std::uint64_t GlobalShadow::packed(const GlobalVisit& visit, Stamp stamp, bool looked) {
  const auto counted = std::min<std::uint64_t>(stamp - visit.order.begin(), kUnknownStamp);
  return std::uint64_t{visit.blocks.number()} << kBlockShift | std::uint64_t{visit.thread} << kThreadShift |
         std::uint64_t{looked} << kStampBits | counted;
}

// Whether nobody but the thread itself has touched the place in this launch.
inline bool GlobalShadow::own(const Cell& cell, const Operated* operated, const GlobalVisit& visit,
                              std::uint64_t note) const {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const std::uint64_t first = std::uint64_t{visit.first} << kBlockShift;
  const auto mine = [&](std::uint64_t before) { return before < first || (before ^ note) >> kThreadShift == 0; };
  return mine(cell.written.load(kRelaxed)) && mine(cell.read.load(kRelaxed)) &&
         (!writes(visit.kind) || mine(cell.also_read.load(kRelaxed))) &&
         (operated == nullptr || operated->last.load(kRelaxed) < first);
}

inline bool GlobalShadow::access_own(const GlobalVisit& visit, std::size_t offset, std::size_t bytes) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  Cell* const cells = levels_[0].cells.get();
  const auto used = [](const Level& level) { return level.cells.get() != nullptr || level.operated.get() != nullptr; };
  if (cells == nullptr || ((offset | bytes) & 3) != 0 || bytes == 0 || is_atomic(visit.kind) || used(levels_[1]) ||
      used(levels_[2])) {
    return false;
  }
  const Operated* const operated = levels_[0].operated.get();
  const std::uint64_t note = packed(visit, visit.order.stamp(visit.thread), false);
  const bool writing = writes(visit.kind);
  const std::size_t end = (offset + bytes) / 4;
  for (std::size_t i = offset / 4; i != end; ++i) {
    // Nobody can be ordered behind a write with this note: whoever reads or writes the place is found out, not this.
    if (cells[i].written.load(kRelaxed) != note &&
        !own(cells[i], operated == nullptr ? nullptr : operated + i, visit, note)) {
      return false;
    }
  }
  for (std::size_t i = offset / 4; i != end; ++i) {
    if (cells[i].written.load(kRelaxed) != note) {
      (writing ? cells[i].written : cells[i].read).store(note, kRelaxed);
      (writing ? cells[i].writer_code : cells[i].reader_code).store(visit.code, kRelaxed);
    }
  }
  return true;
}

}  // namespace apo::executor
