// harness/loop/scan/scan_text.cpp - the table of a scan.
#include "harness/loop/scan/scan_text.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "harness/core/text.h"

namespace apo {
namespace {

constexpr std::size_t kShown = 10;

// On a GPU: what a reader looks at first where a kernel is slow.
std::string resources_of(const Scanned& row) {
  std::string text;
  for (const char* name : {"registers", "spills"}) {
    if (const auto found = row.resources.find(name); found != row.resources.end()) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", found->second, name);
    }
  }
  return text;
}

std::string line_of(const ScannedEffect& one, const Configuration& incumbent) {
  const std::string state = one.row.configuration == incumbent ? "incumbent" : resources_of(one.row);
  return fmt::format("  {:>10}  {:>7} +-{:<5}  {}{}", format_ns(one.row.times.time_ns),
                     format_ratio(std::exp(one.effect)), format_share(one.sd), one.row.configuration.label(),
                     state.empty() ? "" : "  (" + state + ")");
}

}  // namespace

std::vector<std::string> scan_lines(const ScanSummary& summary, const Configuration& incumbent) {
  std::vector<std::string> lines;
  if (summary.scanned.empty() && summary.left == 0) {
    return lines;
  }
  std::map<std::string, std::vector<std::string>> out;  // labels by outcome
  for (const ScannedEffect& one : summary.scanned) {
    if (one.row.times.outcome != Outcome::valid) {
      out[std::string(to_string(one.row.times.outcome))].push_back(one.row.configuration.label());
    } else if (lines.size() < kShown) {
      lines.push_back(line_of(one, incumbent));
    }
  }
  lines.insert(lines.begin(),
               fmt::format("scan: {} of {} configurations, {} measured now (build {}, calls {}): an order, no "
                           "verdict",
                           summary.scanned.size(), summary.scanned.size() + summary.left, summary.measured,
                           format_seconds(summary.build_s), format_seconds(summary.timing_s)));
  for (const auto& [outcome, labels] : out) {
    lines.push_back(fmt::format("  out, {}: {}{}", outcome, labels.front(),
                                labels.size() > 1 ? fmt::format(" and {} more", labels.size() - 1) : ""));
  }
  return lines;
}

}  // namespace apo
