// harness/executor/memory.cpp - finds the nearest buffer; checks bounds, rights, initialisation, races and pending
// copies.
#include "harness/executor/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "harness/executor/finding.h"

namespace apo::executor {

using apo_cpu::Access;

namespace {

constexpr std::uintptr_t kWord = 4;

// Races in a larger buffer are not watched: its shadow is nine times as large, and whoever runs so much waits for
// minutes.
constexpr std::size_t kMostWatched = std::size_t{256} << 20;

constexpr std::size_t kHeap = std::size_t{8} << 20;       // cudaLimitMallocHeapSize, where nobody sets it
constexpr std::size_t kReserved = std::size_t{64} << 30;  // of addresses
constexpr std::uintptr_t kPage = 4096;                    // lies between allocations too

// Notes of bytes, 1 for each that was written. Most accesses are of a word, for which a call would take longer.
constexpr std::uint32_t kWordWritten = 0x01010101;

bool all_written(const unsigned char* notes, std::size_t bytes) {
  std::uint32_t word = 0;
  if (bytes != sizeof(word)) {
    return std::memchr(notes, 0, bytes) == nullptr;
  }
  std::memcpy(&word, notes, sizeof(word));
  return word == kWordWritten;
}

void note_written(unsigned char* notes, std::size_t bytes) {
  if (bytes == sizeof(kWordWritten)) {
    std::memcpy(notes, &kWordWritten, sizeof(kWordWritten));
  } else {
    std::memset(notes, 1, bytes);
  }
}

}  // namespace

GlobalMemory::GlobalMemory(std::vector<Buffer> buffers, std::uintptr_t tensors_begin, std::uintptr_t tensors_end)
    : begin_(tensors_begin), end_(tensors_end) {
  for (Buffer& buffer : buffers) {
    add(std::move(buffer));
  }
}

GlobalMemory::~GlobalMemory() {
  if (more_.begin != 0) {
    munmap(reinterpret_cast<void*>(more_.begin), more_.end - more_.begin);
  }
}

void GlobalMemory::add(Buffer buffer) {
  const auto place = std::ranges::upper_bound(buffers_, buffer.begin, {}, &Buffer::begin) - buffers_.begin();
  written_.insert(written_.begin() + place, buffer.written ? nullptr : std::make_unique<unsigned char[]>(buffer.bytes));
  const bool watched = buffer.writable && buffer.bytes <= kMostWatched;
  shadows_.insert(shadows_.begin() + place, watched ? std::make_unique<GlobalShadow>(buffer.bytes) : nullptr);
  buffers_.insert(buffers_.begin() + place, std::move(buffer));
}

// Addresses are reserved, and memory is made accessible where it is asked for: what can be written counts for the limit
// of the process.
std::uintptr_t GlobalMemory::allocate(const std::string& name, std::size_t bytes) {
  if (more_.begin == 0) {
    void* const memory = mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      return 0;
    }
    more_.begin = next_ = reinterpret_cast<std::uintptr_t>(memory);
    more_.end = more_.begin + kReserved;
  }
  const std::uintptr_t begin = next_ + kPage;
  const std::size_t whole = bytes < kReserved ? (bytes + kPage - 1) / kPage * kPage : kReserved;
  if (more_.end - next_ < kPage + whole ||
      mprotect(reinterpret_cast<void*>(begin), whole, PROT_READ | PROT_WRITE) != 0) {
    return 0;
  }
  next_ = begin + whole;
  add({.name = name, .begin = begin, .bytes = bytes, .written = false});
  return begin;
}

bool GlobalMemory::release(std::uintptr_t address) {
  const auto found = std::ranges::find(buffers_, address, &Buffer::begin);
  if (!more_.holds(address) || found == buffers_.end()) {
    return false;
  }
  const auto place = found - buffers_.begin();
  written_.erase(written_.begin() + place);
  shadows_.erase(shadows_.begin() + place);
  buffers_.erase(found);
  return true;
}

