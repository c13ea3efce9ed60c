// tests/core/recording/recorded_call_test.cpp - a recorded call as bytes, which a process with foreign code wrote.
#include "harness/core/recording/recorded_call.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "harness/core/base64.h"

namespace apo {
namespace {

using std::string_literals::operator""s;

RecordedCall example() {
  RecordedKernel kernel{.module = 0, .name = "k", .grid = {4, 1, 1}, .block = {256, 1, 1}};
  kernel.parameters = base64(std::string(24, 'p'));
  kernel.places = {{.parameter = 0, .argument = 0}, {.parameter = 8, .memory = 0, .offset = 16}};
  RecordedCall call;
  call.modules = {{.image = std::string("\x7f"
                                        "ELF\0\n image",
                                        11),
                   .variables = {{.name = "table", .bytes = std::string("\0\1", 2)}}}};
  call.memory = {{.bytes = 32, .contents = std::string(32, '\n')}, {.bytes = 1 << 20}};
  call.operations = {{.kernel = kernel},
                     {.bytes = 16, .to = {.argument = 1}, .from = RecordedPlace{.memory = 1}},
                     {.bytes = 16, .to = {.memory = 0}, .value = 0xABCD, .width = 2},
                     {.bytes = 4, .to = {.memory = 1}, .from = {}, .from_host = std::string("\n\0\xFF{", 4)}};
  call.device = "NVIDIA H200";
  return call;
}

TEST(RecordedCalls, ComeBackAsTheyWere) {
  EXPECT_EQ(decode_recorded_call(encode(example())), example());
}

TEST(RecordedCalls, SettleWhateverTheirMemoryHeld) {
  RecordedCall other = example();
  other.memory[0].contents = "";
  other.modules[0].variables[0].bytes = "ab";
  RecordedCall call = example();
  EXPECT_EQ(settle(call, other), "");
  EXPECT_EQ(call, example());
  other.operations[0].kernel->grid[0] = 5;
  EXPECT_NE(settle(call, other), "");
}

// A kernel of 32 bytes of parameters: an address in memory of the call, a number, what was on the stack.
RecordedCall with_gaps(const std::string& number, const std::string& gap, int memory, const std::vector<int>& stale) {
  RecordedCall call = example();
  RecordedKernel& kernel = *call.operations[0].kernel;
  kernel.parameters = base64(std::string(8, '\1') + number + gap + std::string(8, '\1'));
  kernel.places = {{.parameter = 0, .memory = memory}};
  call.memory = {{.bytes = 64, .is_scratch = true}, {.bytes = 64, .is_scratch = true}, {.bytes = 8}};
  call.operations[1] = {.bytes = 16, .to = {.argument = 1}, .from = RecordedPlace{.memory = memory}};
  call.operations[2].to = {.memory = memory};
  call.operations.pop_back();
  for (const int each : stale) {
    kernel.places.push_back({.parameter = 24, .memory = each});
  }
  return call;
}

TEST(RecordedCalls, SettleWhereGapsOfTheirParametersDiffer) {
  const RecordedCall before = with_gaps("\7\0\0\0\0\0\0\0"s, "abcdefgh", 1, {});
  RecordedCall call = with_gaps("\7\0\0\0\0\0\0\0"s, "abcdefgi", 0, {2});
  ASSERT_EQ(settle(call, before), "") << "the same scratch under another number";
  EXPECT_EQ(call.unsettled, 9) << "a byte, and an address";
  const std::string bytes = *bytes_of_base64(call.operations[0].kernel->parameters);
  EXPECT_EQ(bytes.substr(8, 15), "\7\0\0\0\0\0\0\0abcdefg"s);
  EXPECT_EQ(bytes[23], static_cast<char>(~'i')) << "who reads it computes something else";
  ASSERT_EQ(call.operations[0].kernel->places.size(), 1U);
  EXPECT_EQ(call.memory.size(), 1U) << "the stale address named two";
}

TEST(RecordedCalls, SettleWithoutACopyOfWhatTheirMemoryHolds) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const RecordedCall again = with_gaps(std::string(8, '\0'), "abcdefgh", 0, {});
  RecordedCall call = again;
  call.memory[0].contents.assign(kBytes, 'x');
  Settling settling;
  const auto held = [] { return mallinfo2().hblkhd + mallinfo2().uordblks; };
  const std::size_t before = held();
  EXPECT_NE(settling.add(call), "");
  EXPECT_LT(held() - before, kBytes / 2);
  RecordedCall next = again;
  EXPECT_EQ(settling.add(next), "");
}

TEST(RecordedCalls, KeepTheAddressOfAWorkspaceThatTheFirstOneAllocated) {
  RecordedCall call = with_gaps(std::string(8, '\0'), "abcdefgh", 0, {});
  call.operations.resize(1);  // only a kernel works on it
  RecordedCall first = call;
  RecordedCall second = call;
  RecordedCall third = call;
  second.memory[0].is_scratch = third.memory[0].is_scratch = false;
  Settling settling;
  EXPECT_NE(settling.add(first), "");
  EXPECT_NE(settling.add(second), "") << "an address of other memory";
  EXPECT_EQ(settling.add(third), "");
  EXPECT_EQ(third.unsettled, 0);
  EXPECT_EQ(third.operations[0].kernel->places.size(), 1U);
}

TEST(RecordedCalls, SettleWhereGapsDifferTwiceInARow) {
  Settling settling;
  std::vector<std::string> said;
  for (const std::string gap : {"abcdefgh", "abcdefgi", "abcdefgj"}) {
    RecordedCall call = with_gaps(std::string(8, '\0'), gap, 0, {});
    said.push_back(settling.add(call));
  }
  EXPECT_NE(said[1].find("1 bytes of its kernels' parameters differ"), std::string::npos) << said[1];
  EXPECT_EQ(said[2], "");
}

TEST(RecordedCalls, ThatWorkOnOtherMemoryDoNotSettle) {
  const std::string number(8, '\0');
  const RecordedCall before = with_gaps(number, "abcdefgh", 0, {});
  RecordedCall call = with_gaps(number, "abcdefgh", 0, {});
  call.operations[1].from->memory = 1;
  EXPECT_NE(settle(call, before).find("operation 2, a copy, works on other memory"), std::string::npos);
  call = with_gaps(number, "abcdefgh", 0, {});
  call.operations.pop_back();
  EXPECT_EQ(settle(call, before), "2 operations in place of 3");
}

// A replay copies what was recorded: a result that the host computed is another one in every call.
TEST(RecordedCalls, ThatCopyOtherBytesFromTheHostDoNotSettle) {
  RecordedCall call = example();
  EXPECT_EQ(settle(call, example()), "");
  call.operations[3].from_host[2] = 'x';
  EXPECT_EQ(settle(call, example()), "operation 4 copies other bytes from the host: the host computes what it copies");
  call = example();
  call.operations[3].from_host.clear();
  EXPECT_EQ(settle(call, example()), "operation 4 is a fill in place of a copy from the host");
}

TEST(RecordedCalls, CutOffOrTooLongAreNone) {
  const std::string whole = encode(example());
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(decode_recorded_call(whole.substr(0, bytes))) << bytes;
  }
  EXPECT_FALSE(decode_recorded_call(whole + "x"));
}

