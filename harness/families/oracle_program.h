// harness/families/oracle_program.h - a family file compiled to a program of its own, which is asked one thing a run.
//
// The author's code never runs in this process: what it crashes, hangs or overwrites is its own, and ends as an error
// that names the file.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/system/overdue.h"
#include "harness/core/system/process.h"
#include "harness/families/family_file.h"
#include "harness/implement/cached_build.h"
#include "kernels/oracle/request.h"

namespace apo {

// Counts the requests to a reference in another language, and the starts of its program.
struct CommandUse {
  int requests = 0;
  int starts = 0;
  double seconds = 0;
};

struct OracleOptions {
  std::filesystem::path cache;  // folder of built programs
  std::filesystem::path home;   // holds kernels/oracle
  std::string compiler = "g++";
  double timeout_s = 300;  // of one run
  double patience_s = 10;  // of one run, until `on_wait` is called, from another thread
  std::function<void(const std::string&)> on_wait = nullptr;
  std::shared_ptr<CommandUse> command_use = nullptr;  // filled on request
};

// Calls `options.on_wait` where the result still lives after `options.patience_s`. `what`: "the reference of family
// softmax (rows=2)". `price`: what is known of the time that it takes, by then.
Overdue long_wait(const OracleOptions& options, const std::string& what, std::function<std::string()> price = {});

// What follows "the reference": "did not finish in 5 min 00 s", "was ended by SIGSEGV (...)", "ended with exit code 3"
// and the last line that it printed; "" where nothing is wrong.
std::string failure_of(const ProcessResult& result, double timeout_s);

// The source of a family's program: the file, and how it is called.
std::string oracle_source(const FamilyFile& file);
// The source does not know the folder of the family's file, so that a copy of it elsewhere is the same program. Returns
// messages of a compiler, a sanitizer or the program with the file's own path.
std::string in_familys_words(const std::string& said, const FamilyFile& file);

// The contract at these axes, with no units yet.
oracle::Contract contract_at(const FamilyFile& file, const Axes& axes);
std::vector<std::int64_t> all_units(const oracle::Contract& contract);

struct OracleQuestion {
  oracle::Mode mode = oracle::Mode::reference;
  Axes axes;
  std::vector<std::int64_t> units;         // empty: all
  const TensorMap* values = nullptr;       // inputs
  const StoredTensors* stored = nullptr;   // or these, in place of them
  const TensorMap* more_values = nullptr;  // noise: the expected outputs
  int threads = 1;
  std::uint64_t seed = 0;
  std::int64_t chosen = 0;       // the alternative that drawn() takes; -1: by chance
  std::string only;              // fill: the tensor; noise: the operation that is perturbed, "": all
  bool of_units = false;         // the answer has the elements of the units alone, unit by unit, else whole tensors
  bool whole = false;            // expected: also the reference of all units
  Patience patience = {};        // expected
  std::uint64_t order_seed = 0;  // expected: of the units
};

struct OracleAnswer {
  TensorMap outputs;                // whole tensors, of which the units' elements mean something
  TensorMap noise;                  // expected: likewise; draws: probabilities
  TensorMap whole;                  // of all units, if asked for
  std::vector<std::int64_t> units;  // ascending; of those that were asked for fewer where time was short
  std::int64_t alternatives = 0;    // that a drawn() has at most
  std::int64_t numbers = 0;         // that were read of the inputs
  double flops = 0;
  double special_chain = 0;
  std::map<std::string, double> specials;
};

enum class ProgramKind : std::uint8_t {
  plain,
  sanitized,  // AddressSanitizer and UndefinedBehaviorSanitizer; the reference alone: a finding is a UserError with its
              // line
  mutants     // answers the modes of planted mistakes alone
};

class OracleProgram {
 public:
  OracleProgram(FamilyFile file, OracleOptions options);

  const FamilyFile& file() const { return file_; }
  // Builds on first use. Throws UserError naming file and line when the reference does not compile, leaves an element
  // unwritten, gives a value that is not finite, throws, crashes or does not finish.
  OracleAnswer ask(const OracleQuestion& question, ProgramKind kind = ProgramKind::plain) const;
  // Builds the programs of all kinds side by side; throws as ask() does.
  void build_all() const;

 private:
  struct Program {
    std::mutex building;
    std::string path;  // "" before it is built
  };
  std::string program(ProgramKind kind) const;
  const Build& main_object() const;
  Build build(const Words& command, BuildRecipe recipe) const;

  FamilyFile file_;
  OracleOptions options_;
  mutable std::array<Program, 3> programs_;  // by kind
  mutable std::optional<Build> main_object_;
};

}  // namespace apo
