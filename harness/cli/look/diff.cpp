// harness/cli/look/diff.cpp - `apo diff`: what a variant changes in another one, by default in its parent.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
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

struct DiffOptions {
  std::string variant;
  std::string base;
};

struct Side {
  Variant variant;
  std::string label;  // with the settings that were asked for
};

struct Change {
  std::string field;
  std::string before;
  std::string after;
};

Side side_of(Workspace& workspace, const std::string& text) {
  const std::string id = text.substr(0, text.find('['));
  const Variant variant = known_variant(workspace, id);
  const Configuration configuration =
      text == id ? Configuration{id, default_settings(variant)} : workspace.catalogue().configuration(text);
  return {as_set(variant, configuration.settings), configuration.label()};
}

Side base_of(Workspace& workspace, const DiffOptions& options, const Side& side) {
  if (options.base.empty() && side.variant.parent.empty()) {
    throw UserError(fmt::format("{} has no parent to be compared with", side.variant.id()),
                    fmt::format("name another variant: 'apo diff {} OTHER'", options.variant));
  }
  return side_of(workspace, options.base.empty() ? side.variant.parent : options.base);
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
std::vector<Change> changes(const Side& base, const Side& side) {
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

Json document_of(const Side& base, const Side& side, const std::vector<Change>& changes, const std::string& diff) {
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

int diff(const DiffOptions& options, const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  const Side side = side_of(workspace, options.variant);
  const Side base = base_of(workspace, options, side);
  const std::vector<Change> metadata = changes(base, side);
  const std::string sources = unified_diff(all_sources(base.variant), all_sources(side.variant));
  print_answer(globals, document_of(base, side, metadata, sources),
               paint(side.label, "bold") + " against " + paint(base.label, "bold") + "\n" + text_of(metadata, sources));
  return kDone;
}

}  // namespace

Action define_diff(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<DiffOptions>();
  app.add_option("variant", options->variant, "a variant FAMILY/NAME, or a configuration of it")->required();
  app.add_option("base", options->base, "what it is compared with (default: its parent)");
  return [options, &globals] { return diff(*options, globals); };
}

}  // namespace apo
