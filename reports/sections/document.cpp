// reports/sections/document.cpp - title, the honest claim, and the order of the sections.
#include "reports/sections/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/core/text.h"
#include "reports/numbers.h"
#include "reports/sections/sections.h"

namespace apo::report {
namespace {

std::size_t count_verdict(const ReportModel& model, Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(model.experiments.begin(), model.experiments.end(),
                    [&](const Experiment& experiment) { return experiment.judgement->verdict == verdict; }));
}

std::string tally(const ReportModel& model) {
  std::string text = counted(model.experiments.size(), "experiment") + ": " +
                     std::to_string(count_verdict(model, Verdict::accepted)) + " accepted, " +
                     std::to_string(count_verdict(model, Verdict::reverted)) + " reverted, " +
                     std::to_string(count_verdict(model, Verdict::inconclusive)) + " inconclusive. ";
  if (!model.abandoned.empty()) {
    text += counted(model.abandoned.size(), "experiment") + " abandoned without a verdict. ";
  }
  if (!model.under_way.empty()) {
    text += counted(model.under_way.size(), "experiment") + " still under way. ";
  }
  return text;
}

std::string products_text(const ReportModel& model) {
  const std::string shrunken = std::isfinite(model.shrunken_effect) ? " (" + ratio_text(model.shrunken_effect) +
                                                                          " with the luck of the accepted taken off)"
                                                                    : "";
  return ratio_text(model.naive_effect) + shrunken + ", is not a measurement.";
}

void append_certified(const ReportModel& model, Line& line) {
  const Certification& claim = *model.claim;
  line.push_back(
      plain(fmt::format("Measured head to head in fresh processes ({} cache), ", to_string(claim.cache_policy))));
  line.push_back(code(model.champion));
  line.push_back(plain(" against the baseline "));
  line.push_back(code(claim.baseline.label()));
  line.push_back(plain(": "));
  line.push_back(strong(certified_figure(claim)));
  line.push_back(plain(std::string(claim.clock_coupled() ? " solo runs (" : " rounds (") +
                       format_g(100 * claim.quoted().confidence, 3) + " % interval). "));
  if (claim.clock_coupled()) {
    line.push_back(strong("Clock-coupled: "));
    line.push_back(plain(clock_text(claim).substr(std::string("clock-coupled: ").size()) + ". "));
  } else if (const std::string unknown = clock_text(claim); !unknown.empty()) {
    line.push_back(plain("But " + unknown + ". "));
  }
  if (claim.alarm) {
    line.push_back(strong("The ratchet alarm is raised: "));
    line.push_back(plain("this is far below the product of the accepted effects, " + ratio_text(claim.claimed_effect) +
                         ", so at least one accept does not hold. "));
  } else if (!(claim.quoted().lower > 0)) {
    line.push_back(plain("The interval includes 1x, so no speed-up over the baseline has been shown. "));
  }
  line.push_back(
      plain("This is the only number that may be quoted for the campaign; the naive product of the accepted "
            "effects, " +
            products_text(model)));
}

void append_uncertified(const ReportModel& model, Line& line) {
  line.push_back(code(model.champion));
  line.push_back(plain(" is the incumbent. "));
  line.push_back(strong("Not certified yet: "));
  line.push_back(
      plain("no cumulative speed-up may be quoted, because the champion has not been measured head to head "
            "against the baseline under the campaign's cache policy. The naive product of the accepted effects, " +
            products_text(model)));
}

}  // namespace

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string known(const std::string& text) {
  return text.empty() ? "unknown" : text;
}

std::string report_title(const ReportModel& model) {
  return "Campaign " + std::to_string(model.campaign.id) + ": " + known(model.campaign.policy.family) + ", " +
         known(model.campaign.policy.workload_class);
}

Line summarise(const ReportModel& model) {
  Line line;
  if (model.experiments.empty()) {
    line.push_back(strong("Nothing to claim: "));
    line.push_back(plain("no experiment of this campaign has a verdict. "));
    line.push_back(plain(model.abandoned.empty() && model.under_way.empty() ? "" : tally(model)));
    line.push_back(code(model.champion));
    line.push_back(plain(" is the incumbent."));
    return line;
  }
  line.push_back(plain(tally(model)));
  if (model.improved) {
    model.claim ? append_certified(model, line) : append_uncertified(model, line);
    return line;
  }
  const bool withdrawn = count_verdict(model, Verdict::accepted) > 0;
  line.push_back(strong(withdrawn ? "No accept stands: " : "Nothing was accepted: "));
  line.push_back(plain("the baseline "));
  line.push_back(code(model.champion));
  line.push_back(plain(" stays the incumbent, and there is no speed-up to claim."));
  return line;
}

void write_document(const ReportModel& model, Writer& writer) {
  writer.heading(1, {plain(report_title(model))});
  writer.paragraph(summarise(model));
  write_environment(model, writer);
  write_trajectory(model, writer);
  write_experiments(model, writer);
  write_profile(model, writer);
  write_applications(model, writer);
  write_lessons(model, writer);
  write_predictions(model, writer);
  write_certification(model, writer);
  write_left_out(model, writer);
  write_reproduction(model, writer);
}

}  // namespace apo::report
