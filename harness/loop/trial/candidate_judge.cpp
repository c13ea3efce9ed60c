// harness/loop/trial/candidate_judge.cpp - reads a candidate, runs its gates, judges it, keeps it, and answers.
#include "harness/loop/trial/candidate_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/sources.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/files.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/implement/builder.h"
#include "harness/implement/executor_builder.h"
#include "harness/implement/variant/metadata.h"
#include "harness/loop/campaign_checks.h"
#include "harness/loop/campaign_progress.h"
#include "harness/loop/experiment.h"
#include "harness/loop/policy.h"
#include "harness/loop/research/research_inputs.h"
#include "harness/loop/trial/registration.h"
#include "harness/loop/workspace/chosen_workload.h"
#include "harness/loop/workspace/incumbents.h"
#include "harness/loop/workspace/kept_profile.h"
#include "harness/loop/workspace/known.h"
#include "harness/research/diagnosis/rules.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/research/lessons.h"
#include "journal/facts/unfinished.h"

namespace apo {
namespace {

constexpr std::size_t kHashInName = 8;
constexpr std::size_t kLessons = 3;

void add_floor(CandidateAnswer& answer, double floor_ns) {
  const double time = answer.experiment->judgement->candidate_ns;
  if (floor_ns > 0 && time > 0) {
    answer.feedback.push_back(fmt::format("takes {}; no call can take less than {}, {} of that", format_ns(time),
                                          format_ns(floor_ns), format_share(floor_ns / time)));
  }
}

// Results of earlier experiments on the techniques that the candidate names.
void add_lessons(CandidateAnswer& answer, const Variant& variant, Journal& journal) {
  std::size_t told = 0;
  for (const std::string& technique : variant.techniques) {
    const std::vector<Lesson> lessons = lessons_of(journal, {.family = variant.family, .technique = technique});
    for (auto lesson = lessons.rbegin(); lesson != lessons.rend() && told < kLessons; ++lesson) {
      if (lesson->configuration.variant != variant.id()) {
        answer.feedback.push_back(fmt::format("known of {}: {}", technique, lesson->text));
        ++told;
      }
    }
  }
}

// Whether the block says the name, or the file's own name is meant.
bool is_named_by_block(const Variant& variant) {
  const FileIdentity otherwise{.family = variant.family, .name = variant.name + "_", .target = variant.target};
  return parse_variant(variant.source, variant.path, variant.headers, otherwise).name == variant.name;
}

// A mistake in the candidate, apart from those in the command, in the journal and in the family.
class InvalidCandidate : public UserError {
 public:
  using UserError::UserError;
};

template <class Act>
auto of_candidate(Act act) {
  try {
    return act();
  } catch (const UserError& error) {
    throw InvalidCandidate(error.what(), error.hint());
  }
}

// The policy of a trial; --judge quick is for its candidates, and not for what certifies the result. UserError for a
// word or a workload that is none.
Policy trial_policy(const Workspace& workspace, const TrialChoice& choice, Target target) {
  Policy policy = default_policy(choice.family);
  policy.target = target;
  policy.workloads = choice.workloads.empty()
                         ? std::vector<std::string>{first_workload(workspace.family(choice.family), target).name}
                         : choice.workloads;
  policy.cache_policy = choice.cache.empty() ? policy.cache_policy : checked_cache_policy(choice.cache);
  policy.launch = choice.launch.empty() ? policy.launch : checked_launch_form(choice.launch);
  if (!choice.judge.empty()) {
    check_candidate_judge(choice.judge);
  }
  const bool of_candidates = choice.judge.empty() || choice.judge == kQuickPreset;
  policy.judge_preset = of_candidates ? policy.judge_preset : choice.judge;
  policy.iterations = kNamedCandidates;
  policy.candidates_per_iteration = 1;
  complete_policy(policy, "");
  return policy;
}

// Returns all of standard input.
std::string piped_source() {
  std::string text;
  char buffer[1 << 16];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof(buffer), stdin)) > 0;) {
    text.append(buffer, got);
    if (text.size() > kLongestCandidate) {
      throw UserError("the source is longer than 1 MiB");
    }
  }
  return text;
}

