// harness/cli/app.cpp - holds the table of commands and turns every error into a message and an exit code.
#include "harness/cli/app.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/help_format.h"
#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/nvtx.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/evaluate/rounds/layout.h"
#include "harness/families/known_families.h"
#include "harness/loop/workspace/workspace.h"
#include "kernels/family.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

// The groups of `apo --help`, in this order.
constexpr const char* kImprove = "Improve a kernel";
constexpr const char* kBring = "Bring kernels in, take results out";
constexpr const char* kLook = "Look at kernels and results";
constexpr const char* kTrust = "Trust a result";
constexpr const char* kAgents = "Work with agents";
constexpr const char* kScale = "Use many devices";

constexpr std::array kCommands = {
    Command{"run", kImprove, "Run iterations of the loop: profile, research, implement, evaluate", define_run},
    Command{"scan", kImprove, "Time all configurations coarsely and rank them, without a judgement", define_scan},
    Command{"try", kImprove, "Register, verify and judge files against the incumbent", define_try},
    Command{"compare", kImprove, "Judge one variant, command or dispatch of an application against another",
            define_compare},

    Command{"new", kBring, "Write a family's file and a first variant, or what coding agents need in this folder",
            define_new},
    Command{"family", kBring, "Check a family: reference, tolerance, and planted mistakes", define_family},
    Command{"register", kBring, "Check, build, verify and add a variant or a family, or retire one", define_register},
    Command{"import", kBring, "Import a problem of FlashInfer-Trace, SOL-ExecBench or KernelBench", define_import},
    Command{"record", kBring, "Make a family of a kernel that a program launches: record --kernel NAME -- COMMAND",
            define_record},
    Command{"export", kBring, "Export the accepted configurations as a table, or as an op of PyTorch", define_export},

    Command{"list", kLook, "List families, a family's workloads and variants, or the workers of campaigns",
            define_list},
    Command{"show", kLook, "Show one experiment or one variant in full, or what a variant changes in another one",
            define_show},
    Command{"query", kLook, "Find past experiments, and what they taught", define_query},
    Command{"research", kLook, "Show what to try next and why", define_research},
    Command{"report", kLook, "Write a campaign's report as markdown, HTML or JSON", define_report},
    Command{"profile", kLook, "Profile a variant, or an application: profile -- COMMAND", define_profile},
    Command{"explain", kLook, "Explain why one variant is faster than another", define_explain},
    Command{"bench", kLook, "Time variants with Google Benchmark, without a judgement", define_bench},

    Command{"verify", kTrust, "Check a variant's results against the fp64 reference", define_verify},
    Command{"replay", kTrust, "Repeat an old judgement from the journal, or its confirmation alone", define_replay},
    Command{"gate", kTrust,
            "Fail when a variant became slower than a stored baseline, or a command than another, for CI", define_gate},
    Command{"selftest", kTrust, "Measure what this machine resolves, on identical code and known differences",
            define_selftest},
    Command{"doctor", kTrust, "Check this machine and the journal, and name the fixes", define_doctor},

    Command{"evaluate", kAgents, "Judge one candidate, with one document as the answer", define_evaluate},
    Command{"mcp", kAgents, "Serve the Model Context Protocol on standard input and output", define_mcp},

    Command{"worker", kScale, "Hold one device and judge for a driver: worker --serve, which apo run --workers starts",
            define_worker},
};

// A command of earlier versions, and what does the same now.
struct RetiredCommand {
  std::string_view name;
  const char* now;
};
constexpr std::array kRetiredCommands = {
    RetiredCommand{"application", "apo compare A B --application FILE"},
    RetiredCommand{"confirm", "apo replay --confirm EXPERIMENT, apo export --dispatch --on-this-device"},
    RetiredCommand{"diff", "apo show VARIANT --diff, apo show VARIANT --diff OTHER"},
    RetiredCommand{"init", "apo new --agents"},
    RetiredCommand{"lessons", "apo query --lessons"},
    RetiredCommand{"unregister", "apo register --retire NAME"},
};

void add_globals(CLI::App& app, Globals& globals) {
  app.add_option("--journal", globals.journal, "journal file (default: $APO_JOURNAL, else .apo/journal.db)");
  app.add_option("--families", globals.families, "add the kernel family of this file, FILE.h; may repeat")
      ->allow_extra_args(false);
  app.add_flag("--json", globals.json, "print one JSON document on stdout and nothing else");
  app.add_flag("-v,--verbose", globals.verbose, "log more to stderr");
  app.add_flag("-q,--quiet", globals.quiet, "print no progress on stderr");
  // Not for users: docs/guards.md.
  app.add_option("--ablate", globals.ablate, "a guard to switch off")->allow_extra_args(false)->group("");
}

