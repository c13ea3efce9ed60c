// harness/cli/improve/try.cpp - `apo try FAMILY FILE...`: registers, verifies and judges each file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/interval.h"
#include "harness/core/json/records_json.h"
#include "harness/core/text.h"
#include "harness/loop/trial/registration.h"
#include "harness/loop/trial/trial.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

struct TryOptions {
  TrialChoice choice;
  std::vector<std::string> files;
};

// What came of one file, printed as soon as it is known.
class Verdicts {
 public:
  explicit Verdicts(bool json) : json_(json) {}

  void add(const std::string& file, const std::string& name, const std::string& verdict, const std::string& evidence,
           const Experiment* experiment) {
    if (!json_) {
      print(fmt::format("{}: {}{}\n", name, verdict,
                        evidence.empty() ? "" : (experiment == nullptr ? ": " : " ") + evidence));
    }
    documents_.push_back({{"file", file},
                          {"variant", name},
                          {"verdict", verdict},
                          {"evidence", evidence},
                          {"experiment", experiment == nullptr ? Json(nullptr) : to_document(*experiment)}});
  }
  const Json& documents() const { return documents_; }

 private:
  bool json_;
  Json documents_ = Json::array();
};

std::string words(std::string_view outcome) {
  return replace_all(std::string(outcome), "_", " ");
}

void add_verdict(Verdicts& verdicts, const std::string& file, const std::string& id, const Experiment& experiment) {
  const Judgement& judgement = *experiment.judgement;
  if (judgement.reason == Reason::gate_failed && !experiment.gates.empty()) {
    const GateResult& gate = experiment.gates.back();
    verdicts.add(file, id, words(to_string(gate.outcome)) + ":", gate.evidence, &experiment);
    return;
  }
  const IntervalText effect =
      format_interval(judgement.speedup(), judgement.speedup_lower(), judgement.speedup_upper());
  verdicts.add(file, id, std::string(to_string(judgement.verdict)),
               fmt::format("{} over {} ({}; experiment {})", effect.all(), experiment.incumbent.label(),
                           words(to_string(judgement.reason)), experiment.id),
               &experiment);
}

int try_files(const TryOptions& options, const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  static_cast<void>(workspace.family(options.choice.family));  // throws where there is none
  ConsoleObserver observer(globals);
  Verdicts verdicts(globals.json);
  std::map<Target, std::vector<std::string>> passed;
  std::map<std::string, std::string> files;  // by variant
  for (const std::string& file : options.files) {
    const RegistrationResult result =
        register_file(workspace, {.file = file, .family = options.choice.family}, observer);
    files[result.variant.id()] = file;
    if (result.state == RegistrationState::refused) {
      verdicts.add(file, result.variant.id(), words(to_string(result.gates.back().outcome)),
                   result.gates.back().evidence, nullptr);
    } else {
      passed[result.variant.target].push_back(result.variant.id());
    }
  }
  bool judged_all = true;
  for (const auto& [target, variants] : passed) {
    if (std::string why; target == Target::cuda && !workspace.has_gpu(&why)) {
      judged_all = false;
      for (const std::string& id : variants) {
        verdicts.add(files[id], id, "not judged",
                     "it is registered, 'apo verify " + id + " --on cpu' checks it, and its time needs a GPU: " + why,
                     nullptr);
      }
      continue;
    }
    workspace.use(target);
    const TrialRequest request{.policy = trial_policy(workspace, options.choice, target), .variants = variants};
    const TrialSummary summary =
        run_trial(workspace, request, observer, [&](const std::string& id, const Experiment* experiment) {
          experiment == nullptr ? verdicts.add(files[id], id, "is the incumbent already",
                                               "a copy under another name would be judged against it", nullptr)
                                : add_verdict(verdicts, files[id], id, *experiment);
        });
    if (!globals.json) {
      print("incumbent: " + summary.incumbent.label() + "\n");
    }
  }
  if (globals.json) {
    print_json({{"family", options.choice.family}, {"verdicts", verdicts.documents()}});
  }
  return !judged_all ? kEnvironmentTrouble : passed.empty() ? kGateFailed : kDone;
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
  app.add_option("--judge", options->choice.judge, "judge preset: auto, standard, extended, strict or precise");
  return [options, &globals] { return try_files(*options, globals); };
}

}  // namespace apo
