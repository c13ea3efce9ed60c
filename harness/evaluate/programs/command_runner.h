// harness/evaluate/programs/command_runner.h - runs one of two commands afresh, or a round of both in drawn order.
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
#include "harness/evaluate/programs/read_metric.h"
#include "harness/worker/protocol/result.h"

namespace apo {

// How a run failed, "it exited with 3; it printed: no input file", of neither side; nullopt of one that ended well.
std::optional<Failure> bad_end(const ProcessResult& run, double timeout_s);
// "; it printed: ...", or "" of one that printed nothing.
std::string and_printed(const ProcessResult& run);

// An addition to the environment of a run: its drawn length moves the stack.
std::string drawn_padding(std::uint64_t seed);

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
  // `name` of the comparison and seed give the coins.
  CommandRunner(const ProgramComparison& asked, double timeout_s, std::uint64_t seed, std::string name);

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
  const std::string& command(Side side) const { return commands_[static_cast<std::size_t>(side)]; }
  Run execute(Side side, std::uint64_t padding_seed, const WantedBenchmarks& wanted) const;
  Result<std::vector<Reading>> readings_of(const Run& run) const;
  Result<CommandRun> values_of(const Run& run, const WantedBenchmarks& wanted) const;
  std::optional<Failure> check(Side side, const Run& run) const;

  std::array<std::string, 2> commands_;  // by Side
  std::string folder_;
  CommandQuestion question_;
  CommandMetric metric_;
  bool suite_;  // all benchmarks of the metric are wanted
  double timeout_s_;
  std::uint64_t seed_;
  std::string name_;
};

}  // namespace apo
