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
  const auto is_cost = [](const auto& item) {
    return item.key() == "tokens" || item.key() == "usd" || item.key() == "seconds";
  };
  const auto items = line.items();
  return std::any_of(items.begin(), items.end(), is_cost) &&
         std::all_of(items.begin(), items.end(),
                     [&](const auto& item) { return is_cost(item) || item.key() == "author"; });
}

// A list is no object, and meant as candidates.
bool is_meant_as_object(const std::string& text) {
  return (text.starts_with('{') || text.starts_with("[{")) && text.find('"') != std::string::npos;
}

// Identifies a refused line to its author.
ProposedCandidate names_of(const Line& line) {
  const auto word = [&](const char* key) {
    const auto found = line.is_object() ? line.find(key) : line.end();
    const std::string text = found != line.end() && found->is_string() ? found->get<std::string>() : "";
    return text.size() > kLongestText ? "" : one_line(text);
  };
  return {.file = word("file"), .variant = word("variant"), .name = word("name"), .author = word("author")};
}

struct ReadLine {
  std::optional<ProposalCost> cost;  // of the call; else
  ProposedCandidate candidate;
};

ReadLine read_line(const std::string& text) {
  Line line;
  try {
    line = json_object(text);
    return says_costs_alone(line) ? ReadLine{.cost = cost_of(line), .candidate = {}}
                                  : ReadLine{.cost = {}, .candidate = candidate_of(line, kAnswerKeys)};
  } catch (const UserError& error) {
    ProposedCandidate refused = names_of(line);
    refused.fault = with_hint(error);
    return {.cost = {}, .candidate = std::move(refused)};
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
    auto [cost, candidate] = read_line(trimmed);
    if (cost) {
      answer.cost = *cost;
      continue;
    }
    candidate.line = number;
    if (candidate.fault.empty() && ++readable > most) {
      candidate.fault = fmt::format("no more than {} candidates of an answer are read", most);
    }
    if (!candidate.fault.empty() && ++faults > kMostFaults) {
      ++answer.unlisted;
    } else {
      answer.candidates.push_back(std::move(candidate));
    }
  }
  return answer;
}

}  // namespace apo
