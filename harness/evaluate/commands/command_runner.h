// harness/evaluate/commands/command_runner.h - runs one of two commands afresh, or a round of both in drawn order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/comparisons/comparison.h"
#include "harness/core/records/records.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/evaluate/commands/read_metric.h"
#include "harness/evaluate/rounds/layout.h"
#include "harness/worker/protocol/result.h"

namespace apo {

// "it exited with 3; it printed: no input file". A shell exits with 128 and the signal that ended its command.
std::string how_it_ended(const ProcessResult& run, double timeout_s);
// "; it printed: ...", or "" of one that printed nothing.
std::string and_printed(const ProcessResult& run);
// The signal that ended the program or, by its shell's word, its command; 0: none.
int ended_by_signal(const ProcessResult& run);

// An addition to the environment of a run: its drawn length moves the stack.
std::string drawn_padding(std::uint64_t seed);

struct CommandPair {
  std::array<std::string, 2> commands;  // by Side
  std::string folder;
  CommandMetric metric;
  bool suite = false;  // all benchmarks of the metric are wanted
  bool higher_is_better = false;
  Layout layout = Layout::random;
  int runs = 1;          // of each command in a round
  double timeout_s = 0;  // of a run
  std::string check;     // of what a run printed and wrote; empty: none
  double check_timeout_s = 0;
};

// Which benchmarks of a suite a round needs: none of a single metric.
struct WantedBenchmarks {
  std::vector<std::string> names;
  bool select = false;  // the program is to run no others
};

// A first run.
struct FirstRun {
  double seconds = 0;
  std::vector<Reading> readings = {};  // of a suite
};

// Commands are not confined: they are the user's own. A run ends with the last process that it started, and none is
// left at its deadline and when this process dies. Runs differ in nothing but their command, which is in no argument
// and no file: they cannot tell their side, nor whether they are timed or checked.
class CommandRunner {
 public:
  CommandRunner(CommandPair pair, RoundCoins coins);

  // Makes a run whose metric no verdict uses, and checks it. Failures have the side as their slot. Throws UserError if
  // the shell does not find the command or may not execute it.
  Result<FirstRun> try_once(Side side) const;
  // Makes fresh runs of each, A B B A and so on; the first side is drawn. With random layout the size of each run's
  // environment is drawn. A coin that is tossed for each run decides whether it is checked when it has ended. A run
  // without a wanted benchmark is a failure.
  Result<Round> round(RoundStage stage, int index, const WantedBenchmarks& wanted = {}) const;

 private:
  struct Run {
    TemporaryFolder folder;                // of its own
    std::vector<std::string> environment;  // what is added to ours
    ProcessResult process;
  };
  Run execute(Side side, std::uint64_t padding_seed, const WantedBenchmarks& wanted) const;
  template <class Value, class Read>
  Result<Value> read(Side side, const Run& run, const Read& read) const;
  Result<std::vector<Reading>> readings_of(Side side, const Run& run) const;
  Result<CommandRun> values_of(Side side, const Run& run, const WantedBenchmarks& wanted) const;
  std::optional<Failure> check(Side side, const Run& run) const;

  CommandPair pair_;
  RoundCoins coins_;
};

}  // namespace apo
