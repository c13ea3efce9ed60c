// tests/core/recording/recorded_call_test.cpp - a recorded call as bytes, which a process with foreign code wrote.
#include "harness/core/recording/recorded_call.h"

#include <gtest/gtest.h>

#include <functional>

#include "harness/core/base64.h"

namespace apo {
namespace {

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
                     {.bytes = 16, .to = {.memory = 0}, .value = 0xABCD, .width = 2}};
  call.streams = 2;
  call.device = "NVIDIA H200";
  return call;
}

TEST(RecordedCalls, ComeBackAsTheyWere) {
  EXPECT_EQ(decode_recorded_call(encode(example())), example());
}

TEST(RecordedCalls, LaunchTheSameWhateverTheirMemoryHeld) {
  RecordedCall other = example();
  other.memory[0].contents = "";
  other.modules[0].variables[0].bytes = "ab";
  EXPECT_TRUE(launches_the_same(example(), other));
  other.operations[0].kernel->grid[0] = 5;
  EXPECT_FALSE(launches_the_same(example(), other));
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
       {std::vector<std::array<std::int64_t, 2>>{{0, 33}}, {{-1, 4}}, {{4, 4}}, {{8, 16}, {12, 20}}}) {
    ProgramCall call = program_call();
    call.written[0] = written;
    EXPECT_FALSE(decode_program_call(encode(call)));
  }
  ProgramCall call = program_call();
  call.written.pop_back();
  EXPECT_FALSE(decode_program_call(encode(call)));
  for (const NamedMemory& named : std::vector<NamedMemory>{{.elements = 1, .memory = 2},
                                                           {.elements = 1, .memory = -1},
                                                           {.elements = 1, .offset = 32},
                                                           {.elements = 0}}) {
    call = program_call();
    call.named = {named};
    EXPECT_FALSE(decode_program_call(encode(call)));
  }
}

}  // namespace
}  // namespace apo
