// harness/exchange/traces.h - the journal's experiments as traces of FlashInfer-Trace: `apo export traces`.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "journal/journal.h"

namespace apo {

struct Traces {
  std::string lines;         // one JSON object each, in the order of the experiments
  std::size_t count = 0;     // of the lines
  std::size_t left_out = 0;  // experiments without a result of their own: same code as the incumbent, interrupted
  // "rmsnorm was judged with x f32[n], and its definition has x bf16[n]": lines of an earlier contract, by how many.
  std::map<std::string, int> of_other_tensors;
};

// Writes one line a workload for each judged experiment of the family ("" for all), replays left out.
Traces traces(Journal& journal, const std::string& family, const std::filesystem::path& home);

}  // namespace apo
