// harness/worker/protocol/profile_results.cpp - counters, PC samples and images as JSON.
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

std::string encode_images(const std::vector<std::string>& images) {
  nlohmann::json sizes = nlohmann::json::array();
  std::string bytes;
  for (const std::string& image : images) {
    sizes.push_back(image.size());
    bytes += image;
  }
  return sizes.dump() + "\n" + bytes;
}

std::optional<std::vector<std::string>> decode_images(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  try {
    std::vector<std::string> images;
    std::string_view left = text.substr(end + 1);
    const nlohmann::json sizes = nlohmann::json::parse(text.substr(0, end));
    if (!sizes.is_array()) {
      return std::nullopt;
    }
    for (const nlohmann::json& one : sizes) {
      const std::size_t size = one.is_number_unsigned() ? one.get<std::size_t>() : std::string::npos;
      if (size > left.size()) {
        return std::nullopt;
      }
      images.emplace_back(left.substr(0, size));
      left.remove_prefix(size);
    }
    return left.empty() ? std::optional(images) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace apo
