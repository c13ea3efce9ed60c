// harness/worker/protocol/shared_tensors.cpp - lays buffers out, fills the gaps with the guard pattern, finds damage.
#include "harness/worker/protocol/shared_tensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"
#include "kernels/parallel.h"
#include "kernels/random.h"

namespace apo {

namespace {

constexpr std::byte kLeftover{0xFF};

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::byte guard_byte(std::uint64_t word, std::int64_t position) {
  return static_cast<std::byte>(word >> (8 * (position % 8)) & 0xFF);
}

// Calls visit(position, word) for the 8-byte words that cover [begin, end); stops when it returns false.
template <class Visit>
void for_each_word(std::uint64_t seed, std::int64_t begin, std::int64_t end, const Visit& visit) {
  for (std::int64_t position = begin / 8 * 8; position < end; position += 8) {
    if (!visit(position, mix64(seed + static_cast<std::uint64_t>(position)))) {
      return;
    }
  }
}

void fill_guard(std::byte* memory, std::uint64_t seed, std::int64_t begin, std::int64_t end) {
  for_each_word(seed, begin, end, [&](std::int64_t position, std::uint64_t word) {
    if (position >= begin && position + 8 <= end) {
      std::memcpy(memory + position, &word, sizeof word);
      return true;
    }
    for (std::int64_t at = std::max(position, begin); at < std::min(position + 8, end); ++at) {
      memory[at] = guard_byte(word, at);
    }
    return true;
  });
}

// Position of the first byte of [begin, end) that lost its pattern, or -1.
std::int64_t first_damage(const std::byte* memory, std::uint64_t seed, std::int64_t begin, std::int64_t end) {
  std::int64_t found = -1;
  for_each_word(seed, begin, end, [&](std::int64_t position, std::uint64_t word) {
    if (position >= begin && position + 8 <= end) {
      std::uint64_t stored = 0;
      std::memcpy(&stored, memory + position, sizeof stored);
      if (stored == word) {
        return true;
      }
    }
    for (std::int64_t at = std::max(position, begin); at < std::min(position + 8, end); ++at) {
      if (memory[at] != guard_byte(word, at)) {
        found = at;
        return false;
      }
    }
    return true;
  });
  return found;
}

// Position of the last damaged byte of [begin, end), which has one.
std::int64_t last_damage(const std::byte* memory, std::uint64_t seed, std::int64_t begin, std::int64_t end) {
  std::int64_t at = end - 1;
  while (at > begin && memory[at] == guard_byte(mix64(seed + static_cast<std::uint64_t>(at / 8 * 8)), at)) {
    --at;
  }
  return at;
}

}  // namespace

std::vector<std::size_t> SharedTensorsLayout::of_call(int slot, int set) const {
  std::vector<std::size_t> indices;
  for (const BufferRole role : {BufferRole::input, BufferRole::output, BufferRole::scratch}) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const int owner = role == BufferRole::input ? set : slot;
      const bool is_argument = role != BufferRole::input || buffers[i].in_place < 0;
      if (buffers[i].role == role && is_argument && (role == BufferRole::output || buffers[i].owner == owner)) {
        indices.push_back(i);
      }
    }
  }
  return indices;
}

std::vector<SharedTensorsLayout::Copy> SharedTensorsLayout::before_call(int set) const {
  std::vector<Copy> needed;
  for (std::size_t from = 0; from < buffers.size(); ++from) {
    for (std::size_t to = 0; to < buffers.size() && buffers[from].in_place >= 0; ++to) {
      if (buffers[from].role == BufferRole::input && buffers[from].owner == set &&
          buffers[to].role == BufferRole::output && buffers[to].in_place == buffers[from].in_place) {
        needed.push_back({.from = from, .to = to});
      }
    }
  }
  return needed;
}

std::int64_t InputView::bytes() const {
  return std::accumulate(runs.begin(), runs.end(), outer * count * block_bytes(),
                         [](std::int64_t sum, std::span<const std::byte> run) { return sum + std::ssize(run); });
}

