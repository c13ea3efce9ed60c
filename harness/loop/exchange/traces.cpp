// harness/loop/exchange/traces.cpp - one experiment after the other; names and uuids of where a family came from.
#include "harness/loop/exchange/traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/json/values.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "harness/families/family_file.h"
#include "harness/families/known_families.h"
#include "harness/loop/exchange/definition.h"
#include "kernels/family.h"

namespace apo {
namespace {

using Document = nlohmann::ordered_json;

// nullptr where nothing of the candidate was found out.
const char* status_of(const Experiment& experiment) {
  if (experiment.judgement->reason == Reason::interrupted) {
    return nullptr;
  }
  switch (experiment.outcome) {
    case Outcome::valid:
      return "PASSED";
    case Outcome::build_failed:
      return "COMPILE_ERROR";
    case Outcome::incorrect:
      return "INCORRECT_NUMERICAL";
    case Outcome::timed_out:
      return "TIMEOUT";
    case Outcome::unstable_clock:  // its times were not what independent clocks and fresh inputs say
      return "REWARD_HACK";
    case Outcome::refused:
    case Outcome::wrong_abi:
    case Outcome::faulted:
    case Outcome::out_of_memory:
      return "RUNTIME_ERROR";
    case Outcome::no_change:
    case Outcome::no_metric:
    case Outcome::not_finite:
    case Outcome::left_processes:
    case Outcome::not_checkable:
      return nullptr;
  }
  return nullptr;
}

std::optional<double> median_of(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(median(values));
}

// Medians over the rounds of the stage that the judgement is about.
Document performance(const Experiment& experiment, const std::string& workload) {
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
  return {{"latency_ms", number_or_null(median_of(candidate))},
          {"reference_latency_ms", number_or_null(median_of(incumbent))},
          {"speedup_factor", effect ? ratio_or_null(*effect) : Document()}};
}

// Of this workload; of the one that was wrong where the candidate failed on another. Null where the journal is older.
Document correctness(const Experiment& experiment, const std::string& workload) {
  std::optional<OutputErrors> errors;
  for (const GateResult& gate : experiment.gates) {
    const auto own = std::ranges::find(gate.errors, workload, &OutputErrors::workload);
    if (own != gate.errors.end()) {
      errors = *own;
    } else if (gate.outcome != Outcome::valid && !gate.errors.empty()) {
      errors = gate.errors.back();
    }
  }
  return {{"max_relative_error", errors ? Document(errors->max_relative) : Document()},
          {"max_absolute_error", errors ? Document(errors->max_absolute) : Document()},
          {"has_nan", errors ? Document(errors->has_nan) : Document()},
          {"has_inf", errors ? Document(errors->has_inf) : Document()},
          {"extra", nullptr}};
}

Document environment(const std::optional<Machine>& machine, const Build& build) {
  Document libraries = Document::object();
  if (machine && !machine->driver.empty()) {
    libraries["driver"] = machine->driver;
  }
  if (!build.toolchain.version.empty()) {
    libraries["compiler"] = build.toolchain.version;
  }
  return {{"hardware", machine ? Document(machine->model) : Document()}, {"libs", libraries}};
}

// "correctness: element 3 of y is 0.5, ...", or the judgement's sentence.
std::string log_of(const Experiment& experiment) {
  const auto failed =
      std::ranges::find_if(experiment.gates, [](const GateResult& gate) { return gate.outcome != Outcome::valid; });
  if (failed != experiment.gates.end()) {
    return failed->gate + ": " + failed->evidence;
  }
  return fmt::format("experiment {} against {}: {}", experiment.id, experiment.incumbent.label(),
                     experiment.judgement->sentence);
}

Document workload_document(const std::string& family_name, const std::string& name) {
  const Family* family = find_family(family_name);
  const FamilyFile* file = find_family_file(family_name);
  const Workload* workload = family == nullptr ? nullptr : find_workload(*family, name);
  const bool has_origin = file != nullptr && file->workload_origins.contains(name);
  Document axes = Document::object();
  Document inputs = Document::object();
  if (workload != nullptr) {
    for (const AxisSpec& axis : family->axes) {
      if (!axis.specialised || axis.min != axis.max) {
        axes[axis.name] = workload->axes.at(axis.name);
      }
    }
    for (const TensorSpec& tensor : family->tensors) {
      if (tensor.role == Role::input) {
        inputs[tensor.name] = {{"type", "random"}};
      }
    }
    for (const ScalarSpec& scalar : family->scalars) {
      inputs[scalar.name] = {{"type", "scalar"}, {"value", as_written(scalar)}};
    }
  }
  return {{"uuid", has_origin ? file->workload_origins.find(name)->second : name}, {"axes", axes}, {"inputs", inputs}};
}

// "x f32[n], y f32[n]", as the block has them.
std::vector<std::string> tensors_of(const FamilyFile& file) {
  std::vector<std::string> tensors;
  for (const FileTensor& tensor : file.tensors) {
    tensors.push_back(fmt::format("{} {}[{}]", tensor.name, to_string(tensor.dtype), join(tensor.extents, ",")));
  }
  return tensors;
}

// What differs between the tensors that an experiment was judged with and today's; "" where nothing is known to.
std::string other_tensors(const FamilyFile& file, const std::optional<Variant>& judged) {
  if (!judged || judged->contract.empty() || judged->contract == contract_text(file)) {
    return "";
  }
  std::vector<std::string> then;
  try {
    then = tensors_of(parse_family(judged->contract, file.path));
  } catch (const UserError&) {
    return "";  // a block of an older program, or a header that is gone: the line holds all the same
  }
  const std::vector<std::string> now = tensors_of(file);
  return then == now ? ""
                     : fmt::format("{} was judged with {}, and its definition has {}", file.name, join(then, ", "),
                                   join(now, ", "));
}

}  // namespace

Traces traces(Journal& journal, const std::string& family) {
  Traces result;
  for (const std::int64_t id : journal.judged_originals()) {
    const Experiment experiment = journal.load_experiment(id);
    if (!family.empty() && experiment.family != family) {
      continue;
    }
    const char* status = status_of(experiment);
    if (status == nullptr) {
      ++result.left_out;
      continue;
    }
    const FamilyFile* file = find_family_file(experiment.family);
    if (file != nullptr) {
      const std::string other = other_tensors(*file, journal.variant(experiment.candidate_source_hash));
      result.of_other_tensors[other] += static_cast<int>(experiment.workloads.size());
    }
    const bool passed = experiment.outcome == Outcome::valid;
    const bool compared = passed || experiment.outcome == Outcome::incorrect;
    for (const std::string& workload : experiment.workloads) {
      const Document line = {
          {"definition", file != nullptr && !file->origin.empty() ? file->origin : experiment.family},
          {"solution", experiment.candidate.label()},
          {"workload", workload_document(experiment.family, workload)},
          {"evaluation",
           {{"status", status},
            {"log", log_of(experiment)},
            {"correctness", compared ? correctness(experiment, workload) : Document()},
            {"performance", passed ? performance(experiment, workload) : Document()},
            {"environment", environment(journal.machine_of(id), experiment.candidate_build)},
            {"timestamp", experiment.finished_at}}}};
      result.lines.push_back(line.dump(-1, ' ', false, Document::error_handler_t::replace));
    }
  }
  result.of_other_tensors.erase("");
  return result;
}

}  // namespace apo
