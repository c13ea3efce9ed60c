// harness/executor/global_races.cpp - packs block, thread and stamp into a word; compares accesses of any width.
#include "harness/executor/global_races.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace apo::executor {

using apo_cpu::Access;

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

struct GlobalShadow::Note {
  BlockNumber block = 0;
  unsigned thread = 0;
  bool looked = false;
  bool in_block = false;
  std::uint64_t stamp = 0;

  explicit Note(std::uint64_t word)
      : block(static_cast<BlockNumber>(word >> kBlockShift)),
        thread(static_cast<unsigned>(word >> kThreadShift & 1023)),
        looked((word >> kStampBits & 1) != 0),
        in_block((word >> (kStampBits + 1) & 1) != 0),
        stamp(word & kUnknownStamp) {}

  bool in_launch(const GlobalVisit& visit) const { return block >= visit.first; }
  // `operated`: it is an atomic or volatile write.
  bool precedes(const GlobalVisit& visit, bool operated = false) const;
  // Without a search of what other blocks released: false where only that would tell.
  bool plainly_precedes(const GlobalVisit& visit) const {
    return !in_launch(visit) || (block == visit.blocks.number() && precedes(visit));
  }
  GlobalRace race(const GlobalVisit& visit, bool other_read, std::uint32_t code) const;
};

bool GlobalShadow::Note::precedes(const GlobalVisit& visit, bool operated) const {
  if (!in_launch(visit) || stamp == kUnknownStamp) {
    return true;
  }
  const auto counted = static_cast<Stamp>(stamp);
  return block == visit.blocks.number()
             ? visit.order.before(visit.thread, thread, visit.order.begin() + counted)
             : visit.blocks.before(visit.order, visit.thread, {block, thread, counted, operated});
}

GlobalRace GlobalShadow::Note::race(const GlobalVisit& visit, bool other_read, std::uint32_t code) const {
  return {.reads = reads(visit.kind),
          .other_read = other_read,
          .other = block,
          .others_thread = thread,
          .others_code = code};
}

void GlobalShadow::unmap(void* entries, std::size_t bytes) {
  if (entries != nullptr) {
    munmap(entries, bytes);
  }
}

template <class Entry>
Entry* GlobalShadow::Places<Entry>::make(std::size_t count) {
  if (get() == nullptr) {
    const std::lock_guard lock(mutex_);
    if (get() == nullptr) {
      bytes_ = count * sizeof(Entry);
      void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) {
        throw std::bad_alloc();
      }
      madvise(memory, bytes_, MADV_HUGEPAGE);  // fails where the system has none, which costs time only
      entries_.store(static_cast<Entry*>(memory));
    }
  }
  return get();
}

GlobalShadow::GlobalShadow(std::size_t bytes) : bytes_(bytes) {}

GlobalShadow::~GlobalShadow() = default;

void GlobalShadow::note_operation(Operated& place, const GlobalVisit& visit, std::uint64_t note) const {
  const std::uint64_t last = place.last.load(kRelaxed);
  if (Note(last).block != visit.blocks.number()) {
    place.other.store(last, kRelaxed);
    place.other_code.store(place.last_code.load(kRelaxed), kRelaxed);
  }
  place.last.store(note, kRelaxed);
  place.last_code.store(visit.code, kRelaxed);
}

std::optional<GlobalRace> GlobalShadow::access(const GlobalVisit& visit, std::size_t offset, std::size_t bytes) {
  if (bytes == 0) {
    return std::nullopt;
  }
  const bool writing = writes(visit.kind);
  const bool atomic = is_atomic(visit.kind);
  const bool in_block = visit.kind == Access::block_atomic;
  const bool operation = visit.kind == Access::atomic || in_block;
  bool looked = false;
  std::optional<GlobalRace> worst;
  enum class Did : std::uint8_t { write, read, operate };
  const auto check = [&](const Note& note, Did did, const std::atomic<std::uint32_t>* code) {
    if (!note.precedes(visit, did == Did::operate) && (!worst || worst->unless_same())) {
      worst = note.race(visit, did == Did::read, code == nullptr ? 0 : code->load(kRelaxed));
    }
  };
  const auto check_written = [&](const Written& place) {
    check(Note(place.note.load(kRelaxed)), Did::write, &place.code);
  };
  const auto check_read = [&](const Read& place) {
    const Note first(place.first.load(kRelaxed));
    looked = looked || first.in_launch(visit);
    if (writing && !operation) {
      check(first, Did::read, &place.first_code);
      check(Note(place.last.load(kRelaxed)), Did::read, nullptr);
    }
  };
  const auto check_operated = [&](Operated& place) {
    const Note last(place.last.load(kRelaxed));
    const Note other(place.other.load(kRelaxed));
    const bool known = last.in_launch(visit) && last.looked;
    looked = looked || known;
    const auto of_block = [&](const Note& note) { return note.block == visit.blocks.number(); };
    if (atomic) {
      for (const auto& [note, code] : {std::pair(&last, &place.last_code), std::pair(&other, &place.other_code)}) {
        if (!of_block(*note) && (in_block || note->in_block)) {
          check(*note, Did::operate, code);
        }
      }
      if (const Note& own = of_block(other) ? other : last;
          reads(visit.kind) && of_block(own) && own.thread != visit.thread) {
        visit.order.acquire(visit.thread, own.thread, visit.order.begin() + static_cast<Stamp>(own.stamp));
      }
    } else if (writing) {
      // A block that operates on a word and then stores to it knows that it was the last one: tickets are reset so.
      const bool earlier = of_block(other);
      check(earlier ? other : last, Did::operate, earlier ? &place.other_code : &place.last_code);
      place.last.store(0, kRelaxed);
      place.other.store(0, kRelaxed);
    } else if (!known) {
      check(last, Did::operate, &place.last_code);
      check(other, Did::operate, &place.other_code);
    }
  };
  const auto for_each = [&](auto Level::*of_level, const auto& look) {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      if (auto* const all = (levels_[level].*of_level).get(); all != nullptr) {
        std::for_each(all + place(offset, level), all + place(offset + bytes - 1, level) + 1, look);
      }
    }
  };
  for_each(&Level::operated, check_operated);  // first, since it may order this thread behind others
  for_each(&Level::written, check_written);
  for_each(&Level::read, check_read);
  if (atomic && !writing) {
    return worst;  // atomic readers are not remembered: only a plain write could clash with them
  }
  const Stamp stamp = atomic ? visit.order.release(visit.thread) : visit.order.stamp(visit.thread);
  const std::uint64_t note = packed(visit, stamp, operation && looked);
  const std::size_t level = level_of(offset, bytes);
  const std::size_t begin = place(offset, level);
  const std::size_t end = place(offset + bytes, level);
  const std::size_t all = place(bytes_, level) + 1;
  if (atomic) {
    Operated* const operated = levels_[level].operated.make(all);
    std::for_each(operated + begin, operated + end, [&](Operated& place) { note_operation(place, visit, note); });
  } else if (writing) {
    Written* const written = levels_[level].written.make(all);
    std::for_each(written + begin, written + end, [&](Written& place) {
      place.note.store(note, kRelaxed);
      place.code.store(visit.code, kRelaxed);
    });
  } else {
    Read* const read = levels_[level].read.make(all);
    std::for_each(read + begin, read + end, [&](Read& place) {
      if (Note(place.first.load(kRelaxed)).plainly_precedes(visit)) {
        place.first.store(note, kRelaxed);
        place.first_code.store(visit.code, kRelaxed);
      } else {
        place.last.store(note, kRelaxed);
      }
    });
  }
  return worst;
}

}  // namespace apo::executor
