// harness/cli/console.cpp - prints progress on stderr and results on stdout.
#include "harness/cli/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/json/records_json.h"
#include "harness/core/text.h"
#include "harness/loop/campaign.h"

namespace apo {
namespace {

// Characters, not bytes: UTF-8 continuation bytes take no column.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & '\xc0') != '\x80'; }));
}

// Asks the terminal on stderr, else COLUMNS, else takes 80.
std::size_t columns_of_terminal() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  const char* columns = std::getenv("COLUMNS");
  const auto given = columns == nullptr ? std::nullopt : parse_int(columns);
  return given && *given > 0 ? static_cast<std::size_t>(*given) : 80;
}

std::string shortened(const std::string& text, std::size_t columns) {
  return cut_middle(text, "...", [&](const std::string& line) { return width(line) <= columns; });
}

constexpr std::size_t kLongestProgress = 300;  // columns, where no terminal limits them

bool wants_lines() {
  const char* form = std::getenv("APO_PROGRESS");
  return form != nullptr && std::string_view(form) == "lines";
}

// The handler writes this; it is filled before the handler is installed.
std::array<char, 4096> interrupt_note{};
volatile std::sig_atomic_t interrupt_size = 0;

// Only async-signal-safe calls. The second raise ends the program by the signal itself, as shells expect.
void on_interrupt(int signal) {
  if (write(STDERR_FILENO, interrupt_note.data(), static_cast<std::size_t>(interrupt_size)) < 0) {
    // Nobody is left to read it; what follows is the same.
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

InterruptNote::InterruptNote(const std::string& kept, const std::string& next, const std::vector<std::string>& words) {
  const std::string line = fmt::format("{}apo: interrupted; {}\n     {}: {}\n",
                                       isatty(STDERR_FILENO) != 0 ? "\r\033[K" : "", kept, next, command_line(words));
  const std::size_t size = std::min(line.size(), interrupt_note.size());
  std::copy_n(line.begin(), size, interrupt_note.begin());
  interrupt_size = static_cast<std::sig_atomic_t>(size);
  if (std::signal(SIGINT, on_interrupt) == SIG_IGN) {
    std::signal(SIGINT, SIG_IGN);  // a command in the background stays deaf to the terminal
  }
}

InterruptNote::~InterruptNote() {
  if (std::signal(SIGINT, SIG_DFL) == SIG_IGN) {
    std::signal(SIGINT, SIG_IGN);
  }
}

std::string progress_line(const Progress& progress, std::size_t columns) {
  std::string rest;
  if (progress.expected > 0) {
    rest += fmt::format("  {}/{}", progress.done, progress.expected);
  }
  if (progress.seconds_left > 0) {
    rest += "  at most " + format_seconds(progress.seconds_left) + " left";
  }
  const std::size_t taken = width(rest);
  return taken < columns ? shortened(progress.what, columns - taken) + rest : shortened(rest, columns);
}

ConsoleObserver::ConsoleObserver(const Globals& globals)
    : quiet_(globals.quiet), terminal_(isatty(STDERR_FILENO) != 0), lines_(wants_lines()) {}

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
    const std::string whole = lines_ ? std::string(kProgressMark) + one_line(line) : line;
    std::fprintf(stderr, "%s\n", from_here(whole).c_str());
  }
}

void ConsoleObserver::progress(const Progress& progress) {
  if (quiet_ || !(terminal_ || lines_)) {
    return;
  }
  if (lines_) {
    constexpr auto kBetween = std::chrono::milliseconds(300);
    const auto now = std::chrono::steady_clock::now();
    if (now - last_line_ >= kBetween) {
      last_line_ = now;
      say(one_line(progress_line(progress, kLongestProgress)));
    }
    return;
  }
  clear();
  std::fprintf(stderr, "\r%s", progress_line(progress, columns_of_terminal() - 1).c_str());  // the last column wraps
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

std::string gates_text(const std::vector<GateResult>& gates) {
  std::string text;
  for (const GateResult& gate : gates) {
    text +=
        fmt::format("{}: {}, {} ({})\n", gate.gate, outcome_text(gate), gate.evidence, format_seconds(gate.seconds));
  }
  return text;
}

namespace {
bool printed = false;
}  // namespace

bool has_printed() {
  return printed;
}

void print(const std::string& text) {
  printed = printed || !text.empty();
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw EnvironmentError("cannot write to standard output");
  }
}

namespace {

// A compiler may print what is no UTF-8: it must not end the program.
std::string dumped(const nlohmann::ordered_json& document, int indent) {
  return document.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

nlohmann::ordered_json marked(const nlohmann::ordered_json& document) {
  nlohmann::ordered_json marked = {{"format", kRecordsFormat}};
  marked.update(document);
  if (const std::vector<std::string> off = guards_off(); !off.empty()) {
    marked["guards_off"] = off;
  }
  return marked;
}

}  // namespace

std::string json_text(const nlohmann::ordered_json& document) {
  return dumped(document, 2);
}

void print_json(const nlohmann::ordered_json& document) {
  print(json_text(marked(document)));
}

std::string from_here(std::string text) {
  std::error_code error;  // of a working folder that was removed: nothing is below it
  const std::string folder = std::filesystem::current_path(error).string() + "/";
  if (error || folder == "//") {
    return text;
  }
  const auto is_inside_a_word = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           std::string_view("/._-").find(letter) != std::string_view::npos;
  };
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at)) {
    if (at > 0 && is_inside_a_word(text[at - 1])) {
      ++at;
    } else {
      text.erase(at, folder.size());
    }
  }
  return text;
}

void print_answer(const Globals& globals, const nlohmann::ordered_json& document, const std::string& text) {
  if (globals.json) {
    print_json(document);
  } else {
    print(from_here(text));
  }
}

void print_json_line(const nlohmann::ordered_json& document) {
  print(dumped(marked(document), -1));
}

OracleOptions oracle_with_notice(const Paths& paths) {
  OracleOptions options = oracle_options(paths);
  options.on_wait = [](const std::string& text) { std::fprintf(stderr, "apo: %s\n", text.c_str()); };
  return options;
}

bool has_colours(int file) {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(file) != 0 && (no_colour == nullptr || *no_colour == '\0');
}

std::string paint(const std::string& text, const char* colour) {
  static const std::map<std::string, const char*> kCodes = {
      {"bold", "1"}, {"green", "32"}, {"red", "31"}, {"yellow", "33"}};
  return has_colours(STDOUT_FILENO) ? "\033[" + std::string(kCodes.at(colour)) + "m" + text + "\033[0m" : text;
}

}  // namespace apo