void set_up_logging(const Globals& globals) {
  const auto mode = has_colours(STDERR_FILENO) ? spdlog::color_mode::always : spdlog::color_mode::never;
  auto logger = std::make_shared<spdlog::logger>("apo", std::make_shared<spdlog::sinks::stderr_color_sink_mt>(mode));
  logger->set_pattern("%^apo %l:%$ %v");
  logger->set_level(globals.verbose ? spdlog::level::debug : spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
  if (globals.verbose) {
    constexpr double kWorthALine = 1e-3;
    on_stage_end([](const std::string& name, double seconds) {
      if (seconds >= kWorthALine) {
        spdlog::debug("{}: {}", name, format_seconds(seconds));
      }
    });
  }
}

// Also where the command line was not parsed to its end.
bool asks_for_json(const Globals& globals) {
  const auto end = std::ranges::find(globals.words, "--");
  return globals.json || std::find(globals.words.begin(), end, "--json") != end;
}

// On stderr, and with --json as a document on stdout too, where the command has not printed its own.
int fail(const std::string& what, const std::string& what_to_do, ExitCode code, const Globals& globals) {
  const std::string message = from_here(what);
  const std::string hint = from_here(what_to_do);
  std::fprintf(stderr, "apo: %s\n", message.c_str());
  for (const std::string& line : split(hint, '\n')) {
    if (!line.empty()) {
      std::fprintf(stderr, "     %s\n", line.c_str());
    }
  }
  if (asks_for_json(globals) && !has_printed()) {
    try {
      print_json({{"error", message}, {"hint", trim(hint)}, {"exit_code", static_cast<int>(code)}});
    } catch (const EnvironmentError&) {
      // Standard output is gone, which may be the very failure that this reports.
    }
  }
  return code;
}

// CLI11 calls an unknown command an extra argument; people expect to be told what is close to it.
int explain_parse_error(const CLI::App& app, const CLI::ParseError& error, const Globals& globals) {
  if (error.get_exit_code() == 0) {
    return app.exit(error) == 0 ? kDone : kUserMistake;  // --help, --version
  }
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    names.emplace_back(command.name);
  }
  if (globals.words.size() < 2) {
    return fail("no command given", "'apo --help' shows all commands; 'apo run' is the main one", kUserMistake,
                globals);
  }
  const std::string& given = globals.words[1];
  if (given.starts_with("-")) {
    return fail("option '" + given + "' stands before the command",
                "write it after the command, as in 'apo run " + given + "'; 'apo --help' shows all commands",
                kUserMistake, globals);
  }
  if (const auto* retired = std::ranges::find(kRetiredCommands, given, &RetiredCommand::name);
      retired != kRetiredCommands.end()) {
    return fail("'" + given + "' is no longer a command", std::string("write: ") + retired->now, kUserMistake, globals);
  }
  if (app.get_subcommands().empty()) {
    const std::string guess = did_you_mean(given, names);
    return fail("unknown command '" + given + "'",
                (guess.empty() ? "" : guess + "\n") + "'apo --help' shows all commands", kUserMistake, globals);
  }
  const CLI::App& command = *app.get_subcommands().front();
  const std::string name = "apo " + command.get_name();
  return fail(error.what(), trim(HelpFormat().make_usage(&command, name)) + "\n'" + name + " --help' shows its options",
              kUserMistake, globals);
}

// The first option or name with an empty value: `--output "$UNSET"` must not mean what leaving it out means.
std::string option_without_value(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string> words = option->results();
    if (std::find(words.begin(), words.end(), "") != words.end()) {
      return option->get_name();
    }
  }
  return "";
}

void leave_out_guards(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const GuardRow& row : guard_rows()) {
    if (row.can_be_off) {
      known.emplace_back(row.name);
    }
  }
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UserError("no guard '" + name + "' can be switched off",
                      did_you_mean(name, known) + "\nknown: " + join(known, ", "));
    }
    switch_off(guard_from(name).value());
  }
  if (!names.empty()) {
    std::fprintf(stderr, "apo: guards switched off: %s; nothing is written to a journal or registered\n",
                 join(names, ", ").c_str());
  }
}

// The process that runs a candidate knows no family; a server of agents leaves them to the commands that it starts.
bool needs_families(const Globals& globals) {
  const std::vector<std::string>& words = globals.words;
  const bool serves = std::find(words.begin(), words.end(), "--serve") != words.end();
  return words.size() < 2 || (words[1] != "mcp" && (words[1] != "worker" || serves));
}

