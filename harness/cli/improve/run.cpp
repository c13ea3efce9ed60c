// harness/cli/improve/run.cpp - `apo run`: one or more iterations of the loop.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/json/records_json.h"
#include "harness/core/text.h"
#include "harness/loop/campaign.h"
#include "harness/loop/policy.h"
#include "harness/loop/workspace/chosen_workload.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

struct RunOptions {
  std::string family;
  std::string campaign_file;
  std::vector<std::string> workloads;
  std::string baseline;
  std::string target = "auto";
  int iterations = 0;
  int candidates = 0;
  std::string budget;
  std::string cache;
  std::string judge;
  std::string layout;
  std::string solo_run;
  bool remeasure = false;
};

bool has_variant_for(Workspace& workspace, const std::string& family, Target target) {
  const auto variants = workspace.catalogue().of_family(family);
  return std::any_of(variants.begin(), variants.end(),
                     [&](const Variant* variant) { return variant->target == target; });
}

// nullptr without a baseline.
const Variant* baseline_of(Workspace& workspace, const Policy& policy) {
  return policy.baseline.empty()
             ? nullptr
             : &workspace.catalogue().get(workspace.catalogue().configuration(policy.baseline).variant);
}

// Auto takes the target of the baseline; without one the GPU when it is usable and the family has variants for it. A
// campaign that names neither target nor workloads then starts from the first workload that makes sense there.
void choose_target(const RunOptions& options, Workspace& workspace, Policy& policy, Observer& observer) {
  const Variant* baseline = baseline_of(workspace, policy);
  if (options.target != "auto") {
    policy.target = options.target == "host" ? Target::host : Target::cuda;
  } else if (policy.target_named) {
    observer.say("target " + std::string(to_string(policy.target)) + ", as the campaign file says");
  } else if (baseline != nullptr) {
    policy.target = baseline->target;
    observer.say("target " + std::string(to_string(policy.target)) + ", that of the baseline " + policy.baseline);
  } else if (has_variant_for(workspace, policy.family, Target::cuda)) {
    std::string why_not;
    policy.target = workspace.has_gpu(&why_not) ? Target::cuda : Target::host;
    observer.say(policy.target == Target::cuda ? "target cuda" : "target host (" + why_not + ")");
  }
  if (baseline != nullptr && baseline->target != policy.target) {
    const std::string is(to_string(baseline->target));
    const std::string wanted(to_string(policy.target));
    throw UserError(
        "the baseline '" + policy.baseline + "' is for target " + is + ", and the campaign runs on " + wanted,
        "give --target " + is + ", or --baseline with a variant for " + wanted + ": 'apo list " + policy.family +
            "' shows them");
  }
  workspace.use(policy.target);
  if (policy.target == Target::host) {
    return;
  }
  if (options.workloads.empty() && options.campaign_file.empty()) {
    policy.workloads = {first_workload(workspace.family(policy.family), Target::cuda).name};
    complete_policy(policy, "");
  }
}

Policy policy_of(const RunOptions& options, const Paths& paths) {
  if (!options.campaign_file.empty() && !options.family.empty()) {
    throw UserError("a family and --campaign were both given",
                    "the campaign file names its family: drop one of the two");
  }
  Policy policy;
  if (!options.campaign_file.empty()) {
    policy = load_policy(options.campaign_file);
  } else if (!options.family.empty()) {
    policy = default_policy(options.family);
  } else {
    policy = load_policy(paths.home / "experiments" / "default.json");
  }
  if (!options.workloads.empty()) {
    policy.workloads = options.workloads;
  }
  if (!options.baseline.empty()) {
    policy.baseline = options.baseline;
  }
  policy.iterations = options.iterations > 0 ? options.iterations : policy.iterations;
  policy.candidates_per_iteration = options.candidates > 0 ? options.candidates : policy.candidates_per_iteration;
  policy.cache_policy = options.cache.empty() ? policy.cache_policy : checked_cache_policy(options.cache);
  policy.judge_preset = options.judge.empty() ? policy.judge_preset : options.judge;
  policy.layout = options.layout.empty() ? policy.layout : checked_layout(options.layout);
  if (!options.solo_run.empty()) {
    policy.solo_run_s = solo_run_seconds(options.solo_run, "--solo-run", "");
  }
  if (!options.budget.empty()) {
    const auto seconds = parse_duration(options.budget);
    if (!seconds) {
      throw UserError("--budget '" + options.budget + "' does not parse", "write for example 90s, 10m or 2h");
    }
    policy.budget_s = *seconds;
  }
  complete_policy(policy, "");
  return policy;
}

std::string effect_text(const Judgement& judgement) {
  if (judgement.reason == Reason::gate_failed) {
    return "not timed";
  }
  return format_interval(judgement.speedup(), judgement.speedup_lower(), judgement.speedup_upper()).all() +
         " n=" + std::to_string(judgement.rounds);
}

