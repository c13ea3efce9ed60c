// harness/executor/memory.h - what the threads of a block touch: the buffers of a call with their bounds, write
// permission and initialised bytes, and the shadow of the block's shared memory, the accesses of each word and their
// order.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/executor/global_races.h"
#include "harness/executor/order.h"

namespace apo::executor {

struct Stretch {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool holds(std::uintptr_t address) const { return address - begin < end - begin; }
};

struct Buffer {
  std::string name;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  bool writable = true;
  bool written = true;  // holds values when the call begins
};

struct GlobalMistake {
  const char* kind = "";
  std::string what;
};

// May be used by several threads at once. Writes are noted without locks: kernels that race for a byte of global memory
// write the same note.
class GlobalMemory {
 public:
  // `tensors_begin` and `tensors_end` enclose the buffers and their guards.
  GlobalMemory(std::vector<Buffer> buffers, std::uintptr_t tensors_begin, std::uintptr_t tensors_end);
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;
  ~GlobalMemory();

  bool holds(std::uintptr_t address) const { return address - begin_ < end_ - begin_ || more_.holds(address); }
  // `hint` caches the buffer of the caller's last access.
  std::optional<GlobalMistake> access(std::uintptr_t address, std::size_t bytes, apo_cpu::Access kind,
                                      std::size_t& hint);

  // Whether the thread of this note has written this place with it, so that a further plain access of it is right.
  // `hint` stands for a buffer with a shadow.
  bool written_with(std::uint64_t note, std::uintptr_t address, std::size_t bytes, std::size_t hint) const {
    const Buffer& buffer = buffers_[hint];
    const std::uintptr_t offset = address - buffer.begin;
    return offset < buffer.bytes && bytes <= buffer.bytes - offset && shadows_[hint]->written_with(note, offset, bytes);
  }

  // Between launches: a buffer of the host code's own, aligned to 256 bytes, whose values nobody has written; 0 when
  // there is no memory. One that is released belongs to no buffer, and nothing is put in its place.
  std::uintptr_t allocate(const std::string& name, std::size_t bytes);
  bool release(std::uintptr_t address);
  // Between launches: host code reads or writes there, values that nobody has written included.
  std::optional<GlobalMistake> touch(std::uintptr_t address, std::size_t bytes, bool writes);
  // Memory of the heap of the launch's threads, as much as a GPU's has; null when that is used up. Nothing is reused.
  void* take_from_heap(std::size_t bytes);

  // Puts everything before it into another launch, of `blocks` blocks. `variables` are the object's own.
  void begin_launch(std::uint64_t blocks, const Stretch& variables, bool with_heap);
  // The first block's number in this launch; 0 when there are too many for their races to be watched.
  BlockNumber first_block() const { return first_block_; }
  LaunchOrder& launch_order() { return launch_order_; }
  const Stretch& variables() const { return variables_; }
  // Of the buffer that `hint` stands for, null where races are not watched; of the object's variables.
  GlobalShadow* shadow(std::size_t hint) { return shadows_[hint].get(); }
  GlobalShadow& shadow_of_variables() { return *shadow_of_variables_; }
  const Buffer& buffer(std::size_t hint) const { return buffers_[hint]; }

 private:
  void add(Buffer buffer);
  std::size_t find(std::uintptr_t address) const;
  std::optional<GlobalMistake> outside(const Buffer& buffer, std::uintptr_t address, std::size_t bytes) const;

