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
  GlobalShadow(const GlobalShadow&) = delete;
  GlobalShadow& operator=(const GlobalShadow&) = delete;
  ~GlobalShadow();

  // Notes the access. Of several races the worst is returned: unless_same() ranks below the rest.
  std::optional<GlobalRace> access(const GlobalVisit& visit, std::size_t offset, std::size_t bytes);
  // The same for a plain access of words that no other thread has touched in this launch, which is most of them.
  // Returns false, and notes nothing, if that cannot be told at a glance.
  bool access_own(const GlobalVisit& visit, std::size_t offset, std::size_t bytes);

 private:
  // 16 bytes for the last write and 16 for readers: the first one, and the last one that differs from it. A later
  // writer that is ordered after both of them, but not after a third, goes unnoticed.
  struct Cell {
    std::atomic<std::uint64_t> written, read, also_read;
    std::atomic<std::uint32_t> writer_code, reader_code;
  };
  // Cells of one width. Memory is taken where it is touched.
  struct Level {
    std::atomic<Cell*> cells{nullptr};
  };
  static constexpr std::array<std::size_t, 3> kWidths = {4, 2, 1};

  // A note of an access has from its lowest bit: the stamp, counted from the block's begin, whether it is atomic,
  // whether somebody had looked before it, the thread and the block. A stamp that does not fit is before everything.
  static constexpr unsigned kStampBits = 21;
  static constexpr unsigned kThreadShift = kStampBits + 2;
  static constexpr unsigned kBlockShift = kThreadShift + 10;
  static constexpr std::uint64_t kUnknownStamp = (std::uint64_t{1} << kStampBits) - 1;
  struct Note;
  static std::uint64_t packed(const GlobalVisit& visit, Stamp stamp, bool looked);

  Cell* cells_of(std::size_t level);
  std::size_t cells_bytes(std::size_t level) const { return (bytes_ / kWidths[level] + 1) * sizeof(Cell); }

  std::size_t bytes_;
  std::array<Level, kWidths.size()> levels_;
  std::mutex mutex_;
};

inline std::uint64_t GlobalShadow::packed(const GlobalVisit& visit, Stamp stamp, bool looked) {
  const auto counted = std::min<std::uint64_t>(stamp - visit.order.begin(), kUnknownStamp);
  return std::uint64_t{visit.blocks.number()} << kBlockShift | std::uint64_t{visit.thread} << kThreadShift |
         std::uint64_t{looked} << (kStampBits + 1) | std::uint64_t{is_atomic(visit.kind)} << kStampBits | counted;
}

inline bool GlobalShadow::access_own(const GlobalVisit& visit, std::size_t offset, std::size_t bytes) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  Cell* const cells = levels_[0].cells.load(std::memory_order_acquire);
  const bool only_words = levels_[1].cells.load(kRelaxed) == nullptr && levels_[2].cells.load(kRelaxed) == nullptr;
  if (cells == nullptr || !only_words || ((offset | bytes) & 3) != 0 || bytes == 0 || is_atomic(visit.kind)) {
    return false;
  }
  const std::uint64_t note = packed(visit, visit.order.stamp(visit.thread), false);
  const std::uint64_t first = std::uint64_t{visit.first} << kBlockShift;
  const auto own = [&](const std::atomic<std::uint64_t>& place) {
    const std::uint64_t before = place.load(kRelaxed);
    return before < first || (before ^ note) >> kThreadShift == 0;
  };
  const bool writing = writes(visit.kind);
  Cell* const end = cells + (offset + bytes) / 4;
  for (Cell* cell = cells + offset / 4; cell != end; ++cell) {
    if (!own(cell->written) || !own(cell->read) || (writing && !own(cell->also_read))) {
      return false;
    }
  }
  for (Cell* cell = cells + offset / 4; cell != end; ++cell) {
    (writing ? cell->written : cell->read).store(note, kRelaxed);
    (writing ? cell->writer_code : cell->reader_code).store(visit.code, kRelaxed);
  }
  return true;
}

}  // namespace apo::executor
