// harness/research/catalogue/unwritten.cpp - ranks unwritten techniques by their likely saving for their cost.
#include "harness/research/catalogue/unwritten.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "harness/core/techniques/techniques.h"
#include "harness/research/catalogue/requirements.h"
#include "harness/research/remedy.h"

namespace apo {

std::vector<Idea> unwritten_ideas(const ResearchInputs& inputs, const std::vector<Bottleneck>& bottlenecks) {
  const Variant& incumbent = inputs.diagnosis.incumbent;
  const auto written = [&](const std::string& name) {
    const auto has = [&](const Variant& variant) {
      return std::ranges::find(variant.techniques, name) != variant.techniques.end() ||
             std::ranges::find(variant.tunables, name, &Tunable::technique) != variant.tunables.end();
    };
    return has(incumbent) || std::any_of(inputs.variants.begin(), inputs.variants.end(),
                                         [&](const auto& one) { return one.supported && has(one.variant); });
  };
  std::vector<Idea> ideas;
  for (const Technique& technique : technique_catalogue()) {
    if (technique.target.value_or(incumbent.target) != incumbent.target || written(technique.name)) {
      continue;
    }
    const auto found = std::find_if(bottlenecks.begin(), bottlenecks.end(),
                                    [&](const Bottleneck& bottleneck) { return attacks(technique, bottleneck.name); });
    if (found != bottlenecks.end()) {
      const double middle = saving(std::sqrt(technique.low * technique.high));
      ideas.push_back({.technique = technique,
                       .attacks = found->name,
                       .score = inputs.share * std::min(middle, saving(found->bound)) / technique.cost,
                       .why_not = why_not_now(technique, inputs)});
    }
  }
  std::stable_sort(ideas.begin(), ideas.end(), [](const Idea& a, const Idea& b) {
    return std::pair(a.why_not.empty(), a.score) > std::pair(b.why_not.empty(), b.score);
  });
  return ideas;
}

}  // namespace apo
