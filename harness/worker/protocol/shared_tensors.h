// harness/worker/protocol/shared_tensors.h - the tensors of a call: one shared memory file with guarded buffers.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/json/fields.h"
#include "harness/core/system/files.h"
#include "kernels/parallel.h"

namespace apo {

// A sealed file mapped in this process. Without the seal, a worker that shrank the file would make the parent's next
// access a SIGBUS.
class MemoryFile {
 public:
  MemoryFile() = default;
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Makes it hold at least `bytes`; a larger file replaces the old one. Throws EnvironmentError.
  void reserve(std::int64_t bytes);
  // Has all pages at hand: at once where the system can do that, which takes half as long as one by one.
  void populate(std::int64_t bytes) const { have_pages(memory_, bytes); }  // the first ones
  std::byte* data() const { return memory_; }
  std::int64_t bytes() const { return bytes_; }
  int fd() const { return file_.get(); }

 private:
  void release();

  FileDescriptor file_;
  std::byte* memory_ = nullptr;
  std::int64_t bytes_ = 0;
};

class Mapping {
 public:
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { reset(); }
  // Replaces the earlier mapping. On failure it returns false with errno set, and nothing is mapped.
  bool map(int fd, std::int64_t bytes) {
    reset();
    size_ = static_cast<std::size_t>(bytes);
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return memory_ != MAP_FAILED;
  }
  // Has the pages of these bytes at hand; they are what they were.
  void touch(std::int64_t offset, std::int64_t bytes) const {
    const std::int64_t page = sysconf(_SC_PAGESIZE);
    const std::int64_t begin = offset / page * page;
    have_pages(static_cast<std::byte*>(memory_) + begin, offset + bytes - begin);
  }
  bool mapped() const { return memory_ != MAP_FAILED; }
  void* memory() const { return memory_; }
  std::size_t size() const { return size_; }

