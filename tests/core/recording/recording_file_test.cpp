// tests/core/recording/recording_file_test.cpp - the file of a profiled process comes back whole, and a wrong one is
// refused.
#include "harness/core/recording/recording_file.h"

#include <gtest/gtest.h>

#include "harness/core/error.h"

namespace apo {
namespace {

ProcessRecording a_recording() {
  ProcessRecording recording{.pid = 41,
                             .parent = 40,
                             .program = "python3 \\t a\tb\nc",
                             .library = "libcupti.so.13 130001",
                             .complete = true,
                             .dropped = 2,
                             .untimed = 1};
  recording.work = {{.name = "_Z1kPf\t\\n\n", .calls = 3, .total_ns = 60, .min_ns = 10, .max_ns = 30},
                    {.kind = WorkKind::copy,
                     .name = "memcpy HtoD",
                     .calls = 1,
                     .total_ns = 5,
                     .min_ns = 5,
                     .max_ns = 5,
                     .bytes = 1'024}};
  recording.ranges = {{.name = "step\t1", .entered = 4, .work = {{.work = 0, .calls = 1, .total_ns = 20}}},
                      {.name = "forward",
                       .parent = 0,
                       .entered = 2,
                       .work = {{.work = 0, .calls = 2, .total_ns = 40}, {.work = 1, .calls = 1, .total_ns = 5}}}};
  GpuTimeline timeline;
  timeline.add(1'000, 1'060);
  timeline.add(9'000, 9'005);
  recording.devices.push_back(timeline.busy());
  recording.devices.back().device = 3;
  return recording;
}

std::string error_of(const std::string& text) {
  try {
    decode_recording(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(RecordingFile, ComesBackWhole) {
  const ProcessRecording written = a_recording();
  const ProcessRecording read = decode_recording(encode_recording(written));
  EXPECT_EQ(read.pid, 41);
  EXPECT_EQ(read.program, written.program);
  EXPECT_EQ(read.library, written.library);
  EXPECT_TRUE(read.complete);
  EXPECT_EQ(read.dropped, 2);
  ASSERT_EQ(read.work.size(), 2U);
  EXPECT_EQ(read.work[0].name, written.work[0].name);
  EXPECT_EQ(read.work[0].total_ns, 60);
  EXPECT_EQ(read.work[1].kind, WorkKind::copy);
  EXPECT_EQ(read.work[1].bytes, 1'024);
  ASSERT_EQ(read.ranges.size(), 2U);
  EXPECT_EQ(read.ranges[0].name, "step\t1");
  EXPECT_EQ(read.ranges[0].parent, -1);
  EXPECT_EQ(read.ranges[1].parent, 0);
  EXPECT_EQ(read.ranges[1].entered, 2);
  ASSERT_EQ(read.ranges[1].work.size(), 2U);
  EXPECT_EQ(read.ranges[1].work[1].work, 1U);
  EXPECT_EQ(read.ranges[1].work[0].total_ns, 40);
  ASSERT_EQ(read.devices.size(), 1U);
  EXPECT_EQ(read.devices[0].device, 3);
  EXPECT_EQ(read.devices[0].busy_ns, 65);
  EXPECT_EQ(read.devices[0].gaps[1].ns, 7'940);
}

TEST(RecordingFile, CutOffAnywhereIsRefused) {
  const std::string whole = encode_recording(a_recording());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(error_of(whole.substr(0, size)), "") << size;
  }
}

TEST(RecordingFile, AChangedByteIsRefusedOrStillConsistent) {
  const std::string whole = encode_recording(a_recording());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char other : {'9', '-', '\t', '\n', '\\', '\0', '\xff'}) {
      std::string text = whole;
      text[at] = other;
      try {
        for (const DeviceBusy& busy : decode_recording(text).devices) {
          EXPECT_GE(busy.span_ns(), busy.busy_ns);
        }
      } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("line"), std::string::npos);
      }
    }
  }
}

TEST(RecordingFile, EachLieIsNamed) {
  const std::string head = "apo-recording\t1\n";
  const auto with = [&](const std::string& line) { return head + line + "\nend\t2\n"; };
  const std::pair<std::string, std::string> cases[] = {
      {"", "ends after line 0"},
      {"ELF", "line 1: the line does not end"},
      {"apo-recording\t2\n", "does not start with"},
      {with("wrok\t1"), "line 2: unknown record 'wrok'"},
      {with("work\tkernel\t1\t5\t5\t5"), "too few fields"},
      {with("work\tkernel\t1\t5\t5\t5\t0\tk\tmore"), "too many fields"},
      {with("work\tkernel\t-1\t5\t5\t5\t0\tk"), "'-1' is no number"},
      {with("work\tkernel\t0\t0\t0\t0\t0\tk"), "contradict"},
      {with("work\tkernel\t2\t5\t9\t4\t0\tk"), "contradict"},
      {with("work\tkernel\t1\t99999999999999999999\t5\t5\t0\tk"), "is no number"},
      {with("work\tgemm\t1\t5\t5\t5\t0\tk"), "unknown kind of work 'gemm'"},
      {with("work\tkernel\t1\t5\t5\t5\t0\ta\\x"), "an escape that is none"},
      {with("device\t0\t10\t5\t1\t0\t0" + std::string(14, '\t')), "is no number"},
      {with("missing\tx") + "more\n", "the number of lines"},
      {with("range\t1\t1\tr"), "'1' is no number from 0 to 0"},
      {with("within\t0\t1\t1"), "a range that is not there"},
      {with("work\tkernel\t1\t5\t5\t5\t0\tk\nrange\t0\t1\tr\nwithin\t0\t1\t4\nwithin\t0\t0\t4"),
       "more work than there was"},
  };
  for (const auto& [text, part] : cases) {
    EXPECT_NE(error_of(text).find(part), std::string::npos) << text << " gives: " << error_of(text);
  }
}

TEST(RecordingFile, RangesWithinRangesWithoutEndAreRefused) {
  std::string text = "apo-recording\t1\nrange\t0\t1\tr\n";
  for (int i = 1; i <= 64; ++i) {
    text += "range\t" + std::to_string(i) + "\t1\tr\n";
  }
  EXPECT_NE(error_of(text).find("line 66: more ranges than are told apart"), std::string::npos) << error_of(text);
}

TEST(RecordingFile, MoreTimeThanCanBeIsRefusedBeforeASumOverflows) {
  std::string text = "apo-recording\t1\n";
  for (int i = 0; i < 3; ++i) {
    text += "work\tkernel\t1\t9000000000000000\t9000000000000000\t9000000000000000\t0\tk\n";
  }
  EXPECT_NE(error_of(text + "end\t4\n").find("more time than a process can have"), std::string::npos);
}

}  // namespace
}  // namespace apo
