// reports/sections/document.cpp - the title, the claim, and the order of the sections.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
  std::string text =
      fmt::format("{}: {} accepted, {} reverted, {} inconclusive. ", counted(model.experiments.size(), "experiment"),
                  count_verdict(model, Verdict::accepted), count_verdict(model, Verdict::reverted),
                  count_verdict(model, Verdict::inconclusive));
  if (!model.abandoned.empty()) {
    text += counted(model.abandoned.size(), "experiment") + " abandoned without a verdict. ";
  }
  if (!model.under_way.empty()) {
    text += counted(model.under_way.size(), "experiment") + " still under way. ";
  }
  return text;
}

std::string products_text(const ReportModel& model) {
  const bool shrunken = std::isfinite(model.shrunken_effect);
  return ratio_text(model.naive_effect) +
         (shrunken ? fmt::format(" ({} shrunk for selection bias)", ratio_text(model.shrunken_effect)) : "") +
         ", is not a measurement.";
}

void append_certified(const ReportModel& model, Line& line) {
  const Certification& claim = *model.claim;
  if (claim.clock_coupled()) {
    line.push_back(strong("Clock-coupled: "));
    line.push_back(clock_text(claim).substr(std::string("clock-coupled: ").size()) + ". ");
  } else if (const std::string unknown = clock_text(claim); !unknown.empty()) {
    line.push_back("But " + unknown + ". ");
  }
  if (claim.alarm) {
    line.push_back(strong("The ratchet alarm is raised: "));
    line.push_back("this is far below the product of the accepted effects, " + ratio_text(claim.claimed_effect) +
                   ", so at least one accept does not hold. ");
  } else if (!(claim.quoted().lower > 0)) {
    line.push_back("The interval includes 1x, so no speed-up over the baseline has been shown. ");
  }
  line.push_back(
      "The certified speed-up above is the only number that may be quoted for the campaign; the naive product "
      "of the accepted effects, " +
      products_text(model));
}

// Comparisons at the campaign's own end; the sections have all of them.
void append_application(const ReportModel& model, Line& line) {
  for (const ProgramComparison& one : model.comparisons) {
    if (one.campaign != 0 && one.judgement && one.judgement->verdict != Verdict::accepted) {
      line.push_back(" ");
      line.push_back(strong(one.judgement->verdict == Verdict::reverted
                                ? "The application refuses the incumbent: "
                                : "The application does not confirm the incumbent: "));
      line.push_back(one.judgement->sentence);
    }
  }
}

Line certified_claim(const Certification& claim) {
  return {strong(certified_figure(claim)),
          fmt::format(" {} ({:.3g} % interval): ", claim.clock_coupled() ? "solo runs" : "rounds",
                      100 * claim.quoted().confidence),
          code(claim.incumbent.label()),
          " against the baseline ",
          code(claim.baseline.label()),
          fmt::format(", measured head to head in fresh processes ({} cache).", to_string(claim.cache_policy))};
}

bool any_accepted(const ReportModel& model) {
  return count_verdict(model, Verdict::accepted) > 0;
}

}  // namespace

void write_folded(const Line& title, const Table& table, Writer& writer) {
  Line summary = title;
  summary.push_back(fmt::format(" ({})", counted(table.rows.size(), "row")));
  writer.begin_fold(summary, "");
  writer.table(table);
  writer.end_fold();
}

std::string anchor_of(int index) {
  return fmt::format("experiment-{}", index);
}

std::string counted(std::size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string known(const std::string& text) {
  return text.empty() ? "unknown" : text;
}

std::string report_title(const ReportModel& model) {
  return fmt::format("Campaign {}: {}, {}", model.campaign.id, known(model.campaign.policy.family),
                     known(model.campaign.policy.workload_class));
}

Line claim(const ReportModel& model) {
  if (model.experiments.empty()) {
    return {strong("Nothing to claim: "), "no experiment of this campaign has a verdict. ", code(model.incumbent),
            " is the incumbent."};
  }
  if (model.claim) {
    return certified_claim(*model.claim);
  }
  if (model.improved) {
    return {strong("Not certified yet: "), code(model.incumbent),
            " is the incumbent, but it has not been measured head to head against the baseline under the "
            "campaign's cache policy, so no cumulative speed-up may be quoted."};
  }
  return {strong(any_accepted(model) ? "No accept stands: " : "Nothing was accepted: "), "the baseline ",
          code(model.incumbent), " stays the incumbent, and there is no speed-up to claim."};
}

Line summarise(const ReportModel& model) {
  Line line = model.experiments.empty() && model.abandoned.empty() && model.under_way.empty()
                  ? "No candidate was judged. "
                  : tally(model);
  if (model.claim) {
    append_certified(model, line);
  } else if (model.improved) {
    line.push_back("The naive product of the accepted effects, " + products_text(model));
  }
  append_application(model, line);
  return line;
}

void write_document(const ReportModel& model, Writer& writer) {
  writer.heading(1, report_title(model));
  writer.lead(claim(model));
  writer.paragraph(summarise(model));
  writer.contents();
  write_trajectory(model, writer);
  write_experiments(model, writer);
  write_certification(model, writer);
  if (!model.comparisons.empty()) {
    writer.heading(2, "Comparisons");
    write_comparisons(model.comparisons, writer);
  }
  write_profile(model, writer);
  write_applications(model, writer);
  write_proposals(model, writer);
  write_devices(model, writer);
  write_lessons(model, writer);
  write_predictions(model, writer);
  write_left_out(model, writer);
  write_reproduction(model, writer);
  write_environment(model, writer);
}

}  // namespace apo::report