void InputView::copy_to(std::byte* target, int threads) const {
  constexpr std::int64_t kPiece = std::int64_t{1} << 20;  // starting a thread takes as long as copying some 100 KB
  if (threads <= 1 || bytes() <= kPiece) {
    for_each_block([&](std::int64_t offset, std::span<const std::byte> block) {
      std::memcpy(target + offset, block.data(), block.size());
      return true;
    });
    return;
  }
  std::vector<std::pair<std::int64_t, std::span<const std::byte>>> pieces;
  std::vector<std::size_t> ends;  // of the pieces that a thread copies in a row: one large one, or many small ones
  std::int64_t begun = 0;
  for_each_block([&](std::int64_t offset, std::span<const std::byte> block) {
    for (std::int64_t at = 0; at < std::ssize(block); at += kPiece) {
      const std::int64_t bytes = std::min(kPiece, std::ssize(block) - at);
      pieces.emplace_back(offset + at, block.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(bytes)));
      if (offset + at + bytes - begun >= kPiece) {
        ends.push_back(pieces.size());
        begun = offset + at + bytes;
      }
    }
    return true;
  });
  ends.push_back(pieces.size());
  for_each_index(ends.size(), threads, [&](std::size_t task) {
    for (std::size_t i = task == 0 ? 0 : ends[task - 1]; i < ends[task]; ++i) {
      const auto& [offset, bytes] = pieces[i];
      std::memcpy(target + offset, bytes.data(), bytes.size());
    }
  });
}

std::string GuardDamage::sentence() const {
  return fmt::format("wrote outside its buffers: {} bytes {} of '{}'", offset,
                     after ? "past the end" : "before the start", buffer);
}

std::string InputChange::sentence() const {
  return fmt::format("changed its input '{}' at element {}", buffer, element);
}

SharedTensors::SharedTensors(const SharedTensorsSpec& spec, std::shared_ptr<MemoryFile> memory, std::int64_t offset)
    : input_sets_(spec.input_sets), threads_(spec.threads), memory_(std::move(memory)), offset_(offset) {
  APO_CHECK(spec.input_sets >= 1);
  pattern_seed_ = derive_seed(spec.layout_seed, "guard");
  layout_.words = spec.words;
  layout_.kept.resize(static_cast<std::size_t>(spec.input_sets));
  layout_.fenced = spec.fenced;
  place(spec);
  if (memory_ == nullptr) {
    return;
  }
  const bool used_before = memory_->bytes() >= offset + layout_.bytes;
  APO_CHECK(used_before || offset == 0);
  if (!used_before) {
    // As much as the largest gaps take, so that the next layout finds its memory there and mapped already.
    const std::int64_t gaps = std::ssize(layout_.buffers) * spec.pads * spec.alignment;
    memory_->reserve(layout_.bytes + gaps);
  }
  poison_outputs();
  if (used_before && spec.foreign_code) {
    clear_leftovers();
  }
  for (const Gap& gap : gaps_) {
    fill_guard(start(), pattern_seed_, gap.begin, gap.end);
  }
}

// A fresh file is zero. In one that was used before, outputs of an earlier call may lie anywhere: a candidate that
// found them would have nothing left to compute.
void SharedTensors::clear_leftovers() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (layout_.buffers[i].role == BufferRole::scratch) {
      std::ranges::fill(bytes_of(i), kLeftover);
    }
  }
  std::fill(memory_->data() + layout_.bytes, memory_->data() + memory_->bytes(), kLeftover);
}

