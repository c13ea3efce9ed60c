// harness/cli/improve/try.cpp - `apo try FAMILY FILE...`: registers, verifies and judges each file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/interval.h"
#include "harness/core/json/records_json.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/loop/trial/candidate_judge.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

struct TryOptions {
  TrialChoice choice;
  std::vector<std::string> files;
};

std::string words(std::string_view outcome) {
  return replace_all(std::string(outcome), "_", " ");
}

// The verdict in words, with a colon where the evidence is a sentence.
struct VerdictText {
  std::string verdict;
  std::string evidence;
};

VerdictText verdict_text(const CandidateAnswer& answer) {
  switch (answer.verdict) {
    case CandidateVerdict::wrong:
      if (answer.gates.empty() || answer.gates.back().outcome == Outcome::valid) {
        return {"no valid variant:", answer.feedback.back()};
      }
      return {words(to_string(answer.gates.back().outcome)) + ":", answer.gates.back().evidence};
    case CandidateVerdict::not_judged:
      return {"not judged:", answer.feedback.back()};
    case CandidateVerdict::incumbent:
      return {"is the incumbent already:", answer.feedback.back()};
    case CandidateVerdict::accepted:
    case CandidateVerdict::reverted:
    case CandidateVerdict::inconclusive:
    case CandidateVerdict::ranked:
      break;
  }
  const Judgement& judgement = *answer.experiment->judgement;
  const IntervalText effect =
      format_interval(judgement.speedup(), judgement.speedup_lower(), judgement.speedup_upper());
  return {std::string(to_string(answer.verdict)),
          fmt::format("{} over {} ({}; experiment {})", effect.all(), answer.experiment->incumbent.label(),
                      words(to_string(judgement.reason)), answer.experiment->id)};
}

Json document_of(const std::string& file, const CandidateAnswer& answer, const VerdictText& text) {
  return {{"file", file},
          {"variant", answer.variant},
          {"verdict", text.verdict.ends_with(':') ? text.verdict.substr(0, text.verdict.size() - 1) : text.verdict},
          {"evidence", text.evidence},
          {"experiment", answer.experiment ? to_document(*answer.experiment) : Json(nullptr)}};
}

int try_files(const TryOptions& options, const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  ConsoleObserver observer(globals);
  const InterruptNote note(
      "the journal keeps every finished experiment and the rounds of this one, and a file that passed the gates stays "
      "registered",
      "try again with", globals.words);
  CandidateJudge judge(workspace, options.choice, observer);
  Json documents = Json::array();
  bool judged_all = true;
  bool any_wrong = false;
  for (const std::string& file : options.files) {
    static_cast<void>(read_file(file));  // a file that is not there is a mistake of the command
  }
  for (const std::string& file : options.files) {
    const CandidateAnswer answer = judge.answer({.path = file, .shown = file});
    judged_all = judged_all && answer.verdict != CandidateVerdict::not_judged;
    any_wrong = any_wrong || answer.verdict == CandidateVerdict::wrong;
    const VerdictText text = verdict_text(answer);
    documents.push_back(document_of(file, answer, text));
    if (!globals.json) {
      print(fmt::format("{}: {} {}\n", answer.variant.empty() ? file : answer.variant, text.verdict, text.evidence));
    }
  }
  for (const TrialSummary& summary : judge.finish()) {
    if (!globals.json) {
      print("incumbent: " + summary.incumbent.label() + "\n");
    }
  }
  if (globals.json) {
    print_json({{"family", options.choice.family}, {"verdicts", documents}});
  }
  return any_wrong ? kGateFailed : judged_all ? kDone : kEnvironmentTrouble;
}

}  // namespace

Action define_try(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<TryOptions>();
  app.add_option("family", options->choice.family, "kernel family that the files compute")->required();
  app.add_option("files", options->files, "source files of variants, with or without a metadata block")->required();
  app.add_option("--workload", options->choice.workloads,
                 "workload to judge on; may repeat, all of one class (default: the first for the target)")
      ->allow_extra_args(false);
  app.add_option("--cache", options->choice.cache,
                 "cold (flush the caches before every sample) or warm (default: cold)");
  app.add_option("--judge", options->choice.judge,
                 "judge preset: auto, standard, extended, strict or precise; or quick, which ranks without a decision");
  app.footer(kJudgedExitCodes);
  return [options, &globals] { return try_files(*options, globals); };
}

}  // namespace apo
