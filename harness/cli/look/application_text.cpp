// harness/cli/look/application_text.cpp - tables of an application's time.
#include "harness/cli/look/application_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/cli/console.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"

namespace apo {
namespace {

using Cells = std::vector<std::vector<std::string>>;

constexpr std::size_t kMostRows = 40;
constexpr std::size_t kWidestName = 90;

std::string ns_text(std::int64_t ns) {
  return format_ns(static_cast<double>(ns));
}

std::string percent_text(double share) {
  return format_g(100 * share, 3) + " %";
}

std::string ceiling_text(double ceiling) {
  return std::isfinite(ceiling) ? format_ratio(ceiling) : "all of it";
}

// Template arguments may go on for pages; --json has the whole name.
std::string short_name(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return name.size() <= kWidestName ? name : name.substr(0, kWidestName - 3) + "...";
}

std::string end_of_command(const ApplicationProfile& profile) {
  return profile.signal != 0       ? ", ended by " + signal_name(profile.signal)
         : !profile.exit_code      ? ""
         : *profile.exit_code == 0 ? ""
                                   : fmt::format(", exit code {}", *profile.exit_code);
}

std::string head_text(const ApplicationProfile& profile, const ApplicationSummary& summary) {
  std::string text = paint(short_name(profile.command), "bold") + end_of_command(profile);
  text += profile.seconds > 0 ? ", " + format_seconds(profile.seconds) : "";
  text += (profile.device.empty() ? "" : ", " + profile.device) + "\n";
  if (summary.total_ns == 0) {
    return text + "  nothing was launched on a GPU\n";
  }
  text += "  GPU work  " + ns_text(summary.total_ns);
  if (summary.span_ns > 0) {
    text += "; busy " + ns_text(summary.busy_ns) + " of " + ns_text(summary.span_ns) + " from first to last, idle " +
            percent_text(summary.idle_share());
  }
  return text + "\n";
}

std::string work_text(const ApplicationSummary& summary) {
  Cells rows = {{"  kernel, copy or fill", "category", "calls", "total", "average", "min", "max", "share", "ceiling"}};
  for (const WorkRow& row : summary.work) {
    if (rows.size() > kMostRows) {
      break;
    }
    rows.push_back(
        {"  " + short_name(row.work.name), row.category, std::to_string(row.work.calls), ns_text(row.work.total_ns),
         format_ns(static_cast<double>(row.work.total_ns) / static_cast<double>(row.work.calls)),
         ns_text(row.work.min_ns), ns_text(row.work.max_ns), percent_text(row.share), ceiling_text(row.ceiling)});
  }
  const std::size_t shown = rows.size() - 1;
  return format_table(rows) +
         (shown < summary.work.size() ? fmt::format("  and {} more, see --json\n", summary.work.size() - shown) : "");
}

std::string categories_text(const ApplicationSummary& summary) {
  Cells rows = {{"  category", "calls", "total", "share", "ceiling"}};
  for (const CategoryRow& row : summary.categories) {
    rows.push_back({"  " + row.name, std::to_string(row.calls), ns_text(row.total_ns), percent_text(row.share),
                    ceiling_text(row.ceiling)});
  }
  return format_table(rows);
}

// Ranges that launched nothing are left out; --json has them.
std::string ranges_text(const ApplicationSummary& summary) {
  Cells rows = {{"  NVTX range", "entered", "launched", "total", "alone", "share", "mostly"}};
  for (const RangeRow& row : summary.ranges) {
    if (row.calls == 0 || rows.size() > kMostRows) {
      continue;
    }
    const CategoryRow& most = row.categories.front();
    rows.push_back({"  " + std::string(2 * static_cast<std::size_t>(row.depth), ' ') + short_name(row.name),
                    std::to_string(row.entered), std::to_string(row.calls), ns_text(row.total_ns), ns_text(row.own_ns),
                    percent_text(row.share), most.name + " " + percent_text(most.share)});
  }
  return rows.size() > 1 ? "\n" + format_table(rows) +
                               "  of a range: work launched while it was open, whenever it ran; alone: without inner "
                               "ranges\n"
                         : "";
}

std::string gap_limit(std::size_t i) {
  return i < kGapLimits.size() ? "up to " + ns_text(kGapLimits[i]) : "longer";
}

std::string gaps_text(const ApplicationSummary& summary) {
  Cells rows = {{"  idle for", "times", "total", "of the span"}};
  for (std::size_t i = 0; i < summary.gaps.size(); ++i) {
    if (summary.gaps[i].count > 0) {
      rows.push_back({"  " + gap_limit(i), std::to_string(summary.gaps[i].count), ns_text(summary.gaps[i].ns),
                      percent_text(static_cast<double>(summary.gaps[i].ns) / static_cast<double>(summary.span_ns))});
    }
  }
  return rows.size() > 1 ? "\ngaps, the longest of them " + ns_text(summary.longest_gap_ns) + "\n" + format_table(rows)
                         : "";
}

std::string notes_text(const ApplicationProfile& profile) {
  std::string text;
  for (const std::string& note : profile.notes) {
    text += "  note: " + note + "\n";
  }
  return text;
}

}  // namespace

std::string describe_application(const ApplicationProfile& profile, const ApplicationSummary& summary) {
  std::string text = head_text(profile, summary);
  if (summary.total_ns > 0) {
    text += "\n" + work_text(summary) + "\n" + categories_text(summary) + ranges_text(summary) + gaps_text(summary);
    text += "  ceiling: how much faster the GPU's work as a whole could get if this took no time\n";
  }
  if (!profile.metrics.empty()) {
    text += fmt::format("  {} metrics of kernels, see --json\n", profile.metrics.size());
  }
  return text + notes_text(profile);
}

}  // namespace apo
