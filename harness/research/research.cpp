// harness/research/research.cpp - collects candidates, leaves out refuted ones, scores and sorts the rest.
#include "harness/research/research.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "harness/core/interval.h"
#include "harness/core/techniques/techniques.h"
#include "harness/core/text.h"
#include "harness/research/diagnosis/rules.h"
#include "harness/research/prediction/evidence.h"
#include "harness/research/prediction/prediction.h"
#include "harness/research/remedy.h"
#include "kernels/random.h"

namespace apo {
namespace {

// So many settings that a scan put first are listed, beside the variants' defaults.
constexpr std::size_t kScannedSettings = 16;

// What every option is held against.
struct Knowledge {
  const ResearchInputs& inputs;
  const Evidence& evidence;
  const Predictor& predictor;
  Subject incumbent;
  std::vector<Bottleneck> bottlenecks;
};

std::string sentence(const Option& option, const Remedy& remedy, const Prediction& prediction, bool tried) {
  const std::string target = remedy.bottlenecks.empty()
                                 ? "attacks nothing that was found"
                                 : fmt::format("attacks {}, worth {} {}{}", join(remedy.bottlenecks, " and "),
                                               remedy.has_cause ? "about" : "at most", format_ratio(remedy.bound),
                                               remedy.bottlenecks.size() > 1 ? " together" : "");
  const bool unknown = prediction.source == PredictionSource::nothing;
  return fmt::format("{} {}; {} ({}){}.", option.variant->name, target,
                     unknown ? "its effect is unknown" : "predicted " + format_band(prediction.low, prediction.high),
                     prediction.because, tried ? "" : "; never tried here");
}

// Without the last digits, which depend on the order in which statements are added up: what is equal is to stay so.
double rounded(double effect) {
  return std::round(1e9 * effect) / 1e9;
}

Candidate candidate_of(const Knowledge& known, const Option& option, const Forecast& forecast) {
  const bool unknown = forecast.band.source == PredictionSource::nothing;
  const bool tried = known.evidence.tries(option.variant->id(), option.variant->source_hash) > 0;
  const Remedy remedy = remedy_of(known.inputs, known.bottlenecks, option);
  const std::string expired =
      known.evidence.expired({option.configuration, option.variant->source_hash}, known.incumbent);
  return {.configuration = option.configuration,
          .techniques = techniques_of(*option.variant, option.configuration.settings),
          .prediction = unknown ? Prediction{.relative_to = "incumbent"} : forecast.band,
          .attacks = remedy.bottlenecks.empty() ? "" : remedy.bottlenecks.front(),
          .score = unknown ? std::numeric_limits<double>::quiet_NaN() : rounded(forecast.effect),
          .why = sentence(option, remedy, forecast.band, tried) + (expired.empty() ? "" : " Now " + expired + "."),
          .origin = option.origin};
}

bool is_incumbent(const Knowledge& known, const Option& option) {
  return option.variant->source_hash == known.incumbent.source_hash &&
         option.configuration.settings == known.incumbent.configuration.settings;
}

// Ranked with its prediction, or left out with the reason.
void consider(const Knowledge& known, const Option& option, ResearchBrief& brief) {
  const auto leave_out = [&](LeftOutKind kind, const std::string& why) {
    brief.left_out.push_back({.configuration = option.configuration, .why = why, .kind = kind});
  };
  if (is_incumbent(known, option)) {
    leave_out(LeftOutKind::incumbent, "identical to the incumbent: same source, same settings");
    return;
  }
  const Subject subject{option.configuration, option.variant->source_hash};
  if (const std::string refuted = known.evidence.refuted(subject, known.incumbent); !refuted.empty()) {
    leave_out(LeftOutKind::refuted, refuted);
    return;
  }
  // What was proposed is judged all the same: its author gets a verdict.
  const bool proposed = option.origin == Origin::proposer;
  const ScannedEffect* scan = known.predictor.scans().find(subject);
  if (scan != nullptr && scan->row.times.outcome != Outcome::valid && !proposed) {
    leave_out(LeftOutKind::refuted,
              fmt::format("a scan: {}: {}", to_string(scan->row.times.outcome), scan->row.times.evidence));
    return;
  }
  const double floor = floor_bound(known.inputs, option);
  const double least = known.inputs.minimum_detectable;
  const Forecast forecast = known.predictor.predict(*option.variant, option.configuration, floor);
  const bool edited = known.evidence.tries(option.variant->id(), option.variant->source_hash) == 0 &&
                      known.evidence.tries(option.variant->id()) > 0;
  if (!(std::log(floor) > least)) {
    leave_out(LeftOutKind::below_resolution, fmt::format("the floor leaves {} at most, and this machine resolves {}",
                                                         format_ratio(floor), format_percent(least)));
  } else if (forecast.band.source != PredictionSource::nothing && forecast.chance_above(least) < kLeastChance &&
             !edited && !(proposed && scan != nullptr)) {
    leave_out(
        LeftOutKind::below_resolution,
        fmt::format("predicted {} ({}): less than one chance in ten of the {} that this machine resolves",
                    format_band(forecast.band.low, forecast.band.high), forecast.band.because, format_percent(least)));
  } else {
    brief.ranked.push_back(candidate_of(known, option, forecast));
  }
}

bool is_proposed(const ResearchInputs& inputs, const Variant& variant, const Configuration& configuration) {
  return std::ranges::any_of(inputs.proposed, [&](const ProposedSettings& one) {
    return one.configuration.variant == variant.id() && normalised(one.configuration, variant) == configuration;
  });
}

void consider_registered(const Knowledge& known, ResearchBrief& brief) {
  for (const RegisteredVariant& registered : known.inputs.variants) {
    const Variant& variant = registered.variant;
    const Configuration defaults = normalised({.variant = variant.id(), .settings = {}}, variant);
    const bool proposed = !registered.author.empty() || is_proposed(known.inputs, variant, defaults);
    const Option option{
        .variant = &variant, .configuration = defaults, .origin = proposed ? Origin::proposer : Origin::registered};
    const bool incumbents =
        variant.id() == known.incumbent.configuration.variant && variant.source_hash == known.incumbent.source_hash;
    if (incumbents && !(option.configuration == known.incumbent.configuration)) {
      continue;  // other settings of the incumbent are the scan's business
    }
    if (registered.supported) {
      consider(known, option, brief);
    } else {
      brief.left_out.push_back({.configuration = option.configuration,
                                .why = "unsupported: " + registered.why_not,
                                .kind = registered.kind});
    }
  }
}

void consider_proposed(const Knowledge& known, ResearchBrief& brief) {
  for (const ProposedSettings& proposed : known.inputs.proposed) {
    const RegisteredVariant* found = known.inputs.registered(proposed.configuration.variant);
    if (found != nullptr && found->supported) {
      const Option option{.variant = &found->variant,
                          .configuration = normalised(proposed.configuration, found->variant),
                          .origin = Origin::proposer};
      if (std::ranges::none_of(brief.ranked,
                               [&](const Candidate& one) { return one.configuration == option.configuration; })) {
        consider(known, option, brief);
      }
    }
  }
}

bool is_listed(const ResearchBrief& brief, const Configuration& configuration) {
  return std::ranges::find(brief.ranked, configuration, &Candidate::configuration) != brief.ranked.end() ||
         std::ranges::find(brief.left_out, configuration, &LeftOut::configuration) != brief.left_out.end();
}

// The fastest unlisted ones.
void consider_scanned(const Knowledge& known, ResearchBrief& brief) {
  std::size_t considered = 0;
  for (const ScannedEffect& scan : known.predictor.scans().ranked()) {
    const RegisteredVariant* found = known.inputs.registered(scan.row.configuration.variant);
    if (considered < kScannedSettings && scan.row.times.outcome == Outcome::valid && found != nullptr &&
        found->variant.source_hash == scan.row.source_hash && found->kind != LeftOutKind::other_target &&
        !is_listed(brief, scan.row.configuration)) {
      ++considered;
      consider(known, {.variant = &found->variant, .configuration = scan.row.configuration, .origin = Origin::tuning},
               brief);
    }
  }
}

// A scan is no verdict: where it leaves nothing to judge, the first of it is judged, unless its text was already.
void spare_the_first(const Knowledge& known, ResearchBrief& brief) {
  for (const ScannedEffect& scan : known.predictor.scans().ranked()) {
    const Configuration& configuration = scan.row.configuration;
    const auto left_out = std::ranges::find(brief.left_out, configuration, &LeftOut::configuration);
    const RegisteredVariant* found = known.inputs.registered(configuration.variant);
    if (left_out == brief.left_out.end() || left_out->kind != LeftOutKind::below_resolution || found == nullptr ||
        known.evidence.tries(configuration.variant, scan.row.source_hash) > 0) {
      continue;
    }
    const Option option{.variant = &found->variant, .configuration = configuration, .origin = Origin::registered};
    const double floor = floor_bound(known.inputs, option);
    if (std::log(floor) > known.inputs.minimum_detectable) {
      brief.left_out.erase(left_out);
      brief.ranked.push_back(
          candidate_of(known, option, known.predictor.predict(found->variant, configuration, floor)));
      return;
    }
  }
}

// The order of turns: unjudged proposals of this campaign, then those of earlier campaigns, then the rest.
enum class Turn : std::uint8_t { clear_gain, proposed_now, waits, rest };

bool is_judged(const Knowledge& known, const Candidate& candidate) {
  const RegisteredVariant& its = *known.inputs.registered(candidate.configuration.variant);
  return known.predictor.is_judged(its.variant, candidate.configuration);
}

Turn turn_of(const Knowledge& known, const Candidate& candidate) {
  const ResearchInputs& inputs = known.inputs;
  if (is_judged(known, candidate)) {
    return Turn::rest;
  }
  const RegisteredVariant& of_variant = *inputs.registered(candidate.configuration.variant);
  const bool waits = of_variant.waits && candidate.origin == Origin::proposer;
  return is_proposed(inputs, of_variant.variant, candidate.configuration) ? Turn::proposed_now
         : waits                                                          ? Turn::waits
                                                                          : Turn::rest;
}

// The least that a known candidate has to promise to come before the proposals that wait, as a log speed-up: a gain,
// and more than the best of them is expected to give. NaN when none waits.
double least_before_proposals(const Knowledge& known, const std::vector<Candidate>& ranked) {
  double least = std::numeric_limits<double>::quiet_NaN();
  for (const Candidate& candidate : ranked) {
    if (turn_of(known, candidate) != Turn::rest) {
      least = std::max({0.0, std::isnan(least) ? 0 : least, std::isnan(candidate.score) ? 0 : candidate.score});
    }
  }
  return least;
}

// The largest effect first; what nobody knows anything of comes last. Proposals are heard before known candidates, but
// for those that judgements here put above the best proposal with the whole of their band.
void sort_by_score(std::vector<Candidate>& ranked, const Knowledge& known) {
  const double least = least_before_proposals(known, ranked);
  const auto turn = [&](const Candidate& candidate) {
    const Prediction& band = candidate.prediction;
    const bool is_clear = std::log(band.low) > least && is_judged(known, candidate);
    return is_clear ? Turn::clear_gain : turn_of(known, candidate);
  };
  // Beside a scan: what was measured comes before what was guessed.
  const bool scanned = !known.predictor.scans().ranked().empty();
  const auto key = [&](const Candidate& candidate) {
    const std::string label = candidate.configuration.label();
    const bool unknown = std::isnan(candidate.score);
    const bool guessed = scanned && candidate.prediction.source != PredictionSource::measurements;
    const Turn its = turn(candidate);
    return std::tuple(its, its == Turn::rest && guessed, unknown, unknown ? 0 : -candidate.score,
                      derive_seed(known.inputs.seed, label), label);
  };
  std::sort(ranked.begin(), ranked.end(), [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
}

}  // namespace

ResearchBrief research(const ResearchInputs& inputs) {
  const Evidence evidence(inputs);
  const Predictor predictor(inputs, evidence);
  const Variant& incumbent = inputs.diagnosis.incumbent;
  const Knowledge known{.inputs = inputs,
                        .evidence = evidence,
                        .predictor = predictor,
                        .incumbent = {normalised(inputs.incumbent, incumbent), incumbent.source_hash},
                        .bottlenecks = diagnose(inputs.diagnosis)};
  ResearchBrief brief{.bottlenecks = known.bottlenecks, .ranked = {}, .left_out = {}};
  consider_registered(known, brief);
  consider_proposed(known, brief);
  consider_scanned(known, brief);
  if (brief.ranked.empty()) {
    spare_the_first(known, brief);
  }
  sort_by_score(brief.ranked, known);
  brief.unwritten = unwritten_ideas(inputs, brief.bottlenecks);
  return brief;
}

std::string done_at_floor(const Variant& incumbent, const Profile& profile) {
  const bool on_tensor_cores =
      uses_tensor_cores(techniques_of(incumbent, profile.configuration.settings), incumbent.target);
  const double bound = on_tensor_cores ? floor_bound_on_tensor_cores(profile) : floor_bound(profile);
  if (bound * kDoneAtFloor > 1) {
    return "";
  }
  const bool by_vectors = bound == floor_bound(profile);
  return fmt::format("{} is at {} of its floor ({}): at most {} is left", profile.configuration.label(),
                     format_share(by_vectors ? profile.floor_fraction : 1 / bound),
                     by_vectors ? profile.floor_roof : "on tensor cores", format_ratio(bound));
}

std::string nothing_to_try(const ResearchInputs& inputs, const ResearchBrief& brief) {
  if (!brief.ranked.empty()) {
    return "";
  }
  const auto is_no_rival = [](const LeftOut& one) {
    return one.kind == LeftOutKind::incumbent || one.kind == LeftOutKind::other_target;
  };
  if (std::ranges::all_of(brief.left_out, is_no_rival)) {
    return fmt::format("there is nothing to compare {} with: register another variant, or name a --proposer",
                       inputs.incumbent.label());
  }
  std::map<LeftOutKind, int> counts;
  for (const LeftOut& one : brief.left_out) {
    ++counts[one.kind];
  }
  std::vector<std::string> groups;
  for (const auto& [kind, words] : {std::pair{LeftOutKind::below_resolution, "have less than one chance in ten of it"},
                                    std::pair{LeftOutKind::refuted, "were refuted"},
                                    std::pair{LeftOutKind::unsupported, "do not support this workload"}}) {
    if (counts.contains(kind)) {
      groups.push_back(fmt::format("{} {}", counts.at(kind), words));
    }
  }
  return fmt::format("no option is left that may gain the {} that this machine resolves{}",
                     format_percent(inputs.minimum_detectable), groups.empty() ? "" : ": " + join(groups, ", "));
}

}  // namespace apo
