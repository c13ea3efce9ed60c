// harness/evaluate/correctness/sanitizer_log.cpp - parses compute-sanitizer's logs as its manual and real logs show
// them.
#include "harness/evaluate/correctness/sanitizer_log.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "harness/core/pattern.h"
#include "harness/core/text.h"

namespace apo {
namespace {

constexpr std::string_view kPrefix = "=========";
constexpr std::size_t kLongestLine = 400;

// Returns the tool's lines without their prefix; lines of the watched program are left out.
std::vector<std::string> tool_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with(kPrefix)) {
      const std::string rest = line.substr(kPrefix.size());
      lines.push_back(rest.substr(rest.starts_with(' ') ? 1 : 0, kLongestLine));
    }
  }
  return lines;
}

bool is_detail(const std::string& line) {
  return line.starts_with(' ') || trim(line).empty();
}

// "kernel(int)+0x90 in file.cu:41 [508 hazards]" without the offset, which says nothing to a reader. Before 2023 it was
// "0x90 in file.cu:41:kernel(int)".
std::string readable_place(const std::string& place) {
  static const Pattern kOld(R"(^0x[0-9a-f]+ in (.*:\d+):(.*)$)");
  static const Pattern kOffset(R"(\+0x[0-9a-f]+)");
  if (const auto match = kOld.match(place)) {
    return (*match)[2] + " in " + (*match)[1];
  }
  return kOffset.replace(place, "");
}

// Returns the text behind `start` in the details of the finding at `index`; nullopt if no line starts with it.
std::optional<std::string> detail(const std::vector<std::string>& lines, std::size_t index, std::string_view start) {
  for (std::size_t i = index + 1; i < lines.size() && is_detail(lines[i]); ++i) {
    if (const std::string text = trim(lines[i]); text.starts_with(start)) {
      return text.substr(start.size());
    }
  }
  return std::nullopt;
}

// Returns the outermost device frame: the kernel that called the function of the finding.
std::string calling_kernel(const std::vector<std::string>& lines, std::size_t index) {
  constexpr std::string_view kFrame = "Device Frame:";
  std::string kernel;
  for (std::size_t i = index + 1; i < lines.size() && is_detail(lines[i]); ++i) {
    if (const std::string text = trim(lines[i]); text.starts_with(kFrame)) {
      kernel = readable_place(trim(text.substr(kFrame.size())));
    }
  }
  return kernel;
}

// "and is 1 bytes after the nearest allocation at 0x7b3c42e00000 of size 10 bytes" without the address.
std::string nearest_allocation(const std::string& text) {
  static const Pattern kAddress(R"( at 0x[0-9a-f]+)");
  return kAddress.replace(text, "");
}

std::string describe_finding(const std::vector<std::string>& lines, std::size_t index) {
  std::string sentence = trim(lines[index]);
  sentence.erase(sentence.find_last_not_of('.') + 1);
  const auto place = detail(lines, index, "at ");
  if (place) {
    sentence += " at " + readable_place(*place);
  }
  if (const std::string kernel = calling_kernel(lines, index);
      !kernel.empty() && (!place || kernel != readable_place(*place))) {
    sentence += " called from " + kernel;
  }
  if (const auto thread = detail(lines, index, "by thread ")) {
    sentence += " by thread " + *thread;
  }
  if (const auto nearest = detail(lines, index, "and is ")) {
    sentence += ", " + nearest_allocation(*nearest);
  }
  return sentence;
}

bool is_race(const std::string& line, std::string_view severity) {
  return line.starts_with(std::string(severity) + ": Race reported between ");
}

std::string describe_race(const std::vector<std::string>& lines, std::size_t index) {
  const std::string first = lines[index].substr(lines[index].find("between ") + std::string_view("between ").size());
  const auto second = detail(lines, index, "and ");
  return "race between " + readable_place(first) + (second ? " and " + readable_place(*second) : "");
}

bool starts_finding(const std::string& line) {
  static const Pattern kNoFinding(
      R"(^(COMPUTE-SANITIZER|.*SUMMARY:|Target application|Error:|Warning:|Info:|Internal Sanitizer Error).*)");
  return !is_detail(line) && !kNoFinding.matches(line);
}

std::string first_finding(const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_race(lines[i], "Error")) {
      return describe_race(lines, i);
    }
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (starts_finding(lines[i])) {
      return describe_finding(lines, i);
    }
  }
  return "";
}

std::string first_trouble(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    const bool failed =
        line.starts_with("Internal Sanitizer Error") || (line.starts_with("Error:") && !is_race(line, "Error"));
    if (failed) {
      return trim(line);
    }
  }
  return "";
}

}  // namespace

SanitizerLog read_sanitizer_log(std::string_view tool, std::string_view text) {
  // Whole lines: "ERROR SUMMARY: 157 errors were not printed. ..." starts like the summary.
  static const Pattern kErrors(R"(^ERROR SUMMARY: (\d+) errors?$)");
  static const Pattern kRaces(R"(^RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) errors?, (\d+) warnings?\)$)");
  const std::vector<std::string> lines = tool_lines(text);
  SanitizerLog log;
  bool summary = false;
  for (const std::string& raw : lines) {
    const std::string line = trim(raw);
    if (const auto match = (tool == "racecheck" ? kRaces : kErrors).match(line)) {
      summary = true;
      // Several processes write several summaries; none may hide another's errors.
      log.errors += parse_int((*match)[1]).value_or(1);
      log.warnings += match->groups.size() > 2 ? parse_int((*match)[2]).value_or(0) : 0;
    }
  }
  log.trouble = first_trouble(lines);
  log.complete = summary && log.trouble.empty();
  log.finding = first_finding(lines);
  if (log.finding.empty() && log.errors > 0) {
    log.finding = fmt::format("{} errors that its log does not describe", log.errors);
  }
  return log;
}

}  // namespace apo
