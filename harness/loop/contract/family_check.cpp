// harness/loop/contract/family_check.cpp - holds every mutant against the derived tolerance, case after case.
#include "harness/loop/contract/family_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>

#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/compare.h"
#include "harness/families/known_families.h"
#include "harness/loop/contract/mutants.h"
#include "harness/loop/contract/reference_checks.h"
#include "kernels/random.h"

namespace apo {
namespace {

std::vector<MutantRow> rows(const CheckedFamily& subject) {
  std::vector<MutantRow> all;
  for (const TensorSpec& tensor : subject.family.tensors) {
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

void hold_mutant_against(const CheckedFamily& subject, const MutantSource& source, const Expected& expected,
                         const TensorBytes& honest, const Case& each, MutantRow& row) {
  const auto bytes = planted(mutant_named(row.mutant), source, row.tensor);
  if (!bytes) {
    return;
  }
  if (*bytes == honest) {
    row.state = row.state == MutantState::absent ? MutantState::unchanged : row.state;
    return;
  }
  const Comparison comparison = held_against(subject.family, source.inputs, expected, *bytes, subject.threads);
  const auto tensor = std::ranges::find(comparison.tensors, row.tensor, &TensorComparison::tensor);
  if (row.state != MutantState::refused) {
    row.state = comparison.correct ? MutantState::hidden : MutantState::refused;
  }
  if (tensor->closeness > row.excess || row.where.empty()) {
    row.excess = tensor->closeness;
    row.where = each.name();
  }
}

void run_case(const CheckedFamily& subject, const Case& each, FamilyCheck& check) {
  const InputSet inputs = inputs_of(subject, each, derive_seed(subject.seed, each.name()));
  const Expected expected = expect(subject.family, inputs, each.units, subject.threads);
  MutantSource source{.family = subject.family,
                      .program = is_cpp(subject) ? &subject.program : nullptr,
                      .inputs = inputs,
                      .units = each.units,
                      .honest = subject.family.honest(inputs.axes, inputs.values, each.units, subject.threads),
                      .of_other_inputs = {},
                      .threads = subject.threads};
  const TensorBytes honest = stored(subject.family, source.honest, subject.threads);
  const Comparison own = held_against(subject.family, inputs, expected, honest, subject.threads);
  if (!own.correct) {
    refuse(subject, "",
           fmt::format("the tolerance refuses an honest implementation: {} ({})", own.evidence, each.name()),
           "say what the contract rounds with rounded<bf16>(x), how exact a function is with "
           "approximate<11>(tanh(x)), or "
           "choose other regimes with 'apo:regimes typical ...'");
  }
  for (const TensorComparison& tensor : own.tensors) {
    check.honest_closeness = std::max(check.honest_closeness, tensor.closeness);
  }
  if (each.units.empty()) {
    const InputSet others = inputs_of(subject, each, derive_seed(subject.seed + 1, each.name()));
    source.of_other_inputs = subject.family.honest(others.axes, others.values, {}, subject.threads);
  }
  for (MutantRow& row : check.mutants) {
    hold_mutant_against(subject, source, expected, honest, each, row);
  }
}

void refuse_weak_tolerance(const CheckedFamily& subject, const FamilyCheck& check) {
  for (const MutantRow& row : check.mutants) {
    const bool mild = mutant_named(row.mutant).mild;
    if (row.state == MutantState::hidden && !mild) {
      refuse(subject, row.tensor,
             fmt::format("the tolerance of {} lets '{}' pass: {}", row.tensor, row.mutant, row.meaning),
             subject.file.tolerance
                 ? "tighten apo:tolerance, or leave it out: it is derived"
                 : "draw inputs that make the output larger than its rounding, or use a wider dtype");
    }
  }
}

constexpr double kSlowStart = 0.2;  // seconds

// Without apo:unit all of a large workload is computed, by one thread.
std::vector<FileUnitAxis> lacking_units(const CheckedFamily& subject, const std::vector<Case>& cases) {
  const bool lacks = is_cpp(subject) && subject.file.units.empty() && has_large_case(subject.family, cases);
  return lacks ? independent_axes(subject, cases) : std::vector<FileUnitAxis>();
}

// Differences of a family whose reference is a program in another language.
std::vector<std::string> notes_on_command(const CheckedFamily& subject, const std::vector<Case>& cases) {
  std::vector<std::string> notes;
  std::set<const Workload*> checked;
  for (const Case& each : cases) {
    checked.insert(each.workload);
  }
  if (checked.size() < subject.family.workloads.size()) {
    notes.push_back(
        fmt::format("checked on the {} smallest of {} workloads: a program computes all of a workload each time, while "
                    "a reference in C++ with apo:unit is checked on parts of the large ones",
                    checked.size(), subject.family.workloads.size()));
  }
  const CommandUse& use = *subject.options.command_use;
  if (use.starts > 1 && use.seconds > kSlowStart * use.requests) {
    notes.push_back(
        fmt::format("the reference was started {} times and took {} each time: one that prints 'apo:next' "
                    "stays for the next draw, and imports its libraries once (docs/families.md)",
                    use.starts, format_seconds(use.seconds / use.requests)));
  }
  return notes;
}

FamilyCheck check_cases(const CheckedFamily& subject, Observer& observer) {
  const std::string& name = subject.file.name;
  const std::vector<Case> cases = plan_cases(subject.family, is_cpp(subject), subject.seed);
  check_reference(subject, cases);
  FamilyCheck check{.tolerance = tolerance_source(subject.file),
                    .cases = static_cast<int>(cases.size()),
                    .honest_closeness = 0,
                    .mutants = rows(subject),
                    .workload = subject.family.workloads.front().name,
                    .work = subject.family.work(subject.family.workloads.front().axes),
                    .units = {},
                    .notes = {},
                    .seconds = 0};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    observer.progress({.what = "check " + name + " on " + cases[i].name(),
                       .done = static_cast<int>(i),
                       .expected = static_cast<int>(cases.size())});
    run_case(subject, cases[i], check);
  }
  refuse_weak_tolerance(subject, check);
  if (!is_cpp(subject)) {
    check.notes = notes_on_command(subject, cases);
  }
  return check;
}

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
  const auto start = std::chrono::steady_clock::now();
  OracleOptions counted = options;
  counted.command_use = std::make_shared<CommandUse>();
  const CheckedFamily written(file, counted, seed, threads);
  if (is_cpp(written)) {
    observer.progress({.what = "compile the reference of " + file.name});
    written.program.build_all();
    observer.progress({.what = "check " + file.name + " under sanitizers"});
    check_memory(written);
  }
  const std::vector<FileUnitAxis> units = lacking_units(written, plan_cases(written.family, is_cpp(written), seed));
  FamilyFile split = file;
  split.units = units.empty() ? file.units : units;
  FamilyCheck check = check_cases(CheckedFamily(split, counted, seed, threads), observer);
  if (!units.empty()) {
    check.units = units;
    check.notes.push_back(fmt::format(
        "the work falls into independent parts: it is checked with '{}', a line that registering adds to the copy",
        unit_line(units)));
  }
  check.seconds = seconds_since(start);
  return check;
}

}  // namespace apo