TEST(RecordedCalls, ThatNameWhatIsNotThereAreNone) {
  const auto is_refused = [](const std::function<void(RecordedCall&)>& change) {
    RecordedCall call = example();
    change(call);
    return !decode_recorded_call(encode(call));
  };
  EXPECT_FALSE(is_refused([](RecordedCall&) {}));
  EXPECT_TRUE(is_refused([](RecordedCall& call) { call.operations.clear(); }));
  EXPECT_TRUE(is_refused([](RecordedCall& call) { call.operations[0].kernel->module = 1; }));
  EXPECT_TRUE(is_refused([](RecordedCall& call) { call.operations[0].kernel->places[0].parameter = 17; }));
  EXPECT_TRUE(is_refused([](RecordedCall& call) { call.operations[0].kernel->places[0].in_map = true; }));
  EXPECT_TRUE(is_refused([](RecordedCall& call) { call.operations[0].kernel->places[1].memory = 2; }));
  EXPECT_TRUE(is_refused([](RecordedCall& call) { call.operations[0].kernel->places[1].offset = 33; }));
  EXPECT_TRUE(is_refused([](RecordedCall& call) { call.operations[0].kernel->parameters = "?"; }));
  EXPECT_TRUE(is_refused([](RecordedCall& call) { call.operations[0].kernel->grid[1] = 0; }));
  EXPECT_TRUE(is_refused([](RecordedCall& call) { call.operations[1].from->memory = 7; }));
  EXPECT_TRUE(is_refused([](RecordedCall& call) { call.operations[2].width = 3; }));
  EXPECT_TRUE(is_refused([](RecordedCall& call) { call.operations[1].from_host = std::string(16, 'h'); }));
  EXPECT_TRUE(is_refused([](RecordedCall& call) { call.operations[3].from_host += 'h'; }));
  EXPECT_TRUE(is_refused([](RecordedCall& call) { call.operations[3].bytes = 5; }));
  EXPECT_TRUE(is_refused([](RecordedCall& call) {
    call.operations[3] = {.bytes = kMostFromHost, .to = {.argument = 0}, .from = {}};
    call.operations[3].from_host.assign(kMostFromHost, 'h');
    call.operations.push_back({.bytes = 1, .to = {.argument = 0}, .from = {}, .from_host = "h"});
  }));
}

