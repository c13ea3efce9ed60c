// harness/loop/contract/family_check.cpp - one case after the other, then what they say together.
#include "harness/loop/contract/family_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/compare.h"
#include "harness/families/command_reference.h"
#include "harness/families/file_family.h"
#include "harness/implement/variant/metadata_block.h"
#include "harness/loop/contract/mutants.h"
#include "harness/runtime/tensor_data.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr std::int64_t kMostUnits = 8;            // of a large workload
constexpr std::int64_t kWholeElements = 1 << 16;  // of all outputs, up to which every unit is computed
// Of a reference in another language: workloads beside the smallest one, and elements of their outputs.
constexpr std::int64_t kMostOfCommand = 3;
constexpr std::int64_t kMostElementsOfCommand = 1 << 18;
constexpr double kNearlyConstant = 0.01;

struct Case {
  const Workload* workload;
  std::string regime;
  std::vector<std::int64_t> units;  // empty: all
  std::string name() const { return workload->name + ", " + regime; }
};

class FamilyChecker {
 public:
  FamilyChecker(const FamilyFile& file, const OracleOptions& options, std::uint64_t seed, int threads)
      : file_(file),
        options_(options),
        family_(family_of(file, options)),
        program_(file, options),
        seed_(seed),
        threads_(threads) {}

  FamilyCheck run(Observer& observer) {
    const auto start = std::chrono::steady_clock::now();
    if (is_cpp()) {
      observer.progress({.what = "check " + file_.name + " under sanitizers"});
      check_memory();
    }
    const std::vector<Case> cases = plan();
    check_inputs_matter(*largest_whole(cases));
    check_outputs_vary(*largest_whole(cases));
    if (is_cpp() && !file_.units.empty()) {
      check_units(*largest_whole(cases));
    }
    FamilyCheck check{.tolerance = tolerance_source(file_),
                      .cases = static_cast<int>(cases.size()),
                      .honest_closeness = 0,
                      .mutants = rows(),
                      .seconds = 0};
    for (std::size_t i = 0; i < cases.size(); ++i) {
      observer.progress({.what = "check " + file_.name + " on " + cases[i].name(),
                         .done = static_cast<int>(i),
                         .expected = static_cast<int>(cases.size())});
      run_case(cases[i], check);
    }
    refuse_weak_tolerance(check);
    check.seconds = seconds_since(start);
    return check;
  }

 private:
  bool is_cpp() const { return file_.reference_command.empty(); }

  [[noreturn]] void refuse(const std::string& tensor, const std::string& what, const std::string& hint) const {
    const auto found = std::ranges::find(file_.tensors, tensor, &FileTensor::name);
    block_error(file_.path, found == file_.tensors.end() ? 1 : found->line, what, hint);
  }

  std::int64_t output_elements(const Axes& axes) const {
    std::int64_t count = 0;
    for (const TensorSpec& tensor : family_.tensors) {
      count += tensor.role == Role::output ? element_count(tensor, axes) : 0;
    }
    return count;
  }

  // A reference in another language computes the whole of a workload each time: the smallest ones have to do.
  bool is_too_large(const Workload& workload) const {
    const std::int64_t own = output_elements(workload.axes);
    const auto smaller = std::ranges::count_if(
        family_.workloads, [&](const Workload& other) { return output_elements(other.axes) < own; });
    return !is_cpp() && smaller > 0 && (smaller >= kMostOfCommand || own > kMostElementsOfCommand);
  }

  // All regimes on one workload, some on the others; of the largest, some units.
  std::vector<Case> plan() const {
    std::vector<Case> cases;
    for (const Workload& workload : family_.workloads) {
      if ((workload.kind == WorkloadKind::extreme && family_.workloads.size() > 1) || is_too_large(workload)) {
        continue;
      }
      const bool whole = output_elements(workload.axes) <= kWholeElements;
      const std::vector<std::int64_t> units =
          whole ? std::vector<std::int64_t>() : draw_units(family_.unit_count(workload.axes), kMostUnits, seed_);
      const bool all_regimes = workload.kind == WorkloadKind::ragged && is_cpp();
      const std::size_t first = cases.size();
      for (std::size_t r = 0; r < family_.regimes.size(); ++r) {
        const bool enough = !is_cpp() && cases.size() > first + 1;
        if (r == 0 || all_regimes ||
            (!enough && r == 1 + cases.size() % std::max<std::size_t>(1, family_.regimes.size() - 1))) {
          cases.push_back({.workload = &workload, .regime = family_.regimes[r], .units = units});
        }
      }
    }
    return cases;
  }

  const Case* largest_whole(const std::vector<Case>& cases) const {
    const Case* best = nullptr;
    for (const Case& each : cases) {
      const auto elements = [&](const Case& c) { return output_elements(c.workload->axes); };
      if (each.regime == "typical" && each.units.empty() && (best == nullptr || elements(*best) < elements(each))) {
        best = &each;
      }
    }
    if (best == nullptr) {
      refuse("", "no workload is small enough to check all of it",
             "add a small and a ragged one, e.g. '// apo:workload tiny ragged ...'");
    }
    return best;
  }

