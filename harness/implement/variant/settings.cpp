// harness/implement/variant/settings.cpp - enumerates and validates settings, and checks a variant's constraint.
#include "harness/implement/variant/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/pattern.h"
#include "harness/core/text.h"

namespace apo {
namespace {

std::vector<std::string> tunable_names(const Variant& variant) {
  std::vector<std::string> names;
  for (const Tunable& tunable : variant.tunables) {
    names.push_back(tunable.name);
  }
  return names;
}

std::string value_list(const Tunable& tunable) {
  std::vector<std::string> values;
  for (const std::int64_t value : tunable.values) {
    values.push_back(std::to_string(value));
  }
  return join(values, ", ");
}

[[noreturn]] void unknown_tunable(const Variant& variant, const std::string& name) {
  const std::vector<std::string> names = tunable_names(variant);
  if (names.empty()) {
    throw UserError("'" + variant.id() + "' has no tunable '" + name + "'", "it has none at all: leave it out");
  }
  const std::string guess = did_you_mean(name, names);
  throw UserError("'" + variant.id() + "' has no tunable '" + name + "'",
                  (guess.empty() ? "" : guess + " ") + "its tunables: " + join(names, ", "));
}

std::string values_text(const Symbols& symbols) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : symbols) {
    parts.push_back(fmt::format("{}={}", name, value));
  }
  return join(parts, ", ");
}

}  // namespace

Settings resolve_settings(const Variant& variant, const Settings& given) {
  Settings settings;
  for (const Tunable& tunable : variant.tunables) {
    settings[tunable.name] = tunable.values.front();
  }
  for (const auto& [name, value] : given) {
    const auto tunable = std::ranges::find(variant.tunables, name, &Tunable::name);
    if (tunable == variant.tunables.end()) {
      unknown_tunable(variant, name);
    }
    if (std::find(tunable->values.begin(), tunable->values.end(), value) == tunable->values.end()) {
      throw UserError(fmt::format("'{}' does not offer {}={}", variant.id(), name, value),
                      "choose one of " + value_list(*tunable));
    }
    settings[name] = value;
  }
  return settings;
}

Variant as_set(const Variant& variant, const Settings& settings) {
  const Settings resolved = resolve_settings(variant, settings);
  const Symbols symbols(resolved.begin(), resolved.end());
  const auto is_out = [&](const std::string& when) { return !when.empty() && evaluate(when, symbols) == 0; };
  Variant set = variant;
  set.techniques = techniques_of(variant, resolved);
  for (Tunable& tunable : set.tunables) {
    if (!tunable.technique.empty()) {
      tunable.values = {resolved.at(tunable.name)};
    }
  }
  std::erase_if(set.scratch, [&](const ScratchBuffer& buffer) { return is_out(buffer.when); });
  std::erase_if(set.launches, [&](const Launch& launch) {
    const auto when = launch.attributes.find("when");
    return when != launch.attributes.end() && is_out(when->second);
  });
  for (const TunedFlag& flag : std::exchange(set.tuned_flags, {})) {
    if (!is_out(flag.when)) {
      std::string text = flag.text;
      for (const std::string& name : tunables_in(flag)) {
        text = replace_all(text, "{" + name + "}", std::to_string(resolved.at(name)));
      }
      set.flags.push_back(text);
    }
  }
  return set;
}

std::vector<std::string> tunables_in(const TunedFlag& flag) {
  static const Pattern kInBraces(R"(\{([A-Za-z_][A-Za-z0-9_]*)\})");
  std::vector<std::string> names;
  for (const PatternMatch& match : kInBraces.all(flag.text)) {
    names.push_back(match[1]);
  }
  return names;
}

const std::vector<std::string>& device_fact_names() {
  static const std::vector<std::string> kNames = {"SMS", "SHARED_MAX", "MAX_THREADS"};
  return kNames;
}

Symbols device_symbols(const DeviceFacts& facts) {
  return {{"SMS", facts.sms}, {"SHARED_MAX", facts.shared_per_block}, {"MAX_THREADS", facts.threads_per_block}};
}

Symbols expression_symbols(const Variant& variant, const Axes& axes, const Settings& settings, const Symbols& device) {
  Symbols symbols = device;
  for (const auto& [name, value] : axes) {
    symbols[name] = value;
  }
  for (const auto& [name, value] : resolve_settings(variant, settings)) {
    symbols[name] = value;
  }
  return symbols;
}

std::vector<std::string> symbol_names(const Family& family, const Variant& variant) {
  std::vector<std::string> names;
  for (const AxisSpec& axis : family.axes) {
    names.push_back(axis.name);
  }
  for (const std::string& name : tunable_names(variant)) {
    names.push_back(name);
  }
  if (variant.target == Target::cuda) {
    names.insert(names.end(), device_fact_names().begin(), device_fact_names().end());
  }
  return names;
}

bool supports(const Variant& variant, const Family& family, const Axes& axes, const Settings& settings,
              std::string* why, const Symbols& device) {
  if (const std::string illegal = check_axes(family, axes); !illegal.empty()) {
    throw UserError(illegal, "'apo list " + family.name + "' shows the axes and their ranges");
  }
  const Symbols symbols = expression_symbols(variant, axes, settings, device);
  std::string reason;
  try {
    if (!variant.requires_expression.empty() && evaluate(variant.requires_expression, symbols) == 0) {
      reason = " requires " + variant.requires_expression + ", which does not hold";
    } else {
      scratch_bytes(variant, axes, settings, device);
    }
  } catch (const ExpressionError& error) {  // the variant's mistake: a campaign over many of them goes on
    reason = std::string(" has a line in its block that means nothing: ") + error.what();
  }
  if (!reason.empty() && why != nullptr) {
    *why = variant.id() + reason + " for " + values_text(symbols);
  }
  return reason.empty();
}

std::vector<std::int64_t> scratch_bytes(const Variant& variant, const Axes& axes, const Settings& settings,
                                        const Symbols& device) {
  const Symbols symbols = expression_symbols(variant, axes, settings, device);
  std::vector<std::int64_t> bytes;
  for (const ScratchBuffer& buffer : as_set(variant, settings).scratch) {
    bytes.push_back(evaluate_size(buffer.bytes, symbols));
  }
  return bytes;
}

}  // namespace apo
