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
// one is a plain read behind atomic operations that nobody looked at the place before, or two blocks operate on the
// place and one of them by an operation that is atomic in its block alone.
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
  explicit GlobalShadow(std::size_t bytes);
  GlobalShadow(const GlobalShadow&) = delete;
  GlobalShadow& operator=(const GlobalShadow&) = delete;
  ~GlobalShadow();

  // Notes the access. Of several races the worst is returned: unless_same() ranks below the rest.
  std::optional<GlobalRace> access(const GlobalVisit& visit, std::size_t offset, std::size_t bytes);
  // What is noted of a plain access.
  static std::uint64_t note_of(const GlobalVisit& visit) {
    return packed(visit, visit.order.stamp(visit.thread), false);
  }
  // Whether these places hold this note of a write. Nobody can be ordered behind that write yet: whoever touches the
  // place is found out, so that a further plain access of the same thread needs no look.
  bool written_with(std::uint64_t note, std::size_t offset, std::size_t bytes) const;
  // The same as access() for a plain access of places that no other thread has touched in this launch, which is most of
  // them. Returns false, and notes nothing, if that cannot be told at a glance.
  bool access_own(const GlobalVisit& visit, std::size_t offset, std::size_t bytes);

 private:
  // The last plain write of a place.
  struct Written {
    std::atomic<std::uint64_t> note;
    std::atomic<std::uint32_t> code;
  };
  // Its plain reads: the first one, and the last one that differs from it. A later writer that is ordered after both of
  // them, but not after a third, goes unnoticed.
  struct Read {
    std::atomic<std::uint64_t> first, last;
    std::atomic<std::uint32_t> first_code;
  };
  // Its atomic and volatile writes: the last one, and the last one of another block than that.
  struct Operated {
    std::atomic<std::uint64_t> last, other;
    std::atomic<std::uint32_t> last_code, other_code;
  };
  static void unmap(void* entries, std::size_t bytes);
  // One of these for each place; zeros until it is noted. Memory is taken where it is touched: most outputs are only
  // written, and most memory is never operated on.
  template <class Entry>
  class Places {
   public:
    Places() = default;
    Places(const Places&) = delete;
    Places& operator=(const Places&) = delete;
    ~Places() { unmap(get(), bytes_); }
    Entry* get() const { return entries_.load(std::memory_order_acquire); }
    Entry* make(std::size_t count);

   private:
    std::atomic<Entry*> entries_{nullptr};
    std::size_t bytes_ = 0;
    std::mutex mutex_;
  };
  // Places of one width.
  struct Level {
    Places<Written> written;
    Places<Read> read;
    Places<Operated> operated;
    bool used() const { return written.get() != nullptr || read.get() != nullptr || operated.get() != nullptr; }
  };
  // The level of words, of their halves or of bytes, and the place of an offset there.
  static std::size_t level_of(std::size_t offset, std::size_t bytes) {
    return ((offset | bytes) & 3) == 0 ? 0 : ((offset | bytes) & 1) == 0 ? 1 : 2;
  }
  static std::size_t place(std::size_t offset, std::size_t level) { return offset >> (2 - level); }

  // A note of an access has from its lowest bit: the stamp, counted from the block's begin, whether somebody had looked
  // before it, whether it is atomic in its block alone, the thread and the block. A stamp that does not fit is before
  // everything.
  static constexpr unsigned kStampBits = 21;
  static constexpr unsigned kThreadShift = kStampBits + 2;
  static constexpr unsigned kBlockShift = kThreadShift + 10;
  static constexpr std::uint64_t kUnknownStamp = (std::uint64_t{1} << kStampBits) - 1;
  struct Note;
  static std::uint64_t packed(const GlobalVisit& visit, Stamp stamp, bool looked);
  void note_operation(Operated& place, const GlobalVisit& visit, std::uint64_t note) const;

  std::size_t bytes_;
  std::array<Level, 3> levels_;
};

inline std::uint64_t GlobalShadow::packed(const GlobalVisit& visit, Stamp stamp, bool looked) {
  const auto counted = std::min<std::uint64_t>(stamp - visit.order.begin(), kUnknownStamp);
  return std::uint64_t{visit.blocks.number()} << kBlockShift | std::uint64_t{visit.thread} << kThreadShift |
         std::uint64_t{visit.kind == apo_cpu::Access::block_atomic} << (kStampBits + 1) |
         std::uint64_t{looked} << kStampBits | counted;
}

inline bool GlobalShadow::written_with(std::uint64_t note, std::size_t offset, std::size_t bytes) const {
  const std::size_t level = level_of(offset, bytes);
  const Written* const written = levels_[level].written.get();
  return written != nullptr &&
         std::all_of(written + place(offset, level), written + place(offset + bytes, level),
                     [note](const Written& place) { return place.note.load(std::memory_order_relaxed) == note; });
}

inline bool GlobalShadow::access_own(const GlobalVisit& visit, std::size_t offset, std::size_t bytes) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const bool writing = writes(visit.kind);
  const std::size_t level = level_of(offset, bytes);
  Written* const written = levels_[level].written.get();
  Read* const read = levels_[level].read.get();
  const Operated* const operated = levels_[level].operated.get();
  if (is_atomic(visit.kind) || (writing ? written == nullptr : read == nullptr) || levels_[(level + 1) % 3].used() ||
      levels_[(level + 2) % 3].used()) {
    return false;
  }
  const std::uint64_t note = note_of(visit);
  const std::uint64_t first = std::uint64_t{visit.first} << kBlockShift;
  const auto own = [&](const std::atomic<std::uint64_t>& place) {
    const std::uint64_t before = place.load(kRelaxed);
    return before < first || (before ^ note) >> kThreadShift == 0;
  };
  const std::size_t begin = place(offset, level);
  const std::size_t end = place(offset + bytes, level);
  for (std::size_t i = begin; i != end; ++i) {
    if ((written != nullptr && !own(written[i].note)) || (read != nullptr && !own(read[i].first)) ||
        (read != nullptr && writing && !own(read[i].last)) ||
        (operated != nullptr && operated[i].last.load(kRelaxed) >= first)) {
      return false;
    }
  }
  for (std::size_t i = begin; i != end; ++i) {
    (writing ? written[i].note : read[i].first).store(note, kRelaxed);
    (writing ? written[i].code : read[i].first_code).store(visit.code, kRelaxed);
  }
  return true;
}

}  // namespace apo::executor
