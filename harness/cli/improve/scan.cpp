// harness/cli/improve/scan.cpp - `apo scan`: times all configurations of a family coarsely, and ranks them.
#include "harness/loop/scan/scan.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/target_choice.h"
#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/loop/campaign_progress.h"
#include "harness/loop/policy.h"
#include "harness/loop/scan/scan_text.h"
#include "harness/loop/workspace/incumbents.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

struct ScanOptions {
  std::string family;
  std::string workload;
  std::string baseline;
  std::string target = "auto";
  std::string cache = "cold";
  std::string budget;
};

Json row_document(const ScannedEffect& one) {
  const ScanTimes& times = one.row.times;
  Json document = {{"id", one.row.id},
                   {"configuration", to_document(one.row.configuration)},
                   {"outcome", to_string(times.outcome)},
                   {"evidence", times.evidence},
                   {"time_ns", number_or_null(times.time_ns)},
                   {"speedup", ratio_or_null(one.effect)},
                   {"sd", number_or_null(one.sd)},
                   {"pairs", times.pairs},
                   {"resources", one.row.resources}};
  return document;
}

Json scan_document(const ScanSummary& summary, const Policy& policy, const Configuration& incumbent) {
  Json rows = Json::array();
  for (const ScannedEffect& one : summary.scanned) {
    rows.push_back(row_document(one));
  }
  return {{"format", kRecordsFormat},
          {"family", policy.family},
          {"workload", policy.workloads.front()},
          {"incumbent", to_document(incumbent)},
          {"scanned", rows},
          {"left", summary.left},
          {"measured", summary.measured},
          {"build_s", summary.build_s},
          {"timing_s", summary.timing_s}};
}

int run_scan(const ScanOptions& options, const Globals& globals) {
  const auto started = std::chrono::steady_clock::now();
  Workspace workspace(make_paths(globals.journal));
  ConsoleObserver observer(globals);
  Policy policy = asked_policy(default_policy(options.family), options.workload, options.baseline, options.cache);
  choose_target(options.target, !options.workload.empty(), workspace, policy, observer);
  Journal journal = journal_to_measure(workspace, observer);
  const Family& family = workspace.family(policy.family);
  const Runtime runtime = workspace.runtime(family);
  const InterruptNote note("the journal keeps every measurement", "go on with", globals.words);
  const ScanRequest request{.workspace = workspace,
                            .journal = journal,
                            .observer = observer,
                            .family = family,
                            .runtime = runtime,
                            .workload = workspace.workload(family, policy.workloads.front()),
                            .cache = policy.cache_policy,
                            .incumbent = starting_point(workspace, journal, policy, observer),
                            .budget_s = options.budget.empty() ? 0 : budget_seconds(options.budget, "--budget", ""),
                            .started = started,
                            .seed = secret_seed()};
  const ScanSummary summary = scan(request);
  print_answer(globals, scan_document(summary, policy, request.incumbent),
               join(scan_lines(summary, request.incumbent), "\n") + "\n");
  return kDone;
}

}  // namespace

Action define_scan(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<ScanOptions>();
  app.add_option("family", options->family, "the operation; 'apo list' shows them")->required();
  app.add_option("--workload", options->workload, "the workload (default: the family's first one)");
  app.add_option("--baseline", options->baseline, "beside this configuration instead of the incumbent");
  app.add_option("--target", options->target, "host, cuda, or auto: the GPU when there is one")->capture_default_str();
  app.add_option("--cache", options->cache, "state of the caches before each call: cold or warm")
      ->capture_default_str();
  app.add_option("--budget", options->budget, "begin nothing else after this time, for example 2m (default: scan all)");
  app.footer(
      "It measures what the journal does not have, and goes on where it was interrupted. 'apo run' judges what leads.\n"
      "apo query --sql 'SELECT * FROM scanned' shows the rows.");
  return [options, &globals] { return run_scan(*options, globals); };
}

}  // namespace apo
