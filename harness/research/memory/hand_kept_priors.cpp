// harness/research/memory/hand_kept_priors.cpp - weighs rows by the kind of their evidence.
#include "harness/research/memory/hand_kept_priors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "harness/core/text.h"

namespace apo {
namespace {

// In logs. All of these documents measured on another device than any that is judged on here.
constexpr double kOtherDevice = 0.35;
constexpr double kOtherSizes = 0.2;
constexpr double kNoSamples = 0.15;
constexpr double kNoWarmUp = 0.15;
constexpr double kJoint = 0.3;     // of several techniques at once: the part of each is unknown
constexpr double kPromised = 0.5;  // and not measured

double squared(double x) {
  return x * x;
}

bool is_warm(const HandKeptRow& row) {
  return !row.warm_up.empty() && row.warm_up != "none";
}

bool same_axes(const HandKeptRow& row, const Axes& axes) {
  return std::ranges::all_of(row.axes, [&](const auto& axis) {
    const auto here = axes.find(axis.first);
    return here != axes.end() && here->second == axis.second;
  });
}

struct Evidenced {
  double effect = 0;
  double variance = 0;
  int line = 0;
};

Evidenced weighed(const HandKeptRow& row, const StatedBand& band, bool promised, const Axes& axes) {
  const double variance = squared(kOtherDevice) + squared(0.5 * (band.high - band.low)) +
                          (same_axes(row, axes) ? 0 : squared(kOtherSizes)) +
                          (row.samples > 0 ? 0 : squared(kNoSamples)) + (is_warm(row) ? 0 : squared(kNoWarmUp)) +
                          (row.joint ? squared(kJoint) : 0) + (promised ? squared(kPromised) : 0);
  return {.effect = middle(band), .variance = variance, .line = row.line};
}

// The measured ones where there are any.
std::vector<Evidenced> evidence_of(const std::vector<const HandKeptRow*>& rows, const Axes& axes) {
  std::vector<Evidenced> measured;
  std::vector<Evidenced> promised;
  for (const HandKeptRow* row : rows) {
    if (const auto effect = measured_effect(*row); effect && row->scope == HandKeptScope::kernel) {
      measured.push_back(weighed(*row, *effect, false, axes));
    }
    if (const auto effect = predicted_effect(*row); effect && row->predicted_scope == HandKeptScope::kernel) {
      promised.push_back(weighed(*row, *effect, true, axes));
    }
  }
  return measured.empty() ? promised : measured;
}

HandKeptPrior prior_of(const std::vector<Evidenced>& evidence, const std::string& title) {
  double weights = 0;
  double sum = 0;
  double least = evidence.front().variance;
  std::vector<std::string> lines;
  for (const Evidenced& one : evidence) {
    weights += 1 / one.variance;
    sum += one.effect / one.variance;
    least = std::min(least, one.variance);
    lines.push_back(std::to_string(one.line));
  }
  HandKeptPrior prior{.techniques = {}, .effect = sum / weights};
  double spread = 0;
  for (const Evidenced& one : evidence) {
    spread += squared(one.effect - prior.effect) / one.variance / weights;
  }
  prior.sd = std::sqrt(least + spread);
  lines = each_once(lines);
  prior.source = title + (lines.size() == 1 ? ", line " : ", lines ") + join(lines, ", ");
  return prior;
}

}  // namespace

std::vector<HandKeptPrior> hand_kept_priors(const std::vector<HandKeptJournal>& journals, const std::string& family,
                                            Target target, const Axes& axes) {
  std::vector<HandKeptPrior> priors;
  for (const HandKeptJournal& journal : journals) {
    std::map<std::vector<std::string>, std::vector<const HandKeptRow*>> by_techniques;
    for (const HandKeptRow& row : journal.rows) {
      if (row.subject == family && row.target.value_or(target) == target && !row.techniques.empty() &&
          row.superseded_by == 0) {
        std::vector<std::string> techniques = row.techniques;
        std::ranges::sort(techniques);
        by_techniques[techniques].push_back(&row);
      }
    }
    for (const auto& [techniques, rows] : by_techniques) {
      if (const std::vector<Evidenced> evidence = evidence_of(rows, axes); !evidence.empty()) {
        priors.push_back(prior_of(evidence, journal.title));
        priors.back().techniques = techniques;
      }
    }
  }
  return priors;
}

}  // namespace apo
