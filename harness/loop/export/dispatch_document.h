// harness/loop/export/dispatch_document.h - a dispatch table as the files of `apo export --dispatch`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/loop/export/dispatch.h"

namespace apo {

nlohmann::ordered_json to_document(const Dispatch& dispatch);

// dispatch.json, a header a family, and with sources what they are compiled from. The paths are those within the
// folder.
std::vector<NamedText> dispatch_files(const Dispatch& dispatch, bool with_sources);

}  // namespace apo
