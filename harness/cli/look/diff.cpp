// harness/cli/look/diff.cpp - `apo show VARIANT --diff`: what a variant changes in another one, by default its parent.
#include "harness/cli/look/diff.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/cli/console.h"
#include "harness/cli/look/variant_text.h"
#include "harness/cli/terminal.h"
#include "harness/core/error.h"
#include "harness/core/sources.h"
#include "harness/core/text.h"
#include "harness/implement/variant/settings.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

struct VariantSide {
  Variant variant;
  std::string label;  // with the settings that were asked for
};

struct Change {
  std::string field;
  std::string before;
  std::string after;
};

VariantSide side_of(Workspace& workspace, const std::string& text) {
  const std::string id = text.substr(0, text.find('['));
  const Variant variant = known_variant(workspace, id);
  const Configuration configuration =
      text == id ? Configuration{id, default_settings(variant)} : workspace.catalogue().configuration(text);
  return {as_set(variant, configuration.settings), configuration.label()};
}

VariantSide base_of(Workspace& workspace, const std::string& base, const VariantSide& side) {
  if (base != kParent) {
    return side_of(workspace, base);
  }
  if (side.variant.parent.empty()) {
    throw UserError(fmt::format("{} has no parent to be compared with", side.variant.id()),
                    fmt::format("name another variant: 'apo show {} --diff OTHER'", side.variant.id()));
  }
  return side_of(workspace, side.variant.parent);
}

// All values of a field, one a line.
std::string values_of(const std::vector<VariantField>& fields, const std::string& name) {
  std::vector<std::string> values;
  for (const VariantField& field : fields) {
    if (field.name == name) {
      values.push_back(field.value);
    }
  }
  return join(values, "\n");
}

// The fields that differ, in the order of the metadata block.
std::vector<Change> changes(const VariantSide& base, const VariantSide& side) {
  std::vector<VariantField> before = metadata_fields(base.variant);
  std::vector<VariantField> after = metadata_fields(side.variant);
  before.push_back({"configuration", base.label});
  after.push_back({"configuration", side.label});
  std::vector<std::string> names;
  for (const std::vector<VariantField>& fields : {after, before}) {
    for (const VariantField& field : fields) {
      names.push_back(field.name);
    }
  }
  std::vector<Change> result;
  for (const std::string& name : each_once(names)) {
    Change change{.field = name, .before = values_of(before, name), .after = values_of(after, name)};
    if (change.before != change.after) {
      result.push_back(std::move(change));
    }
  }
  return result;
}

std::string text_of(const std::vector<Change>& changes, const std::string& sources) {
  report::Table table;
  for (const Change& change : changes) {
    std::string field = change.field;
    for (const auto& [sign, values] : {std::pair("-", change.before), std::pair("+", change.after)}) {
      for (const std::string& value : values.empty() ? std::vector<std::string>() : split(values, '\n')) {
        table.rows.push_back({field, std::string(sign) + " " + value});
        field = "";
      }
    }
  }
  return terminal_text([&](report::Writer& writer) {
    writer.table(table);
    if (sources.empty()) {
      writer.paragraph("the sources are equal");
    } else {
      writer.diff(sources);
    }
  });
}

Json document_of(const VariantSide& base, const VariantSide& side, const std::vector<Change>& changes,
                 const std::string& diff) {
  Json fields = Json::array();
  for (const Change& change : changes) {
    fields.push_back({{"field", change.field}, {"before", change.before}, {"after", change.after}});
  }
  return {{"variant", side.label},
          {"base", base.label},
          {"source_hash", side.variant.source_hash},
          {"base_source_hash", base.variant.source_hash},
          {"metadata", fields},
          {"diff", diff}};
}

}  // namespace

int show_diff(const std::string& variant, const std::string& base_name, const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  const VariantSide side = side_of(workspace, variant);
  const VariantSide base = base_of(workspace, base_name, side);
  const std::vector<Change> metadata = changes(base, side);
  const std::string sources = unified_diff(all_sources(base.variant), all_sources(side.variant));
  print_answer(globals, document_of(base, side, metadata, sources),
               paint(side.label, "bold") + " against " + paint(base.label, "bold") + "\n" + text_of(metadata, sources));
  return kDone;
}

}  // namespace apo
