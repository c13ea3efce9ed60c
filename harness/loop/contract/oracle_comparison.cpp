// harness/loop/contract/oracle_comparison.cpp - the same mistakes on the same inputs, held against two tolerances.
#include "harness/loop/contract/oracle_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/families/known_families.h"
#include "harness/loop/contract/mutants.h"
#include "harness/loop/contract/reference_checks.h"
#include "kernels/random.h"

namespace apo {
namespace {

// Lists the parts that two contracts must share: "axis N", "input x f32[256,1024]".
std::vector<std::string> outline(const Family& family, const Axes& axes) {
  std::vector<std::string> lines;
  for (const AxisSpec& axis : family.axes) {
    lines.push_back("axis " + axis.name);
  }
  for (const ScalarSpec& scalar : family.scalars) {
    lines.push_back("scalar " + scalar.name);
  }
  for (const TensorSpec& tensor : family.tensors) {
    const std::vector<std::int64_t> extents = tensor.shape(axes);
    lines.push_back(fmt::format("{} {} {}[{}]", tensor.role == Role::output ? "output" : "input", tensor.name,
                                to_string(tensor.dtype), fmt::join(extents, ",")));
  }
  lines.push_back(fmt::format("{} units", family.unit_count(axes)));
  return lines;
}

void check_same_contract(const FamilyFile& file, const Family& here, const Family& there, const Axes& axes) {
  const std::vector<std::string> ours = outline(here, axes);
  const std::vector<std::string> theirs = outline(there, axes);
  const auto [one, other] = std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end());
  if (one != ours.end() || other != theirs.end()) {
    throw UserError(
        fmt::format("{}: the contract is not that of {}: '{}' here, '{}' there", file.path, there.name,
                    one == ours.end() ? "nothing more" : *one, other == theirs.end() ? "nothing more" : *other),
        "axes, scalars, tensors and units have to be the same, in the same order");
  }
}

struct Both {
  const CheckedFamily& subject;
  const Family& other;
};

void compare_honest(const Both& both, const Case& each, const MutantSource& source, const Expected& here,
                    const Expected& there, OracleComparison& result) {
  const int threads = both.subject.threads;
  const InputSet& inputs = source.inputs;
  const auto hold = [&](const char* whose, const Family& by, const Expected& expected, const TensorMap& outputs,
                        double& closeness) {
    const Comparison found = held_against(by, inputs, expected, stored(by, outputs, threads), threads);
    for (const TensorComparison& tensor : found.tensors) {
      closeness = std::max(closeness, tensor.closeness);
    }
    if (!found.correct && result.disagreement.empty()) {
      result.disagreement = fmt::format("{}: {} ({})", whose, found.evidence, each.name());
    }
  };
  hold("the file's honest version is refused by the other", both.other, there, source.honest, result.honest_closeness);
  hold("the other's honest version is refused by the file", both.subject.family, here,
       both.other.honest(inputs.axes, inputs.values, each.units, threads), result.other_closeness);
}

void compare_mutant(const Both& both, const MutantSource& source, const TensorBytes& honest, const Expected& here,
                    const Expected& there, ComparedMutant& row) {
  const auto bytes = planted(mutant_named(row.mutant), source, row.tensor);
  if (!bytes || *bytes == honest) {
    return;
  }
  const auto excess_by = [&](const Family& family, const Expected& expected) {
    const Comparison found = held_against(family, source.inputs, expected, *bytes, source.threads);
    return std::ranges::find(found.tensors, row.tensor, &TensorComparison::tensor)->closeness;
  };
  const double ours = excess_by(both.subject.family, here);
  const double theirs = excess_by(both.other, there);
  ++row.cases;
  row.refused += ours > 1 ? 1 : 0;
  row.refused_by_other += theirs > 1 ? 1 : 0;
  row.excess = std::max(row.excess, ours);
  row.excess_of_other = std::max(row.excess_of_other, theirs);
}

void compare_case(const Both& both, const Case& each, OracleComparison& result) {
  const CheckedFamily& subject = both.subject;
  const Family& other = both.other;
  const auto draw = [&](std::uint64_t seed) {
    return make_inputs(other, each.workload->axes, derive_seed(seed, each.name()), each.regime, subject.threads);
  };
  const InputSet inputs = draw(subject.seed);
  MutantSource source{.family = other,
                      .program = is_cpp(subject) ? &subject.program : nullptr,
                      .inputs = inputs,
                      .units = each.units,
                      .honest = subject.family.honest(inputs.axes, inputs.values, each.units, subject.threads),
                      .of_other_inputs = {},
                      .threads = subject.threads};
  if (each.units.empty()) {
    const InputSet others = draw(subject.seed + 1);
    source.of_other_inputs = subject.family.honest(others.axes, others.values, {}, subject.threads);
  }
  const Expected here = expect(subject.family, inputs, each.units, subject.threads);
  const Expected there = expect(other, inputs, each.units, subject.threads);
  compare_honest(both, each, source, here, there, result);
  if (!result.disagreement.empty()) {
    return;  // mistakes mean nothing where the operation is another one
  }
  const TensorBytes honest = stored(other, source.honest, subject.threads);
  for (ComparedMutant& row : result.mutants) {
    compare_mutant(both, source, honest, here, there, row);
  }
}

std::vector<ComparedMutant> all_mutants(const Family& family) {
  std::vector<ComparedMutant> rows;
  for (const TensorSpec& tensor : family.tensors) {
    for (const Mutant& mutant : mutants()) {
      if (tensor.role == Role::output) {
        rows.push_back({.mutant = mutant.name, .meaning = mutant.meaning, .tensor = tensor.name, .mild = mutant.mild});
      }
    }
  }
  return rows;
}

}  // namespace

OracleComparison compare_oracles(const FamilyFile& file, const OracleOptions& options, const Family& other,
                                 std::uint64_t seed, int threads, Observer& observer) {
  const auto start = std::chrono::steady_clock::now();
  const CheckedFamily subject(file, options, seed, threads);
  const std::vector<Case> cases = plan_cases(other, true, seed);
  for (const Case& each : cases) {
    check_same_contract(file, subject.family, other, each.workload->axes);
  }
  OracleComparison result{.cases = static_cast<int>(cases.size()), .disagreement = "", .mutants = all_mutants(other)};
  for (std::size_t i = 0; i < cases.size() && result.disagreement.empty(); ++i) {
    observer.progress({.what = "compare " + file.name + " on " + cases[i].name(),
                       .done = static_cast<int>(i),
                       .expected = static_cast<int>(cases.size())});
    compare_case({.subject = subject, .other = other}, cases[i], result);
  }
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace apo
