// harness/cli/look/research.cpp - `apo research`: what to try next and why, and how good such foresight was.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/improve/ideas_text.h"
#include "harness/cli/look/replayed/foresight_text.h"
#include "harness/cli/look/replayed/strategy_text.h"
#include "harness/cli/target_choice.h"
#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/json/records_json.h"
#include "harness/core/text.h"
#include "harness/loop/exchange/hand_kept_table.h"
#include "harness/loop/exchange/t4.h"
#include "harness/loop/policy.h"
#include "harness/loop/research/ask_research.h"
#include "harness/loop/research/recorded_campaigns.h"
#include "harness/loop/research/research_inputs.h"
#include "harness/loop/workspace/recorded_profiles.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/research/memory/hand_kept_priors.h"
#include "harness/research/prediction/known_effects.h"

namespace apo {
namespace {

struct ResearchOptions {
  std::string family;
  std::string workload;
  std::string baseline;
  std::string target = "auto";
  std::string cache = "cold";
  std::vector<std::string> replay;
  std::vector<std::string> past;
  std::vector<std::string> hand_kept;
  std::string strategy;
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

std::string priors_text(const ResearchInputs& inputs) {
  const std::vector<HandKeptPrior> priors = hand_kept_priors(inputs.hand_kept, inputs.diagnosis.incumbent.family,
                                                             inputs.diagnosis.incumbent.target, inputs.diagnosis.axes);
  std::string text = priors.empty() ? "" : "\nkept by hand, not judged here: weighed little\n";
  for (const HandKeptPrior& one : priors) {
    text +=
        fmt::format("  {}: {} ({})\n", join(one.techniques, " + "),
                    format_band(std::exp(one.effect - kBandReach * one.sd), std::exp(one.effect + kBandReach * one.sd)),
                    one.source);
  }
  return text;
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
  return text + (ideas.empty() ? "" : "\n" + ideas) + priors_text(answer.inputs);
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

int replay_journals(const ResearchOptions& options, const Globals& globals) {
  const Workspace workspace(make_paths(globals.journal));
  std::vector<HandKeptJournal> hand_kept;
  for (const std::string& file : options.hand_kept) {
    hand_kept.push_back(read_hand_kept(file));
  }
  const RecordedCampaigns campaigns =
      recorded_campaigns(workspace, {options.replay.begin(), options.replay.end()},
                         {.journals = {options.past.begin(), options.past.end()}, .hand_kept = hand_kept});
  if (campaigns.scored.empty()) {
    throw UserError("none of these journals has a campaign that timed a candidate",
                    "give journals of 'apo run', e.g. --replay experiments/*/*/*.db");
  }
  const ReplayScore score{.report = score_foresight(campaigns.scored),
                          .baseline = score_baseline(campaigns.scored, campaigns.known),
                          .transfers = score_transfers(campaigns.scored)};
  if (globals.json) {
    nlohmann::ordered_json document = {{"campaigns", campaigns.scored.size()}};
    document.update(to_document(score));
    print_json(document);
    return kDone;
  }
  print(fmt::format("{} campaigns of {} journals, each journal left out in turn{}\n{}", campaigns.scored.size(),
                    options.replay.size(),
                    options.past.empty() ? "" : fmt::format("; known beside them: {}", options.past.size()),
                    score_table(score)));
  return kDone;
}

// Spaces and journals are told apart by what they hold.
int replay(const ResearchOptions& options, const Globals& globals) {
  const auto spaces = std::ranges::count_if(options.replay, [](const std::string& file) { return may_be_t4(file); });
  if (spaces == 0 && options.strategy.empty()) {
    return replay_journals(options, globals);
  }
  if (spaces != std::ssize(options.replay) || !options.hand_kept.empty() || !options.past.empty()) {
    throw UserError(spaces == 0 ? "--strategy is for recorded spaces, and '" + options.replay.front() + "' is none"
                                : "recorded spaces are replayed by themselves, without journals",
                    "give --replay files of 'apo space' alone, or journals without --strategy");
  }
  return replay_spaces(options.replay, options.strategy, globals);
}

}  // namespace

Action define_research(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<ResearchOptions>();
  CLI::Option* const family =
      app.add_option("family", options->family, "the operation to look at; 'apo list' shows them");
  CLI::Option* const replayed =
      app.add_option("--replay", options->replay,
                     "score the predictions of these journals, and those that this program makes of the same past; or, "
                     "of spaces that 'apo space' recorded, the search strategies")
          ->type_name("FILE")
          ->check(CLI::ExistingFile)
          ->excludes(family);
  app.add_option("--past", options->past,
                 "journals that the predictions of --replay know too, and that are not scored themselves")
      ->type_name("FILE")
      ->check(CLI::ExistingFile)
      ->needs(replayed);
  app.add_option(
         "--hand-kept", options->hand_kept,
         "journals that were kept by hand, for the past of --replay; without it, those that were imported count")
      ->type_name("FILE")
      ->check(CLI::ExistingFile)
      ->needs(replayed);
  app.add_option("--strategy", options->strategy,
                 "with --replay SPACE: one search strategy, random, greedy, annealing or model (default: all)")
      ->needs(replayed);
  app.add_option("--workload", options->workload, "the workload (default: the family's first one)")->excludes(replayed);
  app.add_option("--baseline", options->baseline, "look from this variant instead of the incumbent")
      ->excludes(replayed);
  app.add_option("--target", options->target, "host, cuda, or auto: the GPU when there is one")
      ->capture_default_str()
      ->excludes(replayed);
  app.add_option("--cache", options->cache, "state of the caches before each call: cold or warm")
      ->capture_default_str()
      ->excludes(replayed);
  app.add_flag("--recorded", options->recorded,
               "look at the newest campaign of the journal, on whatever machine it ran; measure nothing")
      ->excludes(replayed);
  return [options, &globals] {
    if (options->family.empty() && options->replay.empty()) {
      throw UserError("no family was given", "'apo list' shows them; --replay scores recorded journals instead");
    }
    return options->replay.empty() ? brief(*options, globals) : replay(*options, globals);
  };
}

}  // namespace apo