// Numbers that a replay would follow out of the call's memory, or that do not fit where the driver takes them.
TEST(RecordedCalls, WithNumbersThatNoCallHasAreNone) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::function<void(RecordedCall&, RecordedKernel&)>> changes = {
      [](RecordedCall& call, RecordedKernel&) { call.operations[1].from->offset = (1 << 20) - 15; },
      [](RecordedCall& call, RecordedKernel&) { call.operations[2].to.offset = 17; },
      [](RecordedCall& call, RecordedKernel&) { call.operations[2].to.offset = -1; },
      [](RecordedCall& call, RecordedKernel&) { call.operations[2].to = {.argument = 0, .memory = 0}; },
      [](RecordedCall& call, RecordedKernel&) { call.operations[2].to = {}; },
      [](RecordedCall& call, RecordedKernel&) { call.operations[2].to.parameter = 8; },
      [](RecordedCall& call, RecordedKernel&) { call.operations[2].bytes = kMost - 1; },
      [](RecordedCall& call, RecordedKernel&) { call.memory[1].bytes = kMostRecordedMemory; },
      [](RecordedCall& call, RecordedKernel&) { call.memory[1].bytes = kMost; },
      [](RecordedCall& call, RecordedKernel&) { call.memory[0].bytes = 33; },
      [](RecordedCall&, RecordedKernel& kernel) { kernel.places[0].argument = -1; },
      [](RecordedCall&, RecordedKernel& kernel) { kernel.places[0].offset = -8; },
      [](RecordedCall&, RecordedKernel& kernel) { kernel.places[0].parameter = std::numeric_limits<int>::max(); },
      [](RecordedCall&, RecordedKernel& kernel) { kernel.places[0].parameter = -8; },
      [](RecordedCall&, RecordedKernel& kernel) { kernel.grid[0] = kMost; },
      [](RecordedCall&, RecordedKernel& kernel) { kernel.shared_bytes = -1; },
      [](RecordedCall&, RecordedKernel& kernel) { kernel.most_shared_bytes = std::int64_t{1} << 32; },
      [](RecordedCall&, RecordedKernel& kernel) { kernel.carveout = 101; },
      [](RecordedCall&, RecordedKernel& kernel) { kernel.parameters = base64(std::string(32769, 'p')); },
      [](RecordedCall&, RecordedKernel& kernel) { kernel.name = "k\n// apo:reference sh"; },
      [](RecordedCall&, RecordedKernel& kernel) { kernel.name = "../k"; },
      [](RecordedCall&, RecordedKernel& kernel) { kernel.name = ""; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    RecordedCall call = example();
    changes[i](call, *call.operations[0].kernel);
    EXPECT_FALSE(decode_recorded_call(encode(call))) << i;
  }
}

