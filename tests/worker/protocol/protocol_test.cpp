// tests/worker/protocol/protocol_test.cpp - messages survive the trip, and hostile ones are no replies.
#include "harness/worker/protocol/protocol.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/worker/protocol/profile_results.h"
#include "tests/core/json/round_trip.h"

namespace apo {
namespace {

template <class Body>
void expect_request_survives(Body body) {
  int next = 0;
  fill(body, next);
  const Request request{.nonce = "n1", .body = body};
  EXPECT_EQ(decode_request(encode(request)), request);
}

template <class... Bodies>
void expect_requests_survive(const std::variant<Bodies...>&) {
  (expect_request_survives(Bodies{}), ...);
}

TEST(Protocol, RequestsKeepEveryField) {
  expect_requests_survive(Request().body);
  EXPECT_THROW(decode_request("{\"nonce\":\"n\"}"), BadField);
}

TEST(Protocol, RepliesKeepEveryField) {
  const auto reply = filled<Reply>();
  EXPECT_EQ(decode_reply(encode(reply)), reply);
  EXPECT_EQ(decode_reply(R"({"nonce":"n"})"), Reply{.nonce = "n"}) << "what is left out has its default";
}

TEST(Protocol, ATensorIsKeptWhereItsSetHasAHandle) {
  const SharedTensorsLayout layout{.kept = {{}, {.handle = "cd", .offsets = {512}}}};
  EXPECT_FALSE(layout.is_kept(0));
  EXPECT_TRUE(layout.is_kept(1));
  EXPECT_FALSE(layout.is_kept(2));
}

TEST(Protocol, FailureMayHoldAnyBytes) {
  const auto decoded = decode_reply(encode(Reply{
      .nonce = "n", .failure = Failure{.outcome = Outcome::refused, .evidence = "\xff\xfe \" \n end", .slot = 1}}));
  ASSERT_TRUE(decoded && decoded->failure);
  EXPECT_EQ(decoded->failure->outcome, Outcome::refused);
  EXPECT_EQ(decoded->failure->slot, 1);
  EXPECT_NE(decoded->failure->evidence.find("end"), std::string::npos);
}

TEST(Protocol, WhatIsNoReplyIsNone) {
  for (const char* text : {"", "\n", "null", "[]", "{}", "7", "{\"nonce\":7}", "{\"nonce\":\"n\"", "\xff\xfe"}) {
    EXPECT_FALSE(decode_reply(text)) << text;
  }
  const auto whole = json_of(Reply{.nonce = "n"});
  ASSERT_TRUE(decode_reply(whole.dump()));
  const std::vector<std::pair<const char*, const char*>> hostile = {
      {"samples", "3"},
      {"samples", "[[1,2]]"},
      {"samples", R"([[0,0,"x",0,0,0,0]])"},
      {"samples", "[[0,0,0,0,0,0]]"},
      {"samples", R"([[0,0,0,0,0,0,"2"]])"},
      {"samples", "[[4294967296,0,0,0,0,0,0]]"},
      {"activity_missing", "7"},
      {"paused", R"("yes")"},
      {"base", "-1"},
      {"failure", R"({"outcome":"valid","evidence":"","slot":0,"of_device":false})"},
      {"failure", R"({"outcome":"excellent","evidence":"","slot":0,"of_device":false})"}};
  for (const auto& [field, value] : hostile) {
    auto reply = whole;
    reply[field] = nlohmann::ordered_json::parse(value);
    EXPECT_FALSE(decode_reply(reply.dump())) << reply;
  }
}

TEST(Protocol, ImagesComeBackByteForByte) {
  const std::vector<std::string> images = {std::string("\x7f"
                                                       "ELF\0\n",
                                                       6),
                                           "", "b\n"};
  EXPECT_EQ(decode_images(encode_images(images)), images);
  EXPECT_EQ(decode_images(encode_images({})), std::vector<std::string>());
}

TEST(Protocol, HostileImagesAreNone) {
  for (const char* text : {"", "[]", "3\nabc", "[4]\nabc", "[2]\nabc", "[-1]\nabc", "[\"3\"]\nabc", "[1e30]\nabc",
                           "[18446744073709551615,4]\nabc", "{\n"}) {
    EXPECT_FALSE(decode_images(text)) << text;
  }
}

TEST(Protocol, DeepNestingIsNoReply) {
  EXPECT_FALSE(decode_reply(std::string(60'000, '[')));
}

struct SocketPair {
  std::array<int, 2> ends{};
  SocketPair() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0); }
  ~SocketPair() {
    close(ends[0]);
    close(ends[1]);
  }
  SocketPair(const SocketPair&) = delete;
  SocketPair& operator=(const SocketPair&) = delete;
};

TEST(Channel, CarriesALineAndADescriptor) {
  const SocketPair pair;
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  ASSERT_TRUE(send_message(pair.ends[0], "hello\n", pipe_ends[1]));
  const Received received = receive_message(pair.ends[1], 100, true);
  EXPECT_EQ(received.receipt, Receipt::message);
  EXPECT_EQ(received.text, "hello\n");
  ASSERT_TRUE(received.attached);
  EXPECT_EQ(write(received.attached.get(), "x", 1), 1);
  char letter = 0;
  EXPECT_EQ(read(pipe_ends[0], &letter, 1), 1);
  EXPECT_EQ(letter, 'x');
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST(Channel, TellsEmptyFromTooLongFromClosed) {
  SocketPair pair;
  EXPECT_EQ(receive_message(pair.ends[1], 100, false).receipt, Receipt::empty);
  ASSERT_TRUE(send_message(pair.ends[0], std::string(101, 'x')));
  EXPECT_EQ(receive_message(pair.ends[1], 100, false).receipt, Receipt::too_long);
  close(pair.ends[0]);
  EXPECT_EQ(receive_message(pair.ends[1], 100, false).receipt, Receipt::closed);
  EXPECT_FALSE(send_message(pair.ends[1], "anyone?"));
  pair.ends[0] = dup(pair.ends[1]);
}

TEST(ProfileResults, SurviveTheWayToTheParent) {
  const auto counters = filled<CounterReport>();
  EXPECT_EQ(decode_counters(encode(counters)), counters);
  const auto samples = filled<SampleReport>();
  EXPECT_EQ(decode_samples(encode(samples)), samples);
  auto instructions = filled<InstructionReport>();
  for (InstructionCount& one : instructions.instructions) {
    one.values.resize(kCountedKinds, 1LL << 40);
  }
  EXPECT_EQ(decode_instructions(encode(instructions)), instructions);
}

TEST(ProfileResults, WithAValueTooFewAreRefused) {
  EXPECT_FALSE(decode_counters(encode(CounterReport{.metrics = {"a", "b"}, .launches = {{"k", {1}}}})));
  EXPECT_FALSE(decode_instructions(encode(InstructionReport{.instructions = {{.kernel = "k", .values = {1, 2}}}})));
}

TEST(ProfileResults, OfAnotherFormAreRefused) {
  for (const char* text : {"{}", "[]", "not JSON", R"({"samples":[[1]],"total":0,"dropped":0,"missing":""})"}) {
    EXPECT_FALSE(decode_counters(text)) << text;
    EXPECT_FALSE(decode_samples(text)) << text;
    EXPECT_FALSE(decode_instructions(text)) << text;
  }
}

}  // namespace

}  // namespace apo
