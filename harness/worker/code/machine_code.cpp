// harness/worker/code/machine_code.cpp - decodes 16-byte instructions far enough to find what a warp waits for.
#include "harness/worker/code/machine_code.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/system/elf_object.h"

namespace apo {
namespace {

// The lowest nine bits of an instruction.
enum Operation : unsigned {
  kDepbar = 0x11a,
  kBar = 0x11d,
  kBsync = 0x141,
  kBssy = 0x145,
  kBra = 0x147,
  kBrx = 0x149,
  kNanosleep = 0x15d,
  kMembar = 0x192,
  kLdgsts = 0x1ae,
  kLdgdepbar = 0x1af,
  kClusterBar = 0x1c7
};

struct KnownInstruction {
  unsigned operation;
  const char* name;
  bool of_memory = false;  // its result takes the time of a cache or of DRAM; those of others come from within the SM
};

constexpr KnownInstruction kKnown[] = {{0x006, "VOTE"},         {0x03b, "LDSM"},
                                       {0x044, "STSM"},         {0x108, "MUFU"},
                                       {0x119, "S2R"},          {0x11a, "DEPBAR"},
                                       {0x11d, "BAR"},          {0x141, "BSYNC"},
                                       {0x143, "CALL"},         {0x144, "CALL"},
                                       {0x145, "BSSY"},         {0x147, "BRA"},
                                       {0x149, "BRX"},          {0x14d, "EXIT"},
                                       {0x150, "RET"},          {0x15d, "NANOSLEEP"},
                                       {0x180, "LD", true},     {0x181, "LDG", true},
                                       {0x182, "LDC"},          {0x183, "LDL", true},
                                       {0x184, "LDS"},          {0x185, "ST"},
                                       {0x186, "STG"},          {0x187, "STL"},
                                       {0x188, "STS"},          {0x189, "SHFL"},
                                       {0x18a, "ATOM", true},   {0x18b, "ATOM", true},
                                       {0x18c, "ATOMS"},        {0x18d, "ATOMS"},
                                       {0x18e, "RED", true},    {0x192, "MEMBAR"},
                                       {0x1a3, "ATOMG", true},  {0x1a6, "RED"},
                                       {0x1a8, "ATOMG", true},  {0x1a9, "ATOMG", true},
                                       {0x1ae, "LDGSTS", true}, {0x1af, "LDGDEPBAR", true},
                                       {0x1c7, "UCGABAR"}};

const KnownInstruction* instruction_of(unsigned operation) {
  const auto* const found = std::ranges::find(kKnown, operation, &KnownInstruction::operation);
  return found == std::end(kKnown) ? nullptr : found;
}

// Waited for as a "long scoreboard".
bool is_global(unsigned operation) {
  return instruction_of(operation) != nullptr && instruction_of(operation)->of_memory;
}

std::uint64_t bits(std::uint64_t word, unsigned first, unsigned count) {
  return word >> first & ((std::uint64_t{1} << count) - 1);
}

std::int64_t as_signed(std::uint64_t value, unsigned bits) {
  const unsigned unused = 64 - bits;
  return static_cast<std::int64_t>(value << unused) >> unused;
}

constexpr std::uint64_t kAlways = 7;  // the predicate that is always true
constexpr std::uint64_t kNoScoreboard = 7;

// 70, 80, 90, ... of the ELF header's flags, which CUDA 13 writes in another byte than CUDA 12.
unsigned architecture(std::string_view cubin) {
  Elf64_Ehdr header;
  std::memcpy(&header, cubin.data(), sizeof header);
  const unsigned low = header.e_flags & 0xff;
  const unsigned next = header.e_flags >> 8 & 0xff;
  return low >= 70 ? low : next;
}

}  // namespace

MachineCode::MachineCode(std::string_view cubin, const std::string& kernel) {
  constexpr unsigned kFirst = 70;
  constexpr unsigned kFirstSplit = 90;
  try {
    const ElfObject object(cubin, ET_EXEC);
    const unsigned sm = architecture(cubin);
    if (sm < kFirst) {
      return;
    }
    for (const Elf64_Shdr& header : object.sections()) {
      if (object.name(header) != ".text." + kernel) {
        continue;
      }
      const std::string_view text = object.contents(header);
      const std::size_t count = text.size() / kInstructionBytes;
      for (std::size_t i = 0; i < count; ++i) {
        std::array<std::uint64_t, 2> words{};
        std::memcpy(words.data(), text.data() + i * kInstructionBytes, kInstructionBytes);
        code_.push_back(decode(words[0], words[1], i, count, sm >= kFirstSplit));
      }
    }
  } catch (const EnvironmentError&) {
    code_.clear();  // damaged: lines are then those of the samples themselves
  }
}

// Bits 105 to 125 are the compiler's schedule: the scoreboards that this instruction sets and waits for.
MachineCode::Instruction MachineCode::decode(std::uint64_t low, std::uint64_t high, std::size_t index,
                                             std::size_t count, bool split) const {
  constexpr unsigned kHalf = 64;
  Instruction one{.operation = static_cast<unsigned>(bits(low, 0, 9)), .conditional = bits(low, 12, 3) != kAlways};
  const std::uint64_t sets = bits(high, 110 - kHalf, 3);
  const std::uint64_t reads = bits(high, 113 - kHalf, 3);
  one.sets = sets == kNoScoreboard ? 0 : 1U << sets;
  one.reads = reads == kNoScoreboard ? 0 : 1U << reads;
  one.waits = static_cast<unsigned>(bits(high, 116 - kHalf, 6));
  if (one.operation != kBra && one.operation != kBssy) {
    return one;
  }
  // In units of 4 bytes from the next instruction. A branch's has 48 bits from bit 34, and since compute capability 9
  // eight lower ones from bit 16; a BSSY's has 30 bits from there.
  std::uint64_t distance = bits(low, 34, 30);
  unsigned width = 30;
  if (one.operation == kBra) {
    distance |= bits(high, 0, 18) << 30;
    width = 48;
    if (split) {
      distance = distance << 8 | bits(low, 16, 8);
      width += 8;
    }
  }
  constexpr std::int64_t kUnits = kInstructionBytes / 4;
  const std::int64_t to = static_cast<std::int64_t>(index) + 1 + as_signed(distance, width) / kUnits;
  if (to >= 0 && to < static_cast<std::int64_t>(count)) {
    one.target = static_cast<std::size_t>(to);
  }
  return one;
}

std::string MachineCode::opcode(std::uint64_t offset) const {
  const std::uint64_t index = offset / kInstructionBytes;
  if (index >= code_.size()) {
    return "";
  }
  const KnownInstruction* const found = instruction_of(code_[index].operation);
  return found == nullptr ? "" : found->name;
}

// In the order in which a warp that arrives at `index` most likely came through them: back to the head of the
// innermost loop round it, then that loop's end, then the next loop, and then what comes before all of them.
std::vector<std::size_t> MachineCode::before(std::size_t index) const {
  struct Loop {
    std::size_t head;
    std::size_t end;
  };
  std::vector<Loop> loops;
  for (std::size_t i = index; i < code_.size(); ++i) {
    if (code_[i].operation == kBra && code_[i].target && *code_[i].target <= index) {
      loops.push_back({*code_[i].target, i});
    }
  }
  std::stable_sort(loops.begin(), loops.end(),
                   [](const Loop& a, const Loop& b) { return a.end - a.head < b.end - b.head; });
  std::vector<std::size_t> order;
  std::size_t first = index;  // all from here to `last` is in the order already
  std::size_t last = index;
  for (const Loop& loop : loops) {
    while (first > loop.head) {
      order.push_back(--first);
    }
    for (std::size_t i = loop.end; i > last; --i) {
      order.push_back(i);
    }
    last = std::max(last, loop.end);
  }
  if (!loops.empty()) {
    order.push_back(index);  // in the turn before
  }
  while (first > 0) {
    order.push_back(--first);
  }
  return order;
}

// The last instruction that set a scoreboard which the one at `index` waits for.
std::optional<std::size_t> MachineCode::producer(std::size_t index, bool global) const {
  const std::vector<std::size_t> order = before(index);
  const auto last = [&](const auto& fits) -> std::optional<std::size_t> {
    const auto found = std::find_if(order.begin(), order.end(), [&](std::size_t i) { return fits(code_[i]); });
    return found == order.end() ? std::nullopt : std::optional(*found);
  };
  const unsigned waits = code_[index].waits;
  auto found =
      last([&](const Instruction& one) { return (one.sets & waits) != 0 && is_global(one.operation) == global; });
  // DEPBAR counts the groups of asynchronous copies, and names its scoreboard elsewhere.
  const bool of_groups = found ? code_[*found].operation == kLdgdepbar : code_[index].operation == kDepbar;
  if (of_groups) {
    found = last([](const Instruction& one) { return one.operation == kLdgsts; });
  }
  return found ? found : last([&](const Instruction& one) { return ((one.sets | one.reads) & waits) != 0; });
}

// The first condition on the way to where paths meet again at `end`, after the BSSY that says so.
std::optional<std::size_t> MachineCode::branch_within(std::size_t end) const {
  for (std::size_t i = end; i > 0; --i) {
    const Instruction& begin = code_[i - 1];
    if (begin.operation != kBssy || begin.target != end) {
      continue;
    }
    for (std::size_t j = i; j < end; ++j) {
      if ((code_[j].operation == kBra && code_[j].conditional) || code_[j].operation == kBrx) {
        return j;
      }
    }
    return std::nullopt;
  }
  return std::nullopt;
}

// A warp whose branch is being resolved stands where that leads.
std::optional<std::size_t> MachineCode::branch_to(std::size_t index) const {
  if (index > 0 && code_[index - 1].operation == kBsync) {
    if (const auto branch = branch_within(index)) {
      return branch;
    }
  }
  if (index > 0 && code_[index - 1].operation == kBra && code_[index - 1].conditional) {
    return index - 1;
  }
  for (std::size_t i = 0; i < code_.size(); ++i) {
    if (code_[i].operation == kBra && code_[i].target == index) {
      return i;
    }
  }
  return std::nullopt;
}

std::uint64_t MachineCode::held_up_by(std::uint64_t offset, std::string_view stall) const {
  const std::uint64_t index = offset / kInstructionBytes;
  if (index >= code_.size()) {
    return offset;
  }
  // A warp stands behind what it has executed, and not always directly: others may issue in the meantime.
  const auto executed = [&](auto... operations) -> std::optional<std::size_t> {
    const std::vector<std::size_t> order = before(index);
    const auto found = std::find_if(order.begin(), order.end(),
                                    [&](std::size_t i) { return ((code_[i].operation == operations) || ...); });
    return found == order.end() ? std::nullopt : std::optional(*found);
  };
  std::optional<std::size_t> found;
  if (stall == "barrier") {
    found = executed(kBar, kClusterBar);
  } else if (stall == "membar") {
    found = executed(kMembar);
  } else if (stall == "sleeping") {
    found = executed(kNanosleep);
  } else if (stall == "branch_resolving") {
    found = branch_to(index);
  } else if (stall == "long_scoreboard" || stall == "short_scoreboard") {
    found = producer(index, stall == "long_scoreboard");
  }
  return found ? kInstructionBytes * *found : offset;
}

}  // namespace apo
