// harness/loop/export/dispatch_document.cpp - writes the rows of each family and device, with their expressions and
// evidence.
#include "harness/loop/export/dispatch_document.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/sources.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/headers.h"

namespace apo {

std::string source_file(const DispatchRow& row) {
  return row.variant.name + source_extension(row.variant);
}

std::string source_folder(const DispatchRow& row) {
  std::string folder = row.variant.family + "/" + row.variant.name + "-" + row.variant.source_hash.substr(0, 12);
  for (const Tunable& tunable : row.variant.tunables) {  // toggles decide which buffers the arguments have
    folder += !tunable.technique.empty() && row.settings.at(tunable.name) != 0 ? "-" + tunable.name : "";
  }
  return folder;
}

std::vector<NamedText> dispatch_sources(const DispatchTable& table) {
  std::vector<NamedText> files;
  for (const DispatchRow* row : all_rows(table)) {
    const Variant& variant = row->variant;
    const std::filesystem::path folder = source_folder(*row);
    const auto letter_is_plain = [](char letter) {
      return letter == '_' || letter == '-' || std::isalnum(static_cast<unsigned char>(letter)) != 0;
    };
    if (!std::all_of(variant.name.begin(), variant.name.end(), letter_is_plain)) {
      throw UserError("variant '" + variant.id() + "' cannot be written to a file of its name");
    }
    const std::filesystem::path path = folder / source_file(*row);
    if (std::any_of(files.begin(), files.end(), [&](const NamedText& one) { return one.path == path; })) {
      continue;
    }
    if (std::ranges::any_of(variant.headers, [](const SourceFile& file) { return is_binary(file.text); })) {
      throw UserError("variant '" + variant.id() + "' is a shared object and has no source to export",
                      "'apo export --dispatch' without --with-sources writes the table: ship the object itself");
    }
    check_headers(variant.headers, "journal:" + variant.id(), variant.family);
    files.push_back({path, variant.source});
    for (const SourceFile& header : variant.headers) {
      files.push_back({folder / header.name, header.text});
    }
    files.push_back({folder / args_header_name(*table.family), exported_args_header(*table.family, variant)});
  }
  return files;
}

namespace {

using Document = nlohmann::ordered_json;

Document evidence_document(const DispatchRow& row) {
  if (!row.measured) {
    return {{"kind", "unmeasured"}, {"statement", statement_of(row)}};
  }
  const DispatchEvidence& evidence = *row.measured;
  return {{"kind", "measured"},
          {"statement", statement_of(row)},
          {"experiment", evidence.experiment},
          {"campaign", evidence.campaign},
          {"since", evidence.since},
          {"workloads", evidence.workloads},
          {evidence.stood ? "stood_against" : "replaced", to_document(evidence.other)},
          {"judgement", to_document(evidence.judgement)},
          {"certifications", to_documents(evidence.certifications)},
          {"device", to_document(evidence.machine)},
          {"build", to_document(evidence.build)}};
}

Document row_document(const Family& family, const DispatchRow& row) {
  Document launches = Document::array();
  for (const Launch& launch : row.variant.launches) {
    Document one = launch.attributes;
    one["kernel"] = launch.kernel;
    launches.push_back(std::move(one));
  }
  Document scratch = Document::array();
  for (const ScratchBuffer& buffer : row.variant.scratch) {
    scratch.push_back({{"name", buffer.name}, {"bytes", buffer.bytes}});
  }
  return {{"class", row.workload_class.empty() ? Document(nullptr) : Document(row.workload_class)},
          {"region", row.region},
          {"devices", row.devices},
          {"requires", row.variant.requires_expression},
          {"configuration", to_document(configuration_of(row))},
          {"settings", row.settings},
          {"source_hash", row.variant.source_hash},
          {"source_folder", source_folder(row)},
          {"static_shared_bytes", row.static_shared_bytes},
          {"launches", launches},
          {"scratch", scratch},
          {"constants", constant_names(family, row.variant)},
          {"evidence", evidence_document(row)}};
}

Document rows_document(const Family& family, const std::vector<DispatchRow>& rows) {
  return list_of(rows, [&](const DispatchRow& row) { return row_document(family, row); });
}

Document refused_document(const RefusedIncumbent& one) {
  return {{"family", one.incumbent.family},          {"class", one.incumbent.workload_class},
          {"device", one.incumbent.machine},         {"configuration", to_document(one.incumbent.configuration)},
          {"comparison", one.refusal.comparison},    {"campaign", one.refusal.campaign},
          {"reason", to_string(one.refusal.reason)}, {"exported", one.exported}};
}

Dispatch part_of(const Dispatch& dispatch, const DispatchTable& table) {
  const std::string& family = table.family->name;
  Dispatch part = {.tables = {table}, .gaps = dispatch.gaps, .refused = dispatch.refused};
  std::erase_if(part.gaps, [&](const DispatchGap& gap) { return gap.family != family; });
  std::erase_if(part.refused, [&](const RefusedIncumbent& one) { return one.incumbent.family != family; });
  return part;
}

}  // namespace

Document to_document(const Dispatch& dispatch) {
  Document families = Document::array();
  for (const DispatchTable& table : dispatch.tables) {
    Document axes = Document::array();
    for (const AxisSpec& axis : table.family->axes) {
      axes.push_back({{"name", axis.name}, {"min", axis.min}, {"max", axis.max}, {"specialised", axis.specialised}});
    }
    Document devices = Document::array();
    for (const DispatchDevice& device : table.devices) {
      devices.push_back({{"device", to_document(device.machine)}, {"rows", rows_document(*table.family, device.rows)}});
    }
    families.push_back({{"family", table.family->name},
                        {"header", dispatch_header_name(*table.family)},
                        {"axes", axes},
                        {"devices", devices},
                        {"fallbacks", rows_document(*table.family, table.fallbacks)}});
  }
  Document left_out = Document::array();
  for (const DispatchGap& gap : dispatch.gaps) {
    left_out.push_back(
        {{"family", gap.family}, {"class", gap.workload_class}, {"device", gap.machine}, {"why", gap.why}});
  }
  return {{"format", kRecordsFormat},
          {"families", families},
          {"left_out", left_out},
          {"refused", list_of(dispatch.refused, refused_document)}};
}

std::vector<NamedText> dispatch_files(const Dispatch& dispatch, bool with_sources) {
  std::vector<NamedText> files;
  for (const DispatchTable& table : dispatch.tables) {
    const std::string& family = table.family->name;
    files.push_back(
        {family + std::string(kDispatchDocument),
         to_document(part_of(dispatch, table)).dump(2, ' ', false, Document::error_handler_t::replace) + "\n"});
    files.push_back({dispatch_header_name(*table.family), dispatch_header(table)});
    if (with_sources) {
      std::ranges::move(dispatch_sources(table), std::back_inserter(files));
    }
  }
  return files;
}

}  // namespace apo