 private:
  void reset() {
    if (memory_ != MAP_FAILED) {
      munmap(memory_, size_);
      memory_ = MAP_FAILED;
    }
  }
  void* memory_ = MAP_FAILED;
  std::size_t size_ = 0;
};

enum class BufferRole : std::uint8_t { input, output, scratch };
inline std::string_view to_string(BufferRole role) {
  return role == BufferRole::input ? "input" : role == BufferRole::output ? "output" : "scratch";
}

// For each of `outer` indices, `period` blocks in turn until there are `count`.
struct Repeats {
  std::int64_t outer = 1;
  std::int64_t period = 1;
  std::int64_t count = 1;
  bool any() const { return count != period; }
  std::int64_t whole(std::int64_t bytes) const { return bytes / period * count; }
  bool operator==(const Repeats&) const = default;
};
APO_FIELDS(Repeats, outer, period, count)
template <>
inline constexpr bool kIsRow<Repeats> = true;

struct BufferSpec {
  std::string name;
  std::int64_t bytes = 0;
  BufferRole role = BufferRole::input;
  int element_bytes = 1;       // only to name the element that changed
  int slot = 0;                // scratch: whose it is
  std::uint8_t poison = 0xFF;  // the byte that fills an output before a call
  int in_place = -1;           // see BufferPlace
  Repeats repeats = {};        // likewise
};

struct SharedTensorsSpec {
  std::vector<BufferSpec> buffers;  // each role in the order of the contract
  std::vector<std::int64_t> words;  // what follows the pointers in a call: scalars, then axes
  int input_sets = 1;               // copies of every input, so that calls can rotate over them
  std::uint64_t layout_seed = 0;    // order, gaps and guard pattern
  std::int64_t alignment = 64;      // of every buffer; a multiple of 64
  std::int64_t guard_bytes = 4096;  // round every buffer; a multiple of 64
  int pads = 4096;                  // the gap before a buffer is drawn: fewer than so many units of the alignment
  // True when foreign code may read the file: no data of earlier shared tensors may be left in it.
  bool foreign_code = true;
  // Ends inputs at page ends, as far as the alignment allows; a worker with host code then makes the next page
  // inaccessible to itself. A read past the end thus ends the process, even where nothing instruments the code.
  bool fenced = false;
  // poison_outputs() comes before every call: it gives what a call updates its contents, of which the file has no copy.
  bool prepared_calls = false;
  int threads = 1;  // that fill large outputs
};

// The place of a buffer: all that a worker learns about a tensor.
struct BufferPlace {
  BufferRole role = BufferRole::input;
  int owner = 0;  // input: its set; scratch: its slot
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::uint8_t poison = 0xFF;
  // The number of a tensor that a call reads and writes: an output, which holds before each call what the input of that
  // number holds. That input is no argument of a call. -1: none.
  int in_place = -1;
  // Target cuda: the tensor of a call repeats the bytes that are shared. Calls have to repeat them in its outputs.
  Repeats repeats = {};
  std::int64_t call_bytes() const { return repeats.whole(bytes); }
  bool operator==(const BufferPlace&) const = default;
};
APO_FIELDS(BufferPlace, role, owner, offset, bytes, poison, in_place, repeats)
template <>
inline constexpr bool kIsRow<BufferPlace> = true;

// One set of inputs in the memory of a GPU, where another process keeps them.
struct KeptInputs {
  std::string handle;                 // of its memory, for other processes; empty: nobody keeps them
  std::vector<std::int64_t> offsets;  // of each input in that memory, in the order of the contract; multiples of 16
  bool operator==(const KeptInputs&) const = default;
};
APO_FIELDS(KeptInputs, handle, offsets)

struct SharedTensorsLayout {
  std::int64_t bytes = 0;            // of the whole file, a multiple of the page size
  std::vector<BufferPlace> buffers;  // each (role, owner) in the order of the contract
  std::vector<std::int64_t> words;
  std::vector<KeptInputs> kept;  // of each set: where its inputs are if the file does not have them
  bool fenced = false;
  // A window has several copies of the whole layout, `stride` bytes apart.
  int copies = 1;
  std::int64_t stride = 0;
  bool is_kept(int set) const { return set < std::ssize(kept) && !kept[static_cast<std::size_t>(set)].handle.empty(); }
  // Indices of the buffers of a call in the order of the argument struct of kernels/abi.h: the inputs of the set, the
  // outputs, the scratch of the slot. `words` follow.
  std::vector<std::size_t> of_call(int slot, int set) const;
  struct Copy {
    std::size_t from = 0;  // indices of buffers of the same size
    std::size_t to = 0;
  };
  // The copies that a call on the set needs before it: of every tensor that it reads and writes, input to output.
  std::vector<Copy> before_call(int set) const;
  // Returns the size of the file with all copies.
  std::int64_t file_bytes() const { return bytes + (copies > 1 ? copies - 1 : 0) * stride; }
  bool operator==(const SharedTensorsLayout&) const = default;
};
APO_FIELDS(SharedTensorsLayout, bytes, buffers, words, kept, fenced, copies, stride)

using ByteRuns = std::vector<std::span<const std::byte>>;

// The bytes of a repeating input: for each of `outer` indices, the `period` blocks of the tile in turn until there are
// `count`. A tile that is the whole tensor has one block. An input that is put together has runs in place of the tile,
// in their order.
struct InputView {
  std::span<const std::byte> tile;  // outer * period blocks
  std::int64_t outer = 1;
  std::int64_t period = 1;
  std::int64_t count = 1;
  std::span<const std::span<const std::byte>> runs = {};