  InputSet inputs_of(const Case& each, std::uint64_t seed) const {
    return make_inputs(family_, each.workload->axes, seed, each.regime, threads_);
  }

  // On the smallest and on the first ragged workload.
  void check_memory() const {
    std::vector<const Workload*> chosen = {&*std::ranges::min_element(
        family_.workloads, {}, [&](const Workload& workload) { return output_elements(workload.axes); })};
    const auto ragged = std::ranges::find(family_.workloads, WorkloadKind::ragged, &Workload::kind);
    if (ragged != family_.workloads.end() && &*ragged != chosen.front()) {
      chosen.push_back(&*ragged);
    }
    for (const Workload* workload : chosen) {
      const InputSet inputs = make_inputs(family_, workload->axes, seed_, "typical", threads_);
      const auto units = draw_units(family_.unit_count(workload->axes), 2 * kMostUnits, seed_);
      (void)program_.ask({.mode = oracle::Mode::reference,
                          .axes = workload->axes,
                          .units = units,
                          .values = &inputs.values,
                          .threads = threads_},
                         ProgramKind::sanitized);
    }
  }

  // By the command: its inputs of two draws need not go together.
  bool is_drawn_with_others(const std::string& name) const {
    return !is_cpp() &&
           std::ranges::find(file_.tensors, name, &FileTensor::name)->distribution.kind == DistributionKind::function;
  }

  void check_inputs_matter(const Case& each) const {
    const InputSet inputs = inputs_of(each, seed_);
    const InputSet others = inputs_of(each, seed_ + 1);
    const TensorMap expected = family_.reference(inputs.axes, inputs.values, {}, threads_);
    for (const TensorSpec& tensor : family_.tensors) {
      TensorMap values = inputs.values;
      if (tensor.role != Role::input || is_drawn_with_others(tensor.name) ||
          values.at(tensor.name) == others.values.at(tensor.name)) {
        continue;
      }
      values.at(tensor.name) = others.values.at(tensor.name);
      if (family_.reference(inputs.axes, values, {}, threads_) == expected) {
        refuse(tensor.name,
               fmt::format("no output depends on input {} (workload {})", tensor.name, each.workload->name),
               "use it in the reference, or remove its line");
      }
    }
  }

  void check_outputs_vary(const Case& each) const {
    const InputSet inputs = inputs_of(each, seed_);
    const TensorMap expected = family_.reference(inputs.axes, inputs.values, {}, threads_);
    for (const TensorSpec& tensor : family_.tensors) {
      if (tensor.role != Role::output) {
        continue;
      }
      const std::vector<double>& values = expected.at(tensor.name);
      const auto [low, high] = std::ranges::minmax(values);
      if (values.size() > 1 && high - low <= kNearlyConstant * std::max(std::fabs(low), std::fabs(high))) {
        refuse(tensor.name,
               fmt::format("all of output {} is within 1 % of {} (workload {})", tensor.name, format_g(low),
                           each.workload->name),
               "a kernel that writes a constant would nearly pass: draw inputs that make it vary");
      }
      check_varies_along_each_extent(tensor, values, each);
    }
  }

  void check_varies_along_each_extent(const TensorSpec& tensor, const std::vector<double>& values,
                                      const Case& each) const {
    const std::vector<std::int64_t> extents = tensor.shape(each.workload->axes);
    std::size_t inner = 1;
    for (std::size_t i = extents.size(); i-- > 0;) {
      const auto extent = static_cast<std::size_t>(extents[i]);
      bool varies = extent < 2;
      for (std::size_t e = inner; e < values.size() && !varies; ++e) {
        varies = e / inner % extent != 0 && values[e] != values[e - inner];
      }
      if (!varies) {
        refuse(tensor.name,
               fmt::format("output {} does not vary along extent {} of {} (workload {})", tensor.name, i + 1,
                           tensor.shape_text, each.workload->name),
               "a kernel that repeats one part would pass: draw inputs that make it vary, or leave the extent out");
      }
      inner *= extent;
    }
  }

