// harness/cli/improve/evaluate.cpp - `apo evaluate`: one candidate in, one document out, for scripts and agents.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/app.h"
#include "harness/cli/candidate_source.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/loop/trial/registration.h"
#include "harness/loop/trial/trial.h"
#include "harness/loop/workspace/known_roofs.h"
#include "journal/journal.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestLog = 4000;
constexpr std::size_t kLessons = 3;

struct EvaluateOptions {
  std::string file;
  TrialChoice choice;
  double at_least = 0;
};

// What came of the candidate.
struct Evaluation {
  std::string variant;
  std::string verdict;  // accepted, reverted, inconclusive, wrong, incumbent, not_judged
  double score = 0;     // the lower end of the speed-up's interval; 0 where nothing right was judged
  std::vector<GateResult> gates;
  std::optional<Experiment> experiment;
  std::string incumbent;
  std::vector<std::string> feedback;
  int exit_code = kDone;
};

// What earlier experiments said of the techniques that the candidate names.
void add_lessons(Journal& journal, const Variant& variant, Evaluation& evaluation) {
  std::size_t told = 0;
  for (const std::string& technique : variant.techniques) {
    const std::vector<Lesson> lessons = journal.lessons({.family = variant.family, .technique = technique});
    for (auto lesson = lessons.rbegin(); lesson != lessons.rend() && told < kLessons; ++lesson) {
      if (lesson->configuration.variant != variant.id()) {
        evaluation.feedback.push_back(fmt::format("known of {}: {}", technique, lesson->text));
        ++told;
      }
    }
  }
}

void add_floor(Workspace& workspace, Journal& journal, const Policy& policy, Evaluation& evaluation) {
  const Family& family = workspace.family(policy.family);
  const double floor = floor_of(family, workspace.workload(family, policy.workloads.front()), workspace.machine(),
                                known_roofs(journal, workspace.machine()));
  const double time = evaluation.experiment->judgement->candidate_ns;
  if (floor > 0 && time > 0) {
    evaluation.feedback.push_back(fmt::format("takes {}, the floor is {}: {} of it", format_ns(time), format_ns(floor),
                                              format_share(floor / time)));
  }
}

void judge(Workspace& workspace, const EvaluateOptions& options, const Variant& variant, Observer& observer,
           Evaluation& evaluation) {
  workspace.use(variant.target);
  const Policy policy = trial_policy(workspace, options.choice, variant.target);
  const TrialSummary summary = run_trial(workspace, {.policy = policy, .variants = {variant.id()}}, observer,
                                         [&](const std::string&, const Experiment* experiment) {
                                           if (experiment != nullptr) {
                                             evaluation.experiment = *experiment;
                                           }
                                         });
  evaluation.incumbent = summary.incumbent.label();
  if (!evaluation.experiment) {
    evaluation.verdict = "incumbent";
    evaluation.score = 1;
    evaluation.feedback.emplace_back("is the incumbent already: nothing to judge it against");
    return;
  }
  const Experiment& experiment = *evaluation.experiment;
  const Judgement& judgement = *experiment.judgement;
  evaluation.gates.insert(evaluation.gates.end(), experiment.gates.begin(), experiment.gates.end());
  if (experiment.outcome == Outcome::no_change) {
    evaluation.verdict = "incumbent";
    evaluation.score = 1;
    evaluation.feedback.push_back(experiment.gates.back().evidence);
    return;
  }
  if (judgement.reason == Reason::gate_failed) {
    evaluation.verdict = "wrong";
    evaluation.exit_code = kUserMistake;
    evaluation.feedback.push_back(experiment.gates.empty() ? judgement.sentence : experiment.gates.back().evidence);
    return;
  }
  evaluation.verdict = to_string(judgement.verdict);
  evaluation.score = judgement.speedup_lower();
  evaluation.feedback.push_back(judgement.sentence);
  Journal journal = Journal::open(workspace.paths().journal, Access::read_only);
  add_floor(workspace, journal, policy, evaluation);
  add_lessons(journal, variant, evaluation);
}

Evaluation evaluate_candidate(Workspace& workspace, const EvaluateOptions& options, const std::string& file,
                              Observer& observer) {
  const RegistrationResult result = register_file(workspace, {.file = file, .family = options.choice.family}, observer);
  Evaluation evaluation{.variant = result.variant.id(), .gates = result.gates};
  if (result.state == RegistrationState::refused) {
    evaluation.verdict = "wrong";
    evaluation.exit_code = kUserMistake;
    evaluation.feedback.push_back(result.gates.back().evidence);
    if (result.gates.back().outcome == Outcome::build_failed) {
      evaluation.feedback.push_back(result.log.substr(0, kLongestLog));
    }
    return evaluation;
  }
  if (std::string why; result.variant.target == Target::cuda && !workspace.has_gpu(&why)) {
    evaluation.verdict = "not_judged";
    evaluation.exit_code = kEnvironmentTrouble;
    evaluation.feedback.push_back("its time needs a GPU: " + why);
    return evaluation;
  }
  judge(workspace, options, result.variant, observer, evaluation);
  if (evaluation.exit_code == kDone && options.at_least > 0 && evaluation.score < options.at_least) {
    evaluation.exit_code = kGateFailed;
  }
  return evaluation;
}

Json document_of(const Evaluation& evaluation) {
  Json document = {{"document", "evaluation"},          {"variant", evaluation.variant},
                   {"verdict", evaluation.verdict},     {"score", evaluation.score},
                   {"incumbent", evaluation.incumbent}, {"gates", to_documents(evaluation.gates)},
                   {"feedback", evaluation.feedback},   {"experiment", nullptr}};
  if (evaluation.experiment) {
    document["experiment"] = to_document(*evaluation.experiment);
  }
  return document;
}

std::string text_of(const Evaluation& evaluation) {
  std::string text = fmt::format("variant: {}\nverdict: {}\nscore: {}\n", evaluation.variant, evaluation.verdict,
                                 format_g(evaluation.score));
  if (evaluation.experiment && has_effect(*evaluation.experiment)) {
    const Judgement& judgement = *evaluation.experiment->judgement;
    text += fmt::format("speedup: {}\nlower: {}\nupper: {}\n", format_g(judgement.speedup()),
                        format_g(judgement.speedup_lower()), format_g(judgement.speedup_upper()));
  }
  if (evaluation.experiment) {
    text += fmt::format("experiment: {}\nagainst: {}\n", evaluation.experiment->id,
                        evaluation.experiment->incumbent.label());
  }
  for (const GateResult& gate : evaluation.gates) {
    text += fmt::format("gate.{}: {}\n", gate.gate, to_string(gate.outcome));
  }
  for (const std::string& line : evaluation.feedback) {
    text += "feedback: " + one_line(line) + "\n";
  }
  return text;
}

int evaluate_file(const EvaluateOptions& options, const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  const Family& family = workspace.family(options.choice.family);  // throws where there is none
  for (const std::string& name : options.choice.workloads) {
    static_cast<void>(workspace.workload(family, name));  // the same
  }
  ConsoleObserver observer(globals);
  const TemporaryFolder folder;
  const Evaluation evaluation = evaluate_candidate(workspace, options, candidate_file(options.file, folder), observer);
  if (globals.json) {
    print_json(document_of(evaluation));
  } else {
    print(text_of(evaluation));
  }
  return evaluation.exit_code;
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
  app.add_option("--judge", options->choice.judge, "judge preset: auto, standard, extended, strict or precise");
  return [options, &globals] { return evaluate_file(*options, globals); };
}

}  // namespace apo
