// tests/worker/code/machine_code_test.cpp - instructions as ptxas encodes them, and what holds a warp up.
#include "harness/worker/code/machine_code.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace apo {
namespace {

using CodeWords = std::array<std::uint64_t, 2>;

constexpr unsigned kNone = 7;

// An instruction with a predicate that is always true, what it sets and reads (7: nothing) and what it waits for.
CodeWords instruction(std::uint64_t opcode, unsigned sets = kNone, unsigned waits = 0, unsigned reads = kNone) {
  return {opcode | 7U << 12, std::uint64_t{sets} << 46 | std::uint64_t{reads} << 49 | std::uint64_t{waits} << 52};
}

// A branch `to` instructions on from the next one, as compute capability 9 has it.
CodeWords branch(int to, bool conditional = true) {
  const std::uint64_t distance = static_cast<std::uint64_t>(std::int64_t{4} * to);
  CodeWords words = instruction(0x947);
  words[0] = 0x947 | std::uint64_t{conditional ? 0U : 7U} << 12 | (distance & 0xff) << 16 | (distance >> 8) << 34;
  words[1] |= distance >> 38 & 0x3ffff;
  return words;
}

CodeWords bssy(int to) {
  CodeWords words = instruction(0x945);
  words[0] |= static_cast<std::uint64_t>(4 * to) << 34;
  return words;
}

// The least cubin that holds `code` as the kernel k.
std::string cubin(const std::vector<CodeWords>& code, unsigned flags = 0x0a005a04) {
  const std::string names = std::string("\0.text.k\0.names\0", 16);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_type = ET_EXEC;
  header.e_flags = flags;
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  header.e_shoff = sizeof header;
  std::array<Elf64_Shdr, 3> sections{};
  const std::size_t begin = sizeof header + sizeof sections;
  sections[1] = {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = begin, .sh_size = 16 * code.size()};
  sections[2] = {.sh_name = 9, .sh_type = SHT_STRTAB, .sh_offset = begin + 16 * code.size(), .sh_size = names.size()};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(sections.data()), sizeof sections);
  bytes.append(reinterpret_cast<const char*>(code.data()), 16 * code.size());
  return bytes + names;
}

std::uint64_t held_up_by(const std::vector<CodeWords>& code, std::size_t index, const char* stall) {
  return MachineCode(cubin(code), "k").held_up_by(16 * index, stall) / 16;
}

TEST(MachineCode, NamesWhatDiagnosesAskFor) {
  // Low words of sm_90 and sm_80 as ptxas wrote them.
  const std::vector<std::pair<std::uint64_t, std::string>> known = {
      {0x981, "LDG"},    {0x381, "LDG"},       {0x986, "STG"},       {0x983, "LDL"},   {0x387, "STL"},
      {0x984, "LDS"},    {0x388, "STS"},       {0x980, "LD"},        {0x985, "ST"},    {0xb1d, "BAR"},
      {0x992, "MEMBAR"}, {0x95d, "NANOSLEEP"}, {0x35d, "NANOSLEEP"}, {0x947, "BRA"},   {0x949, "BRX"},
      {0x945, "BSSY"},   {0x941, "BSYNC"},     {0x9a8, "ATOMG"},     {0x3a9, "ATOMG"}, {0x9a3, "ATOMG"},
      {0xf8c, "ATOMS"},  {0x98c, "ATOMS"},     {0x98e, "RED"},       {0x589, "SHFL"},  {0xb82, "LDC"},
      {0xfae, "LDGSTS"}, {0x9af, "LDGDEPBAR"}, {0x91a, "DEPBAR"},    {0x423, ""},      {0x918, ""}};
  std::vector<CodeWords> code;
  for (const auto& [opcode, name] : known) {
    code.push_back(instruction(opcode));
  }
  const MachineCode read(cubin(code), "k");
  for (std::size_t i = 0; i < known.size(); ++i) {
    EXPECT_EQ(read.opcode(16 * i), known[i].second) << std::hex << known[i].first;
  }
  EXPECT_EQ(read.opcode(16 * known.size()), "") << "behind the kernel";
}

