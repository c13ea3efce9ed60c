// harness/cli/command.h - a command: one row of the table in app.cpp, with its options and its action.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace apo {

// Exit codes: 0 done, 1 the user's mistake, 2 the environment, 3 a gate failed.
enum ExitCode : int { kDone = 0, kUserMistake = 1, kEnvironmentTrouble = 2, kGateFailed = 3 };

// Of the commands that judge candidates, for their help.
inline constexpr const char* kJudgedExitCodes =
    "Exit codes: 0 judged, whatever the verdict; 1 a mistake in the command; 2 this machine could not\n"
    "judge; 3 a gate failed.";

// Options that every command understands.
struct Globals {
  std::string journal;                // --journal, else $APO_JOURNAL, else .apo/journal.db
  bool json = false;                  // one JSON document on stdout, nothing else
  bool verbose = false;               // debug logs on stderr
  bool quiet = false;                 // no progress on stderr
  std::vector<std::string> families;  // files with more families
  std::vector<std::string> ablate;    // guards to switch off, for experiments about the judge
  std::vector<std::string> words;     // the command line as typed, beginning with "apo"
  // The words after `--` of `apo profile -- COMMAND ARGS...` and of `apo record`; absent without a `--`.
  std::optional<std::vector<std::string>> command;
};

// Seconds of an option's "90s". Throws UserError.
double checked_duration(const std::string& option, const std::string& text);

// The option --launch of commands that judge variants, and its word (checked_launch_form).
CLI::Option* add_launch(CLI::App& app, std::string& word);
// The option --layout of commands that compare, and its word (checked_layout).
CLI::Option* add_layout(CLI::App& app, std::string& word);

// Refuses `option` together with any of `others`.
void exclude(CLI::Option* option, const std::vector<CLI::Option*>& others);

// Runs after parsing; returns an ExitCode.
using Action = std::function<int()>;

struct Command {
  const char* name;
  const char* group;                                  // its heading in `apo --help`
  const char* summary;                                // one line of `apo --help`
  Action (*define)(CLI::App& app, Globals& globals);  // adds the options; the action reads them when it runs
};

Action define_bench(CLI::App& app, Globals& globals);
Action define_evaluate(CLI::App& app, Globals& globals);
Action define_compare(CLI::App& app, Globals& globals);
Action define_doctor(CLI::App& app, Globals& globals);
Action define_export(CLI::App& app, Globals& globals);
Action define_import(CLI::App& app, Globals& globals);
Action define_explain(CLI::App& app, Globals& globals);
Action define_family(CLI::App& app, Globals& globals);
Action define_gate(CLI::App& app, Globals& globals);
Action define_research(CLI::App& app, Globals& globals);
Action define_list(CLI::App& app, Globals& globals);
Action define_mcp(CLI::App& app, Globals& globals);
Action define_new(CLI::App& app, Globals& globals);
Action define_profile(CLI::App& app, Globals& globals);
Action define_query(CLI::App& app, Globals& globals);
Action define_record(CLI::App& app, Globals& globals);
Action define_register(CLI::App& app, Globals& globals);
Action define_replay(CLI::App& app, Globals& globals);
Action define_report(CLI::App& app, Globals& globals);
Action define_run(CLI::App& app, Globals& globals);
Action define_scan(CLI::App& app, Globals& globals);
Action define_selftest(CLI::App& app, Globals& globals);
Action define_show(CLI::App& app, Globals& globals);
Action define_try(CLI::App& app, Globals& globals);
Action define_verify(CLI::App& app, Globals& globals);
Action define_worker(CLI::App& app, Globals& globals);

}  // namespace apo
