// harness/research/remedy.cpp - matches techniques with bottlenecks, evaluates preconditions, ranks unwritten ideas.
#include "harness/research/remedy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "harness/core/techniques/techniques.h"
#include "harness/core/text.h"

namespace apo {
namespace {

// Returns the techniques of all ancestors: many variants name only those that they add to their parent.
std::set<std::string> inherited_techniques(const ResearchInputs& inputs, const Variant& variant) {
  std::set<std::string> techniques;
  std::set<std::string> seen = {variant.id()};
  for (const RegisteredVariant* one = inputs.registered(variant.parent);
       one != nullptr && seen.insert(one->variant.id()).second; one = inputs.registered(one->variant.parent)) {
    techniques.insert(one->variant.techniques.begin(), one->variant.techniques.end());
  }
  return techniques;
}

// Returns the techniques that the option applies and the incumbent does not.
std::vector<std::string> new_techniques(const ResearchInputs& inputs, const Option& option) {
  const Variant& incumbent = inputs.diagnosis.incumbent;
  std::vector<std::string> techniques = techniques_of(*option.variant, option.configuration.settings);
  const std::set<std::string> incumbents = inherited_techniques(inputs, incumbent);
  for (const std::string& technique : inherited_techniques(inputs, *option.variant)) {
    if (!incumbents.contains(technique) && std::ranges::find(techniques, technique) == techniques.end()) {
      techniques.push_back(technique);
    }
  }
  const std::vector<std::string> old = techniques_of(incumbent, inputs.incumbent.settings);
  std::erase_if(techniques,
                [&](const std::string& technique) { return std::ranges::find(old, technique) != old.end(); });
  return techniques;
}

// A technique that cannot be applied here attacks nothing.
std::vector<std::string> applicable(const ResearchInputs& inputs, const Option& option,
                                    std::vector<std::string> techniques) {
  std::erase_if(techniques, [&](const std::string& name) {
    const Technique* technique = find_technique(name, option.variant->target);
    return technique != nullptr && !why_not_here(*technique, inputs).empty();
  });
  return techniques;
}

}  // namespace

bool uses_tensor_cores(const std::vector<std::string>& techniques, Target target) {
  return std::ranges::any_of(techniques, [&](const std::string& name) {
    const Technique* technique = find_technique(name, target);
    return technique != nullptr && technique->tensor_cores;
  });
}

double saving(double speedup) {
  return speedup > 1 ? 1 - 1 / speedup : 0;
}

double floor_bound(const ResearchInputs& inputs, const Option& option) {
  const Profile& profile = inputs.diagnosis.profile;
  return uses_tensor_cores(new_techniques(inputs, option), option.variant->target)
             ? floor_bound_on_tensor_cores(profile)
             : floor_bound(profile);
}

Remedy remedy_of(const ResearchInputs& inputs, const std::vector<Bottleneck>& bottlenecks, const Option& option) {
  std::vector<std::string> techniques = new_techniques(inputs, option);
  if (option.origin == Origin::tuning && techniques.empty()) {
    techniques = option.variant->techniques;
  }
  techniques = applicable(inputs, option, std::move(techniques));
  Remedy remedy;
  double saved = 0;
  for (const Bottleneck& bottleneck : bottlenecks) {  // the largest first
    if (any_attacks(techniques, option.variant->target, bottleneck.name)) {
      saved += saving(bottleneck.bound);
      remedy.bottlenecks.push_back(bottleneck.name);
      remedy.has_cause |= bottleneck.kind == BottleneckKind::cause;
    }
  }
  constexpr double kEverything = 1000;  // as amdahl() has it
  const double floor = floor_bound(inputs, option);
  const double most = std::isfinite(floor) ? floor : kEverything;
  remedy.bound = remedy.bottlenecks.empty() ? most : 1 / (1 - std::min(saved, saving(most)));
  return remedy;
}

namespace {

struct ProfileFact {
  std::string_view name;
  const char* metric;
};

constexpr std::array kProfileFacts = {ProfileFact{"BLOCKS", "blocks"}, ProfileFact{"BLOCK_THREADS", "block_threads"},
                                      ProfileFact{"REGISTERS", "registers"},
                                      ProfileFact{"SHARED", "block_shared_bytes"}};

std::optional<std::int64_t> sm_of(const std::string& isa) {
  return isa.starts_with("sm_") ? parse_int(isa.substr(3)) : std::nullopt;
}

// "N is 128, V is 128"
std::string values_of(const std::string& expression, const Symbols& facts) {
  std::vector<std::string> values;
  for (const ExpressionNode& node : parse_expression(expression)) {
    if (const auto fact = facts.find(node.symbol); fact != facts.end()) {
      values.push_back(fmt::format("{} is {}", fact->first, fact->second));
    }
  }
  return join(each_once(values), ", ");
}

bool knows_all(const std::string& expression, const Symbols& facts) {
  return std::ranges::all_of(parse_expression(expression), [&](const ExpressionNode& node) {
    return node.symbol.empty() || facts.contains(node.symbol);
  });
}

// Also where it has no value: a product beyond 2^53, a division by 0.
bool holds(const std::string& expression, const Symbols& facts) {
  try {
    return evaluate(expression, facts) != 0;
  } catch (const ExpressionError&) {
    return true;
  }
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

// The axes of its `requires` mean something else here, or nothing.
bool is_foreign(const Technique& technique, const ResearchInputs& inputs) {
  return !technique.families.empty() && !has(technique.families, inputs.diagnosis.incumbent.family);
}

}  // namespace

Symbols facts_here(const ResearchInputs& inputs) {
  Symbols facts = inputs.diagnosis.axes;
  const auto add = [&](std::string_view name, double value) {
    if (std::isfinite(value) && value > 0 && value < static_cast<double>(kNumberLimit)) {
      facts[std::string(name)] = std::llround(value);
    }
  };
  add("SM", static_cast<double>(sm_of(inputs.isa).value_or(0)));
  add("SMS", static_cast<double>(inputs.sms));
  add("UNITS", static_cast<double>(inputs.diagnosis.units));
  add("BYTES", inputs.diagnosis.work.bytes);
  add("L2", static_cast<double>(inputs.diagnosis.l2_bytes));
  add("SCRATCH", inputs.diagnosis.scratch_bytes);
  for (const ProfileFact& fact : kProfileFacts) {
    add(fact.name, inputs.diagnosis.profile.metric(fact.metric));
  }
  return facts;
}

std::string why_not_here(const Technique& technique, const ResearchInputs& inputs) {
  if (technique.requires_expression.empty() || is_foreign(technique, inputs)) {
    return "";
  }
  const Symbols facts = facts_here(inputs);
  if (!knows_all(technique.requires_expression, facts) || holds(technique.requires_expression, facts)) {
    return "";
  }
  return fmt::format("it needs {}, and here {}", technique.requires_expression,
                     values_of(technique.requires_expression, facts));
}

std::string why_not_now(const Technique& technique, const ResearchInputs& inputs) {
  const Variant& incumbent = inputs.diagnosis.incumbent;
  if (is_foreign(technique, inputs)) {
    return "it is known of " + join(technique.families, ", ") + " alone";
  }
  for (const std::string& present : incumbent.techniques) {
    const Technique* other = find_technique(present, incumbent.target);
    if (has(technique.excludes, present) || (other != nullptr && has(other->excludes, technique.name))) {
      return fmt::format("it cannot be combined with {}, which the incumbent has", present);
    }
  }
  for (const std::string& base : technique.builds_on) {
    if (!has(incumbent.techniques, base)) {
      return fmt::format("it builds on {}, which the incumbent lacks", base);
    }
  }
  return why_not_here(technique, inputs);
}

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