// On all CPUs; a compiler takes one.
void build_all(const std::vector<std::pair<std::string, std::function<Build()>>>& jobs, Observer& observer) {
  const auto start = std::chrono::steady_clock::now();
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::pair<double, std::string> longest;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) {
      try {
        const Build build = jobs[i].second();
        const std::lock_guard lock(mutex);
        longest = std::max(longest, {build.from_cache ? 0 : build.seconds, jobs[i].first});
      } catch (const std::exception&) {
        continue;  // the candidate's own build meets it again, and its answer says so
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::min(jobs.size(), usable_cpus().size()); ++i) {
      threads.emplace_back(work);
    }
  }
  if (longest.first > 0) {
    observer.say(fmt::format("compiled in {:.1f} s, {} builds on {} CPUs; the longest, of {}, took {:.1f} s",
                             seconds_since(start), jobs.size(), usable_cpus().size(), longest.second, longest.first));
  }
}

}  // namespace

CandidateJudge::CandidateJudge(Workspace& workspace, TrialChoice choice, Observer& observer)
    : workspace_(workspace), choice_(std::move(choice)), observer_(observer), registered_(workspace.catalogue()) {
  static_cast<void>(workspace_.family(choice_.family));
  for (const std::string& name : choice_.workloads) {
    static_cast<void>(workspace_.workload(workspace_.family(choice_.family), name));
  }
  static_cast<void>(trial_policy(workspace_, choice_, Target::host));
}

CandidateJudge::Judged CandidateJudge::read(const GivenCandidate& given) const {
  Judged judged = given.variant.empty() ? read_file({given.path, given.source}) : known(given.variant);
  if (judged.settings.empty()) {
    judged.settings = default_settings(judged.variant);
  }
  return judged;
}

CandidateJudge::Judged CandidateJudge::known(const std::string& text) const {
  const Configuration configuration = of_candidate([&] { return workspace_.catalogue().configuration(text); });
  const Variant& variant = workspace_.catalogue().get(configuration.variant);
  if (variant.family != choice_.family) {
    throw InvalidCandidate(variant.id() + " is not of family " + choice_.family, "name a variant of this family");
  }
  return {.variant = variant, .settings = configuration.settings, .is_known = true};
}

CandidateJudge::Judged CandidateJudge::read_file(const GivenFile& file) const {
  const Catalogue& catalogue = workspace_.catalogue();
  Variant variant = of_candidate([&] { return catalogue.read(file, choice_.family); });
  if (const Variant* known = catalogue.with_text(variant.source_hash)) {
    return {.variant = *known, .is_known = true};
  }
  if (catalogue.find(variant.id()) != nullptr && !is_named_by_block(variant)) {
    variant.name += "_" + variant.source_hash.substr(0, kHashInName);
  }
  return {.variant = std::move(variant)};
}

CandidateAnswer CandidateJudge::answer(const GivenCandidate& given) {
  const std::string& word = given.judge.empty() ? choice_.judge : given.judge;
  if (!word.empty()) {
    check_candidate_judge(word);
  }
  CandidateAnswer answer;
  try {
    const Judged candidate = read(given);
    answer.variant = given.variant.empty() ? candidate.variant.id()
                                           : Configuration{candidate.variant.id(), candidate.settings}.label();
    note_call(answer, workspace_.family(choice_.family), candidate.variant);
    if (check_device(candidate, answer) && !make_baseline(candidate, answer)) {
      judge(candidate, word, answer);
    }
  } catch (const EnvironmentError& error) {
    observer_.say(error.what());
    fail_for(answer, error);
  } catch (const InvalidCandidate& invalid) {
    fail_for(answer, invalid);
  }
  if (!given.path.empty()) {
    const std::string path = std::filesystem::absolute(given.path).lexically_normal().string();
    name_users_file(answer, path, given.shown);
    name_users_file(answer, given.path, given.shown);
  }
  return answer;
}

// Whether a new one passes its gates, and is registered.
bool CandidateJudge::is_kept(const Judged& candidate, CandidateAnswer& answer) {
  const Variant& variant = candidate.variant;
  const bool passes = of_candidate([&] { return passes_checks(workspace_, variant, {}, observer_, answer); });
  if (passes) {
    of_candidate([&] { return workspace_.catalogue().add(variant); });
    keep_variant(registered_, workspace_.paths(), variant, answer);
  }
  return passes;
}

