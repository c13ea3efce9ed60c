// harness/cli/console.cpp - what people see: progress on stderr, results on stdout.
#include "harness/cli/console.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/records/guards.h"
#include "harness/core/text.h"

namespace apo {
namespace {

// Characters, not bytes: UTF-8 continuation bytes take no column.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & '\xc0') != '\x80'; }));
}

}  // namespace

ConsoleObserver::ConsoleObserver(const Globals& globals)
    : quiet_(globals.quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

ConsoleObserver::~ConsoleObserver() {
  clear();
}

void ConsoleObserver::clear() {
  if (dirty_) {
    std::fputs("\r\033[K", stderr);
    dirty_ = false;
  }
}

void ConsoleObserver::say(const std::string& line) {
  if (!quiet_) {
    clear();
    std::fprintf(stderr, "%s\n", line.c_str());
  }
}

void ConsoleObserver::progress(const Progress& progress) {
  if (quiet_ || !terminal_) {
    return;
  }
  std::string text = progress.what;
  if (progress.expected > 0) {
    text += "  " + std::to_string(progress.done) + "/" + std::to_string(progress.expected);
  }
  if (progress.seconds_left > 0) {
    text += "  at most " + format_seconds(progress.seconds_left) + " left";
  }
  clear();
  std::fprintf(stderr, "\r%s", text.c_str());
  std::fflush(stderr);
  dirty_ = true;
}

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) {
        text.append(widths[i] - width(row[i]) + 2, ' ');
      }
    }
    text += '\n';
  }
  return text;
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw EnvironmentError("cannot write to standard output");
  }
}

std::string json_text(const nlohmann::ordered_json& document) {
  // A compiler may print what is no UTF-8: it must not end the program.
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void print_json(const nlohmann::ordered_json& document) {
  nlohmann::ordered_json marked = {{"format", kRecordsFormat}};
  marked.update(document);
  if (const std::vector<std::string> off = guards_off(); !off.empty()) {
    marked["guards_off"] = off;
  }
  print(json_text(marked));
}

std::string paint(const std::string& text, const char* colour) {
  static const bool kColours = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  static const std::map<std::string, const char*> kCodes = {
      {"bold", "1"}, {"green", "32"}, {"red", "31"}, {"yellow", "33"}};
  return kColours ? "\033[" + std::string(kCodes.at(colour)) + "m" + text + "\033[0m" : text;
}

}  // namespace apo
