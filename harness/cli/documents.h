// harness/cli/documents.h - records as the JSON documents that --json prints.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/core/records/records.h"

namespace apo {

nlohmann::json to_document(const Configuration& configuration);
nlohmann::json to_document(const Judgement& judgement);
nlohmann::json to_document(const GateResult& gate);
nlohmann::json to_document(const Certification& certification);
nlohmann::json to_document(const Bottleneck& bottleneck);
nlohmann::json to_document(const Profile& profile);
nlohmann::json to_document(const std::vector<Roof>& roofs);
nlohmann::json to_document(const Machine& machine);
nlohmann::json to_document(const Lesson& lesson);
nlohmann::json to_document(const Build& build);
// Without rounds; `show --samples` adds those.
nlohmann::json to_document(const Experiment& experiment);
nlohmann::json to_document(const Round& round);
nlohmann::json to_document(const Variant& variant);

// null where nothing was measured: JSON has no NaN.
nlohmann::json number_or_null(double value);

}  // namespace apo
