// journal/journal.h - the memory of every attempt: typed rows in, typed rows out, nothing ever changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/comparisons/comparison.h"
#include "harness/core/recording/application_profile.h"
#include "harness/core/records/records.h"
#include "harness/core/records/selftest_record.h"
#include "journal/rows.h"
#include "journal/workers.h"

namespace apo {

// `temporary`: to be written by one process that deletes it soon; nothing of it waits for the disk.
enum class Access : std::uint8_t { read_write, read_only, temporary };

// The version of the schema that this program writes.
int newest_journal_schema();
// That of a file, which opening it for writing brings up to date. Throws UserError as opening it does.
int journal_schema_of(const std::filesystem::path& path);

class Transaction;

enum class Detail : std::uint8_t { rounds, summary };  // with or without rounds and their samples

// Every function that writes is one transaction, on disk when it returns. Times that are empty become now.
// NaN comes back as NaN, and -0.0 as 0.0. Calls in the wrong order (an unknown source, a second judgement) throw
// std::logic_error; what a person can mend throws UserError.
class Journal {
 public:
  // read_write creates folder and file and brings an older file up to date; several processes may write at a time.
  // Throws UserError naming the file and the fix: not ours, of another version, damaged, read-only, or a folder.
  static Journal open(const std::filesystem::path& path, Access access);
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  const std::filesystem::path& path() const;
  // Findings of SQLite's own check, of the foreign keys and of the content addresses; empty when whole.
  std::vector<std::string> check_integrity();
  // Lists the violated invariants between rows (invariants.cpp has all). The journal has to be whole.
  std::vector<std::string> check_invariants();

  // Every round, with whose it is: "experiment 12"; of two commands "comparison c3".
  void visit_rounds(const std::function<void(const std::string& owner, const Round& round)>& visit);

  // Groups calls into one transaction: all or nothing, and no other process writes in between. Destroyed uncommitted it
  // undoes them.
  class Batch {
   public:
    explicit Batch(Journal& journal);
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    ~Batch();
    void commit();

   private:
    std::unique_ptr<Transaction> transaction_;
  };

  // ---- where, and what is tried. Adding the same again changes nothing.
  void add_machine(const Machine& machine);
  void add_variant(const Variant& variant);               // with its source
  std::optional<Machine> machine(const std::string& id);  // as added by this process, else its newest state
  std::optional<Variant> variant(const std::string& source_hash);
  std::optional<Variant> newest_variant(const std::string& id);
  // The place of its text among those that were added under its name, from 1.
  int variant_version(const Variant& variant);
  std::vector<Variant> variants(const std::string& family);  // newest source of each; "" = all families

  // ---- campaigns. The policy's seed is written at the end, so that nothing can foresee a round.
  std::int64_t begin_campaign(const Campaign& campaign);  // and takes it
  // Takes an open campaign to go on with it. Throws UserError naming the process when another one runs it.
  void take_campaign(const Campaign& campaign);
  void finish_campaign(std::int64_t id, std::uint64_t seed, const std::string& note = "");
  std::optional<Campaign> campaign(std::int64_t id);
  std::vector<Campaign> campaigns();
  std::optional<Campaign> open_campaign(const std::string& family, const std::string& workload_class,
                                        const std::string& machine);
  std::optional<Incumbent> incumbent(const std::string& family, const std::string& workload_class,
                                     const std::string& machine);
  std::vector<Incumbent> incumbents();  // of every family, workload class and machine, in that order
  // Incumbents of single workloads, the newest decision first.
  std::vector<WorkloadIncumbent> workload_incumbents(const std::string& family, const std::string& workload_class,
                                                     const std::string& machine);

