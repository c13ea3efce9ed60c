// harness/worker/protocol/profile_results.cpp - counters and PC samples as JSON.
#include "harness/worker/protocol/profile_results.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "harness/core/json/codec.h"

namespace apo {

namespace {

template <class Report>
std::optional<Report> decode(std::string_view text) {
  try {
    return from_json_text<Report>(text);
  } catch (const std::exception&) {
    return std::nullopt;  // the caller names the outcome
  }
}

}  // namespace

std::string encode(const CounterReport& report) {
  return json_text(report);
}
std::string encode(const SampleReport& report) {
  return json_text(report);
}
std::string encode(const InstructionReport& report) {
  return json_text(report);
}

std::optional<CounterReport> decode_counters(std::string_view text) {
  auto report = decode<CounterReport>(text);
  const auto is_whole = [&](const LaunchCounters& launch) { return launch.values.size() == report->metrics.size(); };
  return report && std::ranges::all_of(report->launches, is_whole) ? report : std::nullopt;
}

std::optional<SampleReport> decode_samples(std::string_view text) {
  return decode<SampleReport>(text);
}

std::optional<InstructionReport> decode_instructions(std::string_view text) {
  auto report = decode<InstructionReport>(text);
  const auto is_whole = [](const InstructionCount& one) { return one.values.size() == kCountedKinds; };
  return report && std::ranges::all_of(report->instructions, is_whole) ? report : std::nullopt;
}

}  // namespace apo
