// harness/cli/improve/run_text.cpp - the last experiments, then the certified number and the incumbent: one screen.
#include "harness/cli/improve/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/cli/comparison_text.h"
#include "harness/cli/console.h"
#include "harness/core/interval.h"
#include "harness/core/text.h"
#include "reports/numbers.h"
#include "reports/sections/sections.h"

namespace apo {
namespace {

std::string application_lines(const CampaignSummary& summary) {
  if (!summary.application.missing.empty()) {
    return "application: not run: " + summary.application.missing + "\n";
  }
  if (!summary.application.comparison) {
    return "";
  }
  const ProgramComparison& comparison = *summary.application.comparison;
  const std::string refused =
      refused_by_application(summary)
          ? "REFUSED by the application; the table with the baseline instead: " + comparison.a + "\n"
          : "";
  return comparison_text(comparison) + refused;
}

std::string experiments_text(const CampaignSummary& summary) {
  std::vector<Experiment> experiments;
  for (const IterationSummary& iteration : summary.iterations) {
    experiments.insert(experiments.end(), iteration.experiments.begin(), iteration.experiments.end());
  }
  constexpr std::ptrdiff_t kShown = 5;
  const std::ptrdiff_t earlier = std::max<std::ptrdiff_t>(0, std::ssize(experiments) - kShown);
  std::string text = earlier > 0 ? fmt::format("{} earlier experiments: in the report\n", earlier) : "";
  for (auto one = experiments.begin() + earlier; one != experiments.end(); ++one) {
    text += fmt::format("experiment {}: {}\n  {}{}, {}: {}, predicted {}\n", one->id, one->candidate.label(),
                        to_string(one->judgement->verdict), summary.withdrawn.contains(one->id) ? ", withdrawn" : "",
                        report::reason_text(*one), report::staged_text(*one), report::band_text(one->prediction));
  }
  return text;
}

// Two lines for the configurations of all of them, as a campaign certifies its last incumbent.
std::string certifications_text(const CampaignSummary& summary) {
  std::string text;
  for (const Certification& one : summary.certifications) {
    text += fmt::format("certified, {} cache: {}{}{}{}\n", to_string(one.cache_policy), report::certified_figure(one),
                        one.launch == LaunchForm::graph ? ", as one CUDA graph" : "",
                        one.clock_coupled() ? ", clock-coupled" : "",
                        one.alarm ? "  ALARM: well below what was claimed step by step" : "");
  }
  if (!summary.certifications.empty()) {
    const Certification& last = summary.certifications.back();
    text += fmt::format("  {}\n  over {}\n", last.incumbent.label(), last.baseline.label());
    text += fmt::format("not claimed: the product of the accepted effects is {}, {} when shrunk for selection bias\n",
                        format_ratio(std::exp(summary.naive_effect)), format_ratio(std::exp(summary.shrunken_effect)));
  }
  return text;
}

// With the names where a line holds them: all are in the report, and what `apo research` prints.
std::string rest_text(const CampaignSummary& summary) {
  constexpr std::size_t kScreenColumns = 100;
  const std::string indent(11, ' ');
  std::vector<std::string> counts;
  for (const UntriedGroup& group : summary.untried) {
    counts.push_back(fmt::format("{} {}", group.variants.size(), group.why));
    const std::string named = counts.back() + ": " + join(group.variants, ", ");
    counts.back() = indent.size() + named.size() <= kScreenColumns ? named : counts.back();
  }
  const std::size_t unwritten =
      summary.iterations.empty()
          ? 0
          : static_cast<std::size_t>(std::ranges::count_if(summary.iterations.back().unwritten,
                                                           [](const Idea& idea) { return idea.why_not.empty(); }));
  return (counts.empty() ? "" : "not tried: " + join(counts, "\n" + indent) + "\n") +
         (unwritten == 0 ? ""
                         : fmt::format("unwritten: {} techniques that attack what holds the incumbent up: 'apo "
                                       "research {}'\n",
                                       unwritten, summary.policy.family));
}

// Each proposal is in one of the classes.
std::string proposals_text(const CampaignSummary& summary) {
  const report::ProposalCounts& counts = summary.proposals;
  if (summary.proposer_calls.empty()) {
    return "";
  }
  return counts.proposed == 0
             ? "proposals: none\n"
             : fmt::format(
                   "proposals: {}: {} judged ({} accepted, {} not accepted, {} wrong), {} not judged, {} repeated, "
                   "{} refused\n",
                   counts.proposed, counts.judged(), counts.accepted, counts.not_accepted, counts.wrong,
                   counts.not_judged, counts.repeated, counts.refused);
}

}  // namespace

std::string summary_text(const CampaignSummary& summary) {
  std::string text = experiments_text(summary) + certifications_text(summary);
  text += application_lines(summary);
  text += proposals_text(summary);
  text += rest_text(summary);
  text += summary.stopped.empty() ? "" : "ended:     " + summary.stopped + "\n";
  return text + "incumbent: " + summary.incumbent.label() + "\nreport:    " + summary.report + "\n";
}

}  // namespace apo
