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
constexpr std::size_t kMostTexts = 16;
constexpr std::size_t kMostFaults = 50;  // that are listed of an answer

const std::vector<std::string> kAnswerKeys = {"source", "file",   "extension", "variant",    "name",
                                              "author", "parent", "idea",      "techniques", "predict",
                                              "tokens", "usd",    "seconds"};

void check_keys(const Line& object, const std::vector<std::string>& known, const std::string& where = "") {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) == known.end()) {
      const std::string guess = did_you_mean(key, known);
      throw UserError(fmt::format("unknown key '{}'{}{}", key.substr(0, 40), where, guess.empty() ? "" : ", " + guess),
                      "known: " + join(known, ", "));
    }
  }
}

// Null where the line has no value of that key.
Line value_at(const Line& line, const char* key) {
  return line.contains(key) ? line[key] : Line();
}

std::string text_at(const Line& line, const char* key, std::size_t longest = kLongestText) {
  const Line value = value_at(line, key);
  if (!value.is_null() && !value.is_string()) {
    throw UserError(fmt::format("'{}' is no text", key));
  }
  const std::string text = value.is_null() ? "" : value.get<std::string>();
  if (text.size() > longest) {
    throw UserError(fmt::format("'{}' is longer than {} bytes", key, longest));
  }
  return text;
}

std::string sentence_at(const Line& line, const char* key) {
  return trim(one_line(text_at(line, key)));
}

double number_at(const Line& line, const char* key) {
  const Line value = value_at(line, key);
  if (value.is_null()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (!value.is_number() || !(value.get<double>() >= 0) || !std::isfinite(value.get<double>())) {
    throw UserError(fmt::format("'{}' is no number that is 0 or more", key));
  }
  return value.get<double>();
}

std::vector<std::string> texts_at(const Line& line, const char* key) {
  std::vector<std::string> texts;
  const Line value = value_at(line, key);
  if (!value.is_null() && (!value.is_array() || value.size() > kMostTexts)) {
    throw UserError(fmt::format("'{}' is no list of at most {} texts", key, kMostTexts));
  }
  for (const Line& one : value) {
    if (!one.is_string() || one.get<std::string>().size() > kLongestText) {
      throw UserError(fmt::format("'{}' has what is no text of at most {} bytes", key, kLongestText));
    }
    texts.push_back(one.get<std::string>());
  }
  return texts;
}

std::optional<Prediction> prediction_of(const Line& line) {
  const Line predict = value_at(line, "predict");
  if (predict.is_null()) {
    return std::nullopt;
  }
  if (!predict.is_object()) {
    throw UserError(R"('predict' is no object {"low": 1.05, "high": 1.2, "because": "..."})");
  }
  check_keys(predict, {"low", "high", "because"}, " of 'predict'");
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

// Whose they are may stand there, too.
bool says_costs_alone(const Line& line) {
  const std::size_t costs = line.count("tokens") + line.count("usd") + line.count("seconds");
  return costs > 0 && line.size() == costs + line.count("author");
}

// A list is no object, and meant as candidates.
bool is_meant_as_object(const std::string& text) {
  return (text.starts_with('{') || text.starts_with("[{")) && text.find('"') != std::string::npos;
}

// Identifies a refused line to its author.
ProposedCandidate names_of(const Line& line) {
  const auto word = [&](const char* key) {
    const Line value = line.is_object() ? value_at(line, key) : Line();
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    return text.size() > kLongestText ? "" : one_line(text);
  };
  return {.file = word("file"), .variant = word("variant"), .name = word("name"), .author = word("author")};
}

// Sets `cost` and returns nothing where a line says what the call cost.
std::optional<ProposedCandidate> read_line(const std::string& text, ProposalCost& cost) {
  Line line;
  try {
    line = json_object(text);
    if (!says_costs_alone(line)) {
      return candidate_of(line, kAnswerKeys);
    }
    cost = cost_of(line);
    return std::nullopt;
  } catch (const UserError& error) {
    ProposedCandidate refused = names_of(line);
    refused.fault = with_hint(error);
    return refused;
  }
}

}  // namespace

nlohmann::json json_object(const std::string& text) {
  Line line;
  try {
    line = Line::parse(text);
  } catch (const Line::parse_error& error) {
    throw UserError(fmt::format("no JSON from byte {} on: cut off, or not UTF-8", error.byte));
  } catch (const Line::out_of_range&) {
    throw UserError("it has a number that is out of range");
  }
  if (!line.is_object()) {
    throw UserError("it is no JSON object", "each candidate is an object on a line of its own");
  }
  return line;
}

ProposedCandidate candidate_of(const nlohmann::json& line, const std::vector<std::string>& keys) {
  check_keys(line, keys);
  ProposedCandidate candidate{.source = text_at(line, "source", kLongestCandidate),
                              .file = text_at(line, "file"),
                              .extension = text_at(line, "extension"),
                              .function = text_at(line, "function"),
                              .lines = texts_at(line, "lines"),
                              .variant = text_at(line, "variant"),
                              .name = text_at(line, "name"),
                              .author = sentence_at(line, "author"),
                              .parent = sentence_at(line, "parent"),
                              .idea = sentence_at(line, "idea"),
                              .techniques = texts_at(line, "techniques"),
                              .prediction = prediction_of(line),
                              .judge = text_at(line, "judge"),
                              .cost = cost_of(line)};
  if (candidate.source.empty() + candidate.file.empty() + candidate.variant.empty() != 2) {
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
  std::size_t readable = 0;
  std::size_t faults = 0;
  int number = 0;
  for (const std::string& text : split(output, '\n')) {
    ++number;
    const std::string trimmed = trim(text);
    if (trimmed.empty()) {
      continue;
    }
    if (!is_meant_as_object(trimmed)) {
      answer.first_text_line = ++answer.text_lines == 1 ? number : answer.first_text_line;
      continue;
    }
    auto candidate = read_line(trimmed, answer.cost);
    if (!candidate) {
      continue;
    }
    candidate->line = number;
    if (candidate->fault.empty() && ++readable > most) {
      candidate->fault = fmt::format("no more than {} candidates of an answer are read", most);
    }
    if (!candidate->fault.empty() && ++faults > kMostFaults) {
      ++answer.unlisted;
    } else {
      answer.candidates.push_back(std::move(*candidate));
    }
  }
  return answer;
}

}  // namespace apo
