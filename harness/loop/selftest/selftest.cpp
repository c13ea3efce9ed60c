// harness/loop/selftest/selftest.cpp - noise, identical code, known pairs, layouts; each kernel in turn until the time
// is spent.
#include "harness/loop/selftest/selftest.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/evaluate.h"
#include "harness/evaluate/judge/resolution.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "harness/evaluate/rounds/runner.h"
#include "harness/evaluate/sentinel.h"
#include "harness/loop/hooks.h"
#include "harness/loop/selftest/selftest_plan.h"
#include "journal/journal.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kStudies = 3;  // of each kernel, so that processes may be shared
constexpr int kProcessesOfStudy = 4;
constexpr std::int64_t kShareInputs = 16;  // comparisons

// What is known of one kernel so far.
struct Subject {
  SelftestSubject what;
  Runtime runtime;
  EvaluatePlan plan;
  SelftestKernel kernel;
  RoundCost cost;
  double claim_sd = 0;            // of a round's effect, as the judge's robust estimate sees it
  std::vector<double> apparent;   // effects that identical code seemed to have
  std::vector<double> variances;  // of the rounds of each of these comparisons
};

class SelftestRun {
 public:
  SelftestRun(Workspace& workspace, const SelftestRequest& request, Observer& observer)
      : workspace_(workspace), request_(request), observer_(observer), started_(Clock::now()) {}

  SelftestResult run() {
    workspace_.use(request_.target);
    result_.machine = workspace_.machine();
    if (request_.judge_preset != "auto") {
      static_cast<void>(preset_named(request_.judge_preset));
    }
    const std::vector<SelftestSubject> subjects =
        selftest_subjects(workspace_, request_.target, request_.kernels, result_.remarks);
    Journal journal = Journal::open(workspace_.paths().journal, Access::read_write);
    journal_ = &journal;
    begin(subjects);
    for (Subject& subject : subjects_) {
      study(subject);
    }
    compare_parts();
    finish();
    return std::move(result_);
  }

 private:
  double elapsed() const { return seconds_since(started_); }

  void begin(const std::vector<SelftestSubject>& subjects) {
    Selftest& selftest = result_.selftest;
    selftest = {.machine = workspace_.machine().id,
                .cache_policy = request_.cache_policy,
                .judge_preset = request_.judge_preset,
                .rule_version = std::string(kRuleVersion),
                .seed = secret_seed(),
                .started_at = utc_now()};
    journal_->add_machine(workspace_.machine());
    selftest.id = journal_->begin_selftest(selftest);
    for (const SelftestSubject& what : subjects) {
      Subject subject{.what = what, .runtime = workspace_.runtime(*what.family)};
      subject.plan.workloads = {what.workload};
      subject.plan.cache = request_.cache_policy;
      subject.plan.seed = selftest.seed;
      subject.plan.trusted = true;  // bundled or registered; timed calls are verified all the same
      subject.plan.time_same_code = true;
      subject.plan.preset = request_.judge_preset == "auto" ? standard_preset() : preset_named(request_.judge_preset);
      subject.plan.rounds.layout = request_.layout;
      shorten(subject.plan.preset);
      subject.kernel = {.configuration = what.configuration, .workload = what.workload->name};
      subjects_.push_back(std::move(subject));
    }
  }

  void shorten(JudgePreset& preset) const { preset.round_s = request_.round_s > 0 ? request_.round_s : preset.round_s; }

  LayoutControl control() const { return layout_control(request_.layout); }