  std::vector<Buffer> buffers_;                            // by address
  std::vector<std::unique_ptr<unsigned char[]>> written_;  // of each buffer, a byte a byte; null when all of it is
  std::vector<std::unique_ptr<GlobalShadow>> shadows_;     // of each buffer; null for inputs and very large ones
  std::uintptr_t begin_;
  std::uintptr_t end_;
  Stretch more_;  // reserved for allocations
  std::uintptr_t next_ = 0;
  std::uintptr_t heap_ = 0;
  std::atomic<std::size_t> heap_used_{0};
  Stretch variables_;
  std::unique_ptr<GlobalShadow> shadow_of_variables_;
  LaunchOrder launch_order_;
  BlockNumber first_block_ = 1;
  std::uint64_t next_block_ = 1;
};

// The place where a thread of the CPU keeps the shared memory of the block that it runs: static arrays first, then
// dynamic.
struct SharedPlace {
  std::uintptr_t begin = 0;
  std::uintptr_t static_bytes = 0;
  std::uintptr_t dynamic = 0;
  std::uintptr_t dynamic_bytes = 0;  // that the launch declares
  std::uintptr_t end = 0;            // of all that is set aside, guards included
};

// A wrong access, and the thread that made the earlier one at `code`; SharedMemory::sentence puts it into words.
struct SharedMistake {
  enum class Kind : std::uint8_t { race, uninitialised, out_of_bounds, copy_under_way };
  Kind kind = Kind::race;
  bool reads = false;         // this access
  std::uintptr_t offset = 0;  // from the start of the block's shared memory
  unsigned other = 0;
  bool other_read = false;
  const void* code = nullptr;

  const char* name() const;
  // Two writes of the same value with no barrier between them are no mistake.
  bool unless_same() const { return kind == Kind::race && !reads && !other_read; }
};

class SharedMemory {
 public:
  SharedMemory(const SharedPlace& place, std::uintptr_t code_base);

  void begin_block(bool clear);
  bool holds(std::uintptr_t address) const { return address - place_.begin < place_.end - place_.begin; }
  // Notes the access. Returns null when nothing is wrong with it, else a pointer that is valid until the next access.
  // Returns the worst of several mistakes: unless_same() ranks below the rest.
  const SharedMistake* access(Order& order, unsigned thread, std::uintptr_t address, std::size_t bytes,
                              apo_cpu::Access kind, const void* code);
  // Notes that an asynchronous copy was started there, or has arrived. Whole words.
  void start_copy(unsigned thread, std::uintptr_t address, std::size_t bytes, const void* code);
  void end_copy(std::uintptr_t address, std::size_t bytes);
  std::string sentence(const SharedMistake& mistake) const;

 private:
  // The shadow of four bytes, or of one if single bytes are accessed. Stamps before the block's first one are empty. Of
  // many readers two are kept, of different warps if possible: a later writer that is ordered after both of them, but
  // not after a third, goes unnoticed.
  struct Cell {
    Stamp written = 0;
    std::array<Stamp, 2> read{};
    std::uint32_t writer_code = 0;
    std::array<std::uint32_t, 2> reader_code{};
    std::uint16_t writer = 0;
    std::array<std::uint16_t, 2> reader{};
    bool atomic = false;  // the last write
  };
  struct Split {
    std::size_t word = 0;
    std::array<Cell, 4> bytes;
  };
  struct Copy {
    std::size_t word = 0;
    std::uint16_t thread = 0;
    const void* code = nullptr;
  };
  struct Visit {
    Order& order;
    unsigned thread;
    apo_cpu::Access kind;
    std::uint32_t code;
    Stamp begin;  // of the block
    Stamp stamp;  // of the thread
  };

  bool inside(std::uintptr_t address, std::size_t bytes) const;
  bool report(const SharedMistake& mistake);
  bool touch(Cell& cell, const Visit& visit, std::uintptr_t offset);
  bool touch_word(std::size_t word, const Visit& visit, std::uintptr_t begin, std::uintptr_t end);
  bool touch_slow(std::size_t word, const Visit& visit, std::uintptr_t begin, std::uintptr_t end);
  void note_read(Cell& cell, const Visit& visit) const;
  SharedMistake race(const Visit& visit, std::uintptr_t offset, unsigned other, bool other_read,
                     std::uint32_t code) const;
  std::string name(std::uintptr_t offset) const;
  Split* split_of(std::size_t word);

  SharedPlace place_;
  std::uintptr_t code_base_;
  SharedMistake mistake_;  // of this access, when wrong_
  bool wrong_ = false;
  std::vector<Cell> cells_;  // a word each
  // Indexes splits_ and copies_ by word: entry i is valid when splits_[i].word is the word.
  std::vector<std::uint32_t> split_of_;
  std::vector<Split> splits_;
  std::vector<std::uint32_t> copy_of_;
  std::vector<Copy> copies_;
};

}  // namespace apo::executor
