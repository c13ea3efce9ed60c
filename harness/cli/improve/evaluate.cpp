// harness/cli/improve/evaluate.cpp - `apo evaluate`: one candidate in, one document out, for scripts and agents.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/loop/trial/candidate_judge.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestSource = std::size_t{1} << 20;

struct EvaluateOptions {
  std::string file;
  TrialChoice choice;
  double at_least = 0;
};

// All of standard input.
std::string piped_source() {
  std::string text;
  char buffer[1 << 16];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof(buffer), stdin)) > 0;) {
    text.append(buffer, got);
    if (text.size() > kLongestSource) {
      throw UserError("the source is longer than 1 MiB");
    }
  }
  return text;
}

// By what only a source of that language has.
std::string extension_of(const std::string& source) {
  const bool device =
      source.find("__global__") != std::string::npos || source.find("cudaStream_t") != std::string::npos;
  return device ? ".cu" : source.find("@triton.jit") != std::string::npos ? ".py" : ".cpp";
}

// The candidate as a file. One from a pipe is named by its text, so that the same text is the same variant.
CandidateFile candidate_file(const std::string& file, const TemporaryFolder& folder) {
  const std::string source = file == "-" ? piped_source() : read_file(file);
  if (source.empty() || source.size() > kLongestSource) {
    throw UserError(fmt::format("'{}' is {}", file, source.empty() ? "empty" : "longer than 1 MiB"));
  }
  if (file != "-") {
    return {.path = file, .shown = file};
  }
  const fs::path path = folder.path() / ("candidate_" + sha256(source).substr(0, 8) + extension_of(source));
  write_file_atomically(path, source);
  return {.path = path.string(), .shown = path.filename().string()};
}

std::string text_of(const CandidateAnswer& answer) {
  std::string text = fmt::format("variant: {}\nverdict: {}\nscore: {}\n", answer.variant, to_string(answer.verdict),
                                 format_g(answer.score));
  if (answer.experiment && has_effect(*answer.experiment)) {
    const Judgement& judgement = *answer.experiment->judgement;
    text += fmt::format("speedup: {}\nlower: {}\nupper: {}\n", format_g(judgement.speedup()),
                        format_g(judgement.speedup_lower()), format_g(judgement.speedup_upper()));
  }
  if (answer.experiment) {
    text += fmt::format("experiment: {}\nagainst: {}\n", answer.experiment->id, answer.experiment->incumbent.label());
  }
  for (const GateResult& gate : answer.gates) {
    text += fmt::format("gate.{}: {}\n", gate.gate, to_string(gate.outcome));
  }
  for (const std::string& line : answer.feedback) {
    text += "feedback: " + one_line(line) + "\n";
  }
  return text;
}

int exit_code_of(const CandidateAnswer& answer, double at_least) {
  switch (answer.verdict) {
    case CandidateVerdict::wrong:
      return kUserMistake;
    case CandidateVerdict::not_judged:
      return kEnvironmentTrouble;
    case CandidateVerdict::accepted:
    case CandidateVerdict::reverted:
    case CandidateVerdict::inconclusive:
    case CandidateVerdict::ranked:
    case CandidateVerdict::incumbent:
      break;
  }
  return answer.score < at_least ? kGateFailed : kDone;
}

int evaluate_file(const EvaluateOptions& options, const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  ConsoleObserver observer(globals);
  CandidateJudge judge(workspace, options.choice, observer);
  const TemporaryFolder folder;
  const CandidateAnswer answer = judge.answer(candidate_file(options.file, folder));
  judge.finish();
  if (globals.json) {
    print_json(to_document(answer));
  } else {
    print(text_of(answer));
  }
  return exit_code_of(answer, options.at_least);
}

}  // namespace

Action define_evaluate(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<EvaluateOptions>();
  app.add_option("file", options->file, "the candidate's source file; - reads it from standard input")->required();
  app.add_option("--family", options->choice.family, "the operation that it computes; 'apo list' shows them")
      ->required();
  app.add_option("--workload", options->choice.workloads, "workload to judge on (default: the first for the target)")
      ->expected(1);
  app.add_option("--at-least", options->at_least, "exit with 3 when the score is below this ratio")
      ->check(CLI::PositiveNumber);
  app.add_option("--cache", options->choice.cache,
                 "cold (flush the caches before every sample) or warm (default: cold)");
  app.add_option("--judge", options->choice.judge,
                 "judge preset: auto, standard, extended, strict or precise; or quick, which ranks without a decision");
  return [options, &globals] { return evaluate_file(*options, globals); };
}

}  // namespace apo