  // Again where something on the machine disturbed it, or made too many of its rounds void.
  std::vector<Round> study_rounds(const Subject& subject, int index, const NoiseDesign& design) {
    constexpr int kAttempts = 3;
    std::string why;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      try {
        std::vector<Round> rounds =
            run_noise_study(subject.runtime, subject.what.configuration, subject.plan, kAttempts * index + attempt,
                            design, kProcessesOfStudy, hooks_for(observer_));
        static_cast<void>(noise_levels(rounds, design));  // throws where too few count
        return rounds;
      } catch (const std::runtime_error& error) {
        why = error.what();
        result_.remarks.push_back("a study of the noise again: " + why);
      }
    }
    throw EnvironmentError(why, "stop other work on this machine and run again");
  }

  void study(Subject& subject) {
    std::vector<NoiseLevels> studies;
    std::vector<Round> all;
    const NoiseDesign design;
    const int wanted = request_.quick ? 1 : kStudies;
    for (int index = 0; index < wanted; ++index) {
      const std::vector<Round> rounds = study_rounds(subject, index, design);
      studies.push_back(noise_levels(rounds, design));
      all.insert(all.end(), rounds.begin(), rounds.end());
    }
    note_levels(subject, noise_levels(all, design), all);
    if (request_.judge_preset == "auto") {
      subject.plan.preset = choose_preset(subject.kernel.round_sd, control());
      subject.plan.preset.minimum_claim = 0;  // here the rule itself is tried
      shorten(subject.plan.preset);
    }
    RoundCost planned = subject.cost;
    planned.blocks = planned_blocks(subject);
    // On a CPU a process costs little, and what a fresh one adds is part of what is tried.
    subject.kernel.rounds_per_process =
        request_.target == Target::cuda ? rounds_per_process(studies, subject.kernel.start_s, planned) : 1;
    subject.plan.rounds.rounds_per_process = subject.kernel.rounds_per_process;
    subject.kernel.preset = subject.plan.preset.name;
    observer_.say(subject.what.configuration.label() + " on " + subject.what.workload->name + ": " +
                  format_ns(subject.kernel.call_ns) + " a call, a round spreads by " +
                  format_g(100 * subject.kernel.round_sd, 2) + " %, judge preset " + subject.kernel.preset);
  }

  // Of a round under the preset that was chosen.
  static int planned_blocks(const Subject& subject) {
    const JudgePreset& preset = subject.plan.preset;
    const double blocks = (preset.round_s - subject.cost.warmup_s) / subject.cost.block_s;
    return static_cast<int>(std::clamp<double>(blocks, preset.blocks_min, preset.blocks_max));
  }

  static void note_levels(Subject& subject, const NoiseLevels& levels, const std::vector<Round>& rounds) {
    SelftestKernel& kernel = subject.kernel;
    kernel.round_sd = levels.total;
    kernel.sample_sd = levels.sample;
    kernel.block_sd = levels.block;
    kernel.within_sd = levels.round;
    kernel.layout_sd = levels.layout;
    kernel.process_sd = levels.process;
    subject.claim_sd = std::min(levels.total, levels.robust);
    subject.cost = cost_of(rounds, levels.total);
    kernel.kernel_s = subject.cost.warmup_s + subject.cost.blocks * subject.cost.block_s;
    std::vector<double> calls;
    std::vector<double> starts;
    std::vector<double> whole;
    for (const Round& round : rounds) {
      calls.push_back(round.workloads.front().incumbent_median_ns);
      if (round.environment.process_start_s) {
        starts.push_back(*round.environment.process_start_s);
        whole.push_back(round.seconds);
      }
    }
    kernel.call_ns = median(calls);
    kernel.start_s = median(starts);
    kernel.round_s = median(whole);
  }

  // One judgement by the judge that compares; false when it came to no end.
  bool judge(Subject& subject, SelftestComparison comparison, const EvaluatePlan& given) {
    EvaluatePlan plan = given;
    plan.trial = std::string(to_string(comparison.kind)) + " " + std::to_string(trials_);
    Experiment experiment{.id = trials_++ / kShareInputs,
                          .index = 1,
                          .family = subject.what.family->name,
                          .workloads = {subject.what.workload->name},
                          .candidate = comparison.candidate,
                          .incumbent = comparison.incumbent};
    evaluate(subject.runtime, experiment, plan, {});
    const Judgement& judgement = *experiment.judgement;
    if (experiment.outcome != Outcome::valid) {
      note_failure(subject, judgement.sentence);
      return false;
    }
    comparison.workload = subject.what.workload->name;
    comparison.random_layout = plan.rounds.layout == Layout::random;
    comparison.verdict = judgement.verdict;
    comparison.reason = judgement.reason;
    comparison.effect = judgement.effect;
    comparison.lower = judgement.lower;
    comparison.upper = judgement.upper;
    comparison.rounds = judgement.rounds;
    comparison.processes = judgement.processes;
    comparison.seconds = judgement.seconds;
    for (const Round& round : experiment.rounds) {
      if (round.void_why.empty()) {
        comparison.effects.push_back(round.effect);
      }
    }
    rounds_ += judgement.processes;
    journal_->add_selftest_comparison(result_.selftest.id, comparison);
    if (comparison.kind == SelftestKind::aa && comparison.rounds > 0) {
      subject.apparent.push_back(comparison.effect);
      subject.variances.push_back(std::pow(standard_deviation(comparison.effects), 2));
    }
    result_.comparisons.push_back(std::move(comparison));
    return true;
  }

  // Something on the machine may disturb a round in hours; what fails again and again is no accident.
  void note_failure(const Subject& subject, const std::string& sentence) {
    result_.remarks.push_back("one judgement of " + subject.what.configuration.label() +
                              " came to no end: " + sentence);
    if (++failures_ > 3 + trials_ / 50) {
      throw EnvironmentError("the selftest cannot go on: " + sentence);
    }
  }

  // Whether the part of the selftest that may last until `until_s` takes another comparison.
  bool goes_on(double until_s, int done, int wanted) const {
    if (done == 0) {
      return true;
    }
    if (request_.rounds > 0 && rounds_ >= request_.rounds) {
      return false;
    }
    return wanted > 0 ? done < wanted : elapsed() < until_s;
  }

  void report(const std::string& what, int done, int wanted, double until_s) {
    observer_.progress({.what = what,
                        .done = done,
                        .expected = wanted,
                        .seconds_left = wanted > 0 ? 0 : std::max(0.0, until_s - elapsed())});
  }

  void compare_parts() {
    const double layouts_s = request_.layouts ? 0.4 : 0;
    const double left = std::max(0.0, request_.seconds - elapsed());
    const double begin = elapsed();
    double share = (1 - layouts_s) * (request_.known_pairs ? 0.6 : 1);
    if (request_.same_code) {
      compare_same_code(begin + share * left);
    }
    if (request_.known_pairs) {
      share = 1 - layouts_s;
      compare_known_pairs(begin + share * left);
    }
    if (request_.layouts) {
      compare_layouts(request_.seconds);
    }
  }

  void compare_same_code(double until_s) {
    int done = 0;
    for (std::size_t tried = 0; goes_on(until_s, done, request_.comparisons); ++tried) {
      Subject& subject = subjects_[tried % subjects_.size()];
      report("identical code: " + subject.what.configuration.label(), done, request_.comparisons, until_s);
      const bool judged = judge(
          subject, {.incumbent = subject.what.configuration, .candidate = subject.what.configuration}, subject.plan);
      done += judged ? 1 : 0;
    }
  }

  void compare_known_pairs(double until_s) {
    struct Known {
      Subject* subject;
      KnownPair pair;
    };
    std::vector<Known> known;
    for (Subject& subject : subjects_) {
      if (is_spin(subject.what)) {
        for (const KnownPair& pair : known_pairs(subject.what, request_.differences)) {
          known.push_back({&subject, pair});
        }
      }
    }
    if (known.empty()) {
      result_.remarks.emplace_back(
          "no spin among the kernels has such a difference, so no pair of known difference was judged");
      return;
    }
    for (int done = 0; goes_on(until_s, done, 0); ++done) {
      const Known& one = known[static_cast<std::size_t>(done) % known.size()];
      report("known difference of " + format_percent(one.pair.truth), done, 0, until_s);
      judge(*one.subject,
            {.kind = SelftestKind::power,
             .incumbent = one.pair.incumbent,
             .candidate = one.pair.candidate,
             .truth = one.pair.truth},
            one.subject->plan);
    }
  }

  void compare_layouts(double until_s) {
    for (int done = 0; goes_on(until_s, done, 0); ++done) {
      const auto number = static_cast<std::size_t>(done);
      Subject& subject = subjects_[number / 2 % subjects_.size()];
      EvaluatePlan plan = subject.plan;
      plan.rounds.layout = number % 2 == 0 ? Layout::fixed : Layout::random;
      plan.rounds.fixed_seeds = {derive_seed(plan.seed, "layout of the incumbent", number) | 1,
                                 derive_seed(plan.seed, "layout of the candidate", number) | 1};
      report("layouts of " + subject.what.configuration.label(), done, 0, until_s);
      judge(subject,
            {.kind = SelftestKind::layout,
             .incumbent = subject.what.configuration,
             .candidate = subject.what.configuration},
            plan);
    }
  }

  void finish() {
    std::vector<double> claims;
    for (Subject& subject : subjects_) {
      conclude(subject);
      claims.push_back(subject.kernel.smallest_claim);
      result_.selftest.kernels.push_back(subject.kernel);
    }
    result_.selftest.smallest_claim = median(claims);
    result_.selftest.seconds = elapsed();
    result_.selftest.ended_at = utc_now();
    journal_->finish_selftest(result_.selftest);
  }

  // The spread over the comparisons says more than that of the few rounds of the study, once there are some.
  void conclude(Subject& subject) const {
    constexpr std::size_t kEnough = 5;
    SelftestKernel& kernel = subject.kernel;
    if (subject.variances.size() >= kEnough) {
      kernel.round_sd = std::sqrt(median(subject.variances));  // a neighbour's burst is in few of them
      subject.cost.round_sd = kernel.round_sd;
      subject.claim_sd = kernel.round_sd;
      subject.cost.blocks = planned_blocks(subject);
    }
    kernel.resolves_1s = detectable_within(1, subject.cost, control());
    kernel.resolves_10s = detectable_within(10, subject.cost, control());
    kernel.resolves_60s = detectable_within(60, subject.cost, control());
    kernel.smallest_claim = smallest_claim(subject.claim_sd, subject.apparent);
  }

  Workspace& workspace_;
  const SelftestRequest& request_;
  Observer& observer_;
  Clock::time_point started_;
  Journal* journal_ = nullptr;
  std::vector<Subject> subjects_;
  SelftestResult result_;
  std::int64_t trials_ = 0;
  std::int64_t failures_ = 0;
  int rounds_ = 0;
};

}  // namespace

SelftestResult run_selftest(Workspace& workspace, const SelftestRequest& request, Observer& observer) {
  return SelftestRun(workspace, request, observer).run();
}

}  // namespace apo
