// harness/research/prediction/evidence.cpp - a graph of measured comparisons, and the lessons that still hold.
#include "harness/research/prediction/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "harness/core/interval.h"
#include "harness/core/text.h"

namespace apo {
namespace {

const Variant* variant_of(const ResearchInputs& inputs, const std::string& id, const std::string& source_hash) {
  if (inputs.diagnosis.incumbent.id() == id && inputs.diagnosis.incumbent.source_hash == source_hash) {
    return &inputs.diagnosis.incumbent;
  }
  for (const RegisteredVariant& registered : inputs.variants) {
    if (registered.variant.id() == id && registered.variant.source_hash == source_hash) {
      return &registered.variant;
    }
  }
  return nullptr;
}

void normalise(const ResearchInputs& inputs, Configuration& configuration, const std::string& source_hash) {
  if (const Variant* variant = variant_of(inputs, configuration.variant, source_hash)) {
    configuration = normalised(configuration, *variant);
  }
}

// A gate's answer that the same source gives again. A clock that was unstable, or no change against another incumbent,
// says nothing about the next time.
bool lasting(Outcome outcome) {
  return outcome != Outcome::valid && outcome != Outcome::unstable_clock && outcome != Outcome::no_change;
}

std::string interval_text(double effect, double lower, double upper) {
  return format_interval(std::exp(effect), std::exp(lower), std::exp(upper)).all();
}

}  // namespace

Evidence::Evidence(const ResearchInputs& inputs) {
  for (PastResult past : inputs.past) {
    if (past.machine != inputs.machine || past.workload_class != inputs.workload_class) {
      continue;
    }
    normalise(inputs, past.candidate, past.candidate_source_hash);
    normalise(inputs, past.incumbent, past.incumbent_source_hash);
    const double half_width = 0.5 * (past.upper - past.lower);
    if (past.timed && std::isfinite(past.effect) && half_width >= 0 && std::isfinite(half_width)) {
      const std::size_t candidate = node({past.candidate, past.candidate_source_hash});
      const std::size_t incumbent = node({past.incumbent, past.incumbent_source_hash});
      edges_[incumbent].push_back({candidate, past.effect, half_width, past.experiment});
      edges_[candidate].push_back({incumbent, -past.effect, half_width, past.experiment});
    }
    results_.push_back(std::move(past));
  }
  for (Lesson lesson : inputs.lessons) {
    if (lesson.machine == inputs.machine && lesson.workload_class == inputs.workload_class) {
      normalise(inputs, lesson.configuration, lesson.source_hash);
      normalise(inputs, lesson.incumbent, lesson.incumbent_source_hash);
      lessons_.push_back(std::move(lesson));
    }
  }
}

std::size_t Evidence::node(const Subject& subject) {
  const auto [known, added] = nodes_.try_emplace({subject.configuration.label(), subject.source_hash}, edges_.size());
  if (added) {
    edges_.emplace_back();
  }
  return known->second;
}

std::optional<std::size_t> Evidence::find(const Subject& subject) const {
  const auto known = nodes_.find({subject.configuration.label(), subject.source_hash});
  return known == nodes_.end() ? std::nullopt : std::optional(known->second);
}

// Dijkstra over squared half-widths; of ways that are equally good the one that was found first.
const std::vector<Evidence::Way>& Evidence::ways_from(std::size_t from) const {
  const auto [kept, added] = ways_.try_emplace(from);
  std::vector<Way>& ways = kept->second;
  if (!added) {
    return ways;
  }
  ways.resize(edges_.size());
  std::vector<std::size_t> found_as(edges_.size());
  std::size_t found = 0;
  std::set<std::tuple<double, std::size_t, std::size_t>> open = {{0, found, from}};
  ways[from].found = true;
  while (!open.empty()) {
    const std::size_t current = std::get<2>(*open.begin());
    open.erase(open.begin());
    for (const Edge& edge : edges_[current]) {
      Way& way = ways[edge.to];
      const double variance = ways[current].variance + edge.half_width * edge.half_width;
      if (way.found && !(variance < way.variance)) {
        continue;
      }
      if (way.found) {
        open.erase({way.variance, found_as[edge.to], edge.to});
      } else {
        found_as[edge.to] = ++found;
      }
      way = {.found = true,
             .effect = ways[current].effect + edge.effect,
             .variance = variance,
             .before = current,
             .experiment = edge.experiment};
      open.emplace(variance, found_as[edge.to], edge.to);
    }
  }
  return ways;
}

std::optional<MeasuredEffect> Evidence::measured(const Subject& from, const Subject& to) const {
  if (from == to) {
    return MeasuredEffect();
  }
  const auto start = find(from);
  const auto end = find(to);
  if (!start || !end || !ways_from(*start)[*end].found) {
    return std::nullopt;
  }
  const std::vector<Way>& ways = ways_from(*start);
  MeasuredEffect effect{.effect = ways[*end].effect, .half_width = std::sqrt(ways[*end].variance)};
  for (std::size_t at = *end; at != *start; at = ways[at].before) {
    effect.experiments.push_back(ways[at].experiment);
  }
  std::ranges::reverse(effect.experiments);
  return effect;
}

std::string Evidence::refuted(const Subject& candidate, const Subject& incumbent) const {
  for (const PastResult& past : results_) {
    if (lasting(past.outcome) && past.candidate == candidate.configuration &&
        past.candidate_source_hash == candidate.source_hash) {
      return fmt::format("refuted by experiment {}: {}{}", past.experiment, to_string(past.outcome),
                         past.evidence.empty() ? "" : " (" + past.evidence + ")");
    }
  }
  for (const Lesson& lesson : lessons_) {
    const bool holds = lesson.verdict == Verdict::reverted && lesson.configuration == candidate.configuration &&
                       lesson.source_hash == candidate.source_hash && lesson.incumbent == incumbent.configuration &&
                       lesson.incumbent_source_hash == incumbent.source_hash;
    if (!holds) {
      continue;
    }
    const auto past = std::find_if(results_.begin(), results_.end(), [&](const PastResult& result) {
      return result.experiment == lesson.experiment && result.timed;
    });
    const std::string number =
        past == results_.end() ? format_ratio(lesson.speedup) : interval_text(past->effect, past->lower, past->upper);
    return fmt::format("refuted by experiment {}: {}", lesson.experiment, number);
  }
  return "";
}

int Evidence::tries(const std::string& variant, const std::string& source_hash) const {
  return static_cast<int>(std::count_if(results_.begin(), results_.end(), [&](const PastResult& past) {
    return past.candidate.variant == variant && past.candidate_source_hash == source_hash;
  }));
}

double Evidence::track_record(const std::string& technique) const {
  double tried = 0;
  double accepted = 0;
  for (const PastResult& past : results_) {
    if (std::find(past.techniques.begin(), past.techniques.end(), technique) != past.techniques.end()) {
      tried += 1;
      accepted += past.verdict == Verdict::accepted ? 1 : 0;
    }
  }
  return 2 * (accepted + 1) / (tried + 2);
}

std::vector<PastResult> Evidence::scorable() const {
  std::vector<PastResult> scorable;
  std::copy_if(results_.begin(), results_.end(), std::back_inserter(scorable), [](const PastResult& past) {
    const Prediction& predicted = past.prediction;
    const bool stated = predicted.low > 0 && predicted.high >= predicted.low && predicted.high != predicted.low;
    return past.timed && stated && predicted.source == PredictionSource::idea;
  });
  return scorable;
}

std::string name_experiments(const std::vector<std::int64_t>& experiments) {
  std::vector<std::string> names;
  for (const std::int64_t experiment : experiments) {
    names.push_back(std::to_string(experiment));
  }
  return (names.size() == 1 ? "experiment " : "experiments ") + join(names, ", ");
}

}  // namespace apo
