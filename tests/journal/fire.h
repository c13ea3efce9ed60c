// tests/journal/fire.h - a process that writes campaigns as `apo run` does, is killed at a random instant, and leaves a
// journal that is then looked through.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "harness/core/system/files.h"

namespace apo::test {

// One whole campaign of six experiments, written as the writer under fire writes it.
void write_campaign(const std::filesystem::path& path);

// The process that writes campaigns until it is killed.
class Writer {
 public:
  explicit Writer(const std::filesystem::path& path);
  ~Writer() { end(); }
  std::optional<std::int64_t> next_finished();  // waits for it; nullopt behind the last one
  bool end();                                   // false when it had ended by itself

  pid_t process = -1;  // until its end

 private:
  FileDescriptor told_;
};

struct FireCounts {
  int kills = 0;
  int before_the_file = 0;    // kills that left no journal yet
  int in_an_experiment = 0;   // that left an experiment open
  int in_an_iteration = 0;    // that left an iteration open, and no experiment
  std::int64_t finished = 0;  // experiments whose writer was told that they are on disk
  std::vector<std::string> findings;
};

// One kill -9 after up to `longest_us`, and what the journal looks like then: whole, invariants kept, every finished
// experiment there with all its rows, at most one experiment and one iteration open. The next writer on the same path
// abandons what is open and resumes the campaign. `finished` holds the ids that were acknowledged on this path so far.
void fire_once(const std::filesystem::path& path, std::mt19937& random, int longest_us,
               std::vector<std::int64_t>& finished, FireCounts& counts);

}  // namespace apo::test
