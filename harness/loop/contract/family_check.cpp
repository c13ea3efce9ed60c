// harness/loop/contract/family_check.cpp - holds every mutant against the derived tolerance, case after case.
#include "harness/loop/contract/family_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/compare.h"
#include "harness/families/known_families.h"
#include "harness/loop/contract/mutants.h"
#include "harness/loop/contract/reference_checks.h"
#include "harness/loop/contract/tolerance_checks.h"
#include "kernels/random.h"
#include "kernels/small_shape.h"

namespace apo {
namespace {

// A row for each mistake in each output.
std::vector<MutantRow> rows(const Family& family) {
  std::vector<MutantRow> all;
  for (const TensorSpec& tensor : family.tensors) {
    for (const Mutant& mutant : mutants()) {
      if (tensor.role == Role::output && (tensor.random || !mutant.of_random)) {
        all.push_back({.mutant = mutant.name, .meaning = mutant.meaning, .tensor = tensor.name, .mild = mutant.mild});
      }
    }
  }
  return all;
}

InputSet drawn(const CheckedFamily& subject, const Case& each, std::uint64_t seed) {
  return inputs_of(subject, each, derive_seed(seed, each.name()));
}

// The honest version of the file on these inputs, and on others.
MutantSource source_of(const CheckedFamily& subject, const Case& each, const InputSet& inputs,
                       const Expected& expected) {
  const InputSet others = drawn(subject, each, subject.seed + 1);
  std::map<oracle::Mode, TensorMap> mistaken;
  for (const oracle::Mode mode : {oracle::Mode::bf16_sums, oracle::Mode::dropped_term, oracle::Mode::wrong_sign}) {
    if (is_cpp(subject)) {
      mistaken[mode] = subject.program
                           .ask({.mode = mode,
                                 .axes = inputs.axes,
                                 .units = {},
                                 .values = &inputs.values,
                                 .threads = subject.threads,
                                 .seed = inputs.seed},
                                ProgramKind::mutants)
                           .outputs;
    }
  }
  return {.family = subject.family,
          .inputs = inputs,
          .expected = expected,
          .honest = subject.family.honest(inputs.axes, inputs.values, {}, subject.threads),
          .of_other_inputs = subject.family.honest(others.axes, others.values, {}, subject.threads),
          .mistaken = std::move(mistaken),
          .threads = subject.threads};
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
  if (comparison.correct && mutant_named(row.mutant).may_be_drawn && find_output(subject.family, row.tensor)->random) {
    return;
  }
  if (row.state != MutantState::refused) {
    row.state = comparison.correct ? MutantState::hidden : MutantState::refused;
  }
  if (tensor->closeness > row.excess || row.where.empty()) {
    row.excess = tensor->closeness;
    row.where = each.name();
  }
}

void check_case(const CheckedFamily& subject, const Case& each, FamilyCheck& check) {
  const InputSet inputs = drawn(subject, each, subject.seed);
  const Expected expected = expect(subject.family, inputs, {}, subject.threads);
  const MutantSource source = source_of(subject, each, inputs, expected);
  const TensorBytes honest = stored(subject.family, source.honest, subject.threads);
  const Comparison own = held_against(subject.family, inputs, expected, honest, subject.threads);
  if (!own.correct && may_leave_out(subject.family, each.regime)) {
    throw NothingToCompare("the tolerance refuses an honest implementation: " + own.evidence);
  }
  if (!own.correct) {
    refuse(subject, "", "the tolerance refuses an honest implementation: " + own.evidence,
           "say what the contract rounds with rounded<bf16>(x), how exact a function is with "
           "approximate<11>(tanh(x)), or leave the regime out with '" +
               regimes_line({each.regime}) + "'");
  }
  if (each.regime == "typical") {
    check_tolerance(subject, each, inputs, expected, check.notes);
  }
  for (const TensorComparison& tensor : own.tensors) {
    check.honest_closeness = std::max(check.honest_closeness, tensor.closeness);
  }
  for (MutantRow& row : check.mutants) {
    hold_mutant_against(subject, source, expected, honest, each, row);
  }
}

// A regime in which nothing can be compared is left out, unless the author named it.
void run_case(const CheckedFamily& subject, const Case& each, FamilyCheck& check) {
  if (std::ranges::find(check.left_out, each.regime) != check.left_out.end()) {
    return;
  }
  try {
    on_case(each, [&] { check_case(subject, each, check); });
  } catch (const NothingToCompare& error) {
    if (!may_leave_out(subject.family, each.regime)) {
      throw;
    }
    check.left_out.push_back(each.regime);
    check.notes.push_back(fmt::format("regime {} is left out: {}; registering adds '{}' to the copy", each.regime,
                                      error.what(), regimes_line({each.regime})));
  }
}

// Where most mistakes make no difference, the rest says nothing either.
void refuse_idle_mistakes(const CheckedFamily& subject, const FamilyCheck& check) {
  const auto in_state = [&](MutantState state) { return std::ranges::count(check.mutants, state, &MutantRow::state); };
  const auto idle = in_state(MutantState::unchanged);
  const auto all = std::ssize(check.mutants) - in_state(MutantState::absent);
  if (2 * idle >= all) {
    refuse(
        subject, "",
        fmt::format("{} of {} planted mistakes change nothing in the outputs: hardly anything would be compared", idle,
                    all),
        "draw inputs that make the outputs differ, or write outputs that do; an output that is random by contract is "
        "said with '// apo:random y' and drawn(p, a, b)");
  }
}

void refuse_weak_tolerance(const CheckedFamily& subject, const FamilyCheck& check) {
  for (const MutantRow& row : check.mutants) {
    if (row.state == MutantState::hidden && !row.mild) {
      refuse(subject, row.tensor,
             fmt::format("the tolerance of {} lets '{}' pass: {}", row.tensor, row.mutant, row.meaning),
             find_output(subject.family, row.tensor)->random
                 ? "draw more in a small or ragged workload: 4096 draws show what is off by a tenth"
             : subject.file.tolerance
                 ? "tighten apo:tolerance, or leave it out: it is derived"
                 : "draw inputs that make the output larger than its rounding, or use a wider dtype");
    }
  }
}

constexpr double kSlowStart = 0.2;  // seconds

// Without apo:unit all of a large workload is computed, by one thread.
std::vector<FileUnitAxis> lacking_units(const CheckedFamily& subject, const std::vector<Case>& cases) {
  const bool is_large = std::ranges::any_of(subject.family.workloads, [&](const Workload& workload) {
    return element_count(subject.family, workload.axes) > kSmallElements;
  });
  return is_cpp(subject) && subject.file.units.empty() && is_large ? independent_axes(subject, cases)
                                                                   : std::vector<FileUnitAxis>();
}

// The workloads that the file does not list.
void note_small_workloads(const CheckedFamily& subject, std::vector<std::string>& notes) {
  std::vector<std::string> names;
  for (const Workload& workload : subject.family.workloads) {
    const auto& listed = subject.file.workloads;
    if (std::ranges::find(listed, workload.name, &Workload::name) == listed.end()) {
      names.push_back(fmt::format("{} ({})", workload.name, to_string(workload.kind)));
    }
  }
  if (!names.empty()) {
    notes.push_back("the file has no small or ragged workload: kernels are checked on " + join(names, " and ") +
                    " too, which are the default one scaled down");
  }
}

// Differences of a family whose reference is a program in another language.
std::vector<std::string> notes_on_command(const CheckedFamily& subject, const std::vector<Case>& cases) {
  std::vector<std::string> notes;
  std::set<std::string> checked;
  for (const Case& each : cases) {
    checked.insert(each.workload.name);
  }
  if (checked.size() < subject.family.workloads.size()) {
    notes.push_back(
        fmt::format("checked on the {} smallest of {} workloads: a program is slow to start, while a reference in "
                    "C++ is checked on all of them",
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
  const std::vector<Case> cases = plan_cases(subject.family, is_cpp(subject));
  check_reference(subject, cases);
  FamilyCheck check{.tolerance = tolerance_source(subject.file),
                    .cases = static_cast<int>(cases.size()),
                    .honest_closeness = 0,
                    .mutants = rows(subject.family),
                    .workload = subject.family.workloads.front().name,
                    .work = subject.family.work(subject.family.workloads.front().axes),
                    .units = {},
                    .left_out = {},
                    .notes = {},
                    .seconds = 0};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    observer.progress({.what = "check " + name + " on " + cases[i].name(),
                       .done = static_cast<int>(i),
                       .expected = static_cast<int>(cases.size())});
    run_case(subject, cases[i], check);
  }
  refuse_idle_mistakes(subject, check);
  refuse_weak_tolerance(subject, check);
  note_inputs_without_regimes(subject, check.notes);
  if (!is_cpp(subject)) {
    check.notes = notes_on_command(subject, cases);
  }
  note_small_workloads(subject, check.notes);
  return check;
}

}  // namespace

FamilyCheck check_family(const FamilyFile& file, const OracleOptions& options, std::uint64_t seed, int threads,
                         Observer& observer) {
  const auto start = std::chrono::steady_clock::now();
  OracleOptions counted = options;
  counted.command_use = std::make_shared<CommandUse>();
  const CheckedFamily written(file, counted, seed, threads);
  const std::vector<Case> cases = plan_cases(written.family, is_cpp(written));
  if (is_cpp(written)) {
    observer.progress({.what = "compile the reference of " + file.name});
    written.program.build_all();
    observer.progress({.what = "check " + file.name + " under sanitizers"});
    check_memory(written, cases);
  }
  const std::vector<FileUnitAxis> units = lacking_units(written, cases);
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