// The bytes of memory and of modules are behind the lines: a file's name among them is a name and nothing else.
TEST(RecordedCalls, NameNoFileAsTheirMemoryOrTheirModules) {
  for (const std::string field : {R"("contents":"/etc/passwd")", R"("path":"/etc/passwd")"}) {
    for (const char* const before : {R"("bytes":32)", R"("variables")"}) {
      std::string text = encode(example());
      text.insert(text.find(before), field + ",");
      const auto call = decode_recorded_call(text);
      EXPECT_TRUE(!call || *call == example()) << text.substr(0, text.find('\n'));
    }
  }
}

TEST(RecordedCalls, StayWithinTheTensorsOfACall) {
  const RecordedOperation kernel{.kernel = RecordedKernel{.places = {{.argument = 1, .offset = 16}, {.memory = 0}}}};
  const RecordedOperation copy{
      .kernel = {}, .bytes = 8, .to = {.argument = 1, .offset = 8}, .from = RecordedPlace{.argument = 0}};
  for (const RecordedOperation& one : {kernel, copy}) {
    EXPECT_TRUE(fits_tensors(one, {8, 16}));
    EXPECT_FALSE(fits_tensors(one, {8, 15})) << "the other arm's tensors lie behind";
    EXPECT_FALSE(fits_tensors(one, {8})) << "the next word is an axis, not an address";
  }
  EXPECT_FALSE(fits_tensors(copy, {7, 16}));
  RecordedOperation far = copy;
  far.to.offset = std::numeric_limits<std::int64_t>::max() - 4;
  EXPECT_FALSE(fits_tensors(far, {8, 16}));
}

ProgramCall program_call() {
  return {.program = "train --steps 3",
          .refusal = "",
          .written = {{{0, 4}, {8, 32}}, {}},
          .results = {std::string(28, 'r'), ""},
          .named = {{.name = "y", .dtype = "f32", .elements = 4, .is_output = true, .offset = 16}},
          .call = example()};
}

// A kernel on scratch, and a fill and a copy of what the call returns, which lies right before other scratch.
RecordedCall returning() {
  const RecordedKernel kernel{.module = 0,
                              .name = "k",
                              .parameters = "",
                              .places = {{.parameter = 0, .argument = 0}, {.parameter = 8, .memory = 0, .offset = 4}}};
  RecordedCall call;
  call.operations = {{.kernel = kernel},
                     {.bytes = 8, .to = {.memory = 1, .offset = 8}},
                     {.bytes = 8, .to = {.memory = 1}, .from = RecordedPlace{.memory = 2}}};
  call.memory = {{.bytes = 512}, {.bytes = 512}, {.bytes = 512, .contents = std::string(512, 'c')}};
  return call;
}

TEST(RecordedResults, AreArgumentsAndTheRestOfTheMemoryIsNumberedAnew) {
  RecordedCall call = returning();
  EXPECT_TRUE(give_results(call, {0, 1024, 1536}, {{.argument = 1, .at = 1024, .bytes = 512}}));
  EXPECT_EQ(call.operations[0].kernel->places[1], (RecordedPlace{.parameter = 8, .memory = 0, .offset = 4}));
  EXPECT_EQ(call.operations[1].to, (RecordedPlace{.argument = 1, .offset = 8}));
  EXPECT_EQ(call.operations[2].to, (RecordedPlace{.argument = 1}));
  EXPECT_EQ(call.operations[2].from, (RecordedPlace{.memory = 1})) << "it begins where the result ends";
  ASSERT_EQ(call.memory.size(), 2U);
  EXPECT_EQ(call.memory[1].contents, std::string(512, 'c'));
}

