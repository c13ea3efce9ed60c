// harness/loop/trial/candidate_answer.cpp - turns the gates and the judgement of an experiment into an answer.
#include "harness/loop/trial/candidate_answer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/json/records_json.h"
#include "harness/core/text.h"

namespace apo {
namespace {

constexpr std::size_t kLongestLogInAnswer = 4000;

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

void fail_at_gate(CandidateAnswer& answer) {
  answer.verdict = CandidateVerdict::wrong;
  answer.score = 0;
  answer.feedback.push_back(answer.gates.back().evidence);
  if (answer.gates.back().outcome == Outcome::build_failed) {
    answer.feedback.push_back(answer.log.substr(0, kLongestLogInAnswer));
  }
}

void add_experiment(CandidateAnswer& answer, Experiment experiment) {
  answer.gates.insert(answer.gates.end(), experiment.gates.begin(), experiment.gates.end());
  answer.verdict = verdict_of(experiment);
  answer.log = experiment.candidate_build.log;
  if (answer.verdict == CandidateVerdict::wrong) {
    fail_at_gate(answer);
  } else if (answer.verdict == CandidateVerdict::incumbent) {
    answer.score = 1;
    answer.feedback.push_back(answer.gates.back().evidence);
  } else {
    answer.score = has_effect(experiment) ? experiment.judgement->speedup_lower() : 0;
    answer.feedback.push_back(experiment.judgement->sentence);
  }
  answer.experiment = std::move(experiment);
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