  // ---- iterations: profile and research
  std::int64_t begin_iteration(const IterationRow& iteration);
  void finish_iteration(std::int64_t id, const std::string& note = "");
  std::vector<IterationRow> iterations(std::int64_t campaign);
  std::int64_t add_profile(const Profile& profile, const ProfileContext& context);
  std::vector<Profile> profiles_of_iteration(std::int64_t iteration);
  // The newest of this very source on that machine (of `context` these two count), campaign or not.
  std::optional<Profile> newest_profile(const Configuration& configuration, const std::string& workload,
                                        const ProfileContext& context);
  std::vector<ProfileRow> profile_rows(const std::string& variant);  // of any text and machine, the newest first
  Profile profile(std::int64_t id);                                  // throws UserError for an unknown one
  void add_brief(std::int64_t iteration, const ResearchBrief& brief);
  ResearchBrief brief(std::int64_t iteration);
  void add_proposer_call(std::int64_t iteration, const ProposerCall& call);
  std::vector<ProposerCall> proposer_calls(std::int64_t campaign);  // in order
  // The newest `most` of all campaigns on that family and target, in order.
  std::vector<ProposerCall> newest_proposer_calls(const std::string& family, Target target, std::int64_t most);
  // The newest author of each proposed variant of that family, by the variant's name.
  std::map<std::string, std::string> authors(const std::string& family);
  void add_roofs(const std::string& machine, const std::vector<Roof>& roofs);
  // The newest of each name, by name; only those measured under `driver`, unless it is empty.
  std::vector<Roof> roofs(const std::string& machine, const std::string& driver = "");

  // ---- whole applications. `machine` is "" for an import.
  std::int64_t add_application(const ApplicationProfile& profile, const ApplicationSummary& summary,
                               const std::string& machine);
  std::optional<ApplicationRow> newest_application();  // that had any GPU time
  // Recordings on the campaign's machine, and imports, the newest first.
  std::vector<RecordedApplication> applications_of(std::int64_t campaign, const ApplicationLimits& limits = {});

  // ---- experiments
  // Before measuring: needs both sources registered, and the machine (its own field, else the campaign's).
  std::int64_t begin_experiment(const Experiment& experiment);
  enum class Role : std::uint8_t { candidate, incumbent };
  void add_build(std::int64_t experiment, Role role, const Build& build);
  void add_gate(std::int64_t experiment, const GateResult& gate);
  void add_round(std::int64_t experiment, const Round& round);
  // Judgement and lesson together, with whatever of the builds, gates and rounds (beyond those already added, in
  // order) is not there yet.
  void finish_experiment(const Experiment& experiment, const std::optional<Lesson>& lesson = std::nullopt);
  Experiment load_experiment(std::int64_t id, Detail detail = Detail::rounds);  // UserError when there is none
  std::vector<Experiment> experiments(std::int64_t campaign, Detail detail = Detail::summary);
  // The newest `most` judged ones of that family, in order: those of campaigns on that class and machine, or all
  // others. Without those that were only ranked, and without builds, rounds, and gates that passed.
  enum class Where : std::uint8_t { campaigns_here, others };
  std::vector<Experiment> newest_judged(const std::string& family, const std::string& workload_class,
                                        const std::string& machine, std::int64_t most,
                                        Where where = Where::campaigns_here);
  std::optional<Machine> machine_of(std::int64_t experiment);  // in the state it was in
  // The workload of the newest experiment on that machine that timed `variant` against `opponent` ("": against any).
  std::optional<JudgedWorkload> newest_judged_workload(const std::string& variant, const std::string& opponent,
                                                       const std::string& machine);
  // The newest experiment that accepted or reverted this machine code against that one, on this workload alone, on that
  // machine with the caches in that state.
  struct JudgedCode {
    std::string candidate;  // Build::code_hash
    std::string incumbent;
    std::string machine;
    std::string workload;
    CachePolicy cache = CachePolicy::cold;
  };
  std::optional<std::int64_t> newest_with_code(const JudgedCode& code);

  // begin_experiment of one that measures `original` again, and that it does, together.
  std::int64_t begin_replay(const Experiment& experiment, std::int64_t original, ReplayRow::Kind kind);
  std::optional<ReplayRow> replay(std::int64_t experiment);  // when it is one
  std::vector<ReplayRow> replays_of(std::int64_t original);  // in order
  std::vector<std::int64_t> judged_originals();              // every judged experiment that is no replay, in order

  std::vector<Lesson> lessons(const LessonFilter& filter = {});