// Without a GPU, what the CPU says of a candidate for one is the answer; with one the experiment asks it. False ends
// the answer.
bool CandidateJudge::check_device(const Judged& candidate, CandidateAnswer& answer) {
  const Variant& variant = candidate.variant;
  std::string missing;
  if (variant.target != Target::cuda || workspace_.has_gpu(&missing)) {
    return true;
  }
  if (!candidate.is_known && !is_kept(candidate, answer)) {
    return false;
  }
  answer.feedback.push_back("its time needs a GPU: " + missing +
                            (answer.path.empty() ? "" : "; it passed the checks of this CPU, and is registered"));
  return false;
}

bool CandidateJudge::make_baseline(const Judged& candidate, CandidateAnswer& answer) {
  const Variant& variant = candidate.variant;
  workspace_.use(variant.target);
  if (candidate.is_known || family_baseline(workspace_, choice_.family)) {
    return false;
  }
  if (is_kept(candidate, answer)) {
    answer.verdict = CandidateVerdict::registered;
    answer.score = 1;
    answer.incumbent = variant.id();
    answer.feedback.push_back(
        fmt::format("the first variant of {} for target {}: the baseline that others are judged against",
                    choice_.family, to_string(variant.target)));
  }
  return true;
}

void CandidateJudge::build_ahead(const std::vector<GivenCandidate>& all) {
  if (all.size() < 2) {
    return;
  }
  const Family& family = workspace_.family(choice_.family);
  BuildOptions options{
      .cache = workspace_.paths().builds, .home = workspace_.paths().home, .device = executor_device()};
  const Builder without_gpu(options);
  std::vector<std::pair<std::string, std::function<Build()>>> jobs;
  for (const GivenCandidate& given : all) {
    try {
      const Judged candidate = read(given);
      const Variant& variant = candidate.variant;
      const bool on_host = variant.target == Target::host;
      const Policy policy = trial_policy(workspace_, choice_, variant.target);
      const Axes& axes = workspace_.workload(family, policy.workloads.front()).axes;
      const bool here = on_host || workspace_.has_gpu();
      for (const bool sanitize : {false, true}) {
        const Builder& builder = here ? workspace_.builder(sanitize) : without_gpu;
        if (on_host || !sanitize) {
          jobs.emplace_back(variant.id(), [&, candidate] {
            return builder.build(family, candidate.variant, axes, candidate.settings);
          });
        }
      }
    } catch (const InvalidCandidate&) {
      continue;  // the answer to this candidate says why
    }
  }
  build_all(jobs, observer_);
}

void CandidateJudge::judge(const Judged& candidate, const std::string& judge, CandidateAnswer& answer) {
  Trial& trial = trial_for(candidate.variant.target);
  answer.incumbent = trial.incumbent().label();
  if (!candidate.is_known && trial.relies_on(candidate.variant.id())) {
    throw InvalidCandidate(candidate.variant.id() + " is what candidates are judged against, and this is another text",
                           "give the candidate a name of its own: leave its apo:variant line out, or change it");
  }
  Catalogue& catalogue = workspace_.catalogue();
  const Variant& variant = candidate.is_known ? catalogue.get(candidate.variant.id())
                                              : *of_candidate([&] { return catalogue.add(candidate.variant).variant; });
  const Configuration configuration{variant.id(), candidate.settings};
  if (configuration == trial.incumbent()) {
    answer.verdict = CandidateVerdict::incumbent;
    answer.score = 1;
    answer.feedback.emplace_back("there is nothing to judge it against");
    return;
  }
  if (const std::string known = known_incorrect(trial.journal(), variant, configuration); !known.empty()) {
    observer_.say("note: " + known);
  }
  // The word of the policy is judged as the policy says.
  add_experiment(answer, trial.judge(configuration, judge == trial.policy().judge_preset ? "" : judge));
  if (has_effect(*answer.experiment)) {
    add_floor(answer, trial.floor_ns());
    add_lessons(answer, variant, trial.journal());
  }
  if (answer.experiment->judgement->preset == kQuickPreset) {
    return;  // a rank is to be cheap: no profile for it, and nothing is kept, whatever its rounds were worth
  }
  if (has_effect(*answer.experiment)) {
    diagnose(configuration, trial, answer);
  }
  if (answer.experiment->outcome == Outcome::valid) {
    keep_variant(registered_, workspace_.paths(), variant, answer);
  }
}

