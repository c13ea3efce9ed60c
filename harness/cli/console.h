// harness/cli/console.h - progress on stderr, documents and tables on stdout.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/cli/command.h"
#include "harness/core/observer.h"

namespace apo {

// Lines on stderr; on a terminal the progress line is rewritten in place with the time left.
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
  bool dirty_ = false;
};

// Columns padded to their widest cell; the first row is the header.
std::string format_table(const std::vector<std::vector<std::string>>& rows);
void print(const std::string& text);  // to stdout, whole; throws EnvironmentError when stdout is gone
std::string json_text(const nlohmann::ordered_json& document);  // indented, ends with a newline
// With its "format" in front, and with the guards that were switched off.
void print_json(const nlohmann::ordered_json& document);

// Bold, green, red, yellow on a terminal without NO_COLOR; plain elsewhere.
std::string paint(const std::string& text, const char* colour);

}  // namespace apo