void SharedTensors::place(const SharedTensorsSpec& spec) {
  for (const BufferSpec& buffer : spec.buffers) {
    APO_CHECK(buffer.bytes >= 0 && buffer.element_bytes >= 1);
    const int copies = buffer.role == BufferRole::input ? spec.input_sets : 1;
    for (int set = 0; set < copies; ++set) {
      const int owner = buffer.role == BufferRole::scratch ? buffer.slot : set;
      const bool elsewhere = spec.prepared_calls && buffer.role == BufferRole::input && buffer.in_place >= 0;
      layout_.buffers.push_back({.role = buffer.role,
                                 .owner = owner,
                                 .bytes = elsewhere ? 0 : buffer.bytes,
                                 .poison = buffer.poison,
                                 .in_place = buffer.in_place,
                                 .repeats = buffer.repeats});
      entries_.push_back({.name = buffer.name, .element_bytes = buffer.element_bytes});
    }
  }
  std::vector<std::size_t> order(entries_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(derive_seed(spec.layout_seed, "layout"));
  shuffle(order, random);
  std::int64_t end = 0;
  int previous = -1;
  for (const std::size_t index : order) {
    BufferPlace& place = layout_.buffers[index];
    const auto pad = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(spec.pads))) * spec.alignment;
    place.offset = round_up(end + 2 * spec.guard_bytes, spec.alignment) + pad;
    if (spec.fenced && place.role == BufferRole::input) {
      const std::int64_t page = sysconf(_SC_PAGESIZE);
      const std::int64_t behind = place.offset + place.bytes;
      place.offset += (round_up(behind, page) - behind) / spec.alignment * spec.alignment;
    }
    gaps_.push_back({.begin = end, .end = place.offset, .previous = previous, .next = static_cast<int>(index)});
    end = place.offset + place.bytes;
    previous = static_cast<int>(index);
  }
  layout_.bytes = round_up(end + 2 * spec.guard_bytes, std::min<std::int64_t>(spec.guard_bytes, sysconf(_SC_PAGESIZE)));
  gaps_.push_back({.begin = end, .end = layout_.bytes, .previous = previous});
}

std::size_t SharedTensors::find(BufferRole role, int owner, std::string_view name) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const BufferPlace& place = layout_.buffers[i];
    if (place.role == role && place.owner == owner && entries_[i].name == name) {
      return i;
    }
  }
  check_failed("the shared tensors have this buffer", __FILE__, __LINE__, std::string(name));
}

std::span<std::byte> SharedTensors::bytes_of(std::size_t index) const {
  const BufferPlace& place = layout_.buffers[index];
  return {start() + place.offset, static_cast<std::size_t>(place.bytes)};
}

std::string SharedTensors::label(std::size_t index) const {
  const BufferPlace& place = layout_.buffers[index];
  if (place.role == BufferRole::input && input_sets_ > 1) {
    return fmt::format("{} (set {})", entries_[index].name, place.owner);
  }
  return entries_[index].name;
}

void SharedTensors::share_input(int set, std::string_view name, const InputView& view, int threads) {
  const std::size_t index = find(BufferRole::input, set, name);
  const std::span<std::byte> bytes = bytes_of(index);
  APO_CHECK(view.bytes() == std::ssize(bytes) || (bytes.empty() && layout_.buffers[index].in_place >= 0));
  if (!bytes.empty()) {
    view.copy_to(bytes.data(), threads);
  }
  entries_[index].pristine = view;
  layout_.kept.at(static_cast<std::size_t>(set)) = {};
}

void SharedTensors::keep_input(int set, std::string_view name, const InputView& view, const KeptInputs& kept) {
  entries_[find(BufferRole::input, set, name)].pristine = view;
  layout_.kept.at(static_cast<std::size_t>(set)) = kept;
}

void SharedTensors::poison_outputs(int set) {
  std::vector<bool> has_contents(entries_.size());
  for (const SharedTensorsLayout::Copy& copy : layout_.before_call(set)) {
    if (const InputView& before = entries_[copy.from].pristine; !before.is_empty()) {
      before.copy_to(bytes_of(copy.to).data(), threads_);
      has_contents[copy.to] = true;
    }
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (layout_.buffers[i].role == BufferRole::output && guard_is_on(Guard::poison) && !has_contents[i]) {
      const std::span<std::byte> bytes = bytes_of(i);
      for_each_chunk(bytes.size(), threads_, [&](std::size_t begin, std::size_t end) {
        std::memset(bytes.data() + begin, layout_.buffers[i].poison, end - begin);
      });
    }
  }
}