std::optional<GlobalMistake> GlobalMemory::touch(std::uintptr_t address, std::size_t bytes, bool writes) {
  std::size_t at = find(address);
  if (writes) {
    return access(address, bytes, Access::write, at);
  }
  const Buffer& buffer = buffers_[at];
  const std::uintptr_t offset = address - buffer.begin;
  const bool inside = offset < buffer.bytes && bytes <= buffer.bytes - offset;
  return inside ? std::nullopt : outside(buffer, address, bytes);
}

void* GlobalMemory::take_from_heap(std::size_t bytes) {
  constexpr std::size_t kAligned = 16;
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + kAligned - 1) / kAligned * kAligned;
  const std::size_t at = heap_used_.fetch_add(rounded);
  return heap_ != 0 && at < kHeap && rounded <= kHeap - at ? reinterpret_cast<void*>(heap_ + at) : nullptr;
}

void GlobalMemory::begin_launch(std::uint64_t blocks, const Stretch& variables, bool with_heap) {
  if (with_heap && heap_ == 0) {
    heap_ = allocate("the heap", kHeap);
  }
  constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 31;  // that a GlobalShadow can tell apart
  if (shadow_of_variables_ == nullptr) {
    variables_ = variables;
    shadow_of_variables_ = std::make_unique<GlobalShadow>(variables.end - variables.begin);
  }
  launch_order_.begin_launch();
  first_block_ = next_block_ + blocks < kMostBlocks ? static_cast<BlockNumber>(next_block_) : 0;
  next_block_ = std::min(next_block_ + blocks, kMostBlocks);
}

// The buffer that holds the address, else the last one before it, else the first.
std::size_t GlobalMemory::find(std::uintptr_t address) const {
  const auto after = std::ranges::upper_bound(buffers_, address, {}, &Buffer::begin);
  return after == buffers_.begin() ? 0 : static_cast<std::size_t>(after - buffers_.begin()) - 1;
}

std::optional<GlobalMistake> GlobalMemory::outside(const Buffer& buffer, std::uintptr_t address,
                                                   std::size_t bytes) const {
  const std::uintptr_t end = buffer.begin + buffer.bytes;
  const auto next = std::ranges::upper_bound(buffers_, address, {}, &Buffer::begin);
  const auto is_nearer = [&] { return address >= end && next->begin - address < address - end; };
  if (next != buffers_.end() && (address < buffer.begin || is_nearer())) {
    return GlobalMistake{"out-of-bounds access", fmt::format("it touches {} bytes that begin {} bytes before {}", bytes,
                                                             next->begin - address, next->name)};
  }
  return GlobalMistake{"out-of-bounds access", fmt::format("it touches {} bytes at byte {} of {}, which has {}", bytes,
                                                           address - buffer.begin, buffer.name, buffer.bytes)};
}

std::optional<GlobalMistake> GlobalMemory::access(std::uintptr_t address, std::size_t bytes, Access kind,
                                                  std::size_t& hint) {
  if (address - buffers_[hint].begin >= buffers_[hint].bytes) {
    hint = find(address);
  }
  const Buffer& buffer = buffers_[hint];
  const std::uintptr_t offset = address - buffer.begin;
  if (offset >= buffer.bytes || buffer.bytes - offset < bytes) {
    return outside(buffer, address, bytes);
  }
  if (writes(kind) && !buffer.writable) {
    return GlobalMistake{"write to an input", fmt::format("it writes byte {} of {}, an input", offset, buffer.name)};
  }
  unsigned char* written = written_[hint].get();
  if (written == nullptr) {
    return std::nullopt;
  }
  if (reads(kind) && !all_written(written + offset, bytes)) {
    return GlobalMistake{"uninitialised read",
                         fmt::format("it reads {} bytes at byte {} of {}, which nobody has written in this call", bytes,
                                     offset, buffer.name)};
  }
  if (writes(kind)) {
    note_written(written + offset, bytes);
  }
  return std::nullopt;
}

SharedMemory::SharedMemory(const SharedPlace& place, std::uintptr_t code_base) : place_(place), code_base_(code_base) {
  const std::size_t words = (place.end - place.begin + kWord - 1) / kWord;
  cells_.resize(words);
  split_of_.resize(words);
  copy_of_.resize(words);
}

void SharedMemory::begin_block(bool clear) {
  splits_.clear();
  copies_.clear();
  if (clear) {
    std::ranges::fill(cells_, Cell{});
  }
}

