// harness/executor/global_races.cpp - packs block, thread and stamp into a word; compares accesses of any width.
#include "harness/executor/global_races.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace apo::executor {

using apo_cpu::Access;

namespace {

// A larger stretch is not watched: its shadow is ten times as large, and whoever runs so much waits for minutes.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

}  // namespace

struct GlobalShadow::Note {
  BlockNumber block = 0;
  unsigned thread = 0;
  bool looked = false;
  bool atomic = false;
  std::uint64_t stamp = 0;

  explicit Note(std::uint64_t word)
      : block(static_cast<BlockNumber>(word >> kBlockShift)),
        thread(static_cast<unsigned>(word >> kThreadShift & 1023)),
        looked((word >> (kStampBits + 1) & 1) != 0),
        atomic((word >> kStampBits & 1) != 0),
        stamp(word & kUnknownStamp) {}

  bool in_launch(const GlobalVisit& visit) const { return block >= visit.first; }
  bool precedes(const GlobalVisit& visit) const;
  // Without a search of what other blocks released: false where only that would tell.
  bool plainly_precedes(const GlobalVisit& visit) const {
    return !in_launch(visit) || (block == visit.blocks.number() && precedes(visit));
  }
  GlobalRace race(const GlobalVisit& visit, bool other_read, std::uint32_t code) const;
};

bool GlobalShadow::Note::precedes(const GlobalVisit& visit) const {
  if (!in_launch(visit) || stamp == kUnknownStamp) {
    return true;
  }
  const auto counted = static_cast<Stamp>(stamp);
  return block == visit.blocks.number() ? visit.order.before(visit.thread, thread, visit.order.begin() + counted)
                                        : visit.blocks.before(visit.order, visit.thread, block, thread, counted);
}

GlobalRace GlobalShadow::Note::race(const GlobalVisit& visit, bool other_read, std::uint32_t code) const {
  return {.reads = reads(visit.kind),
          .other_read = other_read,
          .other = block,
          .others_thread = thread,
          .others_code = code};
}

GlobalShadow::~GlobalShadow() {
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    if (Cell* cells = levels_[level].cells.load(); cells != nullptr) {
      munmap(cells, cells_bytes(level));
    }
  }
}

GlobalShadow::Cell* GlobalShadow::cells_of(std::size_t level) {
  std::atomic<Cell*>& cells = levels_[level].cells;
  if (cells.load() == nullptr) {
    const std::lock_guard lock(mutex_);
    if (cells.load() == nullptr) {
      void* memory =
          mmap(nullptr, cells_bytes(level), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) {
        throw std::bad_alloc();
      }
      cells.store(static_cast<Cell*>(memory));
    }
  }
  return cells.load();
}

std::optional<GlobalRace> GlobalShadow::access(const GlobalVisit& visit, std::size_t offset, std::size_t bytes) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  if (bytes_ > kMostBytes || bytes == 0) {
    return std::nullopt;
  }
  const bool writing = writes(visit.kind);
  const bool atomic = is_atomic(visit.kind);
  const bool operation = visit.kind == Access::atomic;
  bool looked = false;
  std::optional<GlobalRace> worst;
  const auto report = [&](const GlobalRace& found) {
    if (!worst || worst->unless_same()) {
      worst = found;
    }
  };
  const std::size_t own = ((offset | bytes) & 3) == 0 ? 0 : ((offset | bytes) & 1) == 0 ? 1 : 2;
  cells_of(own);
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    Cell* const cells = levels_[level].cells.load(std::memory_order_acquire);
    for (std::size_t i = offset / kWidths[level]; cells != nullptr && i <= (offset + bytes - 1) / kWidths[level]; ++i) {
      const Cell& cell = cells[i];
      const Note written(cell.written.load(kRelaxed));
      const Note read(cell.read.load(kRelaxed));
      if (written.atomic && atomic) {
        if (reads(visit.kind) && written.block == visit.blocks.number() && written.thread != visit.thread) {
          visit.order.acquire(visit.thread, written.thread, visit.order.begin() + static_cast<Stamp>(written.stamp));
        }
      } else if (!(written.looked && !writing) && !written.precedes(visit)) {
        report(written.race(visit, false, cell.writer_code.load(kRelaxed)));
      }
      if (operation) {
        looked = looked || read.in_launch(visit) || (written.looked && written.in_launch(visit));
      } else if (writing) {
        if (!read.precedes(visit)) {
          report(read.race(visit, true, cell.reader_code.load(kRelaxed)));
        } else if (const Note also(cell.also_read.load(kRelaxed)); !also.precedes(visit)) {
          report(also.race(visit, true, 0));
        }
      }
    }
  }
  if (atomic && !writing) {
    return worst;  // atomic readers are not remembered: only a plain write could clash with them
  }
  const Stamp stamp = atomic ? visit.order.release(visit.thread) : visit.order.stamp(visit.thread);
  const std::uint64_t note = packed(visit, stamp, looked);
  Cell* const cells = levels_[own].cells.load(kRelaxed);
  for (std::size_t i = offset / kWidths[own]; i <= (offset + bytes - 1) / kWidths[own]; ++i) {
    Cell& cell = cells[i];
    if (writing) {
      cell.written.store(note, kRelaxed);
      cell.writer_code.store(visit.code, kRelaxed);
    } else if (Note(cell.read.load(kRelaxed)).plainly_precedes(visit)) {
      cell.read.store(note, kRelaxed);
      cell.reader_code.store(visit.code, kRelaxed);
    } else {
      cell.also_read.store(note, kRelaxed);
    }
  }
  return worst;
}

}  // namespace apo::executor
