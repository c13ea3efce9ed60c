// tests/worker/parent/evidence_test.cpp - impossible samples are found; wait statuses and sanitizer reports become
// sentences.
#include "harness/worker/parent/evidence.h"

#include <gtest/gtest.h>

#include <csignal>

#include "harness/worker/protocol/protocol.h"

namespace apo {
namespace {

constexpr int exited(int status) {
  return status << 8;
}

TEST(Evidence, ExitNamesItsStatus) {
  const Failure failure = explain({.wait_status = exited(0), .slot = 1});
  EXPECT_EQ(failure.outcome, Outcome::faulted);
  EXPECT_EQ(failure.evidence, "exited with status 0 during the call");
  EXPECT_EQ(failure.slot, 1);
}

TEST(Evidence, SignalIsNamedAndPlaced) {
  const Failure failure = explain({.wait_status = SIGSEGV,
                                   .signal = SIGSEGV,
                                   .address = 0x7f0000011000,
                                   .tensors_base = 0x7f0000000000,
                                   .tensors_bytes = 0x10000});
  EXPECT_EQ(failure.outcome, Outcome::faulted);
  EXPECT_NE(failure.evidence.find("SIGSEGV"), std::string::npos);
  EXPECT_NE(failure.evidence.find("4096 bytes past the end of the tensors' memory"), std::string::npos)
      << failure.evidence;
}

TEST(Evidence, AddressFarFromTheTensorsIsOnlyAnAddress) {
  const Failure failure = explain({.wait_status = SIGSEGV,
                                   .signal = SIGSEGV,
                                   .address = 0,
                                   .tensors_base = 0x7f0000000000,
                                   .tensors_bytes = 0x10000});
  EXPECT_EQ(failure.evidence.find("tensors"), std::string::npos) << failure.evidence;
}

TEST(Evidence, AFaultAtTheMemoryLimitIsOutOfMemory) {
  Death death{.wait_status = SIGSEGV, .signal = SIGSEGV, .data_bytes = 999, .data_limit = 1000};
  EXPECT_EQ(explain(death).outcome, Outcome::out_of_memory);
  death.data_bytes = 500;
  EXPECT_EQ(explain(death).outcome, Outcome::faulted);
}

TEST(Evidence, AKillThatWeDidNotSendIsOutOfMemoryAndTheCpuLimitATimeout) {
  EXPECT_EQ(explain({.wait_status = SIGKILL}).outcome, Outcome::out_of_memory);
  EXPECT_EQ(explain({.wait_status = SIGXCPU}).outcome, Outcome::timed_out);
}

TEST(Evidence, OutputIsAddedAndPrintable) {
  const Failure failure = explain({.wait_status = exited(2), .printed = "a\x1b[31m\nb\xff\t\t c\n"});
  EXPECT_EQ(failure.evidence, "exited with status 2 during the call; it printed: a?[31m / b? c");
}

TEST(Evidence, OnlyTheTailOfLongOutputIsKept) {
  const std::string tail = printable_tail(std::string(100'000, 'x') + "the end");
  EXPECT_EQ(tail.size(), kOutputTail);
  EXPECT_TRUE(tail.ends_with("xthe end"));
}

TEST(SanitizerReport, AddressReportBecomesOneSentence) {
  const char* printed = R"(noise
=================================================================
==123==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x7f bp 0x7ffe sp 0x7ffd
WRITE of size 2 at 0x602000000014 thread T0
    #0 0x7f12ab in apo_launch /home/me/variants/simple.cpp:88
    #1 0x55aa00 in apo::HostDevice::run(apo::RunRequest const&) /src/host_device.cpp:200
)";
  EXPECT_EQ(sanitizer_report(printed), "heap-buffer-overflow WRITE of size 2 in apo_launch simple.cpp:88");
  const Failure failure = explain({.wait_status = exited(1), .printed = printed});
  EXPECT_EQ(failure.outcome, Outcome::faulted);
  EXPECT_EQ(failure.evidence, "heap-buffer-overflow WRITE of size 2 in apo_launch simple.cpp:88");
}

TEST(SanitizerReport, FramesWithoutSourceAreSkipped) {
  const char* printed =
      "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x6 at pc 0x1\nREAD of size 4 at 0x6 thread T1\n"
      "    #0 0x7f00 in __interceptor_memcpy (/lib/libasan.so.8+0x3c)\n"
      "    #1 0x7f01 in (anonymous namespace)::gather(float const*, long) /v/gather.cpp:12\n";
  EXPECT_EQ(sanitizer_report(printed),
            "heap-use-after-free READ of size 4 in (anonymous namespace)::gather(float const*, long) gather.cpp:12");
}

TEST(SanitizerReport, UndefinedBehaviourNamesTheLine) {
  EXPECT_EQ(sanitizer_report("/v/simple.cpp:88:12: runtime error: signed integer overflow: 2147483647 + 1 cannot be "
                             "represented in type 'int'\n"),
            "undefined behaviour in simple.cpp:88: signed integer overflow: 2147483647 + 1 cannot be represented in "
            "type 'int'");
}

TEST(SanitizerReport, DataRacesNameBothLines) {
  const char* printed =
      "==================\nWARNING: ThreadSanitizer: data race (pid=7)\n"
      "  Write of size 4 at 0x7f00 by thread T2:\n    #0 operator() /tmp/a/variant.cpp:15 (slot0.so+0x1)\n    #1 x\n\n"
      "  Previous read of size 4 at 0x7f00 by main thread:\n    #0 apo_launch variant.cpp:20:3 (slot0.so+0x2)\n";
  EXPECT_EQ(sanitizer_report(printed),
            "data race: Write of size 4 in variant.cpp:15, previous read of size 4 in variant.cpp:20");
}

TEST(SanitizerReport, OrdinaryOutputIsNone) {
  EXPECT_EQ(sanitizer_report("AddressSanitizer is a tool; runtime errors are bad\n"), std::nullopt);
}

const RunRequest kRequest{.order = {0, 1}, .sets = {3, 2}};

std::vector<RawSample> honest() {
  return {{.slot = 0, .set = 3, .begin_ns = 110, .end_ns = 120}, {.slot = 1, .set = 2, .begin_ns = 130, .end_ns = 140}};
}

std::optional<std::string> mistake(const std::vector<RawSample>& samples) {
  return mistake_in(samples, kRequest, 100, 150);
}

TEST(Samples, HonestOnesPass) {
  EXPECT_EQ(mistake(honest()), std::nullopt);
}

TEST(Samples, MissingAndExtraOnesAreFound) {
  auto samples = honest();
  samples.pop_back();
  EXPECT_TRUE(mistake(samples));
  samples = honest();
  samples.push_back(samples.back());
  EXPECT_TRUE(mistake(samples));
}

TEST(Samples, AHostSampleHasNoDeviceTimeAndADeviceTimeFitsTheHosts) {
  auto samples = honest();
  samples[0].device_ns = 5;
  EXPECT_TRUE(mistake(samples)) << "a host candidate cannot have events";
  EXPECT_EQ(mistake_in(samples, kRequest, 100, 150, Target::cuda), std::nullopt);
  EXPECT_EQ(elapsed_ns(samples[0], Target::cuda), 5);
  EXPECT_EQ(elapsed_ns(samples[0], Target::host), 10);
  samples[0].device_ns = 11;
  EXPECT_TRUE(mistake_in(samples, kRequest, 100, 150, Target::cuda)) << "longer than the host waited";
  samples[0].device_ns = -1;
  EXPECT_TRUE(mistake_in(samples, kRequest, 100, 150, Target::cuda));
}

TEST(Samples, ASecondClockThatNobodyAskedForIsFound) {
  RunRequest recorded = kRequest;
  recorded.activity = true;
  auto samples = honest();
  samples[0].device_ns = 5;
  samples[0].activity_ns = 4;
  samples[0].activity_kernels = 1;
  EXPECT_EQ(mistake_in(samples, recorded, 100, 150, Target::cuda), std::nullopt);
  EXPECT_TRUE(mistake_in(samples, kRequest, 100, 150, Target::cuda)) << "not recorded";
  EXPECT_TRUE(mistake_in(samples, recorded, 100, 150)) << "nothing records a host candidate";
  samples[0].activity_ns = -4;
  EXPECT_TRUE(mistake_in(samples, recorded, 100, 150, Target::cuda));
  samples[0].activity_ns = 4;
  samples[0].activity_kernels = -1;
  EXPECT_TRUE(mistake_in(samples, recorded, 100, 150, Target::cuda));
}

TEST(Samples, AnotherOrderIsFound) {
  auto samples = honest();
  samples[0].slot = 1;
  EXPECT_TRUE(mistake(samples));
  samples = honest();
  samples[1].set = 0;
  EXPECT_TRUE(mistake(samples));
}

TEST(Samples, StampsOutsideTheRequestAreFound) {
  EXPECT_TRUE(mistake_in(honest(), kRequest, 111, 150)) << "begins before it was asked for";
  EXPECT_TRUE(mistake_in(honest(), kRequest, 100, 139)) << "ends after the reply came";
}

TEST(Samples, StampsThatRunBackwardsAreFound) {
  auto samples = honest();
  samples[1].begin_ns = samples[0].begin_ns;
  EXPECT_TRUE(mistake(samples)) << "overlaps the sample before";
  samples = honest();
  samples[0].end_ns = samples[0].begin_ns - 1;
  EXPECT_TRUE(mistake(samples));
}

TEST(Samples, APauseThatIsRewrittenIsFound) {
  const auto all = honest();
  EXPECT_TRUE(begins_with(all, {all[0]}));
  EXPECT_FALSE(begins_with(all, {all[1]}));
  EXPECT_FALSE(begins_with({all[0]}, all));
}

}  // namespace

}  // namespace apo
