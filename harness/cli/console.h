// harness/cli/console.h - prints progress on stderr, documents and tables on stdout.
#pragma once

#include <chrono>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/cli/command.h"
#include "harness/core/observer.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

// Cuts a line to `columns` characters. The cut is in the middle of its first part, so that the counter and the time
// left stay.
std::string progress_line(const Progress& progress, std::size_t columns);

// Prints lines on stderr; on a terminal it rewrites the progress line in place, with the time left, and never wraps it.
// With APO_PROGRESS=lines in the environment progress is lines too, each marked (kProgressMark), a few a second.
class ConsoleObserver : public Observer {
 public:
  explicit ConsoleObserver(const Globals& globals);
  ~ConsoleObserver() override;
  void say(const std::string& line) override;
  void progress(const Progress& progress) override;

 private:
  void clear();
  bool quiet_;
  bool terminal_;
  bool lines_;
  bool dirty_ = false;
  std::chrono::steady_clock::time_point last_line_;
};

// Pads columns to their widest cell; the first row is the header.
std::string format_table(const std::vector<std::vector<std::string>>& rows);
// "correctness: valid, within ... (0.2 s)", a line each.
std::string gates_text(const std::vector<GateResult>& gates);
void print(const std::string& text);  // to stdout, whole; throws EnvironmentError when stdout is gone
bool has_printed();                   // anything so far
std::string json_text(const nlohmann::ordered_json& document);  // indented, ends with a newline
// Puts "format" in front, and names the guards that were switched off.
void print_json(const nlohmann::ordered_json& document);
// Returns the text with paths in the working folder as the user would type them: ".apo/journal.db".
std::string from_here(std::string text);
// With --json the document, else the text, from_here.
void print_answer(const Globals& globals, const nlohmann::ordered_json& document, const std::string& text);
// The document on one line.
void print_json_line(const nlohmann::ordered_json& document);

// Prints on Ctrl-C, which then ends the program as always, what is kept, and after `next` the command as typed. Only
// one may exist at a time.
class InterruptNote {
 public:
  InterruptNote(const std::string& kept, const std::string& next, const std::vector<std::string>& words);
  ~InterruptNote();
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;
};

// For references that say on stderr when one runs for long.
OracleOptions oracle_with_notice(const Paths& paths);

// Whether the file is a terminal, and NO_COLOR is not set.
bool has_colours(int file);
// Bold, green, red, yellow where stdout has colours; plain elsewhere.
std::string paint(const std::string& text, const char* colour);

}  // namespace apo
