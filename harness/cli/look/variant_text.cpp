// harness/cli/look/variant_text.cpp - prints the metadata block of a variant.
#include "harness/cli/look/variant_text.h"

#include <vector>

#include "harness/cli/console.h"
#include "harness/core/text.h"

namespace apo {
namespace {

std::string values_text(const std::vector<std::int64_t>& values) {
  std::vector<std::string> parts;
  for (const std::int64_t value : values) {
    parts.push_back(std::to_string(value));
  }
  return join(parts, ",");
}

std::string launch_text(const Launch& launch) {
  std::string text = launch.kernel;
  for (const auto& [name, value] : launch.attributes) {
    text += " " + name + "=" + value;
  }
  return text;
}

}  // namespace

std::string tunables_text(const Variant& variant) {
  std::vector<std::string> parts;
  for (const Tunable& tunable : variant.tunables) {
    parts.push_back(tunable.name + " " + values_text(tunable.values));
  }
  return join(parts, "; ");
}

std::string describe_variant(const Variant& variant) {
  std::vector<std::vector<std::string>> rows = {
      {"  target", std::string(to_string(variant.target)) + (variant.arch.empty() ? "" : " " + variant.arch)},
      {"  techniques", join(variant.techniques, ", ")},
      {"  idea", variant.idea},
      {"  parent", variant.parent.empty() ? "none: the root of its family" : variant.parent}};
  if (variant.prediction) {
    rows.push_back({"  predicted", format_ratio(variant.prediction->low) + ".." +
                                       format_ratio(variant.prediction->high) + " over " +
                                       variant.prediction->relative_to + ": " + variant.prediction->because});
  }
  if (!variant.requires_expression.empty()) {
    rows.push_back({"  requires", variant.requires_expression});
  }
  if (!variant.tunables.empty()) {
    rows.push_back({"  tunables", tunables_text(variant) + "  (the first value is the default)"});
  }
  for (const ScratchBuffer& scratch : variant.scratch) {
    rows.push_back({"  scratch", scratch.name + ": " + scratch.bytes + " bytes"});
  }
  for (const Launch& launch : variant.launches) {
    rows.push_back({"  launch", launch_text(launch)});
  }
  rows.push_back({"  source", variant.path});
  rows.push_back({"  source hash", variant.source_hash});
  return format_table(rows);
}

}  // namespace apo
