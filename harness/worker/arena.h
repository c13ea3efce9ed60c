// harness/worker/arena.h - the parent's side of a call's tensors: one shared memory file with guarded buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/files.h"

namespace apo {

enum class BufferRole : std::uint8_t { input, output, scratch };

struct BufferSpec {
  std::string name;
  std::int64_t bytes = 0;
  BufferRole role = BufferRole::input;
  int element_bytes = 1;  // only to name the element that changed
  int slot = 0;           // scratch: whose it is
};

struct ArenaSpec {
  std::vector<BufferSpec> buffers;  // each role in the order of the contract
  std::vector<std::int64_t> axes;   // values in the order of the contract
  int input_sets = 1;               // copies of every input, so that calls can rotate over them
  std::uint64_t layout_seed = 0;    // order, gaps and guard pattern
  std::int64_t alignment = 64;      // of every buffer; a multiple of 64
};

// Where a buffer lies. This is all that a worker learns about a tensor.
struct BufferPlace {
  BufferRole role = BufferRole::input;
  int owner = 0;  // input: its set; scratch: its slot
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

struct ArenaLayout {
  std::int64_t bytes = 0;            // of the whole file, a multiple of the page size
  std::vector<BufferPlace> buffers;  // each (role, owner) in the order of the contract
  std::vector<std::int64_t> axes;
};

// A byte outside every buffer that no longer holds its guard pattern.
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
// come from the seed. Each has at least 4096 bytes of guard pattern on both sides, and so have all gaps.
class Arena {
 public:
  explicit Arena(const ArenaSpec& spec);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // `bytes` has the buffer's size. The parent keeps its own copy, which no worker can reach.
  void write_input(int set, std::string_view name, std::span<const std::byte> bytes);
  // 0xFF everywhere: NaN in bf16, f32 and f64.
  void poison_outputs();
  // A copy, so that nothing can change it while it is compared.
  std::vector<std::byte> read_output(std::string_view name) const;

  std::optional<GuardDamage> check_guards() const;
  std::optional<InputChange> check_inputs() const;

  const ArenaLayout& layout() const { return layout_; }
  int fd() const { return file_.get(); }

 private:
  struct Entry {
    std::string name;
    int element_bytes = 1;
    std::vector<std::byte> pristine;  // inputs only
  };
  // The stretch without buffers in front of the buffer at `next`, or behind the last one.
  struct Gap {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    int previous = -1;  // indices of the neighbours in layout_.buffers; -1 when there is none
    int next = -1;
  };

  void place(const ArenaSpec& spec);
  void map();
  std::size_t find(BufferRole role, int owner, std::string_view name) const;
  std::span<std::byte> bytes_of(std::size_t index) const;
  std::string label(std::size_t index) const;

  ArenaLayout layout_;
  std::vector<Entry> entries_;  // parallel to layout_.buffers
  std::vector<Gap> gaps_;
  int input_sets_ = 1;
  std::uint64_t pattern_seed_ = 0;
  FileDescriptor file_;
  std::byte* memory_ = nullptr;
};

}  // namespace apo
