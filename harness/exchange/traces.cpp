// harness/exchange/traces.cpp - gives traces.py what it needs of each experiment, times as medians of the judged
// rounds.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "harness/exchange/exchange.h"
#include "harness/families/family_file.h"
#include "harness/families/known_families.h"
#include "journal/facts/experiments.h"
#include "journal/facts/machines.h"
#include "journal/facts/replays.h"
#include "journal/facts/variants.h"

namespace apo {
namespace {

using Document = nlohmann::ordered_json;

std::optional<double> median_of(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(median(values));
}

// Medians over the rounds of the stage that the judgement is about.
Document measured_document(const Experiment& experiment, const std::string& workload) {
  constexpr double kNsPerMs = 1e6;
  std::vector<double> candidate, incumbent, effects;
  const RoundStage stage = effect_stage(experiment);
  for (const Round& round : experiment.rounds) {
    for (const RoundWorkload& one : round.workloads) {
      if (round.stage == stage && round.void_why.empty() && one.workload == workload) {
        candidate.push_back(one.candidate_median_ns / kNsPerMs);
        incumbent.push_back(one.incumbent_median_ns / kNsPerMs);
        effects.push_back(one.effect);
      }
    }
  }
  const auto effect = median_of(effects);
  return {{"candidate_ms", number_or_null(median_of(candidate))},
          {"incumbent_ms", number_or_null(median_of(incumbent))},
          {"speedup", effect ? ratio_or_null(*effect) : Document()}};
}

Document errors_document(const OutputErrors& record) {
  return APO_DOCUMENT(max_relative, max_absolute, has_nan, has_inf);
}

// "x f32[n], y f32[n]", as the block has them.
std::string tensors_of(const FamilyFile& file) {
  std::vector<std::string> tensors;
  for (const FileTensor& tensor : file.tensors) {
    if (is_argument(tensor)) {
      tensors.push_back(fmt::format("{} {}[{}]", tensor.name, to_string(tensor.dtype), join(tensor.extents, ",")));
    }
  }
  return join(tensors, ", ");
}

// What differs between the tensors that an experiment was judged with and today's; "" where nothing is known to.
std::string other_tensors(const std::string& family, const std::optional<Variant>& judged) {
  const FamilyFile* file = find_family_file(family);
  if (file == nullptr || !judged || judged->contract.empty() || judged->contract == contract_text(*file)) {
    return "";
  }
  std::string then;
  try {
    then = tensors_of(parse_family(judged->contract, file->path));
  } catch (const UserError&) {
    return "";  // a block of an older program, or a header that is gone: the line holds all the same
  }
  const std::string now = tensors_of(*file);
  return then == now ? "" : fmt::format("{} was judged with {}, and its definition has {}", family, then, now);
}

Document experiment_document(Journal& journal, const Experiment& experiment) {
  Document document = to_document(experiment);
  document["machine"] = document_of(machine_of(journal, experiment.id));
  document["other_tensors"] = other_tensors(experiment.family, find_variant(journal, experiment.candidate_source_hash));
  document["measured"] = Document::object();
  for (const std::string& workload : experiment.workloads) {
    document["measured"][workload] = measured_document(experiment, workload);
  }
  document["errors"] = Document::object();
  document["errors_of_the_failed"] = nullptr;
  for (const GateResult& gate : experiment.gates) {
    for (const OutputErrors& one : gate.errors) {
      document["errors"][one.workload] = errors_document(one);
      if (gate.outcome != Outcome::valid) {
        document["errors_of_the_failed"] = errors_document(one);
      }
    }
  }
  return document;
}

}  // namespace

Traces traces(Journal& journal, const std::string& family, const std::filesystem::path& home) {
  Document experiments = Document::array();
  for (const std::int64_t id : judged_originals(journal)) {
    const Experiment experiment = load_experiment(journal, id);
    if (family.empty() || experiment.family == family) {
      experiments.push_back(experiment_document(journal, experiment));
    }
  }
  const Document known = to_documents(families());
  const Converted converted = convert(home, "traces.py", {{"families", known}, {"experiments", experiments}});
  return {.lines = converted.files.front().contents,
          .count = converted.report.at("traces"),
          .left_out = converted.report.at("left_out"),
          .of_other_tensors = converted.report.at("other_tensors")};
}

}  // namespace apo
