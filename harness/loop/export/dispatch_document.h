// harness/loop/export/dispatch_document.h - a dispatch table as the files of `apo export --dispatch`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/loop/export/dispatch.h"

namespace apo {

// Returns "<family>/<variant>-<start of the source hash>", the folder of a row's sources relative to the header.
std::string source_folder(const DispatchRow& row);
std::string source_file(const DispatchRow& row);  // its name there
// Returns the variants' own files and argument headers that take their constants from -DAPO_..., each once. Throws
// UserError for a variant whose name is no file name.
std::vector<NamedText> dispatch_sources(const DispatchTable& table);

nlohmann::ordered_json to_document(const Dispatch& dispatch);

constexpr std::string_view kDispatchDocument = "_dispatch.json";  // behind the family's name

// A document and a header a family, and with sources what they are compiled from: exports of several families fit in
// one folder. The paths are those within it.
std::vector<NamedText> dispatch_files(const Dispatch& dispatch, bool with_sources);

std::string dispatch_header_name(const Family& family);  // "<family>_dispatch.h"

// The header depends on the standard library alone. Throws UserError for a journal whose expressions cannot be written
// as C++.
std::string dispatch_header(const DispatchTable& table);

}  // namespace apo
