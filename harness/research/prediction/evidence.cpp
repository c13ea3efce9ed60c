// harness/research/prediction/evidence.cpp - past results, and the lessons that still hold.
#include "harness/research/prediction/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "harness/core/interval.h"
#include "harness/core/records/profile.h"
#include "harness/core/text.h"

namespace apo {

namespace {

const Variant* variant_of(const ResearchInputs& inputs, const std::string& id, const std::string& source_hash) {
  if (inputs.diagnosis.incumbent.id() == id && inputs.diagnosis.incumbent.source_hash == source_hash) {
    return &inputs.diagnosis.incumbent;
  }
  for (const RegisteredVariant& registered : inputs.variants) {
    if (registered.variant.id() == id && registered.variant.source_hash == source_hash) {
      return &registered.variant;
    }
  }
  return nullptr;
}

void normalise(const ResearchInputs& inputs, Configuration& configuration, const std::string& source_hash) {
  if (const Variant* variant = variant_of(inputs, configuration.variant, source_hash)) {
    configuration = normalised(configuration, *variant);
  }
}

// Standard deviations in logs, which add in squares. Chosen so that on the journals under experiments/ the bands hold
// four of five (experiments/foresight).
constexpr double kAgain = 0.01;          // a judgement from one day to the next
constexpr double kOtherMachine = 0.025;  // of the same model
constexpr double kOtherModel = 0.12;     // of the same instruction set
constexpr double kOtherIsa = 0.4;
constexpr double kOtherWorkload = 0.24;  // of the same class
constexpr double kOtherClass = 0.6;
constexpr double kOtherCaches = 0.24;  // cold against warm

// The interval's half-width is 2.33 standard deviations (98 %).
double own_sd(const PastResult& past) {
  return 0.5 * (past.upper - past.lower) / 2.33;
}

bool same_caches(const ResearchInputs& inputs, const PastResult& past) {
  return !inputs.cache || !past.cache || *inputs.cache == *past.cache;
}

bool refutes(const Lesson& lesson, const Subject& candidate, const Subject& incumbent) {
  return lesson.verdict == Verdict::reverted && lesson.configuration == candidate.configuration &&
         lesson.source_hash == candidate.source_hash && lesson.incumbent == incumbent.configuration &&
         lesson.incumbent_source_hash == incumbent.source_hash;
}

}  // namespace

Evidence::Evidence(const ResearchInputs& inputs)
    : machine_(inputs.machine),
      model_(inputs.model),
      workload_class_(inputs.workload_class),
      profile_(inputs.diagnosis.profile) {
  std::set<std::int64_t> of_other_workloads;  // one workload of a class may like what another one does not
  for (PastResult past : inputs.past) {
    if (!past.workload.empty() && past.workload != profile_.workload) {
      of_other_workloads.insert(past.experiment);
    }
    normalise(inputs, past.candidate, past.candidate_source_hash);
    normalise(inputs, past.incumbent, past.incumbent_source_hash);
    results_.push_back(std::move(past));
  }
  for (Lesson lesson : inputs.lessons) {
    const std::vector<std::string>& workloads = lesson.condition.workloads;
    const bool elsewhere =
        workloads.empty() ? of_other_workloads.contains(lesson.experiment) : workloads.front() != profile_.workload;
    if (is_alike(lesson.machine, lesson.condition.model) && lesson.workload_class == inputs.workload_class &&
        !elsewhere) {
      normalise(inputs, lesson.configuration, lesson.source_hash);
      normalise(inputs, lesson.incumbent, lesson.incumbent_source_hash);
      lessons_.push_back(std::move(lesson));
    }
  }
}

bool Evidence::is_here(const PastResult& past) const {
  return past.machine == machine_ && past.workload_class == workload_class_;
}

bool Evidence::is_alike(const std::string& machine, const std::string& model) const {
  return machine == machine_ || (!model.empty() && model == model_);
}

std::string Evidence::refuted(const Subject& candidate, const Subject& incumbent) const {
  for (const PastResult& past : results_) {
    if (is_alike(past.machine, past.model) && past.workload_class == workload_class_ && is_lasting(past.outcome) &&
        past.verdict == Verdict::reverted && past.candidate == candidate.configuration &&
        past.candidate_source_hash == candidate.source_hash) {
      return fmt::format("refuted by experiment {}: {}{}", past.experiment, to_string(past.outcome),
                         past.evidence.empty() ? "" : " (" + past.evidence + ")");
    }
  }
  for (const Lesson& lesson : lessons_) {
    if (!refutes(lesson, candidate, incumbent) || !changed_stall(lesson.condition, profile_).empty()) {
      continue;
    }
    const auto past = std::find_if(results_.begin(), results_.end(), [&](const PastResult& result) {
      return result.experiment == lesson.experiment && result.timed;
    });
    const std::string number =
        past == results_.end() ? format_ratio(lesson.speedup) : format_effect(past->effect, past->lower, past->upper);
    return fmt::format("refuted by experiment {}: {}", lesson.experiment, number);
  }
  return "";
}

std::string Evidence::expired(const Subject& candidate, const Subject& incumbent) const {
  for (const Lesson& lesson : lessons_) {
    const std::string change = changed_stall(lesson.condition, profile_);
    if (refutes(lesson, candidate, incumbent) && !change.empty()) {
      return fmt::format("experiment {} refuted it, but {}", lesson.experiment, change);
    }
  }
  return "";
}

int Evidence::tries(const std::string& variant, const std::string& source_hash) const {
  return static_cast<int>(std::ranges::count_if(results_, [&](const PastResult& past) {
    return is_here(past) && past.candidate.variant == variant && past.candidate_source_hash == source_hash;
  }));
}

int Evidence::tries(const std::string& variant) const {
  return static_cast<int>(std::ranges::count_if(
      results_, [&](const PastResult& past) { return is_here(past) && past.candidate.variant == variant; }));
}

bool is_same_place(const ResearchInputs& inputs, const PastResult& past) {
  return same_caches(inputs, past) && past.machine == inputs.machine && past.workload_class == inputs.workload_class &&
         (past.workload.empty() || past.workload == inputs.diagnosis.profile.workload);
}

double deviation_here(const ResearchInputs& inputs, const PastResult& past) {
  double deviation = std::hypot(own_sd(past), kAgain);
  if (past.machine != inputs.machine) {
    deviation = std::hypot(deviation, past.model == inputs.model ? kOtherMachine
                                      : past.isa == inputs.isa   ? kOtherModel
                                                                 : kOtherIsa);
  }
  if (past.workload_class != inputs.workload_class) {
    deviation = std::hypot(deviation, kOtherClass);
  } else if (!past.workload.empty() && past.workload != inputs.diagnosis.profile.workload) {
    deviation = std::hypot(deviation, kOtherWorkload);
  }
  return same_caches(inputs, past) ? deviation : std::hypot(deviation, kOtherCaches);
}

std::string name_experiments(const std::vector<std::int64_t>& experiments) {
  std::vector<std::string> names;
  for (const std::int64_t experiment : experiments) {
    names.push_back(std::to_string(experiment));
  }
  return (names.size() == 1 ? "experiment " : "experiments ") + join(names, ", ");
}

std::string waiting_words(const std::string& stall) {
  static const std::map<std::string, std::string_view, std::less<>> kWords = {
      {"barrier", "barriers"},
      {"long_scoreboard", "global or local memory"},
      {"short_scoreboard", "shared memory or special functions"},
      {"mio_throttle", "room in the queue of shared memory"},
      {"lg_throttle", "room in the queue of global memory"},
      {"math_pipe_throttle", "a busy arithmetic unit"},
      {"wait", "the fixed latency of the instruction before"},
      {"not_selected", "other warps that are issued first"},
      {"no_instruction", "instructions to be fetched"},
      {"membar", "memory fences"},
      {"sleeping", "the end of a sleep"},
      {"drain", "stores to be written"},
      {"branch_resolve", "branches to be resolved"},
      {"dispatch_stall", "the dispatcher"}};
  const auto found = kWords.find(stall);
  return std::string(found == kWords.end() ? std::string_view(stall) : found->second);
}

std::string changed_stall(const LessonCondition& then, const Profile& now) {
  const auto stalls = top_stalls(now);
  if (then.stall.empty() || stalls.empty()) {
    return "";
  }
  const auto same = std::ranges::find_if(stalls, [&](const auto& one) { return one.first == then.stall; });
  const double share = same == stalls.end() ? 0 : same->second;
  if (share >= 0.5 * stalls.front().second) {
    return "";
  }
  return fmt::format("the incumbent waited for {} then and waits for {} now", waiting_words(then.stall),
                     waiting_words(stalls.front().first));
}

}  // namespace apo
