// harness/worker/protocol/profile_results.cpp - counters and PC samples as JSON.
#include "harness/worker/protocol/profile_results.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace apo {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json values_of(const LaunchCounters& launch) {
  Json values = Json::array();
  for (const double value : launch.values) {
    values.push_back(std::isfinite(value) ? Json(value) : Json());
  }
  return values;
}

LaunchCounters launch_from(const Json& json, std::size_t metrics) {
  LaunchCounters launch{.kernel = json.at(0), .values = {}};
  for (const Json& value : json.at(1)) {
    launch.values.push_back(value.is_null() ? std::nan("") : value.get<double>());
  }
  if (launch.values.size() != metrics) {
    throw std::runtime_error("a launch without one value for each metric");
  }
  return launch;
}

}  // namespace

std::string encode(const CounterReport& report) {
  Json launches = Json::array();
  for (const LaunchCounters& launch : report.launches) {
    launches.push_back({launch.kernel, values_of(launch)});
  }
  Json refused = Json::array();
  for (const RefusedMetric& one : report.refused) {
    refused.push_back({one.metric, one.why});
  }
  Json steps = Json::array();
  for (const CountingStep& one : report.steps) {
    steps.push_back({one.what, one.seconds});
  }
  return text_of({{"metrics", report.metrics},
                  {"launches", launches},
                  {"refused", refused},
                  {"clamped", report.clamped},
                  {"passes", report.passes},
                  {"chip", report.chip},
                  {"missing", report.missing},
                  {"steps", steps}});
}

std::string encode(const SampleReport& report) {
  Json samples = Json::array();
  for (const StallSample& one : report.samples) {
    samples.push_back({one.kernel, one.pc_offset, one.file, one.line, one.stall, one.samples, one.opcode,
                       one.cause_file, one.cause_line, one.inlined});
  }
  return text_of(
      {{"samples", samples}, {"total", report.total}, {"dropped", report.dropped}, {"missing", report.missing}});
}

std::string encode(const InstructionReport& report) {
  Json instructions = Json::array();
  for (const InstructionCount& one : report.instructions) {
    instructions.push_back({one.kernel, one.pc_offset, one.opcode, one.file, one.line, one.values});
  }
  return text_of({{"instructions", instructions},
                  {"kernels", report.kernels},
                  {"missing", report.missing},
                  {"attempts", report.attempts}});
}

std::optional<CounterReport> decode_counters(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    CounterReport report{.metrics = json.at("metrics"),
                         .clamped = json.at("clamped"),
                         .passes = json.at("passes"),
                         .chip = json.at("chip"),
                         .missing = json.at("missing")};
    for (const Json& launch : json.at("launches")) {
      report.launches.push_back(launch_from(launch, report.metrics.size()));
    }
    for (const Json& one : json.at("refused")) {
      report.refused.push_back({.metric = one.at(0), .why = one.at(1)});
    }
    for (const Json& one : json.at("steps")) {
      report.steps.push_back({.what = one.at(0), .seconds = one.at(1)});
    }
    return report;
  } catch (const std::exception&) {
    return std::nullopt;  // the caller names the outcome
  }
}

std::optional<SampleReport> decode_samples(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    SampleReport report{
        .samples = {}, .total = json.at("total"), .dropped = json.at("dropped"), .missing = json.at("missing")};
    for (const Json& one : json.at("samples")) {
      report.samples.push_back({.kernel = one.at(0),
                                .pc_offset = one.at(1),
                                .file = one.at(2),
                                .line = one.at(3),
                                .stall = one.at(4),
                                .samples = one.at(5),
                                .opcode = one.at(6),
                                .cause_file = one.at(7),
                                .cause_line = one.at(8),
                                .inlined = one.at(9)});
    }
    return report;
  } catch (const std::exception&) {
    return std::nullopt;  // the caller names the outcome
  }
}

std::optional<InstructionReport> decode_instructions(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    InstructionReport report{.instructions = {},
                             .kernels = json.at("kernels"),
                             .missing = json.at("missing"),
                             .attempts = json.at("attempts")};
    for (const Json& one : json.at("instructions")) {
      report.instructions.push_back({.kernel = one.at(0),
                                     .pc_offset = one.at(1),
                                     .opcode = one.at(2),
                                     .file = one.at(3),
                                     .line = one.at(4),
                                     .values = one.at(5)});
      if (report.instructions.back().values.size() != kCountedKinds) {
        return std::nullopt;
      }
    }
    return report;
  } catch (const std::exception&) {
    return std::nullopt;  // the caller names the outcome
  }
}

}  // namespace apo