std::string SharedMemory::name(std::uintptr_t offset) const {
  const std::uintptr_t dynamic = place_.dynamic - place_.begin;
  return offset >= dynamic ? fmt::format("byte {} of dynamic shared memory", offset - dynamic)
                           : fmt::format("byte {} of static shared memory", offset);
}

const char* SharedMistake::name() const {
  switch (kind) {
    case Kind::race:
      return "shared-memory race";
    case Kind::uninitialised:
      return "uninitialised read";
    case Kind::out_of_bounds:
      return "out-of-bounds access";
    case Kind::copy_under_way:
      return "asynchronous copy not waited for";
  }
  return "";
}

std::string SharedMemory::sentence(const SharedMistake& mistake) const {
  const std::string touches = fmt::format("it {} {}", mistake.reads ? "reads" : "writes", name(mistake.offset));
  const bool dynamic = mistake.offset >= place_.dynamic - place_.begin || place_.static_bytes == 0;
  switch (mistake.kind) {
    case SharedMistake::Kind::race:
      return fmt::format("{}, which thread {} {} at {} with no barrier between", touches, mistake.other,
                         mistake.other_read ? "read" : "wrote", source_line(mistake.code));
    case SharedMistake::Kind::uninitialised:
      return touches + ", which nobody has written in this block so far: a barrier may be missing before it";
    case SharedMistake::Kind::out_of_bounds:
      return touches + (dynamic ? fmt::format(", and the launch declares {}", place_.dynamic_bytes)
                                : fmt::format(", which has {}", place_.static_bytes));
    case SharedMistake::Kind::copy_under_way:
      return fmt::format("{}, to which thread {} started an asynchronous copy at {}", touches, mistake.other,
                         source_line(mistake.code));
  }
  return touches;
}

bool SharedMemory::inside(std::uintptr_t address, std::size_t bytes) const {
  return address - place_.begin + bytes <= place_.static_bytes ||
         (address >= place_.dynamic && address - place_.dynamic + bytes <= place_.dynamic_bytes);
}

SharedMistake SharedMemory::race(const Visit& visit, std::uintptr_t offset, unsigned other, bool other_read,
                                 std::uint32_t code) const {
  return {.kind = SharedMistake::Kind::race,
          .reads = !writes(visit.kind),
          .offset = offset,
          .other = other,
          .other_read = other_read,
          .code = reinterpret_cast<const void*>(code_base_ + code)};
}

void SharedMemory::note_read(Cell& cell, const Visit& visit) const {
  std::size_t at = 0;
  const auto free = [&](std::size_t i) {
    return cell.read[i] < visit.begin || cell.reader[i] == visit.thread ||
           visit.order.before(visit.thread, cell.reader[i], cell.read[i]);
  };
  if (!free(0)) {
    if (!free(1) && cell.reader[0] / kWarp != cell.reader[1] / kWarp) {
      return;
    }
    at = 1;
  }
  cell.read[at] = visit.stamp;
  cell.reader[at] = static_cast<std::uint16_t>(visit.thread);
  cell.reader_code[at] = visit.code;
}

// Keeps the mistake and returns whether to stop; a write that may turn out to be of the same value does not stop.
bool SharedMemory::report(const SharedMistake& mistake) {
  mistake_ = mistake;
  wrong_ = true;
  return !mistake.unless_same();
}

// Returns whether the access is wrong in any case.
bool SharedMemory::touch(Cell& cell, const Visit& visit, std::uintptr_t offset) {
  const bool written = cell.written >= visit.begin;
  if (!written && reads(visit.kind)) {
    return report({.kind = SharedMistake::Kind::uninitialised, .reads = true, .offset = offset});
  }
  const bool both_atomic = cell.atomic && is_atomic(visit.kind);
  if (written && !both_atomic && !visit.order.before(visit.thread, cell.writer, cell.written) &&
      report(race(visit, offset, cell.writer, false, cell.writer_code))) {
    return true;
  }
  if (written && both_atomic && reads(visit.kind)) {
    visit.order.acquire(visit.thread, cell.writer, cell.written);
  }
  if (!writes(visit.kind)) {
    // Atomic readers are not remembered: only a plain write could clash with them.
    if (visit.kind == Access::read) {
      note_read(cell, visit);
    }
    return false;
  }
  for (std::size_t i = 0; i < cell.read.size(); ++i) {
    if (cell.read[i] >= visit.begin && !visit.order.before(visit.thread, cell.reader[i], cell.read[i])) {
      return report(race(visit, offset, cell.reader[i], true, cell.reader_code[i]));
    }
  }
  cell.written = is_atomic(visit.kind) ? visit.order.release(visit.thread) : visit.stamp;
  cell.writer = static_cast<std::uint16_t>(visit.thread);
  cell.writer_code = visit.code;
  cell.atomic = is_atomic(visit.kind);
  return false;
}