// Files of the program and of .apo, then what the user names.
void load_families(const Globals& globals) {
  if (!needs_families(globals)) {
    return;
  }
  const Paths paths = make_paths(globals.journal);
  for (const FamilyProblem& problem : add_known_families(paths.families, oracle_with_notice(paths))) {
    spdlog::warn("family left out: {}; {}", problem.what, problem.hint);
  }
  for (const std::string& file : globals.families) {
    add_family_file(file, oracle_with_notice(paths));
  }
}

int run_action(const Action& action, const Globals& globals) {
  set_up_logging(globals);
  try {
    leave_out_guards(globals.ablate);
    load_families(globals);
    return action();
  } catch (const UserError& error) {
    return fail(error.what(), error.hint(), kUserMistake, globals);
  } catch (const EnvironmentError& error) {
    return fail(error.what(), error.hint(), kEnvironmentTrouble, globals);
  } catch (const std::bad_alloc&) {
    return fail("out of memory", "choose a smaller workload", kEnvironmentTrouble, globals);
  } catch (const std::exception& error) {
    return fail(std::string("internal error: ") + error.what(), "please report this with the command that you gave",
                kEnvironmentTrouble, globals);
  }
}

// CLI11 gives what follows `--` to the program itself once a command has its names; `apo bench NAME -- FLAGS` means the
// command's own flags.
std::vector<char*> without_separator(int argc, char** argv) {
  std::vector<char*> words(argv, argv + argc);
  if (argc > 1 && std::string_view(argv[1]) == "bench") {
    const auto found = std::find(words.begin(), words.end(), std::string_view("--"));
    words.erase(found, found == words.end() ? found : found + 1);
  }
  return words;
}

// `apo profile -- COMMAND ARGS...` and `apo record`: the command's words are not ours to parse.
int without_command(int argc, char** argv, Globals& globals) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "profile" || name == "record") {
    char** const end = argv + argc;
    char** const found = std::find(argv, end, std::string_view("--"));
    if (found != end) {
      globals.command.emplace(found + 1, end);
      return static_cast<int>(found - argv);
    }
  }
  return argc;
}

}  // namespace

double checked_duration(const std::string& option, const std::string& text) {
  const auto seconds = parse_duration(text);
  if (!seconds) {
    throw UserError(option + " '" + text + "' is not a duration", "write for example 90s, 10m or 30ms");
  }
  return *seconds;
}

CLI::Option* add_launch(CLI::App& app, std::string& word) {
  return app.add_option("--launch", word,
                        "stream (one launch after the other) or graph (a sample's calls as one CUDA graph, on a GPU; "
                        "default: stream)");
}

CLI::Option* add_layout(CLI::App& app, std::string& word) {
  return app.add_option("--layout", word,
                        "random (a new layout of code and buffers in every round) or fixed (default: random)");
}

void exclude(CLI::Option* option, const std::vector<CLI::Option*>& others) {
  for (CLI::Option* const other : others) {
    option->excludes(other);
  }
}

int run_app(int argc, char** argv) {
  std::signal(SIGXFSZ,
              SIG_IGN);  // a write past the limit on files (ulimit -f) then says so, as one to a full disk does
  CLI::App app("apo improves a compute kernel: profile, research, implement, evaluate; and keeps a journal of it.",
               "apo");
  app.footer("'apo COMMAND --help' shows the options of a command.");
  app.set_version_flag("--version", "apo " APO_VERSION);
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormat>());
  Globals globals;
  globals.words.assign(argv, argv + argc);
  globals.words.front() = "apo";
  std::array<Action, kCommands.size()> actions;
  for (std::size_t i = 0; i < kCommands.size(); ++i) {
    CLI::App* sub = app.add_subcommand(kCommands[i].name, kCommands[i].summary);
    sub->group(kCommands[i].group);
    add_globals(*sub, globals);
    actions[i] = kCommands[i].define(*sub, globals);
  }
  argc = without_command(argc, argv, globals);
  try {
    const std::vector<char*> words = without_separator(argc, argv);
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    return explain_parse_error(app, error, globals);
  }
  for (std::size_t i = 0; i < kCommands.size(); ++i) {
    if (app.got_subcommand(kCommands[i].name)) {
      if (const std::string empty = option_without_value(*app.get_subcommand(kCommands[i].name)); !empty.empty()) {
        return fail("'" + empty + "' has an empty value", "give it a value, or drop it", kUserMistake, globals);
      }
      return run_action(actions[i], globals);
    }
  }
  return kUserMistake;
}

}  // namespace apo