TEST(MachineCode, IsEmptyForAnotherKernelAnOldGpuAndDamage) {
  const std::string whole = cubin({instruction(0x981)});
  EXPECT_FALSE(MachineCode(whole, "k").empty());
  EXPECT_TRUE(MachineCode(whole, "other").empty());
  EXPECT_TRUE(MachineCode(cubin({instruction(0x981)}, 0x0a003504), "k").empty()) << "sm_53 has other instructions";
  EXPECT_FALSE(MachineCode(cubin({instruction(0x981)}, 0x00500550), "k").empty()) << "sm_80 of CUDA 12";
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 7) {
    const MachineCode cut(whole.substr(0, bytes), "k");
    EXPECT_EQ(cut.held_up_by(0, "long_scoreboard"), 0U);
  }
  EXPECT_EQ(MachineCode().held_up_by(48, "barrier"), 48U);
}

// LDG sets scoreboard 2, LDL scoreboard 3; the addition needs both, the shuffle's result is of scoreboard 2, too.
TEST(MachineCode, AnAwaitedResultIsOfTheLastInstructionOfItsKind) {
  const std::vector<CodeWords> code = {instruction(0x981, 2),
                                       instruction(0x983, 3),
                                       instruction(0x589, 2),
                                       instruction(0x221, kNone, 1U << 2),
                                       instruction(0x221, kNone, 1U << 3),
                                       instruction(0x221, kNone, 1U << 5)};
  EXPECT_EQ(held_up_by(code, 3, "long_scoreboard"), 0U);
  EXPECT_EQ(held_up_by(code, 3, "short_scoreboard"), 2U);
  EXPECT_EQ(held_up_by(code, 4, "long_scoreboard"), 1U);
  EXPECT_EQ(held_up_by(code, 5, "long_scoreboard"), 5U) << "nothing sets it";
  EXPECT_EQ(held_up_by(code, 4, "lg_throttle"), 4U) << "for room in a queue it waits itself";
}

// A load before the loop, and one in it that is for the next turn.
TEST(MachineCode, AResultOfTheTurnBeforeIsOfTheLoop) {
  const std::vector<CodeWords> code = {instruction(0x981, 2), instruction(0x221, kNone, 1U << 2), instruction(0x981, 2),
                                       branch(-3), instruction(0x94d)};
  EXPECT_EQ(held_up_by(code, 1, "long_scoreboard"), 2U);
  const std::vector<CodeWords> chase = {instruction(0x981, 2, 1U << 2), branch(-2)};
  EXPECT_EQ(held_up_by(chase, 0, "long_scoreboard"), 0U) << "its own result";
}

TEST(MachineCode, AnAsynchronousCopyIsWhatItsGroupWaitsFor) {
  const std::vector<CodeWords> code = {instruction(0xfae), instruction(0x9af, 0), instruction(0x210),
                                       instruction(0x91a)};
  EXPECT_EQ(held_up_by(code, 3, "long_scoreboard"), 0U);
}

TEST(MachineCode, AWarpStandsBehindTheBarrierThatItWaitsAt) {
  const std::vector<CodeWords> code = {instruction(0xb1d), instruction(0x992), instruction(0x95d),
                                       instruction(0xb1d), instruction(0x20c), branch(-6)};
  EXPECT_EQ(held_up_by(code, 5, "barrier"), 3U) << "others issue in the meantime";
  EXPECT_EQ(held_up_by(code, 3, "barrier"), 0U) << "the second one is not reached yet";
  EXPECT_EQ(held_up_by(code, 0, "barrier"), 3U) << "of the turn before";
  EXPECT_EQ(held_up_by(code, 4, "membar"), 1U);
  EXPECT_EQ(held_up_by(code, 4, "sleeping"), 2U);
}

// BSSY, a branch to the second way, the first way with a jump over the second one, BSYNC, and what follows.
TEST(MachineCode, ABranchIsResolvedWhereItLeadsOrPathsMeet) {
  const std::vector<CodeWords> code = {bssy(5),          instruction(0x210), branch(2),          instruction(0x223),
                                       branch(1, false), instruction(0x223), instruction(0x941), instruction(0x20c),
                                       branch(-9)};
  const std::vector<CodeWords> meets = {bssy(6),          instruction(0x210), branch(2),          instruction(0x223),
                                        branch(1, false), instruction(0x223), instruction(0x941), instruction(0x20c)};
  EXPECT_EQ(held_up_by(meets, 7, "branch_resolving"), 2U) << "its lanes went apart there";
  EXPECT_EQ(held_up_by(code, 5, "branch_resolving"), 2U) << "it leads here";
  EXPECT_EQ(held_up_by(code, 3, "branch_resolving"), 2U) << "it was not taken";
  EXPECT_EQ(held_up_by(code, 0, "branch_resolving"), 8U) << "the loop's own";
}

}  // namespace
}  // namespace apo
