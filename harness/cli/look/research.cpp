// harness/cli/look/research.cpp - `apo research`: what to try next and why.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/improve/ideas_text.h"
#include "harness/cli/target_choice.h"
#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/json/records_json.h"
#include "harness/core/text.h"
#include "harness/loop/policy.h"
#include "harness/loop/research/research_inputs.h"
#include "harness/loop/workspace/kept_profile.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {
namespace {

struct ResearchOptions {
  std::string family;
  std::string workload;
  std::string baseline;
  std::string target = "auto";
  std::string cache = "cold";
  bool recorded = false;
};

// "12 other target, 3 refuted"
std::string left_out_text(const ResearchBrief& brief) {
  std::map<std::string, int> counts;
  for (const LeftOut& one : brief.left_out) {
    ++counts[replace_all(std::string(to_string(one.kind)), "_", " ")];
  }
  std::vector<std::string> words;
  for (const auto& [kind, count] : counts) {
    words.push_back(fmt::format("{} {}", count, kind));
  }
  return join(words, ", ");
}

std::string family_of(const ResearchAnswer& answer) {
  return answer.inputs.diagnosis.incumbent.family;
}

std::string brief_text(const ResearchAnswer& answer) {
  const Profile& profile = answer.inputs.diagnosis.profile;
  std::string text = fmt::format("{} on {} takes {}, the floor is {} ({})\n\nwhat its time goes to\n",
                                 paint(answer.inputs.incumbent.label(), "bold"), profile.workload,
                                 format_ns(profile.time_ns), format_ns(profile.floor_ns), profile.floor_roof);
  if (answer.brief.bottlenecks.empty()) {
    text += "  no cause that apo knows was found; 'apo profile " + answer.inputs.incumbent.variant +
            "' shows the counters and the hot lines\n";
  }
  for (const Bottleneck& one : answer.brief.bottlenecks) {
    const std::string place = one.file.empty() ? "" : fmt::format(" ({}:{})", one.file, one.line);
    text += fmt::format("  {}, worth {}: {}{}\n", one.name, worth_text(one), one.evidence, place);
  }
  std::vector<std::vector<std::string>> rows = {{"", "candidate", "predicted", "this rests on", "attacks"}};
  for (const Candidate& one : answer.brief.ranked) {
    const bool known = has_prediction(one.prediction);
    rows.push_back({std::to_string(rows.size()), one.configuration.label(),
                    known ? format_band(one.prediction.low, one.prediction.high) : "unknown",
                    known ? one.prediction.because : "nothing was said of it", one.attacks});
  }
  text += rows.size() > 1 ? "\nto try, in this order\n" + format_table(rows)
                          : fmt::format(
                                "\nnothing is left to try: write a variant and 'apo try {} FILE', or let "
                                "'apo run {} --proposer COMMAND' ask for some\n",
                                family_of(answer), family_of(answer));
  for (const std::string& expired : expired_refutations(answer.inputs, answer.brief)) {
    text += "again: " + expired + "\n";
  }
  text += answer.brief.left_out.empty() ? "" : "left out: " + left_out_text(answer.brief) + "\n";
  const std::string ideas = ideas_text(answer.brief.unwritten);
  return text + (ideas.empty() ? "" : "\n" + ideas);
}

// The policy as the options complete it.
Policy asked_policy(const ResearchOptions& options, Policy policy) {
  policy.baseline = options.baseline;
  policy.cache_policy = checked_cache_policy(options.cache);
  if (!options.workload.empty()) {
    policy.workloads = {options.workload};
  }
  complete_policy(policy, "");
  return policy;
}

ResearchAnswer answer(const ResearchOptions& options, Workspace& workspace, Observer& observer) {
  const std::optional<Target> target = asked_target(options.target);
  if (options.recorded) {
    use_recorded_texts(workspace);
    static_cast<void>(workspace.family(options.family));
    const Policy policy = asked_policy(options, use_recorded_campaign(workspace, options.family, target));
    return ask_recorded_research(workspace, policy, observer);
  }
  Policy policy = asked_policy(options, default_policy(options.family));
  choose_target(options.target, !options.workload.empty(), workspace, policy, observer);
  return ask_research(workspace, policy, observer);
}

int brief(const ResearchOptions& options, const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  ConsoleObserver observer(globals);
  const ResearchAnswer answer = apo::answer(options, workspace, observer);
  print(globals.json ? brief_to_json(answer.brief, answer.inputs,
                                     brief_subject(workspace, workspace.family(options.family), answer.inputs)) +
                           "\n"
                     : brief_text(answer));
  return kDone;
}

}  // namespace

Action define_research(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<ResearchOptions>();
  app.add_option("family", options->family, "the operation to look at; 'apo list' shows them");
  app.add_option("--workload", options->workload, "the workload (default: the family's first one)");
  app.add_option("--baseline", options->baseline, "look from this variant instead of the incumbent");
  app.add_option("--target", options->target, "host, cuda, or auto: the GPU when there is one")->capture_default_str();
  app.add_option("--cache", options->cache, "state of the caches before each call: cold or warm")
      ->capture_default_str();
  app.add_flag("--recorded", options->recorded,
               "look at the newest campaign of the journal for the recorded machine; measure nothing");
  return [options, &globals] {
    if (options->family.empty()) {
      throw UserError("no family was given", "'apo list' shows them");
    }
    return brief(*options, globals);
  };
}

}  // namespace apo
