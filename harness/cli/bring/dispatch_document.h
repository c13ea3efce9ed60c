// harness/cli/bring/dispatch_document.h - a dispatch table as the JSON document of `apo export --dispatch`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/loop/export/dispatch_table.h"

namespace apo {

nlohmann::ordered_json to_document(const Dispatch& dispatch);

}  // namespace apo
