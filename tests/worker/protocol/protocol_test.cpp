// tests/worker/protocol/protocol_test.cpp - messages survive the trip, and hostile ones are no replies.
#include "harness/worker/protocol/protocol.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include "harness/worker/protocol/images.h"

namespace apo {
namespace {

template <class Body>
Body sent(const Body& body) {
  const Request request = decode_request(encode(Request{.nonce = "n1", .body = body}));
  EXPECT_EQ(request.nonce, "n1");
  return std::get<Body>(request.body);
}

TEST(Protocol, RequestsKeepEveryField) {
  const RunRequest run = sent(RunRequest{
      .order = {0, 1, 1, 0}, .sets = {3, 2, 1, 0}, .repetitions = 17, .cache = CachePolicy::cold, .verify_after = 2});
  EXPECT_EQ(run.order, (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(run.sets, (std::vector<int>{3, 2, 1, 0}));
  EXPECT_EQ(run.repetitions, 17);
  EXPECT_EQ(run.cache, CachePolicy::cold);
  EXPECT_EQ(run.verify_after, 2);
  EXPECT_EQ(sent(LoadRequest{.slot = 1, .path = "/tmp/a \"b\".so"}).path, "/tmp/a \"b\".so");
  EXPECT_EQ(sent(HelloRequest{.cpus = {3, 5}, .threads = 2}).cpus, (std::vector<int>{3, 5}));
  const SharedTensorsLayout layout =
      sent(AttachRequest{.layout = {.bytes = 1 << 20,
                                    .buffers = {{.role = BufferRole::scratch, .owner = 1, .offset = 64, .bytes = 99}},
                                    .words = {7, -1}}})
          .layout;
  EXPECT_EQ(layout.buffers.at(0).role, BufferRole::scratch);
  const HelloRequest hello = sent(HelloRequest{.target = Target::cuda, .device = 3});
  EXPECT_EQ(hello.target, Target::cuda);
  EXPECT_EQ(hello.device, 3);
  EXPECT_TRUE(sent(RunRequest{.read_back = true}).read_back);
  const RunRequest refresh = sent(RunRequest{.refresh_set = 1, .refresh_from = {.handle = "ab", .offsets = {0, 256}}});
  EXPECT_EQ(refresh.refresh_set, 1);
  EXPECT_EQ(refresh.refresh_from.handle, "ab");
  EXPECT_EQ(refresh.refresh_from.offsets, (std::vector<std::int64_t>{0, 256}));
  EXPECT_EQ(sent(KeepRequest{.bytes = 1 << 20}).bytes, 1 << 20);
  const SharedTensorsLayout kept =
      sent(AttachRequest{.layout = {.kept = {{}, {.handle = "cd", .offsets = {512}}}}}).layout;
  EXPECT_FALSE(kept.is_kept(0));
  EXPECT_TRUE(kept.is_kept(1));
  EXPECT_FALSE(kept.is_kept(2));
  EXPECT_TRUE(sent(ContinueRequest{.read_back = true}).read_back);
  EXPECT_EQ(sent(HelloRequest{.guards_off = {"poison"}}).guards_off, (std::vector<std::string>{"poison"}));
  EXPECT_TRUE(sent(RunRequest{.activity = true}).activity);
  EXPECT_FALSE(sent(RunRequest{}).activity);
  EXPECT_EQ(sent(CopyRequest{.bytes = 1 << 30, .samples = 7}).samples, 7);
  const LaunchPlan plan{.launches = {{.kernel = "k",
                                      .grid = {2147483647, 2, 3},
                                      .block = {4, 5, 6},
                                      .cluster = {7, 8, 9},
                                      .shared_bytes = 232448,
                                      .cooperative = true,
                                      .persist = 2},
                                     {.kernel = "second"}},
                        .keeps_state = true};
  EXPECT_EQ(sent(LoadRequest{.path = "a.cubin", .plan = plan}).plan, plan);
  const LaunchPlan library{.library = true};
  EXPECT_EQ(sent(LoadRequest{.path = "a.so", .plan = library}).plan, library);
  EXPECT_EQ(layout.buffers.at(0).bytes, 99);
  EXPECT_EQ(layout.words, (std::vector<std::int64_t>{7, -1}));
}

TEST(Protocol, WhichSampleIsLookedAtIsNotToldToAWorkerThatPausesAfterEach) {
  const RunRequest run{.verify_after = 2, .pause_each = true};
  EXPECT_TRUE(sent(run).pause_each);
  EXPECT_EQ(sent(run).verify_after, -1);
}

TEST(Protocol, RepliesKeepEveryField) {
  const Reply reply{.nonce = "n2",
                    .samples = {{.slot = 1,
                                 .set = 2,
                                 .begin_ns = 3,
                                 .end_ns = 4,
                                 .device_ns = 9,
                                 .activity_ns = 10,
                                 .activity_kernels = 11}},
                    .paused = true,
                    .base = 0x7fff12345678,
                    .kept = "0badcafe",
                    .inputs_unchanged = true,
                    .confinement = "seccomp",
                    .device = DeviceFacts{.index = 1,
                                          .name = "NVIDIA H200",
                                          .uuid = "GPU-1",
                                          .major = 9,
                                          .minor = 0,
                                          .sms = 132,
                                          .threads_per_block = 1024,
                                          .threads_per_sm = 2048,
                                          .shared_per_block = 232448,
                                          .shared_per_sm = 233472,
                                          .registers_per_sm = 65536,
                                          .l2_bytes = 60 << 20,
                                          .persisting_l2_bytes = 1,
                                          .memory_bytes = std::int64_t{139} << 30,
                                          .sm_mhz = 1980,
                                          .memory_mhz = 3201,
                                          .driver = "580"},
                    .state = DeviceState{.sm_mhz = 1980, .throttle_bits = 4, .celsius = 40, .watts = 300},
                    .copy_ns = {5, 6},
                    .activity_missing = "no CUPTI"};
  const auto decoded = decode_reply(encode(reply));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->samples, reply.samples);
  EXPECT_TRUE(decoded->paused);
  EXPECT_EQ(decoded->base, reply.base);
  EXPECT_EQ(decoded->kept, "0badcafe");
  EXPECT_TRUE(decoded->inputs_unchanged);
  EXPECT_EQ(decoded->confinement, "seccomp");
  EXPECT_EQ(decoded->device, reply.device);
  ASSERT_TRUE(decoded->state);
  EXPECT_EQ(decoded->state->sm_mhz, 1980);
  EXPECT_EQ(decoded->state->throttle_bits, 4u);
  EXPECT_EQ(decoded->copy_ns, reply.copy_ns);
  EXPECT_EQ(decoded->activity_missing, "no CUPTI");
  EXPECT_FALSE(decoded->failure);
}

TEST(Protocol, FailureMayHoldAnyBytes) {
  const auto decoded = decode_reply(encode(Reply{
      .nonce = "n", .failure = Failure{.outcome = Outcome::refused, .evidence = "\xff\xfe \" \n end", .slot = 1}}));
  ASSERT_TRUE(decoded && decoded->failure);
  EXPECT_EQ(decoded->failure->outcome, Outcome::refused);
  EXPECT_EQ(decoded->failure->slot, 1);
  EXPECT_NE(decoded->failure->evidence.find("end"), std::string::npos);
}

class HostileReply : public ::testing::TestWithParam<const char*> {};

TEST_P(HostileReply, IsNoReply) {
  EXPECT_FALSE(decode_reply(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(
    Protocol, HostileReply,
    ::testing::Values("", "\n", "null", "[]", "{}", "7", "{\"nonce\":7}", "{\"nonce\":\"n\"",
                      "{\"nonce\":\"n\",\"samples\":3}", "{\"nonce\":\"n\",\"samples\":[[1,2]]}",
                      "{\"nonce\":\"n\",\"samples\":[[0,0,\"x\",0,0,0,0]]}",
                      "{\"nonce\":\"n\",\"samples\":[[0,0,0,0,0,0]]}",
                      "{\"nonce\":\"n\",\"samples\":[[0,0,0,0,0,0,\"2\"]]}", "{\"nonce\":\"n\",\"activity_missing\":7}",
                      "{\"nonce\":\"n\",\"failure\":{\"outcome\":\"valid\",\"evidence\":\"\",\"slot\":0}}",
                      "{\"nonce\":\"n\",\"failure\":{\"outcome\":\"excellent\",\"evidence\":\"\",\"slot\":0}}",
                      "{\"nonce\":\"n\",\"paused\":\"yes\"}", "\xff\xfe\x00"));

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

TEST(Protocol, ProfileRequestsSurviveTheWayToTheWorker) {
  const Request count = decode_request(encode(
      Request{.nonce = "n",
              .body = CountRequest{.slot = 1, .metrics = {"a.sum"}, .cache = CachePolicy::warm, .read_back = true}}));
  const auto& counted = std::get<CountRequest>(count.body);
  EXPECT_EQ(counted.slot, 1);
  EXPECT_EQ(counted.metrics, std::vector<std::string>{"a.sum"});
  EXPECT_EQ(counted.cache, CachePolicy::warm);
  EXPECT_TRUE(counted.read_back);
  const Request sample = decode_request(encode(
      Request{.nonce = "n",
              .body = SampleRequest{.slot = 1, .repetitions = 5, .cache = CachePolicy::cold, .period_log2 = 12}}));
  const auto& sampled = std::get<SampleRequest>(sample.body);
  EXPECT_EQ(sampled.repetitions, 5);
  EXPECT_EQ(sampled.cache, CachePolicy::cold);
  EXPECT_EQ(sampled.period_log2, 12);
  const Request instructions = decode_request(encode(Request{.nonce = "n", .body = InstructionRequest{.slot = 1}}));
  EXPECT_EQ(std::get<InstructionRequest>(instructions.body).slot, 1);
}

}  // namespace
}  // namespace apo
