// harness/loop/contract/family_check.h - checks a family before anything is judged by it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/words.h"
#include "harness/families/family_file.h"
#include "harness/families/oracle_program.h"
#include "kernels/family.h"

namespace apo {

enum class MutantState : std::uint8_t {
  refused,
  hidden,     // a mild one within the tolerance, which the dtype's rounding needs
  unchanged,  // it makes no difference to this operation
  absent      // it makes no sense for this tensor
};
constexpr std::string_view to_string(MutantState state) {
  return word_at("refused, hidden, no change, -", static_cast<std::size_t>(state));
}

struct MutantRow {
  std::string mutant;
  std::string meaning;
  std::string tensor;
  bool mild = false;  // may hide in the rounding of a 16-bit output
  MutantState state = MutantState::absent;
  double excess = 0;  // how many times the bound its worst element or unit is off, in the case that shows it best
  std::string where;  // that case: "r7_c1000, typical"
};

struct FamilyCheck {
  std::string tolerance;        // where it comes from
  int cases = 0;                // workloads and regimes
  double honest_closeness = 0;  // of the honest version to its bound of 1, in its worst case
  std::vector<MutantRow> mutants;
  std::string workload;               // the default one
  Work work;                          // of it
  std::vector<FileUnitAxis> units;    // found, and checked as if the file named them
  std::vector<std::string> left_out;  // regimes in which nothing can be compared; registering adds a line
  std::vector<std::string> notes;     // what the author may want to know or change
  double seconds = 0;
};

// Looks at small shapes alone: a large workload is scaled down (small_shape), and its work extrapolated. Units of a
// file without apo:unit that has a large workload are found, and checked as if it named them. Throws UserError with the
// line of the file, what is wrong and how to mend it: a reference that is no reference (does not compile, leaves
// elements unwritten, is not finite, touches memory that is not its own), outputs that do not depend on an input or do
// not vary, units that are not independent, an honest version that its own tolerance refuses, and a mutant that it lets
// pass.
FamilyCheck check_family(const FamilyFile& file, const OracleOptions& options, std::uint64_t seed, int threads,
                         Observer& observer);

}  // namespace apo