  bool is_empty() const { return tile.empty() && runs.empty(); }
  std::int64_t block_bytes() const { return std::ssize(tile) / (outer * period); }
  std::int64_t bytes() const;
  void copy_to(std::byte* target, int threads) const;
  // Calls work(offset in the tensor, bytes) for every block in order, until one call returns false.
  template <class Work>
  void for_each_block(Work work) const;
};

// A byte outside every buffer that has lost its guard pattern.
struct GuardDamage {
  std::string buffer;       // the nearest one
  bool after = true;        // behind its end, or before its start
  std::int64_t offset = 0;  // bytes between that edge and the damage; 0 is the byte next to the buffer
  std::string sentence() const;
};

struct InputChange {
  std::string buffer;
  int set = 0;
  std::int64_t element = 0;  // the first one that differs
  std::string sentence() const;
};

// One memory file that a worker maps too. Buffers are aligned as the spec says; their order and the gaps between them
// come from the seed. Each has at least the guard bytes of the spec on both sides.
class SharedTensors {
 public:
  explicit SharedTensors(const SharedTensorsSpec& spec) : SharedTensors(spec, std::make_shared<MemoryFile>()) {}
  // Uses memory that earlier shared tensors, which are gone, may have used, from `offset` on. With an offset, or with
  // others behind it, the memory has to be there and free of foreign data. Without memory it has a layout alone.
  SharedTensors(const SharedTensorsSpec& spec, std::shared_ptr<MemoryFile> memory, std::int64_t offset = 0);
  SharedTensors(const SharedTensors&) = delete;
  SharedTensors& operator=(const SharedTensors&) = delete;

  // The view has the buffer's size. Its tile or runs have to outlive the shared tensors, unchanged.
  void share_input(int set, std::string_view name, const InputView& view, int threads = 1);
  // The same without the bytes: a GPU gets them from where they are kept. The set's other inputs are kept there too.
  void keep_input(int set, std::string_view name, const InputView& view, const KeptInputs& kept);
  // Prepares a call on the set: fills each output with its poison, or with what it holds before a call.
  void poison_outputs(int set = 0);
  // Returns a copy, so that nothing can change it while it is compared.
  std::vector<std::byte> read_output(std::string_view name) const;
  // Returns the output itself, in memory that the worker writes to.
  std::span<const std::byte> output(std::string_view name) const;
  // Returns the byte that poison_outputs() fills the output with.
  std::uint8_t poison(std::string_view name) const;

  std::optional<GuardDamage> check_guards() const;
  // Checks the inputs of one set, or of all sets. Those that are kept elsewhere are compared there first: Worker.
  std::optional<InputChange> check_inputs(std::optional<int> set = {}) const;

  const SharedTensorsLayout& layout() const { return layout_; }
  int fd() const { return memory_->fd(); }

 private:
  struct Entry {
    std::string name;
    int element_bytes = 1;
    InputView pristine;  // inputs only; empty until written
  };
  // The gap in front of the buffer at `next`, or behind the last buffer.
  struct Gap {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    int previous = -1;  // indices of the neighbours in layout_.buffers; -1 when there is none
    int next = -1;
  };

  void place(const SharedTensorsSpec& spec);
  std::byte* start() const { return memory_->data() + offset_; }
  void clear_leftovers();
  std::size_t find(BufferRole role, int owner, std::string_view name) const;
  std::span<std::byte> bytes_of(std::size_t index) const;
  std::string label(std::size_t index) const;

  SharedTensorsLayout layout_;
  std::vector<Entry> entries_;  // parallel to layout_.buffers
  std::vector<Gap> gaps_;
  int input_sets_ = 1;
  int threads_ = 1;
  std::uint64_t pattern_seed_ = 0;
  std::shared_ptr<MemoryFile> memory_;
  std::int64_t offset_ = 0;
};

template <class Work>
void InputView::for_each_block(Work work) const {
  const std::int64_t block = block_bytes();
  std::int64_t offset = 0;
  for (const std::span<const std::byte> run : runs) {
    if (!work(offset, run)) {
      return;
    }
    offset += std::ssize(run);
  }
  for (std::int64_t i = 0; i < outer; ++i) {
    for (std::int64_t j = 0; j < count; j += period) {  // what lies side by side in the tile, at once
      const std::int64_t run = std::min(period, count - j) * block;
      if (!work(offset, tile.subspan(static_cast<std::size_t>(i * period * block), static_cast<std::size_t>(run)))) {
        return;
      }
      offset += run;
    }
  }
}

}  // namespace apo
