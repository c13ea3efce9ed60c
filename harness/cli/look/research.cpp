// harness/cli/look/research.cpp - `apo research`: what to try next and why.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/target_choice.h"
#include "harness/cli/terminal.h"
#include "harness/core/error.h"
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

std::string family_of(const ResearchAnswer& answer) {
  return answer.inputs.diagnosis.incumbent.family;
}

void write_brief(const ResearchAnswer& answer, report::Writer& writer) {
  const Profile& profile = answer.inputs.diagnosis.profile;
  writer.heading(
      1, fmt::format("{} on {} takes {}, the floor is {} ({})", answer.inputs.incumbent.label(), profile.workload,
                     format_ns(profile.time_ns), format_ns(profile.floor_ns), profile.floor_roof));
  writer.heading(2, "what its time goes to");
  if (answer.brief.bottlenecks.empty()) {
    writer.paragraph("no cause that apo knows was found; 'apo profile " + answer.inputs.incumbent.variant +
                     "' shows the counters and the hot lines");
  } else {
    write_bottlenecks(answer.brief.bottlenecks, writer);
  }
  if (answer.brief.ranked.empty()) {
    writer.paragraph(fmt::format(
        "nothing is left to try: write a variant and 'apo try {0} FILE', or let 'apo run {0} --proposer COMMAND' ask "
        "for some",
        family_of(answer)));
  } else {
    write_ranking("to try, in this order", answer.brief.ranked, writer);
  }
}

std::string brief_text(const ResearchAnswer& answer) {
  return terminal_text([&](report::Writer& writer) { write_brief(answer, writer); }) +
         terminal_text(
             [&](report::Writer& writer) {
               writer.heading(2, "left out: --json has the reasons");
               write_left_out({{.index = 1, .brief = answer.brief}}, writer);
               write_ideas(answer.brief.unwritten, writer);
             },
             Folds::closed);
}

ResearchAnswer answer(const ResearchOptions& options, Workspace& workspace, Observer& observer) {
  const std::optional<Target> target = asked_target(options.target);
  const auto asked = [&](Policy policy) {
    return asked_policy(std::move(policy), options.workload, options.baseline, options.cache);
  };
  if (options.recorded) {
    use_recorded_texts(workspace);
    static_cast<void>(workspace.family(options.family));
    const Policy policy = asked(use_recorded_campaign(workspace, options.family, target));
    return ask_recorded_research(workspace, policy, observer);
  }
  Policy policy = asked(default_policy(options.family));
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
