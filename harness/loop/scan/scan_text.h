// harness/loop/scan/scan_text.h - a scan as lines of text.
#pragma once

#include <string>
#include <vector>

#include "harness/loop/scan/scan.h"

namespace apo {

// A heading, the fastest ten, and how many are out for which reason.
std::vector<std::string> scan_lines(const ScanSummary& summary, const Configuration& incumbent);

}  // namespace apo