SharedMemory::Split* SharedMemory::split_of(std::size_t word) {
  const std::size_t index = split_of_[word];
  return index < splits_.size() && splits_[index].word == word ? &splits_[index] : nullptr;
}

// A word of which only a part is accessed, now or before in this block.
bool SharedMemory::touch_slow(std::size_t word, const Visit& visit, std::uintptr_t begin, std::uintptr_t end) {
  Split* split = split_of(word);
  if (split == nullptr) {
    split_of_[word] = static_cast<std::uint32_t>(splits_.size());
    const Cell& whole = cells_[word];
    split = &splits_.emplace_back(Split{.word = word, .bytes = {whole, whole, whole, whole}});
  }
  for (std::uintptr_t offset = begin; offset < end; ++offset) {
    if (touch(split->bytes[offset % kWord], visit, offset)) {
      return true;
    }
  }
  return false;
}

bool SharedMemory::touch_word(std::size_t word, const Visit& visit, std::uintptr_t begin, std::uintptr_t end) {
  if (!copies_.empty() && copy_of_[word] < copies_.size() && copies_[copy_of_[word]].word == word) {
    const Copy& copy = copies_[copy_of_[word]];
    return report({.kind = SharedMistake::Kind::copy_under_way,
                   .reads = !writes(visit.kind),
                   .offset = begin,
                   .other = copy.thread,
                   .code = copy.code});
  }
  const bool whole = end - begin == kWord && (splits_.empty() || split_of(word) == nullptr);
  return whole ? touch(cells_[word], visit, begin) : touch_slow(word, visit, begin, end);
}

const SharedMistake* SharedMemory::access(Order& order, unsigned thread, std::uintptr_t address, std::size_t bytes,
                                          Access kind, const void* code) {
  const std::uintptr_t begin = address - place_.begin;
  const std::uintptr_t end = begin + bytes;
  wrong_ = false;
  if (!inside(address, bytes)) {
    report({.kind = SharedMistake::Kind::out_of_bounds, .reads = !writes(kind), .offset = begin});
    return &mistake_;
  }
  const Visit visit{.order = order,
                    .thread = thread,
                    .kind = kind,
                    .code = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code) - code_base_),
                    .begin = order.begin(),
                    .stamp = order.stamp(thread)};
  for (std::uintptr_t at = begin; at < end;) {
    const std::size_t word = at / kWord;
    const std::uintptr_t next = std::min(end, (word + 1) * kWord);
    if (touch_word(word, visit, at, next)) {
      break;
    }
    at = next;
  }
  return wrong_ ? &mistake_ : nullptr;
}

void SharedMemory::start_copy(unsigned thread, std::uintptr_t address, std::size_t bytes, const void* code) {
  for (std::uintptr_t at = address - place_.begin; at < address - place_.begin + bytes; at += kWord) {
    copy_of_[at / kWord] = static_cast<std::uint32_t>(copies_.size());
    copies_.push_back({.word = at / kWord, .thread = static_cast<std::uint16_t>(thread), .code = code});
  }
}

void SharedMemory::end_copy(std::uintptr_t address, std::size_t bytes) {
  constexpr std::size_t kNoWord = ~std::size_t{0};
  for (std::uintptr_t at = address - place_.begin; at < address - place_.begin + bytes; at += kWord) {
    copies_[copy_of_[at / kWord]].word = kNoWord;
  }
  while (!copies_.empty() && copies_.back().word == kNoWord) {
    copies_.pop_back();
  }
}

}  // namespace apo::executor
