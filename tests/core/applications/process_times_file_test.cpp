// tests/core/applications/process_times_file_test.cpp - the file of a profiled process comes back whole, and a wrong
// one is refused.
#include "harness/core/applications/process_times_file.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "harness/core/error.h"
#include "tests/text.h"

namespace apo {
namespace {

ProcessTimes a_recording() {
  ProcessTimes recording{.pid = 41,
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

std::string refusal(const std::string& text) {
  return error_of([&] { decode_times(text); });
}

TEST(RecordingFile, ComesBackWhole) {
  EXPECT_EQ(decode_times(encode_times(a_recording())), a_recording());
}

TEST(RecordingFile, CutOffAnywhereIsRefused) {
  const std::string whole = encode_times(a_recording());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(refusal(whole.substr(0, size)), "") << size;
  }
}

TEST(RecordingFile, AChangedByteIsRefusedOrStillConsistent) {
  const std::string whole = encode_times(a_recording());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char other : {'9', '-', '"', ',', '\\', '\0', '\xff'}) {
      std::string text = whole;
      text[at] = other;
      try {
        for (const DeviceBusy& busy : decode_times(text).devices) {
          EXPECT_GE(busy.span_ns(), busy.busy_ns);
        }
      } catch (const UserError& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with("no recording of a process"));
      }
    }
  }
}

TEST(RecordingFile, AnotherFileOrFieldIsRefusedByName) {
  EXPECT_NE(refusal("ELF").find("parse error"), std::string::npos);
  EXPECT_NE(refusal("[]").find("no record"), std::string::npos);
  std::string text = encode_times(a_recording());
  text.replace(text.find("\"copy\""), 6, "\"gemm\"");
  EXPECT_NE(refusal(text).find("kind is an unknown word"), std::string::npos) << refusal(text);
}

TEST(RecordingFile, EachLieIsNamed) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::pair<std::function<void(ProcessTimes&)>, std::string> kLies[] = {
      {[](auto& one) { one.pid = -1; }, "cannot be"},
      {[](auto& one) { one.untimed = kMost; }, "cannot be"},
      {[](auto& one) { one.work[0].calls = 0; }, "contradict"},
      {[](auto& one) { one.work[0].calls = -1; }, "contradict"},
      {[](auto& one) { one.work[0].min_ns = 31; }, "contradict"},
      {[](auto& one) { one.work[0].min_ns = -1; }, "contradict"},
      {[](auto& one) { one.work[0].max_ns = 61; }, "contradict"},
      {[](auto& one) { one.work[1].bytes = kMost; }, "contradict"},
      {[](auto& one) { one.work[0].total_ns = kMost; }, "more time than a process can have"},
      {[](auto& one) { one.work.resize(4, {.calls = 1, .total_ns = 9'000'000'000'000'000}); }, "more time than"},
      {[](auto& one) { one.devices[0].busy_ns += 1; }, "do not make up the span"},
      {[](auto& one) { one.devices[0].gaps[0].ns = kMost; }, "do not make up the span"},
      {[](auto& one) { one.devices[0].gaps[0].count = -1; }, "do not make up the span"},
      {[](auto& one) { one.devices[0].first_ns = -kMost; }, "do not make up the span"},
      {[](auto& one) { one.devices[0].last_ns = 0; }, "do not make up the span"},
      {[](auto& one) { one.ranges[1].parent = 1; }, "within one that is not there"},
      {[](auto& one) { one.ranges[0].parent = -2; }, "within one that is not there"},
      {[](auto& one) { one.ranges[0].work[0].work = 2; }, "a range that is not there"},
      {[](auto& one) { one.ranges[0].work[0].calls = 2; }, "more work than there was"},
      {[](auto& one) { one.ranges[0].work[0].total_ns = -1; }, "more work than there was"},
      {[](auto& one) { one.ranges.resize(1025); }, "more ranges than are told apart"},
      {[](auto& one) {
         for (std::int64_t parent = 1; parent < 64; ++parent) {
           one.ranges.push_back({.parent = parent});
         }
       },
       "more ranges than are told apart"},
  };
  for (const auto& [lie, part] : kLies) {
    ProcessTimes recording = a_recording();
    lie(recording);
    const std::string error = refusal(encode_times(recording));
    EXPECT_NE(error.find(part), std::string::npos) << part << ": " << error;
  }
}

}  // namespace
}  // namespace apo
