// harness/cli/look/explain.cpp - `apo explain A B`: ranks the differences of two variants by the time they account for.
#include "harness/profile/explain.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/text.h"
#include "harness/loop/workspace/chosen_workload.h"
#include "harness/loop/workspace/kept_profile.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

struct ExplainOptions {
  std::string a;
  std::string b;
  std::string workload;
  std::string cache = "cold";
  bool remeasure = false;
  bool recorded = false;
};

// Of A and of B.
struct Explained {
  Profile profiles[2];
  Build builds[2];
};

void check(const Variant& a, const Variant& b) {
  if (a.family != b.family || a.target != b.target) {
    throw UserError(a.id() + " and " + b.id() + " differ in family or target",
                    "name two variants of the same family and target; 'apo list " + a.family + "' shows them");
  }
}

// "3.9 ms less, 90 % of the difference"; "at most" before it.
std::string time_text(const Difference& difference, double whole_ns) {
  const double ns = difference.accounts_ns;
  return (difference.at_most ? "at most " : "") + format_ns(std::fabs(ns)) + (ns > 0 ? " less" : " more") +
         (ns * whole_ns > 0 ? ", " + format_share(ns / whole_ns) + " of the difference" : "");
}

std::string explanation_text(const Explanation& explanation) {
  std::string timed;
  std::string others;
  for (const Difference& one : explanation.differences) {
    if (one.in_time) {
      timed += "  " + one.words + ": " + time_text(one, explanation.time_difference_ns) + "\n";
    } else {
      others += "  " + one.words + "\n";
    }
  }
  return (timed.empty() ? "" : "\ncauses of the difference, largest first\n" + timed) +
         (others.empty() ? "" : "\nother differences\n" + others);
}

Json to_document(const Explanation& explanation) {
  Json list = Json::array();
  for (const Difference& one : explanation.differences) {
    list.push_back({{"name", one.name},
                    {"words", one.words},
                    {"a", number_or_null(one.before)},
                    {"b", number_or_null(one.after)},
                    {"at_most", one.at_most},
                    {"accounts_ns", one.in_time ? number_or_null(one.accounts_ns) : Json()}});
  }
  return {{"sentence", explanation.sentence},
          {"time_difference_ns", number_or_null(explanation.time_difference_ns)},
          {"differences", list}};
}

Explained explained_here(const ExplainOptions& options, Workspace& workspace,
                         const std::vector<Configuration>& configurations, const Family& family, CachePolicy cache,
                         Observer& observer) {
  workspace.use(workspace.catalogue().get(configurations[0].variant).target);
  const Workload& workload = profiled_workload(workspace, family, configurations, options.workload, observer);
  Explained explained;
  for (const std::size_t i : {0u, 1u}) {
    const Runtime runtime = workspace.runtime(family);
    check_supported(runtime, configurations[i], workload);
    explained.profiles[i] =
        kept_or_measured_profile(workspace, family, configurations[i], workload, cache, options.remeasure, observer);
    observer.progress({.what = "build " + configurations[i].label()});
    explained.builds[i] = runtime.build(configurations[i], workload.axes, false);
  }
  return explained;
}

// Code for a GPU can be built without it, where the CUDA Toolkit is; code of another host's CPU would be another one.
Explained explained_there(const ExplainOptions& options, Workspace& workspace,
                          const std::vector<Configuration>& configurations, const Family& family, CachePolicy cache,
                          Observer& observer) {
  const std::vector<Profile> recorded = recorded_profiles(workspace, configurations, options.workload, cache, observer);
  Explained explained{.profiles = {recorded[0], recorded[1]}, .builds = {}};
  for (std::size_t i = 0; i < configurations.size() && workspace.target() == Target::cuda; ++i) {
    try {
      explained.builds[i] = workspace.runtime(family).build(
          configurations[i], workspace.workload(family, recorded[i].workload).axes, false);
    } catch (const EnvironmentError& error) {
      observer.say("registers and machine code are not compared: " + std::string(error.what()));
    }
  }
  return explained;
}

int explain_variants(const ExplainOptions& options, const Globals& globals) {
  const CachePolicy cache = checked_cache_policy(options.cache);
  Workspace workspace(make_paths(globals.journal));
  if (options.recorded) {
    use_recorded_texts(workspace);
  }
  const std::vector<Configuration> configurations = {workspace.catalogue().configuration(options.a),
                                                     workspace.catalogue().configuration(options.b)};
  const Variant& variant = workspace.catalogue().get(configurations[0].variant);
  check(variant, workspace.catalogue().get(configurations[1].variant));
  const Family& family = workspace.family(variant.family);
  ConsoleObserver observer(globals);
  const auto [profiles, builds] = (options.recorded ? explained_there : explained_here)(
      options, workspace, configurations, family, cache, observer);
  const Explanation explanation = explain(profiles[0], profiles[1], builds[0].resources, builds[1].resources);
  Json document = to_document(explanation);
  document["a"] = to_document(profiles[0]);
  document["b"] = to_document(profiles[1]);
  document["cache_policy"] = options.cache;
  std::string text = "A " + paint(configurations[0].label(), "bold") + " -> B " +
                     paint(configurations[1].label(), "bold") + " on " + profiles[0].workload + ", " + options.cache +
                     " caches\n  " + explanation.sentence + "\n";
  text += "  rung    " + profiles[0].rung +
          (profiles[0].rung == profiles[1].rung ? "" : " for A, " + profiles[1].rung + " for B") + "\n";
  const std::string& missing = profiles[0].missing.empty() ? profiles[1].missing : profiles[0].missing;
  text += missing.empty() ? "" : "  missing " + missing + "\n";
  print_answer(globals, document, text + explanation_text(explanation));
  return kDone;
}

}  // namespace

Action define_explain(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<ExplainOptions>();
  app.add_option("a", options->a, "A: the variant to start from")->required();
  app.add_option("b", options->b, "B: the variant to explain against A")->required();
  app.add_option("--workload", options->workload,
                 "workload (default: that of their newest judgement here, else the family's first for the target)");
  app.add_option("--cache", options->cache, "cold (flush the caches before every call) or warm (default: cold)");
  app.add_flag("--remeasure", options->remeasure, "profile both again, even if the journal has their profiles")
      ->excludes(app.add_flag("--recorded", options->recorded,
                              "compare the newest profiles in the journal, of whatever machine; measure nothing"));
  return [options, &globals] { return explain_variants(*options, globals); };
}

}  // namespace apo