// Parts of one allocation that lie side by side.
TEST(RecordedResults, BeginWhereTheOneBeforeThemEnds) {
  RecordedCall call = returning();
  EXPECT_TRUE(give_results(call, {0, 1024, 1536},
                           {{.argument = 1, .at = 1024, .bytes = 8}, {.argument = 2, .at = 1032, .bytes = 504}}));
  EXPECT_EQ(call.operations[1].to, (RecordedPlace{.argument = 2}));
  EXPECT_EQ(call.operations[2].to, (RecordedPlace{.argument = 1}));
}

TEST(RecordedResults, OfWhichNoOperationKnowsAreTold) {
  RecordedCall call = returning();
  EXPECT_FALSE(give_results(call, {0, 1024, 1536}, {{.argument = 1, .at = 4096, .bytes = 512}}));
  call = returning();
  EXPECT_TRUE(give_results(call, {0, 1024, 1536}, {}));
  EXPECT_EQ(call, returning());
}

TEST(ProgramCalls, ComeBackAsTheyWere) {
  EXPECT_EQ(decode_program_call(encode(program_call())), program_call());
  const ProgramCall refused{.program = "train", .refusal = "it copies"};
  EXPECT_EQ(decode_program_call(encode(refused)), refused);
}

TEST(ProgramCalls, CutOffAreNone) {
  const std::string whole = encode(program_call());
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(decode_program_call(whole.substr(0, bytes))) << bytes;
  }
}

TEST(ProgramCalls, ThatWroteOrNameWhatIsOutsideOfTheirMemoryAreNone) {
  for (const std::vector<std::array<std::int64_t, 2>>& written :
       {std::vector<std::array<std::int64_t, 2>>{{0, 33}},
        {{-1, 4}},
        {{4, 4}},
        {{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}},
        {{0, std::numeric_limits<std::int64_t>::max()}, {0, std::numeric_limits<std::int64_t>::max()}},
        {{8, 16}, {12, 20}}}) {
    ProgramCall call = program_call();
    call.written[0] = written;
    EXPECT_FALSE(decode_program_call(encode(call)));
  }
  ProgramCall call = program_call();
  call.written.pop_back();
  EXPECT_FALSE(decode_program_call(encode(call)));
  const auto is_refused = [](const NamedMemory& named) {
    ProgramCall other = program_call();
    other.named = {named};
    return !decode_program_call(encode(other));
  };
  const NamedMemory good = program_call().named.front();
  EXPECT_FALSE(is_refused(good));
  for (const auto& [memory, offset, elements] :
       std::vector<std::array<int, 3>>{{2, 0, 1}, {-1, 0, 1}, {0, 32, 1}, {0, -1, 1}, {0, 0, 0}}) {
    NamedMemory named = good;
    named.memory = memory;
    named.offset = offset;
    named.elements = elements;
    EXPECT_TRUE(is_refused(named)) << memory << ' ' << offset << ' ' << elements;
  }
}

// It becomes a file's name, a line of a family and an argument in code.
TEST(ProgramCalls, ThatNameMemoryAsNoProgramWouldAreNone) {
  for (const std::string name : {"", "../../x", "/etc/x", "x y", "y\n// apo:reference sh -c id", "0y"}) {
    ProgramCall call = program_call();
    call.named[0].name = name;
    EXPECT_FALSE(decode_program_call(encode(call))) << name;
    call = program_call();
    call.named[0].dtype = name;
    EXPECT_FALSE(decode_program_call(encode(call))) << name;
  }
}

}  // namespace
}  // namespace apo
