// harness/cli/look/replayed/foresight_text.h - the score of recorded journals as a table and as a document.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/research/baseline.h"
#include "harness/research/foresight.h"
#include "harness/research/transfer.h"

namespace apo {

struct ReplayScore {
  ForesightReport report;
  Baseline baseline;
  std::vector<Transfer> transfers;
};

nlohmann::ordered_json to_document(const ReplayScore& score);
std::string score_table(const ReplayScore& score);

}  // namespace apo
