// harness/executor/global_races.h - the shadow of a stretch of global memory: who touched each place last in this
// launch, and whether the next access is ordered behind it.
#pragma once

#include <array>
#include <atomic>
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

// Two accesses that nothing orders, of which one is a plain write or both a plain one and an atomic write.
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

  Cell* cells_of(std::size_t level);
  std::size_t cells_bytes(std::size_t level) const { return (bytes_ / kWidths[level] + 1) * sizeof(Cell); }

  std::size_t bytes_;
  std::array<Level, kWidths.size()> levels_;
  std::mutex mutex_;
};

}  // namespace apo::executor
