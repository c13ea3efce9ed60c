// harness/loop/gate/gate_baseline.cpp - reads and writes one JSON document, and checks everything it reads.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/error.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/implement/variant/metadata.h"
#include "harness/implement/variant/settings.h"
#include "harness/loop/gate/gate.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kBaselineFormat = "apo gate baseline";
constexpr int kVersion = 1;
constexpr std::uintmax_t kMaxBytes = std::uintmax_t{256} << 20;

// The metadata repeat what the source says, for people and other tools that read the file.
Json to_json(const StoredVariant& stored) {
  const Variant& variant = stored.variant;
  Json tunables = Json::object();
  for (const Tunable& tunable : variant.tunables) {
    tunables[tunable.name] = tunable.values;
  }
  Json headers = Json::array();
  for (const SourceFile& header : variant.headers) {
    headers.push_back({{"name", header.name}, {"source", header.text}});
  }
  return {{"id", variant.id()},
          {"settings", Json(stored.settings)},
          {"workloads", stored.workloads},
          {"metadata",
           {{"target", to_string(variant.target)},
            {"techniques", variant.techniques},
            {"parent", variant.parent},
            {"idea", variant.idea},
            {"requires", variant.requires_expression},
            {"tunables", tunables}}},
          {"source_sha256", source_identity({.source = variant.source, .headers = variant.headers})},
          {"source", variant.source},
          {"headers", headers}};
}

[[noreturn]] void damaged(const std::string& where, const std::string& what) {
  throw UserError("the baseline file " + where + " is damaged: " + what,
                  "take it from version control again, or write a new one with 'apo gate --store'");
}

// None in a file of before variants had any.
std::vector<SourceFile> headers_from(const Json& json) {
  std::vector<SourceFile> headers;
  for (const Json& header : json.value("headers", Json::array())) {
    headers.push_back({.name = header.at("name"), .text = header.at("source"), .path = ""});
  }
  return headers;
}

StoredVariant from_json(const Json& json, const std::string& where) {
  const std::string id = json.at("id");
  StoredVariant stored{.settings = json.at("settings").get<Settings>(),
                       .workloads = json.at("workloads").get<std::vector<std::string>>()};
  const std::string source = json.at("source");
  const std::vector<SourceFile> headers = headers_from(json);
  if (source_identity({.source = source, .headers = headers}) != json.at("source_sha256").get<std::string>()) {
    damaged(where, "the source of '" + id + "' is not the one that its source_sha256 names");
  }
  try {
    const std::string target = json.at("metadata").at("target");
    stored.variant = parse_variant(source, where + " (" + id + ")", headers,
                                   {.family = id.substr(0, id.find('/')),
                                    .name = id.substr(id.find('/') + 1),
                                    .target = target == to_string(Target::cuda) ? Target::cuda : Target::host});
    resolve_settings(stored.variant, stored.settings);
  } catch (const UserError& error) {
    damaged(where, "'" + id + "': " + error.what());
  }
  if (stored.variant.id() != id) {
    damaged(where, "the source under '" + id + "' calls itself '" + stored.variant.id() + "'");
  }
  if (std::string(to_string(stored.variant.target)) != json.at("metadata").at("target").get<std::string>()) {
    damaged(where, "the target of '" + id + "' is another one in its source");
  }
  if (stored.workloads.empty()) {
    damaged(where, "'" + id + "' has no workload");
  }
  for (const std::string& name : stored.workloads) {
    if (find_workload(*find_family(stored.variant.family), name) == nullptr) {
      damaged(where,
              "'" + id + "' names the workload '" + name + "', which " + stored.variant.family + " does not have");
    }
  }
  if (std::set(stored.workloads.begin(), stored.workloads.end()).size() != stored.workloads.size()) {
    damaged(where, "'" + id + "' names a workload twice");
  }
  return stored;
}

std::string read_text(const fs::path& file, const std::string& where) {
  std::error_code error;
  const auto status = fs::status(file, error);
  if (!fs::exists(status)) {
    throw UserError("there is no baseline file " + where, "'apo gate --store FILE.json VARIANT' writes one");
  }
  if (!fs::is_regular_file(status)) {
    throw UserError("the baseline file " + where + " is not a regular file", "name the file that --store wrote");
  }
  if (const std::uintmax_t bytes = fs::file_size(file, error); error || bytes > kMaxBytes) {
    damaged(where, "it is larger than " + format_bytes(static_cast<double>(kMaxBytes)));
  }
  return read_file(file);
}

void check_head(const Json& json, const std::string& where) {
  if (!json.is_object() || json.value("format", "") != kBaselineFormat) {
    damaged(where, std::string("it does not say \"format\": \"") + kBaselineFormat + "\"");
  }
  if (const int version = json.at("version"); version != kVersion) {
    throw UserError(
        fmt::format("the baseline file {} has version {}; this apo knows version {}", where, version, kVersion),
        "update apo, or write a new file with 'apo gate --store'");
  }
}

}  // namespace

void write_baseline(const fs::path& file, const std::vector<StoredVariant>& variants) {
  Json list = Json::array();
  for (const StoredVariant& stored : variants) {
    if (!stored.variant.object.empty()) {
      throw UserError(stored.label() + " is a shared object, which a baseline file cannot hold",
                      "compare it by 'apo compare'");
    }
    list.push_back(to_json(stored));
    try {
      static_cast<void>(list.back().dump());
    } catch (const Json::type_error&) {
      throw UserError("the source of " + stored.label() + " is no UTF-8 text, which a JSON file cannot hold",
                      "save '" + stored.variant.path + "' as UTF-8");
    }
  }
  const Json document = {{"format", kBaselineFormat}, {"version", kVersion}, {"variants", list}};
  write_file_atomically(file, document.dump(2) + "\n");
}

std::vector<StoredVariant> read_baseline(const fs::path& file) {
  const std::string where = "'" + file.string() + "'";
  std::vector<StoredVariant> variants;
  std::set<std::string> labels;
  try {
    const Json json = Json::parse(read_text(file, where));
    check_head(json, where);
    for (const Json& one : json.at("variants")) {
      variants.push_back(from_json(one, where));
      if (!labels.insert(variants.back().label()).second) {
        damaged(where, variants.back().label() + " stands in it twice");
      }
    }
  } catch (const Json::exception& error) {
    damaged(where, error.what());
  }
  if (variants.empty()) {
    damaged(where, "it holds no variant");
  }
  return variants;
}

std::vector<StoredVariant> select_variants(const std::vector<StoredVariant>& stored,
                                           const std::vector<std::string>& names, const std::string& file) {
  std::vector<std::string> known;
  for (const StoredVariant& one : stored) {
    known.insert(known.end(), {one.variant.id(), one.label()});
  }
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string guess = did_you_mean(name, known);
      std::vector<std::string> labels;
      for (const StoredVariant& one : stored) {
        labels.push_back(one.label());
      }
      throw UserError("the variant '" + name + "' is not in the baseline file '" + file + "'",
                      (guess.empty() ? "" : guess + "\n") + "it holds: " + join(labels, ", "));
    }
  }
  std::vector<StoredVariant> selected;
  std::copy_if(stored.begin(), stored.end(), std::back_inserter(selected), [&](const StoredVariant& one) {
    return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
             return name == one.variant.id() || name == one.label();
           });
  });
  return selected;
}

}  // namespace apo