std::string verdict_text(Verdict verdict) {
  const char* colour = verdict == Verdict::accepted ? "green" : verdict == Verdict::reverted ? "red" : "yellow";
  return paint(std::string(to_string(verdict)), colour);
}

void print_summary(const CampaignSummary& summary) {
  std::vector<std::vector<std::string>> rows = {
      {"#", "candidate", "against", "predicted", "measured", "verdict", "reason"}};
  for (const IterationSummary& iteration : summary.iterations) {
    for (const Experiment& experiment : iteration.experiments) {
      const Judgement& judgement = *experiment.judgement;
      rows.push_back({std::to_string(experiment.id), experiment.candidate.label(), experiment.incumbent.label(),
                      format_ratio(experiment.prediction.low) + ".." + format_ratio(experiment.prediction.high),
                      effect_text(judgement), verdict_text(judgement.verdict),
                      std::string(to_string(judgement.reason))});
    }
  }
  if (rows.size() > 1) {
    print(format_table(rows));
  }
  for (const Certification& one : summary.certifications) {
    print(fmt::format("certified, {} cache: {}\n", to_string(one.cache_policy), certified_text(one)));
  }
  if (!summary.certifications.empty()) {
    print("not claimed: the product of the accepted effects is " + format_ratio(std::exp(summary.naive_effect)) + ", " +
          format_ratio(std::exp(summary.shrunken_effect)) + " with their luck taken off\n");
  }
  print("incumbent: " + summary.champion.label() + "\n");
  print("report:    " + summary.report + "\n");
}

Json summary_document(const CampaignSummary& summary) {
  Json iterations = Json::array();
  for (const IterationSummary& iteration : summary.iterations) {
    iterations.push_back({{"index", iteration.index},
                          {"incumbent", to_document(iteration.incumbent)},
                          {"time_ns", number_or_null(iteration.time_ns)},
                          {"bottlenecks", to_documents(iteration.bottlenecks)},
                          {"experiments", to_documents(iteration.experiments)}});
  }
  return {{"campaign", summary.id},
          {"family", summary.policy.family},
          {"workloads", summary.policy.workloads},
          {"baseline", to_document(summary.baseline)},
          {"champion", to_document(summary.champion)},
          {"resumed", summary.resumed},
          {"recovered", summary.recovered},
          {"stopped", summary.stopped},
          {"iterations", iterations},
          {"certifications", to_documents(summary.certifications)},
          {"naive_product", ratio_or_null(summary.naive_effect)},
          {"shrunken_product", ratio_or_null(summary.shrunken_effect)},
          {"report", summary.report},
          {"seconds", summary.seconds}};
}

int run(const RunOptions& options, const Globals& globals) {
  check_target(options.target);
  const Paths paths = make_paths(globals.journal);
  Policy policy = policy_of(options, paths);
  Workspace workspace(paths);
  ConsoleObserver observer(globals);
  choose_target(options, workspace, policy, observer);
  const CampaignSummary summary = run_campaign(workspace, policy, observer, options.remeasure);
  if (globals.json) {
    print_json(summary_document(summary));
  } else {
    print_summary(summary);
  }
  return kDone;
}

}  // namespace

Action define_run(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<RunOptions>();
  app.add_option("family", options->family, "the kernel family; without it the campaign of experiments/default.json");
  app.add_option("--campaign", options->campaign_file, "a campaign file (JSON), see experiments/default.json");
  app.add_option("--workload", options->workloads, "workload to improve on; may repeat, all of one class")
      ->allow_extra_args(false);
  app.add_option("--baseline", options->baseline, "start from this configuration instead of the incumbent");
  app.add_option("--target", options->target, "auto (the baseline's, else a GPU when one is usable), host or cuda");
  app.add_option("--iterations", options->iterations, "how many turns of the loop")->check(CLI::Range(1, 100000));
  app.add_option("--candidates", options->candidates, "candidates to try in one iteration at most")
      ->check(CLI::Range(1, 100000));
  app.add_option("--budget", options->budget, "start no iteration after this time, e.g. 10m");
  app.add_option("--cache", options->cache, "cold (caches flushed before every sample) or warm");
  app.add_option("--judge", options->judge, "auto, standard, extended, strict or precise");
  add_layout(app, options->layout);
  app.add_option("--solo-run", options->solo_run,
                 "how long a certification runs each variant alone, 24 times a workload, to see what it makes of the "
                 "clock (default: 2s on a GPU, not at all on a CPU)");
  app.add_flag("--remeasure", options->remeasure,
               "measure the roofs of the device anew, although the journal has them");
  return [options, &globals] { return run(*options, globals); };
}

}  // namespace apo
