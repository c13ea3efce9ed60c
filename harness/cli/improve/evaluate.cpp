// harness/cli/improve/evaluate.cpp - `apo evaluate`: one candidate in, one document out, for scripts and agents.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/app.h"
#include "harness/cli/candidate_file.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/improve/evaluate_stream.h"
#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/loop/trial/candidate_judge.h"

namespace apo {
namespace {

struct EvaluateOptions {
  std::string candidate;
  TrialChoice choice;
  double at_least = 0;
  bool stream = false;
};

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

// "copy/simple[BLOCK=64]" in place of a file.
bool names_a_variant(const std::string& word) {
  if (word == "-") {
    return false;
  }
  return word.ends_with(']') || (std::filesystem::path(word).extension().empty() && !std::filesystem::exists(word));
}

int evaluate_one(const EvaluateOptions& options, CandidateJudge& judge, const Globals& globals) {
  const TemporaryFolder folder;
  const CandidateAnswer answer =
      judge.answer(names_a_variant(options.candidate) ? GivenCandidate{.variant = options.candidate}
                                                      : candidate_file(options.candidate, folder));
  judge.finish();
  if (globals.json) {
    print_json(to_document(answer));
  } else {
    print(text_of(answer));
  }
  return exit_code_of(answer, options.at_least);
}

int evaluate_candidates(const EvaluateOptions& options, const Globals& globals) {
  if (options.stream == !options.candidate.empty()) {
    throw UserError(options.stream ? "--stream reads its candidates from standard input, and '" + options.candidate +
                                         "' was given too"
                                   : "no candidate was given",
                    "give one file or variant, or - for standard input, or --stream for JSON lines on standard input");
  }
  Workspace workspace(make_paths(globals.journal));
  ConsoleObserver observer(globals);
  CandidateJudge judge(workspace, options.choice, observer);
  if (!options.stream) {
    return evaluate_one(options, judge, globals);
  }
  answer_lines(judge, stdin, print_json_line);
  judge.finish();
  return kDone;
}

}  // namespace

Action define_evaluate(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<EvaluateOptions>();
  app.add_option("candidate", options->candidate,
                 "the candidate: a source file, - for one on standard input, or a known variant with settings, "
                 "FAMILY/NAME[SETTING=VALUE]");
  app.add_option("--family", options->choice.family, "the operation that it computes; 'apo list' shows them")
      ->required();
  app.add_option("--workload", options->choice.workloads, "workload to judge on (default: the first for the target)")
      ->expected(1);
  app.add_option("--at-least", options->at_least, "exit with 3 when the score is below this ratio")
      ->check(CLI::PositiveNumber);
  app.add_flag("--stream", options->stream,
               "candidates from standard input, as JSON lines {\"source\": \"...\"} or "
               "{\"variant\": \"...\"}; an answer a line")
      ->excludes("--at-least");
  app.add_option("--cache", options->choice.cache,
                 "cold (flush the caches before every sample) or warm (default: cold)");
  app.add_option("--judge", options->choice.judge,
                 "judge preset: auto, standard, extended, strict or precise; or quick, which ranks without a decision");
  return [options, &globals] { return evaluate_candidates(*options, globals); };
}

}  // namespace apo
