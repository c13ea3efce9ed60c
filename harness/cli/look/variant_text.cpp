// harness/cli/look/variant_text.cpp - prints the metadata block of a variant.
#include "harness/cli/look/variant_text.h"

#include <fmt/format.h>

#include "harness/cli/console.h"
#include "harness/core/interval.h"
#include "harness/core/text.h"
#include "harness/loop/workspace/known.h"
#include "journal/facts/variants.h"
#include "journal/journal.h"

namespace apo {
namespace {

std::string values_text(const std::vector<std::int64_t>& values) {
  std::vector<std::string> parts;
  for (const std::int64_t value : values) {
    parts.push_back(std::to_string(value));
  }
  return join(parts, ",");
}

// "CHUNK 16,8,32; LANES 2", the default first.
std::string tunables_text(const Variant& variant) {
  std::vector<std::string> parts;
  for (const Tunable& tunable : variant.tunables) {
    parts.push_back(tunable.name + " " + values_text(tunable.values) +
                    (tunable.technique.empty() ? "" : " (" + tunable.technique + ")"));
  }
  return join(parts, "; ");
}

std::string launch_text(const Launch& launch) {
  std::string text = launch.kernel;
  for (const auto& [name, value] : launch.attributes) {
    text += " " + name + "=" + value;
  }
  return text;
}

}  // namespace

std::vector<VariantField> metadata_fields(const Variant& variant) {
  std::vector<VariantField> fields = {
      {"target", std::string(to_string(variant.target)) + (variant.arch.empty() ? "" : " " + variant.arch)},
      {"techniques", variant.techniques.empty() ? "none" : join(variant.techniques, ", ")},
      {"idea", variant.idea.empty() ? "none was given" : variant.idea},
      {"parent", variant.parent.empty() ? "none: the root of its family" : variant.parent}};
  if (variant.prediction) {
    const Prediction& prediction = *variant.prediction;
    fields.push_back({"predicted", fmt::format("{} over {}: {}", format_band(prediction.low, prediction.high),
                                               prediction.relative_to, prediction.because)});
  }
  if (!variant.requires_expression.empty()) {
    fields.push_back({"requires", variant.requires_expression});
  }
  if (!variant.function.empty()) {
    std::string call = variant.function;
    for (const auto& [parameter, value] : variant.arguments) {
      call += " " + parameter + "=" + value;
    }
    fields.push_back({"calls", call + (variant.object.empty() ? "" : " of " + variant.object + ", by TVM-FFI")});
  }
  if (!variant.flags.empty()) {
    fields.push_back({"flags", join(variant.flags, " ")});
  }
  for (const TunedFlag& flag : variant.tuned_flags) {
    fields.push_back({"flags", flag.text + (flag.when.empty() ? "" : " when " + flag.when)});
  }
  if (!variant.tunables.empty()) {
    fields.push_back({"tunables", tunables_text(variant) + "  (the first value is the default)"});
  }
  for (const ScratchBuffer& scratch : variant.scratch) {
    fields.push_back({"scratch", scratch.name + ": " + scratch.bytes + " bytes" +
                                     (scratch.when.empty() ? "" : " when " + scratch.when)});
  }
  for (const Launch& launch : variant.launches) {
    fields.push_back({"launch", launch_text(launch)});
  }
  return fields;
}

std::string describe_variant(const Variant& variant) {
  std::vector<std::vector<std::string>> rows;
  for (const VariantField& field : metadata_fields(variant)) {
    rows.push_back({"  " + field.name, field.value});
  }
  rows.push_back({"  source", variant.path});
  for (const SourceFile& header : variant.headers) {
    rows.push_back(
        {header.name == variant.object ? "  object" : "  header", header.path.empty() ? header.name : header.path});
  }
  rows.push_back({"  source hash", variant.source_hash});
  return format_table(rows);
}

Variant known_variant(Workspace& workspace, const std::string& id) {
  std::optional<Journal> journal =
      workspace.catalogue().find(id) == nullptr ? existing_journal(workspace.paths()) : std::nullopt;
  const std::optional<Variant> remembered = journal ? newest_variant(*journal, id) : std::nullopt;
  return remembered ? *remembered : workspace.catalogue().get(id);
}

}  // namespace apo
