// harness/evaluate/programs/application_runner.h - runs an application with one of two indistinguishable
// dispatches.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/comparisons/comparison.h"
#include "harness/core/system/files.h"
#include "harness/worker/protocol/result.h"

namespace apo {

// Takes a copy of each dispatch, a folder or a file, in a folder with a random name. Every run gets a copy of its own
// of that, in another one: names do not identify a dispatch, and files that a run writes do not reach another run.
class ApplicationRunner {
 public:
  // Throws UserError if a dispatch is missing.
  explicit ApplicationRunner(const ProgramComparison& asked);

  // How many the runs do behind the warm-up, at first as many as are declared.
  int steps() const { return application_.steps; }
  void set_steps(int steps) { application_.steps = steps; }

  // Runs the declared preparation of A or B, once, in the copy from which the runs get theirs: how it failed.
  std::optional<Failure> prepare(Side side) const;
  // `layout_seed` draws the size of its environment.
  ApplicationRun run(Side side, std::int64_t seed, std::uint64_t layout_seed) const;

 private:
  std::string variable(const std::filesystem::path& dispatch) const;
  std::optional<Failure> run_steps(ApplicationRun& run, const std::vector<std::string>& environment) const;

  DeclaredApplication application_;
  std::string folder_;
  std::array<TemporaryFolder, 2> copies_;
  std::array<std::filesystem::path, 2> dispatch_;  // within
};

}  // namespace apo
