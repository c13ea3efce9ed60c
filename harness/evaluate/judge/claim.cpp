// harness/evaluate/judge/claim.cpp - compares independent figures of each round with the saving of its timed calls.
#include "harness/evaluate/judge/claim.h"

#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "harness/core/guards.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/judge/signed_rank.h"

namespace apo {
namespace {

constexpr double kFreshShare = 0.25;
constexpr double kForeignShare = 0.5;
// What is taken once differs between two processes, for all rounds alike, by what their caches hold and how they wake:
// by half a microsecond. Beyond so many ns it speaks.
constexpr double kOfOneCall = 2e3;

using Check = std::optional<double> CrossChecks::*;

// One workload of one round; all in calls of the incumbent, which are taken as the effect takes them: a candidate that
// is fast, or hinders the other, in less than half of the samples moves the effect and no median.
struct View {
  View(const RoundWorkload& of_workload, bool candidate_in_slot0)
      : workload(of_workload), call_ns(typical_calls(of_workload, candidate_in_slot0).incumbent_ns) {}

  const RoundWorkload& workload;
  double call_ns;

  std::optional<double> figure(Check check, double per = 1) const {
    const std::optional<double>& ns = workload.checks.*check;
    return ns ? std::optional(*ns / per / call_ns) : std::nullopt;
  }
  double claimed() const { return 1 - std::exp(-workload.effect); }
};

using Figure = std::function<std::optional<double>(const View&)>;

struct Series {
  std::vector<double> figure;
  std::vector<double> claimed;
  std::vector<double> difference;  // figure - share * claimed
};

std::map<std::string, Series> series_by_workload(const std::vector<Round>& rounds, double share, const Figure& figure) {
  std::map<std::string, Series> all;
  for (const Round& round : rounds) {
    for (const RoundWorkload& workload : round.workloads) {
      const View view(workload, round.candidate_in_slot0);
      if (const auto value = figure(view)) {
        Series& series = all[workload.workload];
        series.figure.push_back(*value);
        series.claimed.push_back(view.claimed());
        series.difference.push_back(*value - share * view.claimed());
      }
    }
  }
  return all;
}

std::string percent_of_call(const std::vector<double>& values) {
  return format_g(100 * WalshAverages(values).hodges_lehmann(), 3) + " %";
}

// "" or a sentence with `what` was found.
std::string hold_against(const std::map<std::string, Series>& all, const std::string& what,
                         const std::function<bool(const WalshAverages&)>& speaks_against) {
  for (const auto& [name, series] : all) {
    if (WalshAverages(series.claimed).hodges_lehmann() > 0 && speaks_against(WalshAverages(series.difference))) {
      return "on workload " + name + " the timed calls save " + percent_of_call(series.claimed) +
             " of the incumbent's time, and " + what + " " + percent_of_call(series.figure);
    }
  }
  return "";
}

// `left` less `right`, where a round has both.
std::optional<double> difference(const View& view, Check left, Check right) {
  const auto one = view.figure(left);
  const auto other = view.figure(right);
  return one && other ? std::optional(*one - *other) : std::nullopt;
}

std::optional<double> fresh_saving(const View& view) {
  return difference(view, &CrossChecks::fresh_incumbent, &CrossChecks::fresh_candidate);
}

// A candidate may hinder the incumbent in just these calls, or make it work for new inputs too.
std::optional<double> fresh_saving_alone(const View& view) {
  const auto saving = difference(view, &CrossChecks::alone_fresh, &CrossChecks::fresh_candidate);
  return saving ? std::optional(*saving + kOfOneCall / view.call_ns) : std::nullopt;
}

std::optional<double> hindered(const View& view) {
  const auto alone = view.figure(&CrossChecks::alone_incumbent);
  return alone ? std::optional(1 - *alone) : std::nullopt;
}

// In the order in which they are asked. `saving`: a quarter of the claim has to be in the figure; else no half may be.
struct ClaimCheck {
  Guard guard;
  bool saving;
  std::optional<double> (*figure)(const View&);
  const char* what;
};

constexpr ClaimCheck kChecks[] = {
    {Guard::fresh_inputs, true, fresh_saving, "calls on inputs made right before them save"},
    {Guard::rival, false, hindered, "in a process without the candidate the incumbent is faster by"},
    {Guard::fresh_inputs, true, fresh_saving_alone,
     "of the incumbent's in a process without it, calls on inputs made right before them save"},
};

}  // namespace

std::string claim_failure(const std::vector<Round>& rounds, const JudgePreset& preset) {
  const auto below = [&](const WalshAverages& differences) { return differences.upper(preset.guard_alpha) < 0; };
  const auto above = [&](const WalshAverages& differences) { return differences.lower(preset.guard_alpha) > 0; };
  for (const ClaimCheck& check : kChecks) {
    if (!guard_is_on(check.guard)) {
      continue;
    }
    const auto series = series_by_workload(rounds, check.saving ? kFreshShare : kForeignShare, check.figure);
    std::string failure =
        check.saving ? hold_against(series, check.what, below) : hold_against(series, check.what, above);
    if (!failure.empty()) {
      return failure;
    }
  }
  return "";
}

}  // namespace apo
