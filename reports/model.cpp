// reports/model.cpp - computes trajectory, withdrawals and prediction scores from the records.
#include "reports/model.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "reports/shrinkage.h"

namespace apo::report {
namespace {

bool is_accepted(const Experiment& experiment) {
  return experiment.judgement && experiment.judgement->verdict == Verdict::accepted;
}

double effect_of(const Experiment& experiment) {
  return has_effect(experiment) ? experiment.judgement->effect : kNotMeasured;
}

std::string why_abandoned(const Experiment& experiment, const std::map<std::int64_t, std::string>& abandonments) {
  const auto found = abandonments.find(experiment.id);
  if (found != abandonments.end()) {
    return found->second;
  }
  return experiment.judgement ? experiment.judgement->sentence : "no verdict was written before the campaign ended";
}

void sort_experiments(ReportModel& model, CampaignRecords& records) {
  std::stable_sort(
      records.experiments.begin(), records.experiments.end(),
      [](const Experiment& a, const Experiment& b) { return std::pair(a.index, a.id) < std::pair(b.index, b.id); });
  for (Experiment& experiment : records.experiments) {
    const bool interrupted = experiment.judgement && experiment.judgement->reason == Reason::interrupted;
    const bool given_up =
        interrupted || records.abandonments.count(experiment.id) > 0 || model.campaign.state != CampaignState::open;
    if (experiment.judgement && !interrupted) {
      model.experiments.push_back(std::move(experiment));
    } else if (given_up) {
      const std::string why = why_abandoned(experiment, records.abandonments);
      model.abandoned.push_back({std::move(experiment), why});
    } else {
      model.under_way.push_back(std::move(experiment));
    }
  }
}

// An edited source under the same name is another configuration.
using Key = std::pair<std::string, std::string>;
Key candidate_key(const Experiment& experiment) {
  return {experiment.candidate.label(), experiment.candidate_source_hash};
}
Key incumbent_key(const Experiment& experiment) {
  return {experiment.incumbent.label(), experiment.incumbent_source_hash};
}

// Each accept builds on the incumbent that it was judged against, so a roll-back shows as the step that it was.
void trace_trajectory(ReportModel& model, const std::set<std::int64_t>& withdrawn) {
  TrajectoryPoint point{.incumbent = model.campaign.baseline.label()};
  model.incumbent = point.incumbent;
  model.trajectory.push_back(point);
  std::map<Key, double> products;  // log of the naive product of each incumbent
  std::map<Key, double> shrunken;  // and of the shrunken one
  for (const Experiment& experiment : model.experiments) {
    const auto known = products.find(incumbent_key(experiment));
    if (known != products.end()) {
      point.incumbent = known->first.first;
      point.cumulative = known->second;
    } else if (products.empty()) {
      products[incumbent_key(experiment)] = 0;  // the first one judged is the baseline
    }
    point.index = experiment.index;
    point.experiment = experiment.id;
    point.accepted = is_accepted(experiment);
    point.withdrawn = withdrawn.contains(experiment.id);
    point.candidate = point.cumulative + effect_of(experiment);
    if (point.accepted) {
      point.incumbent = experiment.candidate.label();
      point.cumulative = point.candidate;
      products[candidate_key(experiment)] = point.candidate;
      shrunken[candidate_key(experiment)] =
          shrunken[incumbent_key(experiment)] +
          (std::isfinite(effect_of(experiment)) ? shrunken_effect(*experiment.judgement) : std::nan(""));
    }
    if (point.accepted && !point.withdrawn) {
      model.improved = true;
      model.incumbent = point.incumbent;
      model.naive_effect = point.cumulative;
      model.shrunken_effect = shrunken[candidate_key(experiment)];
    }
    model.trajectory.push_back(point);
  }
}

void pick_profiles(ReportModel& model) {
  const auto has_profiles = [](const IterationRecord& iteration) { return !iteration.profiles.empty(); };
  const auto first = std::find_if(model.iterations.begin(), model.iterations.end(), has_profiles);
  if (first == model.iterations.end()) {
    return;
  }
  model.first_profiles = first->profiles;
  const auto last = std::find_if(model.iterations.rbegin(), model.iterations.rend(), has_profiles);
  if (last->id != first->id || last->index != first->index) {
    model.last_profiles = last->profiles;
  }
}

void pick_claim(ReportModel& model) {
  for (const Certification& certification : model.certifications) {
    const bool of_final = certification.incumbent.label() == model.incumbent;
    const bool same_policy = certification.cache_policy == model.campaign.policy.cache_policy;
    const bool measured = certification.rounds > 0 && std::isfinite(certification.effect) &&
                          std::isfinite(certification.lower) && std::isfinite(certification.upper);
    if (model.improved && of_final && same_policy && measured) {
      model.claim = certification;
    }
  }
}

void collect_toolchains(ReportModel& model, std::vector<Toolchain> toolchains) {
  for (const Experiment& experiment : model.experiments) {
    for (const Build* build : {&experiment.candidate_build, &experiment.incumbent_build}) {
      toolchains.push_back(build->toolchain);
    }
  }
  const auto key = [](const Toolchain& one) { return std::tie(one.compiler, one.version); };
  std::sort(toolchains.begin(), toolchains.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  for (Toolchain& toolchain : toolchains) {
    const bool empty = toolchain.compiler.empty() && toolchain.version.empty();
    const bool seen = !model.toolchains.empty() && key(model.toolchains.back()) == key(toolchain);
    if (!empty && !seen) {
      model.toolchains.push_back(std::move(toolchain));
    }
  }
}

void find_last_event(ReportModel& model) {
  const auto consider = [&](const std::string& at) { model.last_event_at = std::max(model.last_event_at, at); };
  consider(model.campaign.started_at);
  consider(model.ended_at);
  for (const auto* list : {&model.experiments, &model.under_way}) {
    for (const Experiment& experiment : *list) {
      consider(experiment.started_at);
      consider(experiment.finished_at);
    }
  }
  for (const Abandoned& abandoned : model.abandoned) {
    consider(abandoned.experiment.started_at);
  }
  for (const Certification& certification : model.certifications) {
    consider(certification.at);
  }
  for (const Sentinel& sentinel : model.sentinels) {
    consider(sentinel.at);
  }
}

template <class Record, class Key>
void sort_by(std::vector<Record>& records, Key key) {
  std::stable_sort(records.begin(), records.end(), [&](const Record& a, const Record& b) { return key(a) < key(b); });
}

}  // namespace

ReportModel build_model(CampaignRecords records) {
  ReportModel model;
  model.campaign = std::move(records.campaign);
  model.ended_at = std::move(records.ended_at);
  model.end_note = std::move(records.end_note);
  model.machine = std::move(records.machine);
  model.iterations = std::move(records.iterations);
  model.lessons = std::move(records.lessons);
  model.certifications = std::move(records.certifications);
  model.sentinels = std::move(records.sentinels);
  model.applications = std::move(records.applications);
  model.comparisons = std::move(records.comparisons);
  model.proposer_calls = std::move(records.proposer_calls);
  model.workers = std::move(records.workers);
  model.judged_on = std::move(records.judged_on);
  model.diffs = std::move(records.diffs);
  sort_by(model.iterations, [](const IterationRecord& one) { return std::pair(one.index, one.id); });
  sort_by(model.lessons, [](const Lesson& one) { return one.id; });
  sort_by(model.certifications, [](const Certification& one) { return one.id; });
  sort_by(model.sentinels, [](const Sentinel& one) { return one.at; });
  sort_experiments(model, records);
  collect_toolchains(model, std::move(records.toolchains));
  trace_trajectory(model, records.withdrawn);
  model.predictions = prediction_outcomes(model.experiments);
  model.prediction_score = score_predictions(model.predictions);
  pick_profiles(model);
  pick_claim(model);
  find_last_event(model);
  return model;
}

const GateResult* failed_gate(const Experiment& experiment) {
  const auto found = std::find_if(experiment.gates.begin(), experiment.gates.end(),
                                  [](const GateResult& gate) { return gate.outcome != Outcome::valid; });
  return found == experiment.gates.end() ? nullptr : &*found;
}

double metric_in_base_units(const Profile& profile, const std::string& name) {
  const auto found =
      std::find_if(profile.metrics.begin(), profile.metrics.end(), [&](const Metric& one) { return one.name == name; });
  if (found == profile.metrics.end()) {
    return kNotMeasured;
  }
  switch (found->unit.empty() ? ' ' : found->unit.front()) {
    case 'k':
      return found->value * 1e3;
    case 'M':
      return found->value * 1e6;
    case 'G':
      return found->value * 1e9;
    case 'T':
      return found->value * 1e12;
    default:
      return found->value;
  }
}

RooflinePoint roofline_point(const Profile& profile) {
  const double flops_per_s = metric_in_base_units(profile, "gflops");
  const double bytes_per_s = metric_in_base_units(profile, "gb_per_s");
  RooflinePoint point{.label = profile.configuration.label()};
  if (flops_per_s > 0 && bytes_per_s > 0) {
    point.intensity = flops_per_s / bytes_per_s;
    point.flops_per_s = flops_per_s;
    point.floor_flops_per_s =
        profile.floor_ns > 0 && profile.time_ns > 0 ? flops_per_s * (profile.time_ns / profile.floor_ns) : kNotMeasured;
  }
  return point;
}

}  // namespace apo::report
