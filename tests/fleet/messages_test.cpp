// tests/fleet/messages_test.cpp - what a driver and a worker say comes back as it was meant.
#include "harness/fleet/messages.h"

#include <gtest/gtest.h>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/implement/variant/metadata.h"
#include "tests/core/json/round_trip.h"

namespace apo {
namespace {

// As it goes through a pipe.
Message sent(const Message& message) {
  return Message::parse(message.dump());
}

TEST(FleetMessages, ComeBackWhole) {
  expect_round_trips<ProgramIdentity, Hello, TaskSide, ClaimFloor>();
  const auto hello = filled<Hello>();
  Hello of_ours = hello;
  of_ours.program.protocol = kFleetProtocol;
  EXPECT_EQ(hello_of(sent(to_message(of_ours))), of_ours);
  const auto task = filled<Task>();
  EXPECT_EQ(task_of(sent(to_message(task))), task);
}

TEST(FleetMessages, ATaskIsRandomlyLaidOutWhereItsPolicyDoesNotSay) {
  Task task;
  task.policy.layout.reset();
  EXPECT_EQ(task_of(sent(to_message(task))).policy.layout, Layout::random);
}

TEST(FleetMessages, WithoutAFieldAreRefused) {
  Message message = to_message(filled<Task>());
  message["policy"].erase("seed");
  EXPECT_THROW(task_of(message), UserError);
}

TEST(FleetMessages, AHelloOfAnotherProtocolIsReadAsFarAsItsVersions) {
  const Message hello = {
      {"type", "hello"}, {"version", "9"}, {"protocol", kFleetProtocol + 1}, {"schema", 1}, {"rule", "r"}};
  EXPECT_EQ(hello_of(hello).program.protocol, kFleetProtocol + 1);
  EXPECT_THROW(hello_of(Message{{"type", "hello"}}), Message::exception);
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
