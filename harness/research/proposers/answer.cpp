// harness/research/proposers/answer.cpp - checks each field of a line before any of it is used.
#include "harness/research/proposers/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "harness/core/sources.h"
#include "harness/core/text.h"

namespace apo {
namespace {

using Line = nlohmann::json;

constexpr std::size_t kLongestText = 500;
constexpr std::size_t kMostTechniques = 16;

const std::vector<std::string> kAnswerKeys = {"source", "file",   "extension", "variant",    "name",
                                              "author", "parent", "idea",      "techniques", "predict",
                                              "tokens", "usd",    "seconds"};

void check_keys(const Line& line, const std::vector<std::string>& known) {
  for (const auto& [key, value] : line.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      const std::string guess = did_you_mean(key, known);
      throw UserError(fmt::format("unknown key '{}'; {}", key.substr(0, 40),
                                  guess.empty() ? "known: " + join(known, ", ") : guess));
    }
  }
}

std::string text_at(const Line& line, const char* key, std::size_t longest = kLongestText) {
  if (!line.contains(key) || line[key].is_null()) {
    return "";
  }
  if (!line[key].is_string()) {
    throw UserError(fmt::format("'{}' is no text", key));
  }
  const std::string text = line[key].get<std::string>();
  if (text.size() > longest) {
    throw UserError(fmt::format("'{}' is longer than {} bytes", key, longest));
  }
  return text;
}

std::string sentence_at(const Line& line, const char* key) {
  return trim(one_line(text_at(line, key)));
}

double number_at(const Line& line, const char* key) {
  if (!line.contains(key) || line[key].is_null()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (!line[key].is_number() || !(line[key].get<double>() >= 0) || !std::isfinite(line[key].get<double>())) {
    throw UserError(fmt::format("'{}' is no number that is 0 or more", key));
  }
  return line[key].get<double>();
}

std::vector<std::string> techniques_of(const Line& line) {
  std::vector<std::string> techniques;
  if (!line.contains("techniques") || line["techniques"].is_null()) {
    return techniques;
  }
  if (!line["techniques"].is_array() || line["techniques"].size() > kMostTechniques) {
    throw UserError(fmt::format("'techniques' is no list of at most {} words", kMostTechniques));
  }
  for (const Line& one : line["techniques"]) {
    if (!one.is_string() || one.get<std::string>().size() > kLongestText) {
      throw UserError("a technique is no word");
    }
    techniques.push_back(one.get<std::string>());
  }
  return techniques;
}

std::optional<Prediction> prediction_of(const Line& line) {
  if (!line.contains("predict") || line["predict"].is_null()) {
    return std::nullopt;
  }
  const Line& predict = line["predict"];
  if (!predict.is_object()) {
    throw UserError(R"('predict' is no object {"low": 1.05, "high": 1.2, "because": "..."})");
  }
  Prediction prediction{
      .low = number_at(predict, "low"), .high = number_at(predict, "high"), .because = sentence_at(predict, "because")};
  if (!(prediction.low > 0) || !(prediction.low <= prediction.high)) {
    throw UserError("the prediction is no band: 'low' and 'high' are speed-ups, 0 < low <= high");
  }
  return prediction;
}

ProposalCost cost_of(const Line& line) {
  return {.tokens = number_at(line, "tokens"), .usd = number_at(line, "usd"), .seconds = number_at(line, "seconds")};
}

bool says_costs_alone(const Line& line) {
  for (const auto& [key, value] : line.items()) {
    if (key != "tokens" && key != "usd" && key != "seconds") {
      return false;
    }
  }
  return !line.empty();
}

}  // namespace

ProposedCandidate candidate_of(const nlohmann::json& line, const std::vector<std::string>& keys) {
  check_keys(line, keys);
  ProposedCandidate candidate{.source = text_at(line, "source", kLongestCandidate),
                              .file = text_at(line, "file"),
                              .extension = text_at(line, "extension"),
                              .variant = text_at(line, "variant"),
                              .name = text_at(line, "name"),
                              .author = sentence_at(line, "author"),
                              .parent = sentence_at(line, "parent"),
                              .idea = sentence_at(line, "idea"),
                              .techniques = techniques_of(line),
                              .prediction = prediction_of(line),
                              .judge = text_at(line, "judge"),
                              .cost = cost_of(line)};
  const int given = static_cast<int>(!candidate.source.empty()) + static_cast<int>(!candidate.file.empty()) +
                    static_cast<int>(!candidate.variant.empty());
  if (given != 1) {
    throw UserError(std::ranges::find(keys, "file") != keys.end()
                        ? "a candidate has one of 'source', 'file' and 'variant'"
                        : "a candidate has one of 'source' and 'variant'");
  }
  if (!candidate.extension.empty() && !is_source_extension(candidate.extension)) {
    throw UserError("'extension' is '.cpp', '.cu' or '.py'");
  }
  return candidate;
}

ProposerAnswer read_answer(std::string_view output, std::size_t most) {
  ProposerAnswer answer;
  int number = 0;
  for (const std::string& text : split(output, '\n')) {
    ++number;
    const std::string trimmed = trim(text);
    const bool meant = trimmed.starts_with('{') && trimmed.find('"') != std::string::npos;
    const Line line = meant ? Line::parse(trimmed, nullptr, false) : Line();
    if (meant && !line.is_object()) {
      answer.unread.push_back({.line = number, .why = "no JSON object: cut off, or not UTF-8"});
    }
    if (!line.is_object()) {
      answer.chatter += trimmed.empty() || meant ? 0 : 1;
      continue;
    }
    try {
      if (says_costs_alone(line)) {
        answer.cost = cost_of(line);
        continue;
      }
      ProposedCandidate candidate = candidate_of(line, kAnswerKeys);
      if (answer.candidates.size() == most) {
        ++answer.beyond;
        continue;
      }
      candidate.line = number;
      answer.candidates.push_back(std::move(candidate));
    } catch (const UserError& unreadable) {
      answer.unread.push_back({.line = number, .why = unreadable.what()});
    }
  }
  return answer;
}

}  // namespace apo
