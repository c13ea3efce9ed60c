// tests/worker/candidates.h - builds candidates for the tests and judges them the way a gate would.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/worker/parent/worker.h"
#include "tests/processes.h"
#include "tests/worker/write_input.h"

namespace apo::testing {

// Where the zoo's sources are, and one of them.
std::filesystem::path zoo_folder();
std::filesystem::path zoo_source(const std::string& name);

// What a zoo source says about itself.
struct Expectation {
  std::string outcome;
  std::vector<std::string> evidence;  // words that the evidence has to hold
  std::string needs;                  // "seccomp" or "landlock": means nothing without it
};
Expectation expectation_of(const std::filesystem::path& source);

// A shared object, or the compiler's complaint. Kept in the build folder under a name that is a hash of all it was made
// from, so that the second run of a test compiles nothing.
struct Compiled {
  std::filesystem::path object;
  std::string log;
  bool ok = false;
};
Compiled compile(const std::filesystem::path& source, const std::vector<std::string>& more_flags = {});
// The same for a body of apo_launch, which finds `args`.
Compiled compile_launch(const std::string& body, const std::string& before = "");

// A candidate that answers has all the time it needs.
WorkerOptions worker_options();
// For one that never answers, however fast the machine is.
WorkerOptions impatient_options();

// SharedTensors of the family `copy` for n floats, its inputs filled from a seed.
inline constexpr int kElements = 5000;
SharedTensorsSpec copy_tensors(std::uint64_t layout_seed, int sets = 2);
std::vector<float> fill_inputs(SharedTensors& shared_tensors, int set, std::uint64_t seed);

// Loads the object into a fresh worker, calls it three times with new inputs each time, checks guards, inputs and
// output after each. nullopt: valid.
std::optional<Failure> judge(const std::filesystem::path& object, const WorkerOptions& options = worker_options());

// Ids of the processes of a group that still run; zombies do not count.
std::vector<int> group_members(int group);

}  // namespace apo::testing
