// harness/cli/improve/run_text.cpp - a row for each experiment, then the certified number and the incumbent.
#include "harness/cli/improve/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/cli/comparison_text.h"
#include "harness/cli/console.h"
#include "harness/cli/terminal.h"
#include "harness/core/interval.h"
#include "harness/core/text.h"

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
  const auto write = [&](report::Writer& writer) { write_experiment_table(experiments, summary.withdrawn, writer); };
  return experiments.empty() ? "" : terminal_text(write);
}

std::string ideas_text(const CampaignSummary& summary) {
  const auto write = [&](report::Writer& writer) { write_ideas(summary.iterations.back().unwritten, writer); };
  return summary.iterations.empty() ? "" : terminal_text(write, Folds::closed);
}

constexpr std::size_t kNamedEach = 6;

// "12 for target cuda: a, b, c and 9 more"
std::string untried_text(const std::vector<UntriedGroup>& groups) {
  std::string text = groups.empty() ? "" : "not tried\n";
  for (const UntriedGroup& group : groups) {
    const std::size_t named = std::min(group.variants.size(), kNamedEach);
    const std::vector<std::string> names(group.variants.begin(),
                                         group.variants.begin() + static_cast<std::ptrdiff_t>(named));
    text +=
        fmt::format("  {} {}: {}{}\n", group.variants.size(), group.why, join(names, ", "),
                    named < group.variants.size() ? fmt::format(" and {} more", group.variants.size() - named) : "");
  }
  return text;
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
  std::string text = experiments_text(summary);
  for (const Certification& one : summary.certifications) {
    text += fmt::format("certified, {} cache: {}{}\n", to_string(one.cache_policy), certified_text(one),
                        one.alarm ? "  ALARM: well below what was claimed step by step" : "");
  }
  if (!summary.certifications.empty()) {
    text += fmt::format("not claimed: the product of the accepted effects is {}, {} when shrunk for selection bias\n",
                        format_ratio(std::exp(summary.naive_effect)), format_ratio(std::exp(summary.shrunken_effect)));
  }
  text += application_lines(summary);
  text += proposals_text(summary);
  text += untried_text(summary.untried);
  text += ideas_text(summary);
  text += summary.stopped.empty() ? "" : "ended:     " + summary.stopped + "\n";
  return text + "incumbent: " + summary.incumbent.label() + "\nreport:    " + summary.report + "\n";
}

}  // namespace apo