  // A unit computed alone gives what it gives among the others.
  void check_units(const Case& each) const {
    FamilyFile whole_file = file_;
    whole_file.units.clear();
    const Family whole = family_of(whole_file, options_);
    const InputSet inputs = inputs_of(each, seed_);
    const TensorMap alone = family_.reference(inputs.axes, inputs.values, {}, threads_);
    const TensorMap together = whole.reference(inputs.axes, inputs.values, {}, threads_);
    for (const auto& [name, values] : alone) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double other = together.at(name)[i];
        if (std::fabs(values[i] - other) > 1e-12 * std::max(std::fabs(other), 1.0)) {
          refuse(name,
                 fmt::format("{} is {} when its unit is computed alone, and {} together with the others (workload {})",
                             element_name(*find_tensor(family_, name), inputs.axes, static_cast<std::int64_t>(i)),
                             format_g(values[i], 6), format_g(other, 6), each.workload->name),
                 "apo:unit names axes along which the work falls into independent parts: change it, or leave it out");
        }
      }
    }
  }

  std::vector<MutantRow> rows() const {
    std::vector<MutantRow> all;
    for (const TensorSpec& tensor : family_.tensors) {
      for (const Mutant& mutant : mutants()) {
        if (tensor.role == Role::output) {
          all.push_back({.mutant = mutant.name,
                         .meaning = mutant.meaning,
                         .tensor = tensor.name,
                         .state = MutantState::absent,
                         .excess = 0,
                         .where = ""});
        }
      }
    }
    return all;
  }

  TensorBytes stored(const TensorMap& outputs) const {
    TensorBytes bytes;
    for (const TensorSpec& tensor : family_.tensors) {
      if (tensor.role == Role::output) {
        bytes[tensor.name] = encode(tensor.dtype, outputs.at(tensor.name), threads_);
      }
    }
    return bytes;
  }

  Comparison held_against(const InputSet& inputs, const Expected& expected, const TensorBytes& outputs) const {
    OutputViews views;
    for (const auto& [name, bytes] : outputs) {
      views[name] = bytes;
    }
    return compare_outputs(family_, inputs.axes, expected, views, threads_);
  }

  void run_case(const Case& each, FamilyCheck& check) const {
    const InputSet inputs = inputs_of(each, derive_seed(seed_, each.name()));
    const Expected expected = expect(family_, inputs, each.units, threads_);
    MutantSource source{.family = family_,
                        .program = is_cpp() ? &program_ : nullptr,
                        .inputs = inputs,
                        .units = each.units,
                        .honest = family_.honest(inputs.axes, inputs.values, each.units, threads_),
                        .of_other_inputs = {},
                        .threads = threads_};
    const TensorBytes honest = stored(source.honest);
    const Comparison own = held_against(inputs, expected, honest);
    if (!own.correct) {
      refuse("", fmt::format("the tolerance refuses an honest implementation: {} ({})", own.evidence, each.name()),
             "say what the contract rounds with rounded<bf16>(x), how exact a function is with "
             "approximate<11>(tanh(x)), or "
             "choose other regimes with 'apo:regimes typical ...'");
    }
    for (const TensorComparison& tensor : own.tensors) {
      check.honest_closeness = std::max(check.honest_closeness, tensor.closeness);
    }
    if (each.units.empty()) {
      const InputSet others = inputs_of(each, derive_seed(seed_ + 1, each.name()));
      source.of_other_inputs = family_.honest(others.axes, others.values, {}, threads_);
    }
    for (MutantRow& row : check.mutants) {
      hold_mutant_against(source, expected, honest, each, row);
    }
  }

  void hold_mutant_against(const MutantSource& source, const Expected& expected, const TensorBytes& honest,
                           const Case& each, MutantRow& row) const {
    const Mutant& mutant = *std::ranges::find(mutants(), row.mutant, &Mutant::name);
    if (mutant.needs_all_units && !each.units.empty()) {
      return;
    }
    const auto outputs = mutant.make(source, *find_tensor(family_, row.tensor));
    if (!outputs) {
      return;
    }
    const TensorBytes bytes = stored(*outputs);
    if (bytes == honest) {
      row.state = row.state == MutantState::absent ? MutantState::unchanged : row.state;
      return;
    }
    const Comparison comparison = held_against(source.inputs, expected, bytes);
    const auto tensor = std::ranges::find(comparison.tensors, row.tensor, &TensorComparison::tensor);
    if (row.state != MutantState::refused) {
      row.state = comparison.correct ? MutantState::hidden : MutantState::refused;
    }
    if (tensor->closeness > row.excess || row.where.empty()) {
      row.excess = tensor->closeness;
      row.where = each.name();
    }
  }

  void refuse_weak_tolerance(const FamilyCheck& check) const {
    for (const MutantRow& row : check.mutants) {
      const bool mild = std::ranges::find(mutants(), row.mutant, &Mutant::name)->mild;
      if (row.state == MutantState::hidden && !mild) {
        refuse(row.tensor, fmt::format("the tolerance of {} lets '{}' pass: {}", row.tensor, row.mutant, row.meaning),
               file_.tolerance ? "tighten apo:tolerance, or leave it out: it is derived"
                               : "draw inputs that make the output larger than its rounding, or use a wider dtype");
      }
    }
  }

  const FamilyFile& file_;
  const OracleOptions& options_;
  Family family_;
  OracleProgram program_;
  std::uint64_t seed_;
  int threads_;
};

}  // namespace

std::string_view to_string(MutantState state) {
  switch (state) {
    case MutantState::refused:
      return "refused";
    case MutantState::hidden:
      return "hidden";
    case MutantState::unchanged:
      return "no change";
    case MutantState::absent:
      return "-";
  }
  return "?";
}

FamilyCheck check_family(const FamilyFile& file, const OracleOptions& options, std::uint64_t seed, int threads,
                         Observer& observer) {
  return FamilyChecker(file, options, seed, threads).run(observer);
}

}  // namespace apo
