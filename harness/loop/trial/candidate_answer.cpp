// harness/loop/trial/candidate_answer.cpp - turns the gates and the judgement of an experiment into an answer.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/text.h"
#include "harness/loop/trial/candidate_judge.h"
#include "journal/facts/research/lessons.h"

namespace apo {
namespace {

constexpr std::size_t kLongestLogInAnswer = 4000;
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

}  // namespace

CandidateVerdict verdict_of(const Experiment& experiment) {
  if (experiment.outcome == Outcome::no_change) {
    return CandidateVerdict::incumbent;
  }
  if (is_lasting(experiment.outcome) && experiment.judgement->reason == Reason::gate_failed) {
    return CandidateVerdict::wrong;
  }
  if (!has_effect(experiment)) {
    return CandidateVerdict::not_judged;
  }
  if (experiment.judgement->reason == Reason::ranked) {
    return CandidateVerdict::ranked;
  }
  switch (experiment.judgement->verdict) {
    case Verdict::accepted:
      return CandidateVerdict::accepted;
    case Verdict::reverted:
      return CandidateVerdict::reverted;
    case Verdict::inconclusive:
      break;
  }
  return CandidateVerdict::inconclusive;
}

void add_bottlenecks(CandidateAnswer& answer, std::vector<Bottleneck> bottlenecks) {
  for (const Bottleneck& one : bottlenecks) {
    const std::string place = one.line > 0 ? fmt::format("; mostly at {}:{}", one.file, one.line) : "";
    answer.feedback.push_back(
        fmt::format("bottleneck {}, worth {}: {}{}", one.name, worth_text(one), one.evidence, place));
  }
  answer.bottlenecks = std::move(bottlenecks);
}

void fail_for(CandidateAnswer& answer, const EnvironmentError& error) {
  answer.verdict = CandidateVerdict::not_judged;
  answer.feedback.push_back(with_hint(error));
}

void fail_for(CandidateAnswer& answer, const UserError& error) {
  answer.verdict = CandidateVerdict::wrong;
  answer.feedback.push_back(with_hint(error));
}

void fail_at_gate(CandidateAnswer& answer, const std::string& log) {
  answer.verdict = CandidateVerdict::wrong;
  answer.score = 0;
  answer.feedback.push_back(answer.gates.back().evidence);
  if (answer.gates.back().outcome == Outcome::build_failed) {
    answer.feedback.push_back(log.substr(0, kLongestLogInAnswer));
  }
}

void add_experiment(CandidateAnswer& answer, const Variant& variant, Experiment experiment, Trial& trial) {
  answer.gates.insert(answer.gates.end(), experiment.gates.begin(), experiment.gates.end());
  answer.verdict = verdict_of(experiment);
  answer.experiment = std::move(experiment);
  const Judgement& judgement = *answer.experiment->judgement;
  switch (answer.verdict) {
    case CandidateVerdict::wrong:
      fail_at_gate(answer, answer.experiment->candidate_build.log);
      break;
    case CandidateVerdict::incumbent:
      answer.score = 1;
      answer.feedback.push_back(answer.gates.back().evidence);
      break;
    case CandidateVerdict::not_judged:
      answer.feedback.push_back(judgement.sentence);
      break;
    case CandidateVerdict::accepted:
    case CandidateVerdict::reverted:
    case CandidateVerdict::inconclusive:
    case CandidateVerdict::ranked:
      answer.score = judgement.speedup_lower();
      answer.feedback.push_back(judgement.sentence);
      add_floor(answer, trial.floor_ns());
      add_lessons(answer, variant, trial.journal());
      break;
  }
}

nlohmann::ordered_json to_document(const CandidateAnswer& answer) {
  nlohmann::ordered_json document = {
      {"document", "evaluation"},    {"variant", answer.variant},     {"verdict", to_string(answer.verdict)},
      {"score", answer.score},       {"incumbent", answer.incumbent}, {"gates", to_documents(answer.gates)},
      {"feedback", answer.feedback}, {"experiment", nullptr}};
  const bool element_failed = !answer.gates.empty() && answer.gates.back().wrong;
  document["wrong"] = element_failed ? to_document(*answer.gates.back().wrong) : nlohmann::ordered_json(nullptr);
  document["bottlenecks"] = to_documents(answer.bottlenecks);
  if (answer.experiment) {
    document["experiment"] = to_document(*answer.experiment);
  }
  return document;
}

}  // namespace apo
