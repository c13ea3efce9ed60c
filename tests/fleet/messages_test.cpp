// tests/fleet/messages_test.cpp - what a driver and a worker say comes back as it was meant.
#include "harness/fleet/messages.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/implement/variant/metadata.h"

namespace apo {
namespace {

// As it goes through a pipe.
Message sent(const Message& message) {
  return Message::parse(message.dump());
}

Task a_task() {
  return {.id = 7,
          .campaign = 3,
          .policy = {.family = "copy",
                     .workload_class = "small",
                     .workloads = {"n4k", "n1m"},
                     .cache_policy = CachePolicy::warm,
                     .judge_preset = "strict",
                     .seed = 0xFFFF'FFFF'FFFF'FFFEu,
                     .target = Target::cuda,
                     .layout = Layout::fixed},
          .candidate = {{"copy/parallel", {{"K", -2}}}, "c0ffee"},
          .incumbent = {{"copy/simple", {}}, "beef"},
          .prediction = {.low = 1.0625, .relative_to = "copy/simple", .because = "it's \"quoted\"\n"},
          .index = 12,
          .floor = {.smallest = 0.1, .sentence = "so much", .rounds_per_process = 3}};
}

TEST(FleetMessages, ATaskComesBackWhole) {
  const Task task = task_of(sent(to_message(a_task())));
  EXPECT_EQ(to_message(task), to_message(a_task()));
  EXPECT_EQ(task.policy.seed, a_task().policy.seed);
  EXPECT_EQ(task.candidate.configuration, a_task().candidate.configuration);
  EXPECT_TRUE(std::isnan(task.prediction.high));
  EXPECT_EQ(task.floor.smallest, 0.1);
}

TEST(FleetMessages, AHelloOfAnotherProtocolIsReadAsFarAsItsVersions) {
  const Message hello = {
      {"type", "hello"}, {"version", "9"}, {"protocol", kFleetProtocol + 1}, {"schema", 1}, {"rule", "r"}};
  EXPECT_EQ(hello_of(hello).program.protocol, kFleetProtocol + 1);
  EXPECT_THROW(hello_of(Message{{"type", "hello"}}), Message::exception);
}

TEST(FleetMessages, AHelloComesBackWhole) {
  const Hello hello{
      .program = identity_of_program("1"),
      .machine = {.target = Target::cuda, .id = "GPU-1", .model = "H200", .cores = 132, .facts = {{"a", "b"}}},
      .device = "GPU-1",
      .time_s = 1'700'000'000};
  const Hello back = hello_of(sent(to_message(hello)));
  EXPECT_EQ(back.program, hello.program);
  EXPECT_EQ(back.program.build.size(), 64U);
  EXPECT_EQ(back.machine.target, Target::cuda);
  EXPECT_EQ(back.machine.cores, 132);
  EXPECT_EQ(back.machine.facts, hello.machine.facts);
  EXPECT_EQ(back.time_s, hello.time_s);
}

TEST(FleetMessages, ASourceIsCheckedAgainstItsHash) {
  const Variant variant =
      parse_variant("extern \"C\" void copy_simple();\n", "x.cpp", {}, {.family = "copy", .name = "x"});
  Message message = sent(source_document(variant));
  EXPECT_EQ(variant_of(message).source_hash, variant.source_hash);
  EXPECT_EQ(variant_of(message).id(), "copy/x");
  message["bytes"] = "Zm9v";
  EXPECT_THROW(variant_of(message), UserError);
}

TEST(FleetMessages, AnAnswerIsCheckedAgainstItsHash) {
  const std::string journal("SQLite\0\xff", 8);
  Message message = sent(answer_message(1, journal));
  EXPECT_EQ(journal_of(message), journal);
  message["sha256"] = sha256("another");
  EXPECT_THROW(journal_of(message), UserError);
}

}  // namespace
}  // namespace apo
