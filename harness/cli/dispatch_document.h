// harness/cli/dispatch_document.h - a dispatch table as the JSON document of `apo export --dispatch`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/loop/dispatch.h"

namespace apo {

nlohmann::json to_document(const Dispatch& dispatch);

}  // namespace apo