  // ---- what keeps the judge honest
  std::int64_t add_certification(const Certification& certification, const std::vector<Round>& rounds = {},
                                 const std::vector<SoloRun>& solo_runs = {});
  std::vector<Certification> certifications(std::int64_t campaign);
  // The accepted experiments that an alarm has withdrawn: those since the last certification without one.
  std::set<std::int64_t> withdrawn(std::int64_t campaign);
  // The accepted experiments that are not withdrawn, in order, without their rounds.
  std::vector<Experiment> standing_accepts(std::int64_t campaign);
  std::int64_t add_sentinel(const SentinelRow& sentinel, const std::vector<Round>& rounds = {});
  std::vector<SentinelRow> sentinels(std::int64_t campaign);  // 0: those outside campaigns
  std::vector<Round> sentinel_rounds(std::int64_t sentinel);

  // ---- what the judge makes of known truths. Comparisons are rows as soon as they are there.
  std::int64_t begin_selftest(const Selftest& selftest);
  void add_selftest_comparison(std::int64_t selftest, const SelftestComparison& comparison);
  void finish_selftest(const Selftest& selftest);
  // The newest finished one of this very state of the machine.
  std::optional<Selftest> latest_selftest(const Machine& machine);
  std::vector<SelftestComparison> selftest_comparisons(std::int64_t selftest);
  // The newest result for each kernel among the finished selftests of this state of the machine under that rule.
  std::vector<SelftestKernel> selftest_kernels(const Machine& machine, const std::string& rule_version);

  // ---- judgements of two commands, or of two dispatches by an application
  std::int64_t begin_comparison(const ProgramComparison& comparison);
  void add_comparison_round(std::int64_t comparison, const Round& round);       // of commands, in order
  void add_comparison_run(std::int64_t comparison, const ApplicationRun& run);  // in order
  void finish_comparison(const ProgramComparison& comparison);
  ProgramComparison load_comparison(std::int64_t id);  // with its rounds or runs; UserError when there is none
  std::vector<ProgramComparison> comparisons(Detail detail = Detail::summary);  // in order

  // ---- calls of `apo mcp`. Experiments that a process with APO_JOB=<id> in its environment begins belong to that job.
  std::int64_t begin_job(const JobRow& job);  // and takes it, until this journal is closed
  void finish_job(std::int64_t id, const JobEnd& end);
  std::optional<JobRow> job(std::int64_t id);
  bool job_has_server(std::int64_t id) const;  // false: nobody works on it any more

  // ---- workers that judge for a campaign
  std::int64_t add_worker(const WorkerRow& worker);
  void end_worker(std::int64_t worker, WorkerEnd reason, const std::string& note);
  std::vector<WorkerRow> workers(std::int64_t campaign);  // by number
  std::vector<std::int64_t> campaigns_with_workers();     // the newest first
  // Answers of its workers from their start until the last end, or until now; 0 without any.
  double answers_an_hour(std::int64_t campaign);
  // Before the worker measures; ended together with the experiment that its answer is.
  std::int64_t begin_placement(const Placement& placement);
  void end_placement(std::int64_t placement, const PlacementEnd& end);
  std::optional<WorkerRow> worker_of(std::int64_t experiment);  // nullopt: no worker judged it
  // Ends the workers of a killed driver and their placements. Returns the number of workers.
  int end_interrupted_workers(std::int64_t campaign);
  // A copy in as few bytes as it can have, to be sent elsewhere.
  void write_compact_copy(const std::filesystem::path& path);

  // ---- after a kill
  std::vector<Unfinished> unfinished();
  // "process 4711" when one that lives works on it.
  std::optional<std::string> who_works_on(const Unfinished& what) const;
  // Unfinished experiments that nobody works on; the next command that judges marks them abandoned.
  std::vector<Unfinished> interrupted_experiments();
  void mark_abandoned(const Unfinished& what, const std::string& why);

  struct Implementation;  // journal/implementation.h, for the other files of this folder
  Implementation& implementation() { return *self_; }

 private:
  explicit Journal(std::unique_ptr<Implementation> self);
  std::unique_ptr<Implementation> self_;
};

// Drops the timed calls of every round, whose effect and medians stay, and adds the PC samples of one line and state
// together. Then writes the file anew without unused pages. Nobody else may have it open: throws UserError.
Compacted compact(Journal& journal);

}  // namespace apo
