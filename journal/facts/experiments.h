// journal/facts/experiments.h - writes experiments as they come about, and reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/experiment.h"
#include "harness/core/records/research.h"
#include "journal/facts/detail.h"

namespace apo {

class Journal;

enum class BuildRole : std::uint8_t { candidate, incumbent };

// Before measuring: needs both sources registered, and the machine (its own field, else the campaign's).
std::int64_t begin_experiment(Journal& journal, const Experiment& experiment);
void add_build(Journal& journal, std::int64_t experiment, BuildRole role, const Build& build);
void add_gate(Journal& journal, std::int64_t experiment, const GateResult& gate);
void add_round(Journal& journal, std::int64_t experiment, const Round& round);
// Judgement and lesson together, with whatever of the builds, gates and rounds (beyond those already added, in
// order) is not there yet.
void finish_experiment(Journal& journal, const Experiment& experiment,
                       const std::optional<Lesson>& lesson = std::nullopt);
Experiment load_experiment(Journal& journal, std::int64_t id, Detail detail = Detail::rounds);  // throws UserError
std::vector<Experiment> experiments_of(Journal& journal, std::int64_t campaign, Detail detail = Detail::summary);

// How many candidates of that family and class this journal has judged on that machine and its peers, whatever command
// asked: those that came to timing, finished or not. Without ranks, which decide nothing, and replays.
int judged_candidates(Journal& journal, const std::string& family, const std::string& workload_class,
                      const std::string& machine);
enum class JudgedAt : std::uint8_t { campaigns_here, others };
// The newest `most` judged ones of that family, in order: those of campaigns on that class and machine, or all
// others. Without those that were only ranked, and without builds, rounds, and gates that passed.
std::vector<Experiment> newest_judged(Journal& journal, const std::string& family, const std::string& workload_class,
                                      const std::string& machine, std::int64_t most,
                                      JudgedAt where = JudgedAt::campaigns_here);

// A workload on which an experiment judged.
struct JudgedWorkload {
  std::int64_t experiment = 0;
  std::string workload;  // its first one
};
// The workload of the newest experiment on that machine that timed `variant` against `opponent` ("": against any).
std::optional<JudgedWorkload> newest_judged_workload(Journal& journal, const std::string& variant,
                                                     const std::string& opponent, const std::string& machine);

struct JudgedCode {
  std::string candidate;  // Build::code_hash
  std::string incumbent;
  std::string machine;
  std::string workload;
  CachePolicy cache = CachePolicy::cold;
};
// The newest experiment that accepted or reverted this machine code against that one, on this workload alone, on that
// machine with the caches in that state.
std::optional<std::int64_t> newest_with_code(Journal& journal, const JudgedCode& code);

}  // namespace apo
