// harness/loop/contract/oracle_comparison.h - a family's file against another definition of the same operation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/families/family_file.h"
#include "harness/families/oracle_program.h"
#include "kernels/family.h"

namespace apo {

// One planted mistake in one output, over all cases in which it changes anything.
struct ComparedMutant {
  std::string mutant;
  std::string meaning;
  std::string tensor;
  bool mild = false;  // near the bound of any oracle: chance decides where it is looked at on few inputs
  int cases = 0;
  int refused = 0;           // of the cases, by the file's oracle
  int refused_by_other = 0;  // and by the other's
  double excess = 0;         // how many times its bound it is off at most: the file's oracle, and
  double excess_of_other = 0;
  bool missed() const { return refused == 0 && refused_by_other > 0; }
};

struct OracleComparison {
  int cases = 0;                // workloads and regimes of the other family
  double honest_closeness = 0;  // of the file's honest version to the other's bound of 1, in its worst case
  double other_closeness = 0;   // of the other's honest version to the file's
  std::string disagreement;     // the first honest version that was refused, with its case, and the end; "": none
  std::vector<ComparedMutant> mutants;
  double seconds = 0;
};

// Draws inputs from `other`, which the caller may have left fewer workloads, and plants the mistakes of the file's
// program. Throws UserError where the two differ in axes, scalars or tensors, and what the file's reference throws.
OracleComparison compare_oracles(const FamilyFile& file, const OracleOptions& options, const Family& other,
                                 std::uint64_t seed, int threads, Observer& observer);

}  // namespace apo