std::span<const std::byte> SharedTensors::output(std::string_view name) const {
  return bytes_of(find(BufferRole::output, 0, name));
}

std::uint8_t SharedTensors::poison(std::string_view name) const {
  return layout_.buffers[find(BufferRole::output, 0, name)].poison;
}

std::vector<std::byte> SharedTensors::read_output(std::string_view name) const {
  const std::span<const std::byte> bytes = output(name);
  return {bytes.begin(), bytes.end()};
}

std::optional<GuardDamage> SharedTensors::check_guards() const {
  for (const Gap& gap : gaps_) {
    const std::int64_t first = first_damage(start(), pattern_seed_, gap.begin, gap.end);
    if (first < 0) {
      continue;
    }
    // Whoever is nearer is taken to have done it: behind the previous buffer, or in front of the next one.
    const std::int64_t last = last_damage(start(), pattern_seed_, gap.begin, gap.end);
    const bool after = gap.next < 0 || (gap.previous >= 0 && first - gap.begin <= gap.end - 1 - last);
    const int neighbour = after ? gap.previous : gap.next;
    return GuardDamage{.buffer = neighbour < 0 ? "" : label(static_cast<std::size_t>(neighbour)),
                       .after = after,
                       .offset = after ? first - gap.begin : gap.end - 1 - last};
  }
  return std::nullopt;
}

std::optional<InputChange> SharedTensors::check_inputs(std::optional<int> set) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const BufferPlace& place = layout_.buffers[i];
    if (place.role != BufferRole::input || (set && place.owner != *set)) {
      continue;
    }
    const std::span<const std::byte> now = bytes_of(i);
    if (now.empty()) {
      continue;
    }
    std::int64_t changed = -1;
    entries_[i].pristine.for_each_block([&](std::int64_t offset, std::span<const std::byte> then) {
      const std::byte* at = now.data() + offset;
      if (std::memcmp(at, then.data(), then.size()) != 0) {
        changed = offset + (std::mismatch(then.begin(), then.end(), at).first - then.begin());
      }
      return changed < 0;
    });
    if (changed >= 0) {
      return InputChange{.buffer = label(i), .set = place.owner, .element = changed / entries_[i].element_bytes};
    }
  }
  return std::nullopt;
}

MemoryFile::~MemoryFile() {
  release();
}

void MemoryFile::release() {
  if (memory_ != nullptr) {
    munmap(memory_, static_cast<std::size_t>(bytes_));  // cannot fail for a mapping that we made
    memory_ = nullptr;
    bytes_ = 0;
  }
}

void MemoryFile::reserve(std::int64_t bytes) {
  if (bytes <= bytes_) {
    return;
  }
  // The system would hand out more than it has, and end this process when it is touched.
  if (const std::int64_t all = physical_memory_bytes(); bytes > all) {
    throw EnvironmentError("the tensors need " + format_bytes(static_cast<double>(bytes)) +
                               " of shared memory, and this machine has " + format_bytes(static_cast<double>(all)),
                           "choose a smaller workload");
  }
  release();
  const auto fail = [&](const char* what) {
    throw EnvironmentError(fmt::format("cannot {} {} bytes of shared memory: {}", what, bytes, std::strerror(errno)));
  };
  file_ = FileDescriptor(memfd_create("apo-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file_ || ftruncate(file_.get(), bytes) != 0 ||
      fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    fail("create");
  }
  void* memory = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (memory == MAP_FAILED) {
    fail("map");
  }
  memory_ = static_cast<std::byte*>(memory);
  bytes_ = bytes;
}

}  // namespace apo