// A profile of the candidate itself, which research finds in the journal should it become the incumbent.
void CandidateJudge::diagnose(const Configuration& configuration, const Trial& trial, CandidateAnswer& answer) {
  const Policy& policy = trial.policy();
  const Family& family = workspace_.family(policy.family);
  const Workload& workload = workspace_.workload(family, policy.workloads.front());
  const Profile profile =
      kept_or_measured_profile(workspace_, family, configuration, workload, policy.cache_policy, false, observer_);
  add_bottlenecks(answer, apo::diagnose(diagnosis_of(workspace_, trial.runtime(), workload, profile)));
}

Trial& CandidateJudge::trial_for(Target target) {
  workspace_.use(target);
  const auto found = trials_.find(target);
  return found != trials_.end()
             ? found->second
             : trials_.try_emplace(target, workspace_, trial_policy(workspace_, choice_, target), observer_)
                   .first->second;
}

std::vector<Configuration> CandidateJudge::finish() {
  std::vector<Configuration> incumbents;
  for (auto& [target, trial] : trials_) {
    workspace_.use(target);
    incumbents.push_back(trial.finish());
  }
  return incumbents;
}

GivenCandidate file_of_source(const std::string& source, const std::string& extension,
                              const std::filesystem::path& folder) {
  check_source_size(source.size(), "the source");
  if (!extension.empty() && !is_source_extension(extension)) {
    throw UserError("unknown extension '" + extension + "'", "known: .cpp, .cu, .py");
  }
  constexpr std::size_t kHash = 8;
  const std::filesystem::path path = folder / ("candidate_" + sha256(source).substr(0, kHash) +
                                               (extension.empty() ? guessed_extension(source) : extension));
  write_file_atomically(path, source);
  return {.path = path.string(), .shown = path.filename().string()};
}

GivenCandidate candidate_file(const std::string& file, const std::filesystem::path& folder) {
  if (file == "-") {
    return file_of_source(piped_source(), "", folder);
  }
  static_cast<void>(candidate_text(file));  // throws where it is none
  return {.path = file, .shown = file};
}

Trial::Trial(Workspace& workspace, const Policy& policy, Observer& observer)
    : journal_(journal_to_measure(workspace, observer)),
      frame_(make_frame(workspace, journal_, observer, begin_campaign(workspace, journal_, policy, observer), false)),
      state_(make_state(frame_)) {}

bool Trial::relies_on(const std::string& variant) const {
  return variant == state_.incumbent.variant || variant == frame_.baseline.variant;
}

double Trial::floor_ns() const {
  const auto floor = state_.plan.floor_ns.find(frame_.policy.workloads.front());
  return floor == state_.plan.floor_ns.end() ? 0 : floor->second;
}

Experiment Trial::judge(const Configuration& configuration, const std::string& judge) {
  if (state_.since_sentinel >= kSentinelEveryCandidates) {
    state_.machine_checked = false;
  }
  const std::int64_t iteration = begin_iteration(
      journal_,
      {.campaign = frame_.campaign, .index = ++iterations_, .incumbent = state_.incumbent, .started_at = utc_now()});
  const Variant& incumbent = frame_.workspace.catalogue().get(state_.incumbent.variant);
  const Variant& variant = frame_.workspace.catalogue().get(configuration.variant);
  const Candidate candidate{.configuration = configuration,
                            .techniques = techniques_of(variant, configuration.settings),
                            .prediction = configuration.settings == default_settings(variant)
                                              ? prediction_over(variant, incumbent)
                                              : Prediction(),  // the author said nothing of other settings
                            .why = "named on the command line",
                            .origin = Origin::registered};
  try {
    Experiment experiment = run_experiment(frame_, state_, iteration, candidate, judge);
    finish_iteration(journal_, iteration);
    return experiment;
  } catch (const std::exception& error) {
    mark_abandoned(journal_, {.kind = Unfinished::Kind::iteration, .id = iteration}, error.what());
    throw;
  }
}

Configuration Trial::finish() {
  std::vector<Certification> said;
  certify_incumbent(frame_, state_, said);
  finish_campaign(journal_, frame_.campaign, frame_.policy.seed, "");
  return state_.incumbent;
}

Prediction prediction_over(const Variant& candidate, const Variant& incumbent) {
  if (!candidate.prediction) {
    return {};
  }
  const std::string& over = candidate.prediction->relative_to;
  const bool meant =
      over == "parent" ? candidate.parent == incumbent.id() : over == incumbent.id() || over == incumbent.name;
  return meant ? *candidate.prediction : Prediction();
}

}  // namespace apo
