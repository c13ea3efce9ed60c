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
#include "harness/loop/trial/candidate_judge.h"
#include "harness/research/proposers/answer.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

// A source of 1 MiB, each byte of it written as \u00XX, and room for the rest.
constexpr std::size_t kLongestLine = 6 * kLongestCandidate + (std::size_t{1} << 16);

const std::vector<std::string> kKeysOfLine = {"source", "variant", "name", "extension", "judge"};

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

nlohmann::json parsed(const InputLine& line) {
  if (line.too_long) {
    throw UserError(fmt::format("the line is longer than {} bytes", kLongestLine));
  }
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(line.text);
  } catch (const nlohmann::json::exception& error) {
    throw UserError(std::string("the line is not JSON: ") + error.what(), R"(write {"source": "..."} on one line)");
  }
  if (!json.is_object()) {
    throw UserError("the line is no JSON object", R"(write {"source": "..."} on one line)");
  }
  return json;
}

GivenCandidate given_by(const ProposedCandidate& line, const TemporaryFolder& folder) {
  GivenCandidate given{.variant = line.variant};
  if (line.variant.empty()) {
    given = file_of_source(line.source, line.extension, folder.path());
  }
  given.judge = line.judge;
  if (!given.judge.empty()) {
    check_candidate_judge(given.judge);
  }
  return given;
}

// A failure of neither the line nor the candidate, such as a locked journal, may be gone at the next line.
CandidateAnswer answer_of(CandidateJudge& judge, const GivenCandidate& given) {
  try {
    return judge.answer(given);
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
      const nlohmann::json json = parsed(*line);
      name = json.value("name", nlohmann::json());
      one = answer_of(judge, given_by(candidate_of(json, kKeysOfLine), folder));
    } catch (const UserError& error) {
      fail_for(one, error);
    }
    Json document = {{"name", name}};
    document.update(to_document(one));
    answer(document);
  }
}

}  // namespace apo
