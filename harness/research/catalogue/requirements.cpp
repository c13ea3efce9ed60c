// harness/research/catalogue/requirements.cpp - evaluates preconditions here, and ranks unwritten techniques.
#include "harness/research/catalogue/requirements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "harness/core/techniques/techniques.h"
#include "harness/core/text.h"
#include "harness/research/remedy.h"

namespace apo {

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
