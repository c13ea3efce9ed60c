// harness/worker/code/machine_code.h - what a GPU kernel's instructions are, and what holds each one up.
//
// NVIDIA documents the names of the instructions, not their bits. The fields that are read here have been the same
// since compute capability 7.0; a test holds them against what ptxas makes of instructions that are known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace apo {

inline constexpr std::uint64_t kInstructionBytes = 16;

// The instructions of one kernel. Empty when the cubin has no kernel of that name, is damaged, or is of an architecture
// with other instructions.
class MachineCode {
 public:
  MachineCode() = default;
  // Empty, too, when `cubin` is damaged.
  MachineCode(std::string_view cubin, const std::string& kernel);

  bool empty() const { return code_.empty(); }
  std::size_t bytes() const { return kInstructionBytes * code_.size(); }
  // Returns "LDG", "BAR", ...; "" outside the kernel and for instructions that no diagnosis needs.
  std::string opcode(std::uint64_t offset) const;
  // Finds the instruction that holds up a warp sampled at `offset` in the state `stall` ("long_scoreboard", ...): the
  // load whose result is awaited; the barrier, fence or sleep that was executed last; the branch that led there.
  // Returns `offset` where none is found, and for other states.
  std::uint64_t held_up_by(std::uint64_t offset, std::string_view stall) const;

 private:
  struct Instruction {
    unsigned operation = 0;             // the opcode without the form of its operands
    bool conditional = false;           // executed under a predicate
    unsigned sets = 0;                  // scoreboards, a bit each, that its result clears
    unsigned reads = 0;                 // the same for the operands that it still reads
    unsigned waits = 0;                 // for these
    std::optional<std::size_t> target;  // of a branch, or where the paths of a BSSY meet again
  };

  Instruction decode(std::uint64_t low, std::uint64_t high, std::size_t index, std::size_t count, bool split) const;
  std::vector<std::size_t> before(std::size_t index) const;
  std::optional<std::size_t> producer(std::size_t index, bool global) const;
  std::optional<std::size_t> branch_to(std::size_t index) const;
  std::optional<std::size_t> branch_within(std::size_t end) const;

  std::vector<Instruction> code_;
};

}  // namespace apo
