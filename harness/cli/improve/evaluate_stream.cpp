// harness/cli/improve/evaluate_stream.cpp - reads lines of bounded length, and turns every mistake into an answer.
#include "harness/cli/improve/evaluate_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/loop/policy.h"
#include "harness/loop/trial/candidate_source.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

// A source of 1 MiB, each byte of it written as \u00XX, and room for the rest.
constexpr std::size_t kLongestLine = 6 * kLongestCandidate + (std::size_t{1} << 16);

const std::vector<std::string> kKeysOfLine = {"source", "name", "extension", "judge"};

struct InputLine {
  std::string text;  // without its end
  bool too_long = false;
};

// nullopt at the end of the input. The rest of a line that is too long is skipped.
std::optional<InputLine> next_line(std::FILE* input) {
  InputLine line;
  int c = std::fgetc(input);
  if (c == EOF) {
    return std::nullopt;
  }
  for (; c != EOF && c != '\n'; c = std::fgetc(input)) {
    line.too_long = line.too_long || line.text.size() == kLongestLine;
    if (!line.too_long) {
      line.text.push_back(static_cast<char>(c));
    }
  }
  return line;
}

Json parsed(const InputLine& line) {
  if (line.too_long) {
    throw UserError(fmt::format("the line is longer than {} bytes", kLongestLine));
  }
  Json json;
  try {
    json = Json::parse(line.text);
  } catch (const Json::exception& error) {
    throw UserError(std::string("the line is not JSON: ") + error.what(), R"(write {"source": "..."} on one line)");
  }
  if (!json.is_object()) {
    throw UserError("the line is no JSON object", R"(write {"source": "..."} on one line)");
  }
  return json;
}

std::string text_at(const Json& json, const std::string& key) {
  if (!json.contains(key)) {
    return "";
  }
  if (!json[key].is_string()) {
    throw UserError("'" + key + "' is not a string");
  }
  return json[key].get<std::string>();
}

void check_keys(const Json& json) {
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::find(kKeysOfLine, key) == kKeysOfLine.end()) {
      throw UserError("unknown key '" + key + "'",
                      did_you_mean(key, kKeysOfLine) + " known: " + join(kKeysOfLine, ", "));
    }
  }
  if (!json.contains("source")) {
    throw UserError("the line has no 'source'");
  }
}

CandidateFile file_of(const Json& json, const TemporaryFolder& folder) {
  check_keys(json);
  CandidateFile file = file_of_source(text_at(json, "source"), text_at(json, "extension"), folder.path());
  file.judge = text_at(json, "judge");
  if (!file.judge.empty()) {
    check_candidate_judge(file.judge);
  }
  return file;
}

// What is neither the line's fault nor the candidate's, as a journal that somebody holds, may be gone at the next line.
CandidateAnswer answer_of(CandidateJudge& judge, const CandidateFile& file) {
  try {
    return judge.answer(file);
  } catch (const UserError& error) {
    CandidateAnswer answer;
    fail_for(answer, EnvironmentError(error.what(), error.hint()));
    return answer;
  }
}

}  // namespace

void answer_lines(CandidateJudge& judge, std::FILE* input, const std::function<void(const Json&)>& answer) {
  const TemporaryFolder folder;
  while (const std::optional<InputLine> line = next_line(input)) {
    Json name;
    CandidateAnswer one;
    try {
      const Json json = parsed(*line);
      if (json.contains("name")) {
        name = json["name"];
        static_cast<void>(text_at(json, "name"));
      }
      one = answer_of(judge, file_of(json, folder));
    } catch (const UserError& error) {
      fail_for(one, error);
    }
    Json document = {{"name", name}};
    document.update(to_document(one));
    answer(document);
  }
}

}  // namespace apo
